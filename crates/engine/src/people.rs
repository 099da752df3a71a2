//! Who may speak from elsewhere: people and programs that hold a token, of which only the hash is kept.
//!
//! Tokens are a stream of the log, so that making one and taking it back are in the audit as well, and
//! every process that serves knows of it with its next request.

mod secret;

use std::sync::Arc;

use aurora_model::{Digest, Timestamp};
use aurora_store::{Append, Expected, NewRecord, Record, Store, StreamId};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::error::{Error, Result};

pub use secret::{PREFIX, Secret, same};

/// The stream of all tokens.
pub const STREAM: &str = "tokens";
const SCHEMA: u16 = 1;
const BATCH: usize = 1000;
const MAX_RETRIES: usize = 100;

/// What speaks with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// A person: may read, ask and decide.
    Person,
    /// An agent: may read and ask, and never decide.
    Agent,
    /// Another program, such as one that gathers figures: may read and ask, and never decide.
    Service,
}

impl TokenKind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Agent => "agent",
            Self::Service => "service",
        }
    }
}

/// What a token is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// What its owner calls it.
    pub name: String,
    /// Whose name it speaks in: a person's, an agent's, a program's.
    pub person: String,
    /// Their roles.
    pub roles: Vec<String>,
    /// What speaks with it.
    pub kind: TokenKind,
    /// When it ends; nothing for never.
    pub expires_at: Option<Timestamp>,
}

/// A token as it is known: everything but the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// By which it is taken back.
    pub id: String,
    /// What its owner calls it.
    pub name: String,
    /// Whose name it speaks in.
    pub person: String,
    /// Their roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// What speaks with it.
    pub kind: TokenKind,
    /// When it ends; nothing for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The SHA-256 of the whole text of the token.
    pub hash: Digest,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

impl Token {
    /// Whether it opens anything at this moment.
    #[must_use]
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// What happened to a token, as it is kept for ever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TokenEvent {
    /// It was made.
    TokenCreated {
        /// What it is.
        token: Token,
        /// By whom.
        by: String,
    },
    /// It was taken back.
    TokenRevoked {
        /// Which.
        id: String,
        /// By whom.
        by: String,
    },
}

impl TokenEvent {
    const fn kind(&self) -> &'static str {
        match self {
            Self::TokenCreated { .. } => "token_created",
            Self::TokenRevoked { .. } => "token_revoked",
        }
    }
}

/// What a presented token turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presented {
    /// It opens.
    Valid(Box<Token>),
    /// Its time is over.
    Expired,
    /// It was taken back.
    Revoked,
    /// Nobody knows it.
    Unknown,
}

/// All tokens of a log.
pub struct TokenBook {
    store: Arc<dyn Store>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    version: u64,
    tokens: Vec<Token>,
}

impl TokenBook {
    /// The tokens of a log.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, known: Mutex::default() }
    }

    /// All of them, the oldest first, also those that open nothing any more.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn all(&self) -> Result<Vec<Token>> {
        let mut known = self.known.lock().await;
        self.catch_up(&mut known).await?;
        Ok(known.tokens.clone())
    }

    /// Makes a token from a secret that nobody else knows. Its text is never recorded.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub async fn create(
        &self,
        new: NewToken,
        secret: &Secret,
        by: &str,
        now: Timestamp,
    ) -> Result<Token> {
        let NewToken { name, person, roles, kind, expires_at } = new;
        let hash = secret.hash();
        // What names it tells nothing about the secret, but its hash.
        let id: String = hash.as_str().chars().take(12).collect();
        let id = format!("tok-{id}");
        let created_at = now;
        let token =
            Token { id, name, person, roles, kind, expires_at, hash, created_at, revoked_at: None };
        let event = TokenEvent::TokenCreated { token: token.clone(), by: by.to_owned() };
        self.record(now, |_| Some(event.clone())).await?;
        Ok(token)
    }

    /// Takes a token back; nothing when there is none of that name. One that was taken back before
    /// stays so.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub async fn revoke(&self, id: &str, by: &str, now: Timestamp) -> Result<Option<Token>> {
        let event = TokenEvent::TokenRevoked { id: id.to_owned(), by: by.to_owned() };
        let open = |tokens: &[Token]| {
            tokens.iter().any(|token| token.id == id && token.revoked_at.is_none())
        };
        self.record(now, |tokens| open(tokens).then(|| event.clone())).await?;
        Ok(self.all().await?.into_iter().find(|token| token.id == id))
    }

    /// What a presented text is. Every token is compared, and each of them whole, so that how long it
    /// takes says nothing about any of them.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn check(&self, text: &str, now: Timestamp) -> Result<Presented> {
        let presented = Secret::hash_of(text);
        let mut known = self.known.lock().await;
        self.catch_up(&mut known).await?;
        let mut found = None;
        for token in &known.tokens {
            if same(&token.hash, &presented) {
                found = Some(token);
            }
        }
        Ok(match found {
            None => Presented::Unknown,
            Some(token) if token.revoked_at.is_some() => Presented::Revoked,
            Some(token) if !token.is_valid(now) => Presented::Expired,
            Some(token) => Presented::Valid(Box::new(token.clone())),
        })
    }

    async fn record(
        &self,
        now: Timestamp,
        event: impl Fn(&[Token]) -> Option<TokenEvent>,
    ) -> Result<()> {
        let mut known = self.known.lock().await;
        for _ in 0..MAX_RETRIES {
            self.catch_up(&mut known).await?;
            let Some(event) = event(&known.tokens) else { return Ok(()) };
            let append = Append {
                stream: StreamId(STREAM.to_owned()),
                expected: Expected::Version(known.version),
                at: now,
                records: vec![record_of(&event)?],
                outgoing: Vec::new(),
                mark: None,
            };
            match self.store.append(append).await {
                Ok(_) => return Ok(()),
                Err(aurora_store::Error::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Lost { what: "the tokens are written by others all the time".to_owned() })
    }

    async fn catch_up(&self, known: &mut Known) -> Result<()> {
        let stream = StreamId(STREAM.to_owned());
        loop {
            let records = self.store.read(&stream, known.version, BATCH).await?;
            let full = records.len() == BATCH;
            for record in &records {
                apply(&mut known.tokens, event_of(record)?, record.at);
                known.version = record.version;
            }
            if !full {
                return Ok(());
            }
        }
    }
}

fn apply(tokens: &mut Vec<Token>, event: TokenEvent, at: Timestamp) {
    match event {
        TokenEvent::TokenCreated { token, .. } => tokens.push(token),
        TokenEvent::TokenRevoked { id, .. } => {
            for token in tokens.iter_mut().filter(|token| token.id == id) {
                token.revoked_at.get_or_insert(at);
            }
        }
    }
}

fn record_of(event: &TokenEvent) -> Result<NewRecord> {
    let payload = serde_json::to_string(event)
        .map_err(|error| Error::Lost { what: format!("a token cannot be written: {error}") })?;
    Ok(NewRecord { kind: event.kind().to_owned(), schema: SCHEMA, payload })
}

fn event_of(record: &Record) -> Result<TokenEvent> {
    serde_json::from_str(&record.payload).map_err(|error| Error::Unreadable {
        stream: record.stream.to_string(),
        version: record.version,
        why: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
