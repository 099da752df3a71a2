//! One call to a model: the request in its provider's shape, and the stream of the answer.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use aurora_model::{Cost, Tokens};
use futures_core::Stream;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatOptions, ChatRequest, ChatResponseFormat, ChatStream, ChatStreamEvent, JsonSpec,
    MessageContent, ReasoningEffort, StopReason, StreamEnd, Usage,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};
use serde_json::Value;

use super::fault::{Begun, Fault};
use super::{Completion, Model, Request, Stop, guess_input};
use crate::price;
use crate::profile::ModelProvider;

/// An answer that is longer is not read further.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// How an answer is made to follow a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// It need not.
    Free,
    /// By the provider.
    Schema,
    /// By words, where the provider sees to it that it is JSON.
    Json,
    /// By words alone.
    Words,
}

impl Shape {
    /// The strictest that the provider has.
    pub fn for_request(provider: ModelProvider, request: &Request) -> Self {
        match (&request.schema, provider) {
            (None, _) => Self::Free,
            // The client does not hand schemas to Ollama.
            (Some(_), ModelProvider::Ollama) => Self::Json,
            (Some(_), _) => Self::Schema,
        }
    }
}

/// What has come of an answer.
#[derive(Default)]
pub(super) struct Heard {
    pub text: String,
    /// Whether anything came, thoughts included.
    pub begun: bool,
}

/// How an answer ended.
pub(super) struct Ended {
    pub stop: Stop,
    pub usage: Option<Usage>,
    /// What the client kept of it, where it was told to.
    pub content: Option<MessageContent>,
}

impl Ended {
    fn too_long() -> Self {
        Self { stop: Stop::Length, usage: None, content: None }
    }
}

/// An error that the client skipped in the stream: Ollama's come as lines of their own.
pub(super) type Skipped = Arc<Mutex<Option<String>>>;

impl Model {
    /// Asks once. Dropping the future closes the connection.
    pub(super) async fn call(
        &self,
        request: &Request,
        shape: Shape,
        hear: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Completion, Fault> {
        let skipped = Skipped::default();
        let options = self.options(request, shape, &skipped);
        let stream = self
            .client()?
            .exec_chat_stream(self.target(), chat(request, shape), Some(&options))
            .await
            .map_err(|error| Fault::of(self, &error))?
            .stream;
        let mut heard = Heard::default();
        let outcome = self.listen(stream, &mut heard, &skipped, hear).await;
        let text = heard.text;
        let asked = || guess_input(request);
        match outcome {
            Ok(Ended { stop, usage, .. }) => {
                let cost = self.cost(asked, &text, usage.as_ref());
                Ok(Completion { text, cost, stop })
            }
            Err(fault) => {
                let cost = self.cost(asked, &text, None);
                let begun = heard.begun.then(|| Box::new(Begun { text, cost }));
                Err(Fault { begun, ..fault })
            }
        }
    }

    pub(super) async fn listen(
        &self,
        mut stream: ChatStream,
        heard: &mut Heard,
        skipped: &Skipped,
        hear: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Ended, Fault> {
        while let Some(event) = poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)).await {
            match event.map_err(|error| Fault::of(self, &error))? {
                ChatStreamEvent::Chunk(chunk) => {
                    heard.begun = true;
                    heard.text.push_str(&chunk.content);
                    hear(&chunk.content);
                    if heard.text.len() > MAX_TEXT_BYTES {
                        return Ok(Ended::too_long());
                    }
                }
                ChatStreamEvent::ReasoningChunk(_) => heard.begun = true,
                ChatStreamEvent::ToolCallChunk(chunk) => {
                    heard.begun = true;
                    let args = chunk.tool_call.fn_arguments;
                    if args.as_str().is_some_and(|text| text.len() > MAX_TEXT_BYTES) {
                        return Ok(Ended::too_long());
                    }
                }
                ChatStreamEvent::End(end) if self.is_end(&end) => {
                    let stop = stop(end.captured_stop_reason);
                    let (usage, content) = (end.captured_usage, end.captured_content);
                    return Ok(Ended { stop, usage, content });
                }
                // The client ends some streams itself when they break off.
                ChatStreamEvent::End(_) => break,
                _ => {}
            }
        }
        let said = skipped.lock().unwrap_or_else(PoisonError::into_inner).take();
        Err(Fault::cut(self, heard.begun, said.as_deref()))
    }

    /// Whether the provider itself ended the answer.
    fn is_end(&self, end: &StreamEnd) -> bool {
        let counted =
            end.captured_usage.as_ref().is_some_and(|usage| usage.completion_tokens.is_some());
        match self.profile.provider {
            ModelProvider::Anthropic | ModelProvider::OpenAi => true,
            ModelProvider::Gemini => end.captured_stop_reason.is_some(),
            // Older versions end by counting, without a reason.
            ModelProvider::Ollama => end.captured_stop_reason.is_some() || counted,
        }
    }

