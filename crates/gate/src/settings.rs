//! Settings files that people write: strict YAML in which everything knows its place, so that every
//! mistake is told with its line and column. The policy is read by it, and so are other files.

mod error;
mod suggest;
mod tree;
mod values;

pub use error::{Place, Problems, SettingsError, SettingsErrors};
pub use suggest::nearest;
pub(crate) use tree::shorten;
pub use tree::{Node, Pair, Shape, read};
pub(crate) use values::MAX_ITEMS;
