//! The small syntax tree that shell text is parsed into.
