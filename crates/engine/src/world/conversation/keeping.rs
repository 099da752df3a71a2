//! Keeps a conversation beside the log: each message under its own hash, and a list of them, so that
//! parking again writes only what is new, and deciding never reads any of it.

use aurora_agents::talk::{CallResult, Conversation, Message, Progress};
use aurora_model::Digest;
use aurora_store::Store;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Which shape the list has.
const SCHEMA: u16 = 1;

/// What a parked conversation is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    schema: u16,
    system: Digest,
    messages: Vec<Digest>,
    /// The results that are there already, while others wait for a person.
    given: Vec<Digest>,
    progress: Progress,
}

/// What of a conversation is kept already.
#[derive(Debug, Clone, Default)]
pub(in crate::world) struct Kept {
    system: Option<Digest>,
    messages: Vec<Digest>,
}

impl Kept {
    /// Keeps what is not kept yet, and says under which hash all of it is found.
    pub async fn keep(&mut self, store: &dyn Store, talk: &Conversation) -> Result<Digest> {
        let system = match &self.system {
            Some(system) => system.clone(),
            None => store.put(talk.system.clone().into_bytes()).await?,
        };
        self.system = Some(system.clone());
        for message in talk.messages.iter().skip(self.messages.len()) {
            self.messages.push(store.put(written(message)?).await?);
        }
        let mut given = Vec::new();
        for result in &talk.given {
            given.push(store.put(written(result)?).await?);
        }
        let (messages, progress) = (self.messages.clone(), talk.progress.clone());
        let manifest = Manifest { schema: SCHEMA, system, messages, given, progress };
        Ok(store.put(written(&manifest)?).await?)
    }

    /// A conversation that was kept. Whatever is not what it was is an error.
    pub async fn load(store: &dyn Store, context: &Digest) -> Result<(Self, Conversation)> {
        let manifest: Manifest = read(store, context).await?;
        if manifest.schema != SCHEMA {
            let what = format!("a conversation of shape {} cannot be read", manifest.schema);
            return Err(Error::Lost { what });
        }
        let system = store.get(&manifest.system).await?;
        let system = String::from_utf8(system)
            .map_err(|error| Error::Lost { what: format!("a text is no text: {error}") })?;
        let mut messages: Vec<Message> = Vec::new();
        for digest in &manifest.messages {
            messages.push(read(store, digest).await?);
        }
        let mut given: Vec<CallResult> = Vec::new();
        for digest in &manifest.given {
            given.push(read(store, digest).await?);
        }
        let kept = Self { system: Some(manifest.system), messages: manifest.messages };
        Ok((kept, Conversation { system, messages, given, progress: manifest.progress }))
    }
}

fn written<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value)
        .map_err(|error| Error::Lost { what: format!("a message cannot be written: {error}") })
}

async fn read<T: DeserializeOwned>(store: &dyn Store, digest: &Digest) -> Result<T> {
    let bytes = store.get(digest).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Error::Lost { what: format!("{digest} cannot be read: {error}") })
}

#[cfg(test)]
mod tests {
    use aurora_agents::talk::{Call, Turn};
    use aurora_model::Cost;
    use aurora_store::MemoryStore;
    use serde_json::json;

    use super::*;

    fn turn(text: &str) -> Turn {
        let call = Call {
            id: "c".to_owned(),
            name: "t".to_owned(),
            args: json!({"x": 1}),
            signatures: vec!["s".to_owned()],
        };
        Turn {
            text: text.to_owned(),
            calls: vec![call],
            thoughts: vec![json!("t")],
            cost: Cost::default(),
            stop: aurora_agents::llm::Stop::Finished,
        }
    }

    fn result(content: &str) -> CallResult {
        let (call, tool) = ("c".to_owned(), "t".to_owned());
        CallResult { call, tool, content: content.to_owned(), is_error: false }
    }

    // APR-7: a restart loses nothing of what was said.
    #[tokio::test]
    async fn what_is_kept_is_loaded_as_it_was_and_parking_again_adds_only_what_is_new() {
        let store = MemoryStore::default();
        let mut talk = Conversation::begin("rules".to_owned(), "p".repeat(100_000));
        talk.take(turn("first"));
        talk.given = vec![result("early")];
        let mut kept = Kept::default();
        let context = kept.keep(&store, &talk).await.unwrap();
        assert_eq!(kept.messages.len(), 2);
        let (mut again, loaded) = Kept::load(&store, &context).await.unwrap();
        assert_eq!(loaded, talk);
        let mut talk = loaded;
        talk.given.clear();
        talk.answer(vec![result("late")]).unwrap();
        talk.take(turn("second"));
        let second = again.keep(&store, &talk).await.unwrap();
        assert!(second != context);
        assert_eq!(again.messages[..2], kept.messages[..], "what was kept is named, not written");
        let list = store.get(&second).await.unwrap();
        assert!(list.len() < 1000, "the list holds names, not what was said: {}", list.len());
        assert_eq!(Kept::load(&store, &second).await.unwrap().1, talk);
    }

    // APR-7
    #[tokio::test]
    async fn what_is_not_there_or_is_no_conversation_is_an_error() {
        let store = MemoryStore::default();
        let absent = aurora_model::Digest::of_bytes([7; 32]);
        assert!(Kept::load(&store, &absent).await.is_err());
        let other = store.put(b"{}".to_vec()).await.unwrap();
        assert!(Kept::load(&store, &other).await.is_err());
    }
}
