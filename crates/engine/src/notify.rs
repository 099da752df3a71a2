//! Telling people and programs what happened to a request: in the same append as the event it is
//! recorded what must be sent to whom, and a loop sends it, at least once and by an id that stays.
//!
//! What is sent tells and links. It decides nothing: there is no link here that is a yes.

mod announce;
mod counts;
mod delivery;
mod desk;
mod mail;
mod message;
mod ntfy;
mod pace;
mod route;
mod scrub;
mod slack;
mod web;
mod webhook;

pub use announce::Announcer;
pub use counts::Counts;
pub use delivery::Delivery;
pub use desk::{Desktop, Terminal};
pub use message::{Message, Told};
pub use pace::Pace;
pub use route::{Means, Route, Routes, Secret};
