//! The HTTP face: the only crate that serves HTTP, and that owns the shapes of its JSON.
