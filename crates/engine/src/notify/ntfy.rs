//! A push by ntfy, published as JSON so that nothing of a title is ever a header.

use aurora_model::Tier;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::json;

use super::message::Message;
use super::route::{Fault, Secret, Sender, Sending};
use super::web::Place;
use super::webhook::header_id;

/// Pushes to one topic.
pub(super) struct Ntfy {
    place: Place,
    topic: String,
    authorization: Option<HeaderValue>,
}

impl Ntfy {
    pub(super) fn new(to: &str, token: Option<&Secret>) -> Result<Self, String> {
        let place = Place::new(to)?;
        let path = place.path().trim_matches('/').to_owned();
        let (below, topic) = path.rsplit_once('/').unwrap_or(("", &path));
        let authorization = token.map(|token| {
            let value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()));
            value.map_err(|_| "its token cannot be one".to_owned())
        });
        let mut authorization = authorization.transpose()?;
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        let topic = topic.to_owned();
        Ok(Self { place: place.with_path(&format!("/{below}")), topic, authorization })
    }
}

/// How loud it is.
const fn priority(tier: Tier) -> u8 {
    match tier {
        Tier::Low => 2,
        Tier::Medium => 3,
        Tier::High => 4,
        Tier::Critical => 5,
    }
}

/// A name of this message that ntfy takes: a second push of it is shown in place of the first.
fn sequence(id: &str) -> String {
    let tag = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, id.as_bytes());
    tag.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

impl Sender for Ntfy {
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a> {
        Box::pin(async move {
            let data = &message.data;
            let mut body = json!({
                "topic": self.topic,
                "title": message.what(),
                "message": format!("{}\n{}", data.title, message.body()),
                "priority": priority(data.tier),
                "tags": [data.tier.name(), data.event],
                "sequence_id": sequence(&data.id),
            });
            if let (Some(link), Some(fields)) = (&data.link, body.as_object_mut()) {
                fields.insert("click".to_owned(), json!(link));
            }
            let mut headers = HeaderMap::new();
            let id = HeaderValue::from_str(&header_id(&data.id));
            headers.insert("webhook-id", id.map_err(|error| Fault::refused(error.to_string()))?);
            if let Some(authorization) = &self.authorization {
                headers.insert(AUTHORIZATION, authorization.clone());
            }
            self.place.post(headers, body.to_string()).await
        })
    }
}
