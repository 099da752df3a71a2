//! May this happen: turns an action into effects and judges them against one policy. Pure: no I/O,
//! no clock, no randomness, so the same action, policy and context always get the same verdict.

pub mod analysis;
pub mod approval;
pub mod judge;
pub mod policy;
pub mod settings;

pub use judge::judge;
pub use policy::Policy;
