//! The HTTP face.
