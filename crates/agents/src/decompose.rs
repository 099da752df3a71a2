//! What a goal is made of.
