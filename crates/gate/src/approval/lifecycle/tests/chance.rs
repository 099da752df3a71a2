//! Whatever people, clocks and programs do, in whatever order: what may not happen does not.
