//! Telling somebody who sits here: a line in the terminal, a notice of the desktop.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::message::Message;
use super::route::{Fault, Sender, Sending};

/// A terminal at which somebody sits.
pub trait Terminal: Send + Sync {
    /// Rings and shows a line; false when nobody sits there any more.
    fn ring(&self, line: &str) -> bool;
}

/// A desktop in front of which somebody sits.
pub trait Desktop: Send + Sync {
    /// Shows a notice.
    fn show<'a>(
        &'a self,
        title: &'a str,
        body: &'a str,
        urgent: bool,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;
}

pub(super) struct AtTerminal(pub Arc<dyn Terminal>);

impl Sender for AtTerminal {
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a> {
        Box::pin(async move {
            let line = format!("{} ({})", message.headline(), message.look());
            if self.0.ring(&line) {
                return Ok(());
            }
            Err(Fault::passing("nobody sits at the terminal any more"))
        })
    }
}

pub(super) struct AtDesktop(pub Arc<dyn Desktop>);

impl Sender for AtDesktop {
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a> {
        Box::pin(async move {
            let urgent = message.data.tier >= aurora_model::Tier::High;
            // Desktops read markup in the text below the title.
            let body = escape(&format!("{}\n{}", message.data.title, message.body()));
            let shown = self.0.show(&message.what(), &body, urgent).await;
            shown.map_err(Fault::refused)
        })
    }
}

/// The three characters by which markup begins, made harmless.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
