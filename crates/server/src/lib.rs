//! The HTTP face: the only crate that serves HTTP, and that owns the shapes of its JSON.
//!
//! One table of routes (`routes.rs`) is the source of the router and of the OpenAPI document, so that
//! neither can have what the other has not.

pub mod answer;
mod approvals;
mod call;
mod caller;
mod cursor;
mod events;
mod figures;
mod guard;
mod health;
mod limits;
mod listen;
mod log;
pub mod openapi;
pub mod ports;
pub mod problem;
mod router;
mod routes;
mod runs;
mod server;
mod surroundings;

pub use guard::is_loopback;
pub use limits::Limits;
pub use listen::{Stop, serve};
pub use ports::Ports;
pub use problem::Problem;
pub use router::{Peer, router};
pub use server::{Local, Server, Settings};
