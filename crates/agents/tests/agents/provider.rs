//! A provider on the loopback: plays answers in the shapes of the four APIs and keeps what it was asked.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use aurora_agents::ModelProvider;
use serde_json::{Value, json};

/// What is answered to one request.
pub enum Reply {
    /// A status with a body.
    Status(u16, String),
    /// A status with headers.
    Headed(u16, String),
    /// Pieces of a body, one after the other, and then a proper end.
    Stream(Vec<String>),
    /// Pieces of a body, and then the connection is gone.
    Cut(Vec<String>),
    /// Nothing, until the other side goes away.
    Never,
}

/// A request as it came.
#[derive(Debug)]
pub struct Asked {
    /// Method and path.
    pub line: String,
    /// Everything up to the body, in lower case.
    pub head: String,
    /// The body.
    pub body: Value,
}

/// A provider that plays its replies in order, one per connection.
pub struct Provider {
    /// Where it is.
    pub url: String,
    asked: Receiver<Asked>,
    left: Receiver<()>,
}

impl Provider {
    /// Begins to listen.
    pub fn playing(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (tell, asked) = channel();
        let (tell_left, left) = channel();
        std::thread::spawn(move || {
            for reply in replies {
                let Ok((stream, _)) = listener.accept() else { return };
                serve(stream, reply, &tell, &tell_left);
            }
        });
        Self { url, asked, left }
    }

    /// Everything that was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.try_iter().collect()
    }

    /// Waits until it was asked.
    pub fn wait_until_asked(&self) {
        self.asked.recv_timeout(Duration::from_secs(60)).expect("nobody asks");
    }

    /// Waits until whoever was never answered has gone away.
    pub fn wait_until_left(&self) {
        self.left.recv_timeout(Duration::from_secs(60)).expect("the connection stays open");
    }
}

fn serve(stream: TcpStream, reply: Reply, tell: &Sender<Asked>, tell_left: &Sender<()>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let _ = tell.send(read(&mut reader));
    // Whoever asked may have gone; that is not this side's fault.
    let _ = answer(stream, reply, &mut reader, tell_left);
}

fn read(reader: &mut impl BufRead) -> Asked {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        if header.trim().is_empty() {
            break;
        }
        let header = header.to_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&header);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body = serde_json::from_slice(&body).unwrap();
    Asked { line: line.trim().to_owned(), head, body }
}

fn answer(
    mut stream: TcpStream,
    reply: Reply,
    reader: &mut impl Read,
    tell_left: &Sender<()>,
) -> std::io::Result<()> {
    let (pieces, whole) = match reply {
        Reply::Status(status, body) => return say(&mut stream, status, "", &body),
        Reply::Headed(status, headers) => return say(&mut stream, status, &headers, "see above"),
        Reply::Never => {
            let _ = reader.read(&mut [0]);
            let _ = tell_left.send(());
            return Ok(());
        }
        Reply::Stream(pieces) => (pieces, true),
        Reply::Cut(pieces) => (pieces, false),
    };
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n",
    )?;
    stream.write_all(b"transfer-encoding: chunked\r\n\r\n")?;
    for piece in pieces {
        write!(stream, "{:x}\r\n{piece}\r\n", piece.len())?;
        stream.flush()?;
    }
    if whole {
        stream.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}

fn say(stream: &mut TcpStream, status: u16, headers: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} Said\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

/// An answer in a provider's shape: its text in pieces, 11 tokens asked and 7 answered, and a reason.
pub fn speech(provider: ModelProvider, texts: &[&str], stop: &str) -> Vec<String> {
    match provider {
        ModelProvider::Anthropic => anthropic(texts, stop),
        ModelProvider::OpenAi => openai(texts, stop),
        ModelProvider::Gemini => gemini(texts, stop),
        ModelProvider::Ollama => ollama(texts, stop),
    }
}

/// The beginning of an answer, up to and with its text.
pub fn beginning(provider: ModelProvider, texts: &[&str]) -> Vec<String> {
    let whole = speech(provider, texts, "never");
    let keep = match provider {
        // message_start, content_block_start.
        ModelProvider::Anthropic => texts.len() + 2,
        _ => texts.len(),
    };
    whole.into_iter().take(keep).collect()
}

fn anthropic(texts: &[&str], stop: &str) -> Vec<String> {
    let event =
        |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
    let mut events = vec![
        event(json!({"type": "message_start", "message": {"id": "m", "type": "message",
            "role": "assistant", "content": [], "usage": {"input_tokens": 11, "output_tokens": 1}}})),
        event(json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}})),
    ];
    for text in texts {
        events.push(event(json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text}})));
    }
    events.push(event(json!({"type": "content_block_stop", "index": 0})));
    events.push(event(json!({"type": "message_delta", "delta": {"stop_reason": stop},
        "usage": {"output_tokens": 7}})));
    events.push(event(json!({"type": "message_stop"})));
    events
}

