//! A signed call after the Standard Webhooks convention: the receiver can tell that it is from us,
//! that it is fresh, and whether it had it before.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderMap, HeaderValue};

use super::message::Message;
use super::route::{Fault, Secret, Sender, Sending};
use super::web::Place;

/// What a secret begins with, so that it is not mistaken for something else.
const BEGINNING: &str = "whsec_";

/// Calls one address.
pub(super) struct Webhook {
    place: Place,
    keys: Vec<Key>,
}

impl Webhook {
    pub(super) fn new(to: &str, secrets: &[Secret]) -> Result<Self, String> {
        let words = secrets.iter().flat_map(|secret| secret.reveal().split_whitespace());
        let keys: Result<Vec<Key>, String> = words.map(key).collect();
        let keys = keys?;
        if keys.is_empty() {
            return Err("its secret is empty".to_owned());
        }
        Ok(Self { place: Place::new(to)?, keys })
    }
}

/// The key of a secret.
fn key(secret: &str) -> Result<Key, String> {
    let wrong = || "its secret must be whsec_ and 24 to 64 random bytes in base64".to_owned();
    let text = secret.strip_prefix(BEGINNING).ok_or_else(wrong)?;
    let bytes = STANDARD.decode(text).map_err(|_| wrong())?;
    if !(24..=64).contains(&bytes.len()) {
        return Err(wrong());
    }
    Ok(Key::new(HMAC_SHA256, &bytes))
}

/// The name of a message for the header. What is signed is cut at full stops, so there is none in it.
pub(super) fn header_id(id: &str) -> String {
    id.replace('.', "~")
}

/// The signatures, one for each key: a receiver that knows one of them is content.
fn signatures(keys: &[Key], id: &str, seconds: u64, body: &str) -> String {
    let signed = format!("{id}.{seconds}.{body}");
    let one = |key: &Key| format!("v1,{}", STANDARD.encode(sign(key, signed.as_bytes())));
    keys.iter().map(one).collect::<Vec<_>>().join(" ")
}

impl Sender for Webhook {
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a> {
        Box::pin(async move {
            let body = serde_json::to_string(message);
            let body = body.map_err(|error| Fault::refused(error.to_string()))?;
            let id = header_id(&message.data.id);
            // The time is that of this try: a receiver refuses what is old.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            let mut headers = HeaderMap::new();
            for (name, value) in [
                ("webhook-signature", signatures(&self.keys, &id, now, &body)),
                ("webhook-timestamp", now.to_string()),
                ("webhook-id", id),
            ] {
                let value = HeaderValue::from_str(&value);
                headers.insert(name, value.map_err(|error| Fault::refused(error.to_string()))?);
            }
            self.place.post(headers, body).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// APR-9: the example of the convention itself.
    #[test]
    fn the_signature_is_that_of_the_convention() {
        let key = key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let found = signatures(&[key], id, 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(found, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    /// APR-9: a secret that is none is refused, and not shown.
    #[test]
    fn a_secret_that_is_none_is_refused_and_not_shown() {
        for secret in ["", "hunter2", "whsec_", "whsec_aHVudGVyMg==", "whsec_!!!"] {
            let secret = Secret::new(secret);
            let why = Webhook::new("http://127.0.0.1/", std::slice::from_ref(&secret)).err();
            let why = why.unwrap();
            assert!(!why.contains("hunter2") && !why.contains("aHVu"), "{why}");
            assert_eq!(format!("{secret:?}"), "[hidden]");
        }
    }
}
