//! APR-9: notifications leave with the event and arrive at least once, at real receivers on this
//! machine.

mod arriving;
mod ground;
mod receiver;
mod saying;
mod trouble;
