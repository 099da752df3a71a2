//! Who must say yes, until when, and what becomes of it: the life of a request, as pure functions.

pub mod autonomy;
pub mod digest;
pub mod lifecycle;
pub mod options;
pub mod risk;
pub mod rules;
pub mod suggest;
pub mod timeout;

pub use autonomy::{tighten, tighten_call};
pub use digest::{canonical, digest_of};
pub use lifecycle::{Command, Refused, Standing, apply, decide, next_wake};
pub use options::options_for;
pub use risk::{Classifier, actions_of, actions_of_call};
pub use rules::Rules;
