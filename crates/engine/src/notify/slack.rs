//! An incoming webhook as Slack and its likes have them.

use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use super::desk::escape;
use super::message::Message;
use super::route::{Sender, Sending};
use super::web::Place;

/// Writes into one room.
pub(super) struct Slack {
    place: Place,
}

impl Slack {
    pub(super) fn new(address: &str) -> Result<Self, String> {
        Ok(Self { place: Place::new(address)? })
    }
}

/// Text that is not ours, shown as it is: neither markup, nor a mention, nor a link.
fn quoted(text: &str) -> String {
    format!("`{}`", escape(&text.replace('`', "'")))
}

fn payload(message: &Message) -> Value {
    let what = escape(&message.what());
    let headline = format!("*{what}*: {}", quoted(&message.data.title));
    let details: Vec<String> = message
        .details()
        .into_iter()
        .map(|(word, text)| format!("{word}: {}", quoted(&text)))
        .collect();
    let look = match &message.data.link {
        Some(link) => format!("<{}|look at it>", escape(link).replace('|', "%7C")),
        None => format!("look at it: {}", quoted(&message.data.command)),
    };
    let section = |text: String| json!({ "type": "section", "text": { "type": "mrkdwn", "text": text, "verbatim": true } });
    let below = details.into_iter().chain([look]).collect::<Vec<_>>().join("\n");
    json!({
        "text": headline,
        "blocks": [section(headline.clone()), section(below)],
        "unfurl_links": false,
        "unfurl_media": false,
    })
}

impl Sender for Slack {
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a> {
        Box::pin(
            async move { self.place.post(HeaderMap::new(), payload(message).to_string()).await },
        )
    }
}
