//! Files beneath a root, with links planted in the way.

use super::*;
