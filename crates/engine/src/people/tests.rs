//! Tokens: shown once, known by their hash, and worth nothing when their time is over.

use std::sync::Arc;

use aurora_model::Timestamp;
use aurora_store::{MemoryStore, Store};

use super::{NewToken, Presented, Secret, Token, TokenBook, TokenKind};

fn at(unix_ms: i64) -> Timestamp {
    Timestamp { unix_ms }
}

fn new(expires_at: Option<Timestamp>) -> NewToken {
    NewToken {
        name: "laptop".to_owned(),
        person: "ana".to_owned(),
        roles: vec!["lead".to_owned()],
        kind: TokenKind::Person,
        expires_at,
    }
}

fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

// APR-8
#[test]
fn a_token_opens_until_it_expires_or_is_taken_back_also_by_another_process() {
    block(async {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (book, other) = (TokenBook::new(Arc::clone(&store)), TokenBook::new(store));
        let secret = Secret::of([7; 32]);
        let made = book.create(new(Some(at(1000))), &secret, "ana", at(1)).await.unwrap();
        let valid = |token: &Token| Presented::Valid(Box::new(token.clone()));
        let presented = other.check(secret.expose(), at(999)).await.unwrap();
        assert_eq!(presented, valid(&made));
        assert_eq!(other.check(secret.expose(), at(1000)).await.unwrap(), Presented::Expired);
        let longer = format!("{}0", secret.expose());
        assert_eq!(other.check(&longer, at(2)).await.unwrap(), Presented::Unknown);
        assert_eq!(other.check("", at(2)).await.unwrap(), Presented::Unknown);
        assert_eq!(book.revoke("tok-nobody", "ana", at(3)).await.unwrap(), None);
        let revoked = book.revoke(&made.id, "ana", at(3)).await.unwrap().unwrap();
        assert_eq!(revoked.revoked_at, Some(at(3)));
        book.revoke(&made.id, "ana", at(4)).await.unwrap();
        assert_eq!(other.check(secret.expose(), at(5)).await.unwrap(), Presented::Revoked);
        assert_eq!(other.all().await.unwrap(), [revoked]);
    });
}

// APR-8
#[test]
fn the_log_holds_the_hash_of_a_token_and_never_the_token() {
    block(async {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let secret = Secret::of([0xab; 32]);
        let book = TokenBook::new(Arc::clone(&store));
        book.create(new(None), &secret, "ana", at(1)).await.unwrap();
        let records = store.read_all(0, 10).await.unwrap();
        let bits = secret.expose().trim_start_matches("aur_");
        assert_eq!(bits.len(), 64);
        assert!(records.iter().all(|record| !record.payload.contains(bits)));
        assert!(!format!("{secret:?}").contains(bits));
    });
}
