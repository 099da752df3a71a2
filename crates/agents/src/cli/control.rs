//! Claude Code's control protocol on its pipes: every call of a tool comes to us, and waits for our
//! answer.
//!
//! By itself it asks about some tools only. A callback before every call, answered with "ask", makes
//! it ask about all of them; settings of a repository cannot switch such a callback off.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use serde_json::{Value, json};

use crate::agent::{Listener, Made, Permission, Wish};

/// The name of our first request.
const BEGIN: &str = "aurora-begin";
/// The name of our callback.
const CALLBACK: &str = "aurora-before-tool";
/// More questions are not open at once; a further one is a no.
const MAX_OPEN: usize = 64;
/// How much of what came of a call is handed on.
const MAX_TOLD_CHARS: usize = 300;

/// Something that it wants of us.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// The callback before a call.
    Callback {
        /// The request to answer.
        request: String,
    },
    /// Whether it may make a call.
    May {
        /// The request to answer.
        request: String,
        /// The call.
        wish: Wish,
    },
    /// It does not need an answer any more.
    TakenBack {
        /// To which request.
        request: String,
    },
    /// Something that we do not know.
    Other {
        /// The request to answer.
        request: String,
        /// What it calls it.
        subtype: String,
    },
    /// It does not take what we asked for first.
    NotBegun {
        /// Why.
        why: String,
    },
    /// Nothing that needs an answer.
    Nothing,
}

fn text_of(value: &Value, path: &str) -> Option<String> {
    value.pointer(path).and_then(Value::as_str).map(str::to_owned)
}

/// Understands a line; nothing when it is none of the control protocol's.
pub fn read(line: &Value) -> Option<Incoming> {
    match line.get("type")?.as_str()? {
        "control_request" => {
            let request = text_of(line, "/request_id")?;
            let subtype = text_of(line, "/request/subtype").unwrap_or_default();
            Some(match subtype.as_str() {
                "hook_callback" => Incoming::Callback { request },
                "can_use_tool" => {
                    let tool = text_of(line, "/request/tool_name").unwrap_or_default();
                    let call = text_of(line, "/request/tool_use_id").unwrap_or_default();
                    let args = line.pointer("/request/input").cloned().unwrap_or(json!({}));
                    Incoming::May { request, wish: Wish { call, tool, args } }
                }
                _ => Incoming::Other { request, subtype },
            })
        }
        "control_cancel_request" => {
            Some(Incoming::TakenBack { request: text_of(line, "/request_id")? })
        }
        "control_response" => {
            let ours = text_of(line, "/response/request_id").as_deref() == Some(BEGIN);
            let good = text_of(line, "/response/subtype").as_deref() == Some("success");
            if !ours || good {
                return Some(Incoming::Nothing);
            }
            let why = text_of(line, "/response/error").unwrap_or_else(|| "no reason".to_owned());
            Some(Incoming::NotBegun { why })
        }
        "keep_alive" => Some(Incoming::Nothing),
        _ => None,
    }
}

/// What came of calls, where a line tells it.
pub fn made(line: &Value) -> Vec<Made> {
    if line.get("type").and_then(Value::as_str) != Some("user") {
        return Vec::new();
    }
    let parts = line.pointer("/message/content").and_then(Value::as_array);
    let results = parts.into_iter().flatten().filter_map(|part| {
        if part.get("type")?.as_str()? != "tool_result" {
            return None;
        }
        let told = match part.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let line = told.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Made {
            call: part.get("tool_use_id")?.as_str()?.to_owned(),
            failed: part.get("is_error").and_then(Value::as_bool).unwrap_or(false),
            told: line.chars().take(MAX_TOLD_CHARS).collect(),
        })
    });
    results.collect()
}

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

/// What we say first: that we want to be asked, and what is to be done.
pub fn first_words(prompt: &str) -> Vec<u8> {
    let begin = json!({
        "type": "control_request", "request_id": BEGIN,
        "request": {
            "subtype": "initialize",
            "hooks": { "PreToolUse": [{ "matcher": null, "hookCallbackIds": [CALLBACK] }] },
        },
    });
    let task = json!({
        "type": "user", "message": { "role": "user", "content": prompt },
        "parent_tool_use_id": null, "session_id": "default",
    });
    let mut words = line(&begin);
    words.extend(line(&task));
    words
}

fn answer(request: &str, response: &Value) -> Vec<u8> {
    line(&json!({
        "type": "control_response",
        "response": { "subtype": "success", "request_id": request, "response": response },
    }))
}

fn permission(request: &str, permission: Permission) -> Vec<u8> {
    let response = match permission {
        Permission::Allow { args } => json!({ "behavior": "allow", "updatedInput": args }),
        Permission::Deny { message, interrupt } => {
            json!({ "behavior": "deny", "message": message, "interrupt": interrupt })
        }
    };
    answer(request, &response)
}

type Answering<'a> = Pin<Box<dyn Future<Output = Permission> + Send + 'a>>;

/// The questions that wait for an answer.
#[derive(Default)]
pub struct Open<'a>(Vec<(String, Answering<'a>)>);

impl<'a> Open<'a> {
    /// Takes something in; what can be answered at once is.
    pub fn take(&mut self, incoming: Incoming, listener: &'a dyn Listener) -> Option<Vec<u8>> {
        match incoming {
            Incoming::Callback { request } => {
                let ask = json!({ "hookSpecificOutput": {
                    "hookEventName": "PreToolUse", "permissionDecision": "ask",
                } });
                Some(answer(&request, &ask))
            }
            Incoming::May { request, .. } if self.0.len() >= MAX_OPEN => {
                let message = format!("more than {MAX_OPEN} calls wait for an answer already");
                Some(permission(&request, Permission::Deny { message, interrupt: false }))
            }
            Incoming::May { request, wish } => {
                self.0.push((request, listener.may(wish)));
                None
            }
            Incoming::TakenBack { request } => {
                self.0.retain(|(open, _)| *open != request);
                None
            }
            Incoming::Other { request, subtype } => Some(line(&json!({
                "type": "control_response",
                "response": {
                    "subtype": "error", "request_id": request,
                    "error": format!("`{subtype}` is not known here"),
                },
            }))),
            Incoming::NotBegun { .. } | Incoming::Nothing => None,
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes all questions back.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The next answer.
    pub async fn next(&mut self) -> Vec<u8> {
        let (request, given) = poll_fn(|context| {
            for at in 0..self.0.len() {
                let Some((_, answering)) = self.0.get_mut(at) else { break };
                if let Poll::Ready(given) = answering.as_mut().poll(context) {
                    return Poll::Ready((self.0.remove(at).0, given));
                }
            }
            Poll::Pending
        })
        .await;
        permission(&request, given)
    }
}