fn openai(texts: &[&str], stop: &str) -> Vec<String> {
    let chunk = |choices: Value, usage: Value| {
        let chunk = json!({"id": "c", "object": "chat.completion.chunk", "choices": choices,
            "usage": usage});
        format!("data: {chunk}\n\n")
    };
    let mut chunks: Vec<String> = texts
        .iter()
        .map(|text| chunk(json!([{"index": 0, "delta": {"content": text}}]), Value::Null))
        .collect();
    chunks.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": stop}]), Value::Null));
    chunks.push(chunk(
        json!([]),
        json!({"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}),
    ));
    chunks.push("data: [DONE]\n\n".to_owned());
    chunks
}

fn gemini(texts: &[&str], stop: &str) -> Vec<String> {
    let mut chunks: Vec<String> = Vec::new();
    for text in texts {
        let chunk =
            json!({"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}}]});
        chunks.push(format!("data: {chunk}\r\n\r\n"));
    }
    let last = json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": stop}],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}});
    chunks.push(format!("data: {last}\r\n\r\n"));
    chunks
}

fn ollama(texts: &[&str], stop: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        let line =
            json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": false});
        lines.push(format!("{line}\n"));
    }
    let mut last = String::new();
    let done = json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true,
        "done_reason": stop, "prompt_eval_count": 11, "eval_count": 7});
    writeln!(last, "{done}").unwrap();
    lines.push(last);
    lines
}

/// A turn with calls in a provider's shape: a text, calls of (name, id, arguments), 11 tokens asked
/// and 7 answered. Gemini's first call carries a signature.
pub fn calling(provider: ModelProvider, text: &str, calls: &[(&str, &str, &str)]) -> Vec<String> {
    match provider {
        ModelProvider::Anthropic => anthropic_calls(text, calls),
        ModelProvider::OpenAi => openai_calls(text, calls),
        ModelProvider::Gemini => gemini_calls(text, calls),
        ModelProvider::Ollama => ollama_calls(text, calls),
    }
}

/// A text in two pieces.
fn halves(text: &str) -> [&str; 2] {
    let (one, other) = text.split_at(text.len() / 2);
    [one, other]
}

fn anthropic_calls(text: &str, calls: &[(&str, &str, &str)]) -> Vec<String> {
    let event =
        |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
    let whole = anthropic(&[text], "tool_use");
    let (before, after) = whole.split_at(whole.len() - 2);
    let mut events = before.to_vec();
    for (at, (name, id, args)) in calls.iter().enumerate() {
        let index = at + 1;
        events.push(event(json!({"type": "content_block_start", "index": index,
            "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}})));
        for piece in halves(args) {
            events.push(event(json!({"type": "content_block_delta", "index": index,
                "delta": {"type": "input_json_delta", "partial_json": piece}})));
        }
        events.push(event(json!({"type": "content_block_stop", "index": index})));
    }
    events.extend(after.iter().cloned());
    events
}

fn openai_calls(text: &str, calls: &[(&str, &str, &str)]) -> Vec<String> {
    let delta = |delta: Value| {
        let chunk = json!({"id": "c", "choices": [{"index": 0, "delta": delta}]});
        format!("data: {chunk}\n\n")
    };
    let whole = openai(&[text], "tool_calls");
    let mut chunks = vec![whole[0].clone()];
    for (index, (name, id, args)) in calls.iter().enumerate() {
        let first = json!({"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""}});
        chunks.push(delta(json!({"tool_calls": [first]})));
        for piece in halves(args) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            chunks.push(delta(json!({"tool_calls": [more]})));
        }
    }
    chunks.extend(whole.into_iter().skip(1));
    chunks
}

/// What somebody that sends whole arguments makes of a text.
fn whole(args: &str) -> Value {
    serde_json::from_str(args).unwrap_or_else(|_| json!(args))
}

fn gemini_calls(text: &str, calls: &[(&str, &str, &str)]) -> Vec<String> {
    let mut parts = Vec::new();
    for (at, (name, id, args)) in calls.iter().enumerate() {
        let mut part = json!({"functionCall": {"name": name, "id": id, "args": whole(args)}});
        if at == 0 {
            part["thoughtSignature"] = json!("c2lnbmVk");
        }
        parts.push(part);
    }
    let chunk = json!({"candidates": [{"content": {"parts": parts, "role": "model"}}]});
    let mut chunks = gemini(&[text], "STOP");
    chunks.insert(1, format!("data: {chunk}\r\n\r\n"));
    chunks
}

fn ollama_calls(text: &str, calls: &[(&str, &str, &str)]) -> Vec<String> {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(name, id, args)| {
            json!({"id": id, "function": {"name": name, "arguments": whole(args)}})
        })
        .collect();
    let message = json!({"role": "assistant", "content": "", "tool_calls": calls});
    let line = json!({"model": "m", "message": message, "done": false});
    let mut lines = ollama(&[text], "stop");
    lines.insert(1, format!("{line}\n"));
    lines
}
