//! A turn of a conversation with tools, in the shape of the model's provider.

use std::collections::BTreeSet;

use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ContentPart, MessageContent, Tool, ToolCall,
    ToolResponse,
};
use serde_json::{Map, Value, json};

use super::call::{Ended, Heard, Skipped};
use super::fault::{Begun, Fault};
use super::{Model, Patience, Stop, clean};
use crate::profile::ModelProvider;
use crate::talk::{
    Call, CallResult, Conversation, Converser, Message, NextTurn, ToolSchema, Turn, Unanswered,
};

/// More of a tool's name that nobody has is not repeated.
const MAX_NAME_CHARS: usize = 100;

impl Converser for Model {
    fn next<'a>(
        &'a self,
        conversation: &'a Conversation,
        tools: &'a [ToolSchema],
        hear: &'a mut (dyn FnMut(&str) + Send),
    ) -> NextTurn<'a> {
        Box::pin(self.turn(conversation, tools, hear))
    }
}

impl Model {
    async fn turn(
        &self,
        conversation: &Conversation,
        tools: &[ToolSchema],
        hear: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Turn, Unanswered> {
        let model = self.profile.name.clone();
        if let Err(error) = self.ready() {
            let why = error.to_string();
            return Err(Unanswered { model, why, transient: false, cost: None });
        }
        let mut patience = Patience::default();
        loop {
            let fault = match self.one_turn(conversation, tools, hear).await {
                Ok(turn) => return Ok(turn),
                Err(fault) => fault,
            };
            if !patience.waited(&fault).await {
                let cost = fault.begun.map(|begun| begun.cost);
                let (why, transient) = (fault.why, fault.transient);
                return Err(Unanswered { model, why, transient, cost });
            }
        }
    }

    async fn one_turn(
        &self,
        conversation: &Conversation,
        tools: &[ToolSchema],
        hear: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Turn, Fault> {
        let skipped = Skipped::default();
        let options = self.talk_options(&skipped);
        let request = request(conversation, tools, self.profile.provider);
        let stream = self
            .client()?
            .exec_chat_stream(self.target(), request, Some(&options))
            .await
            .map_err(|error| Fault::of(self, &error))?
            .stream;
        let mut heard = Heard::default();
        let outcome = self.listen(stream, &mut heard, &skipped, hear).await;
        let asked = || conversation.guess_tokens();
        match outcome {
            Ok(Ended { stop, usage, content }) => {
                let cost = self.cost(asked, &heard.text, usage.as_ref());
                let (calls, thoughts) = said(content, tools);
                let stop = stop_of(stop, !calls.is_empty());
                Ok(Turn { text: heard.text, calls, thoughts, cost, stop })
            }
            Err(fault) => {
                let cost = self.cost(asked, &heard.text, None);
                let text = heard.text;
                let begun = heard.begun.then(|| Box::new(Begun { text, cost }));
                Err(Fault { begun, ..fault })
            }
        }
    }

    /// What a turn is asked with: the client keeps calls, and what must go back with them.
    fn talk_options(&self, skipped: &Skipped) -> ChatOptions {
        self.own_options(self.profile.max_output_tokens, skipped)
            .with_capture_tool_calls(true)
            .with_capture_reasoning_content(true)
    }
}

/// That a turn ended with calls is no reason of its own, whatever the provider's word for it.
fn stop_of(stop: Stop, calls: bool) -> Stop {
    match stop {
        Stop::Other(_) if calls => Stop::Finished,
        other => other,
    }
}

/// The calls of a turn, and what must go back with them.
fn said(content: Option<MessageContent>, tools: &[ToolSchema]) -> (Vec<Call>, Vec<Value>) {
    let (mut calls, mut thoughts) = (Vec::new(), Vec::new());
    let mut ids = BTreeSet::new();
    for part in content.map(MessageContent::into_parts).unwrap_or_default() {
        match part {
            ContentPart::ToolCall(call) => calls.push(call_of(call, tools, &mut ids)),
            ContentPart::ThoughtSignature(_)
            | ContentPart::ReasoningContent(_)
            | ContentPart::Custom(_) => thoughts.extend(serde_json::to_value(part)),
            _ => {}
        }
    }
    (calls, thoughts)
}

fn call_of(call: ToolCall, tools: &[ToolSchema], ids: &mut BTreeSet<String>) -> Call {
    let known = tools.iter().find(|tool| wire_name(&tool.name) == call.fn_name);
    let name =
        known.map_or_else(|| clean::line(&call.fn_name, MAX_NAME_CHARS), |tool| tool.name.clone());
    let args = match call.fn_arguments {
        // A tool without arguments is called with none at all by some.
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        args => args,
    };
    let mut id = call.call_id;
    for number in 2.. {
        if ids.insert(id.clone()) {
            break;
        }
        id = format!("{id}-{number}");
    }
    Call { id, name, args, signatures: call.thought_signatures.unwrap_or_default() }
}

/// A tool's name as every provider takes it: letters, digits, `_` and `-`.
fn wire_name(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(letter).collect()
}

/// The conversation as the client wants it.
fn request(
    conversation: &Conversation,
    tools: &[ToolSchema],
    provider: ModelProvider,
) -> ChatRequest {
    let messages = conversation.messages.iter().flat_map(|one| messages(one, provider)).collect();
    let tools = tools.iter().map(|tool| {
        Tool::new(wire_name(&tool.name))
            .with_description(tool.description.clone())
            .with_schema(tool.args.clone())
    });
    let request = ChatRequest::from_messages(messages).with_tools(tools.collect::<Vec<_>>());
    if conversation.system.is_empty() {
        return request;
    }
    request.with_system(conversation.system.clone())
}

fn messages(message: &Message, provider: ModelProvider) -> Vec<ChatMessage> {
    match message {
        Message::User { text } => vec![ChatMessage::user(text.clone())],
        Message::Assistant { text, calls, thoughts } => {
            let thoughts =
                thoughts.iter().filter_map(|part| serde_json::from_value(part.clone()).ok());
            let mut parts: Vec<ContentPart> = thoughts.collect();
            // Nobody takes a text without a letter in it.
            if !text.trim().is_empty() {
                parts.push(ContentPart::Text(text.clone()));
            }
            parts.extend(calls.iter().map(|call| ContentPart::ToolCall(told_again(call))));
            vec![ChatMessage::assistant(MessageContent::from_parts(parts))]
        }
        Message::Results { results } => {
            let responses: Vec<ToolResponse> = results.iter().map(response).collect();
            match provider {
                // The client puts one result into one message of Ollama's.
                ModelProvider::Ollama => responses.into_iter().map(ChatMessage::from).collect(),
                _ => vec![ChatMessage::from(responses)],
            }
        }
    }
}

/// A call as its provider hears it again: arguments that were none are shown as what they were.
fn told_again(call: &Call) -> ToolCall {
    let fn_arguments = match &call.args {
        Value::Object(_) => call.args.clone(),
        other => {
            let text = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
            Value::Object(Map::from_iter([("malformed".to_owned(), Value::String(text))]))
        }
    };
    let signatures = (!call.signatures.is_empty()).then(|| call.signatures.clone());
    ToolCall {
        call_id: call.id.clone(),
        fn_name: wire_name(&call.name),
        fn_arguments,
        thought_signatures: signatures,
    }
}

fn response(result: &CallResult) -> ToolResponse {
    ToolResponse::new(result.call.clone(), result.content.clone())
        .with_fn_name(wire_name(&result.tool))
}