    pub(super) fn target(&self) -> ServiceTarget {
        let kind = match self.profile.provider {
            ModelProvider::Anthropic => AdapterKind::Anthropic,
            ModelProvider::OpenAi => AdapterKind::OpenAI,
            ModelProvider::Gemini => AdapterKind::Gemini,
            ModelProvider::Ollama => AdapterKind::Ollama,
        };
        // The client takes what is before `::` for a provider; with one there, the name stays whole.
        let name = format!("{}::{}", kind.as_lower_str(), self.profile.name);
        // A server that needs no key still gets a header.
        let key = self.key.clone().unwrap_or_else(|| "none".to_owned());
        ServiceTarget {
            endpoint: Endpoint::from_owned(self.address.endpoint.as_str()),
            auth: AuthData::from_single(key),
            model: ModelIden::new(kind, name),
        }
    }

    fn options(&self, request: &Request, shape: Shape, skipped: &Skipped) -> ChatOptions {
        let mut options = self.own_options(self.max_output_tokens(request), skipped);
        match (shape, &request.schema) {
            (Shape::Schema, Some(schema)) => {
                options = options.with_response_format(JsonSpec::new("answer", schema.clone()));
            }
            (Shape::Json, _) => {
                options = options.with_response_format(ChatResponseFormat::JsonMode)
            }
            _ => {}
        }
        options
    }

    /// What every call is made with.
    pub(super) fn own_options(&self, max_tokens: u32, skipped: &Skipped) -> ChatOptions {
        let mut options =
            ChatOptions::default().with_capture_usage(true).with_max_tokens(max_tokens);
        match self.profile.provider {
            ModelProvider::OpenAi
                if ReasoningEffort::from_model_name(&self.profile.name).0.is_some() =>
            {
                // The client would take `medium` off `mistral-medium` and think harder instead. A
                // budget is what this API does not have, so nothing is taken off and nothing sent.
                options.with_reasoning_effort(ReasoningEffort::Budget(0))
            }
            ModelProvider::Ollama => {
                if let Some(key) = &self.key {
                    options = options
                        .with_extra_headers(("Authorization".to_owned(), format!("Bearer {key}")));
                }
                let skipped = Arc::clone(skipped);
                options.with_raw_frame_fn(move |_, frame| {
                    let error =
                        frame.json().and_then(|json| Some(json.get("error")?.as_str()?.to_owned()));
                    if error.is_some() {
                        *skipped.lock().unwrap_or_else(PoisonError::into_inner) = error;
                    }
                })
            }
            _ => options,
        }
    }

    /// What it cost: by the provider's own count, or by a guess.
    pub(super) fn cost(
        &self,
        asked: impl FnOnce() -> u64,
        text: &str,
        usage: Option<&Usage>,
    ) -> Cost {
        let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
        let input = count(usage.and_then(|usage| usage.prompt_tokens));
        let output = count(usage.and_then(|usage| usage.completion_tokens));
        let tokens = Tokens {
            input: input.unwrap_or_else(asked),
            output: output.unwrap_or_else(|| price::guess_tokens(text)),
        };
        let price = price::of(&self.profile);
        if input.is_some() && output.is_some() {
            price::counted(&self.profile.name, price, tokens)
        } else {
            price::guessed(&self.profile.name, price, tokens)
        }
    }
}

/// The request as the client wants it.
fn chat(request: &Request, shape: Shape) -> ChatRequest {
    let chat = ChatRequest::from_user(request.prompt.clone());
    let mut system = request.system.clone().unwrap_or_default();
    if let (Shape::Json | Shape::Words, Some(schema)) = (shape, &request.schema) {
        system.push_str(&in_words(schema));
    }
    if system.is_empty() { chat } else { chat.with_system(system) }
}

/// A schema for a model that is only told of it.
fn in_words(schema: &Value) -> String {
    format!(
        "\n\nAnswer with one JSON object and nothing else: no text before or after it, no code \
         fence. It must follow this JSON Schema:\n{schema}"
    )
}

fn stop(reason: Option<StopReason>) -> Stop {
    match reason {
        None | Some(StopReason::Completed(_) | StopReason::StopSequence(_)) => Stop::Finished,
        Some(StopReason::MaxTokens(_)) => Stop::Length,
        Some(StopReason::ContentFilter(_)) => Stop::Filtered,
        Some(StopReason::ToolCall(word) | StopReason::Other(word)) => Stop::Other(word),
    }
}
