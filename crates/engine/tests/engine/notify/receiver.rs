//! Receivers on this machine: one that takes HTTP, and one that takes mail.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// One call that was received.
#[derive(Debug, Clone, Default)]
pub struct Call {
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Call {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn id(&self) -> String {
        self.headers["webhook-id"].clone()
    }
}

/// Takes HTTP and answers with a status; with 0 it never answers.
pub struct Web {
    pub address: String,
    calls: Arc<Mutex<Vec<Call>>>,
    status: Arc<AtomicU16>,
    task: JoinHandle<()>,
}

impl Drop for Web {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Web {
    pub async fn new(status: u16) -> Self {
        Self::at("127.0.0.1:0", status).await
    }

    pub async fn at(address: &str, status: u16) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let calls: Arc<Mutex<Vec<Call>>> = Arc::default();
        let kept = Arc::clone(&calls);
        let status = Arc::new(AtomicU16::new(status));
        let told = Arc::clone(&status);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(answer(stream, Arc::clone(&told), Arc::clone(&kept)));
            }
        });
        Self { address, calls, status, task }
    }

    /// Answers otherwise from now on.
    pub fn answers(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }
}

async fn answer(
    stream: TcpStream,
    status: Arc<AtomicU16>,
    calls: Arc<Mutex<Vec<Call>>>,
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut call = Call { path: line.split(' ').nth(1)?.to_owned(), ..Call::default() };
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        call.headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = call.headers.get("content-length").and_then(|text| text.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    call.body = String::from_utf8(body).unwrap();
    calls.lock().unwrap().push(call);
    let status = status.load(Ordering::SeqCst);
    if status == 0 {
        std::future::pending::<()>().await;
    }
    let text = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(text.as_bytes()).await.ok()?;
    stream.flush().await.ok()
}

/// One mail that was received.
#[derive(Debug, Clone, Default)]
pub struct Letter {
    pub from: String,
    pub to: Vec<String>,
    pub head: Vec<String>,
    pub body: String,
}

/// Takes mail.
pub struct Post {
    pub address: String,
    letters: Arc<Mutex<Vec<Letter>>>,
    task: JoinHandle<()>,
}

impl Drop for Post {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Post {
    pub async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let letters: Arc<Mutex<Vec<Letter>>> = Arc::default();
        let kept = Arc::clone(&letters);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                talk(stream, &kept).await;
            }
        });
        Self { address, letters, task }
    }

    pub fn letters(&self) -> Vec<Letter> {
        self.letters.lock().unwrap().clone()
    }
}

async fn talk(stream: TcpStream, letters: &Mutex<Vec<Letter>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 here\r\n").await.ok()?;
    let mut letter = Letter::default();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        let (verb, rest) = line.split_at(line.len().min(4));
        let reply = match verb.to_ascii_uppercase().as_str() {
            "EHLO" | "HELO" => "250 here",
            "MAIL" => {
                letter.from = rest.to_owned();
                "250 ok"
            }
            "RCPT" => {
                letter.to.push(rest.to_owned());
                "250 ok"
            }
            "DATA" => {
                stream.write_all(b"354 go\r\n").await.ok()?;
                take(&mut stream, &mut letter).await?;
                letters.lock().unwrap().push(std::mem::take(&mut letter));
                "250 ok"
            }
            "QUIT" => {
                stream.write_all(b"221 bye\r\n").await.ok()?;
                return Some(());
            }
            _ => "502 what",
        };
        stream.write_all(format!("{reply}\r\n").as_bytes()).await.ok()?;
    }
}

async fn take(stream: &mut BufReader<TcpStream>, letter: &mut Letter) -> Option<()> {
    let mut in_head = true;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let line = line.trim_end_matches("\r\n").to_owned();
        match line.as_str() {
            "." => return Some(()),
            "" if in_head => in_head = false,
            _ if in_head => letter.head.push(line),
            _ => letter.body.push_str(&format!("{line}\n")),
        }
    }
}
