//! The journal of a transition: written before the first file is touched, gone after the last.
