//! A model on the loopback that plays turns with calls, as an OpenAI-compatible server streams them, and
//! keeps everything that it is asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// What the model says when it is its turn.
#[derive(Clone)]
pub struct Turn {
    text: String,
    calls: Vec<(String, Value)>,
    wait: Duration,
}

/// A turn that ends the task.
pub fn say(text: &str) -> Turn {
    Turn { text: text.to_owned(), calls: Vec::new(), wait: Duration::ZERO }
}

/// A turn with calls.
pub fn calls(text: &str, calls: &[(&str, Value)]) -> Turn {
    let calls = calls.iter().map(|(name, args)| ((*name).to_owned(), args.clone())).collect();
    Turn { text: text.to_owned(), calls, wait: Duration::ZERO }
}

impl Turn {
    /// The same after a while.
    pub fn after(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }
}

/// Turns for each task, by a word of its title; which turn it is, is read from what is asked.
type Scripts = Vec<(&'static str, Vec<Turn>)>;

pub struct Model {
    pub url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    pub fn playing(scripts: Scripts) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (keep, scripts) = (Arc::clone(&keep), scripts.clone());
                // Whoever asked may have been killed.
                std::thread::spawn(move || drop(serve(stream, &keep, &scripts)));
            }
        });
        Self { url, asked }
    }

    /// Everything that was asked for a task, in order.
    pub fn asked(&self, task: &str) -> Vec<Value> {
        let all = self.asked.lock().unwrap();
        all.iter().filter(|body| prompt(body).contains(task)).cloned().collect()
    }

    /// What the model was told last about the calls of a task: each call's name and its result.
    pub fn told(&self, task: &str) -> Vec<(String, String)> {
        let asked = self.asked(task);
        let last = asked.last().map(|body| body["messages"].clone()).unwrap_or_default();
        let mut told = Vec::new();
        for message in last.as_array().unwrap_or(&Vec::new()) {
            match message["role"].as_str() {
                Some("assistant") => told.clear(),
                Some("tool") => {
                    let text = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
                    told.push((text("tool_call_id"), text("content")));
                }
                _ => {}
            }
        }
        told
    }
}

/// The first thing that a user said.
fn prompt(body: &Value) -> String {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let user = messages.iter().find(|message| message["role"] == "user");
    user.map(|message| message["content"].to_string()).unwrap_or_default()
}

fn serve(stream: TcpStream, keep: &Mutex<Vec<Value>>, scripts: &Scripts) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body)?;
    keep.lock().unwrap().push(body.clone());
    let prompt = prompt(&body);
    let script = scripts.iter().find(|(word, _)| prompt.contains(word));
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let at = messages.iter().filter(|message| message["role"] == "assistant").count();
    let turn = script.and_then(|(_, turns)| turns.get(at)).cloned();
    let turn = turn.unwrap_or_else(|| say("I have nothing more to say."));
    std::thread::sleep(turn.wait);
    answer(stream, at, &turn)
}

fn answer(mut stream: TcpStream, at: usize, turn: &Turn) -> std::io::Result<()> {
    let mut body = String::new();
    let mut chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let usage = if finish.is_null() {
            Value::Null
        } else {
            json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120})
        };
        let chunk = json!({"id": "c", "object": "chat.completion.chunk", "choices": [choice],
            "usage": usage});
        body.push_str(&format!("data: {chunk}\n\n"));
    };
    chunk(json!({"role": "assistant", "content": turn.text}), Value::Null);
    for (index, (name, args)) in turn.calls.iter().enumerate() {
        let function = json!({"name": name.replace('.', "_"), "arguments": args.to_string()});
        let id = format!("call_{at}_{index}");
        let call = json!({"index": index, "id": id, "type": "function", "function": function});
        chunk(json!({"tool_calls": [call]}), Value::Null);
    }
    chunk(json!({}), json!(if turn.calls.is_empty() { "stop" } else { "tool_calls" }));
    body.push_str("data: [DONE]\n\n");
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}
