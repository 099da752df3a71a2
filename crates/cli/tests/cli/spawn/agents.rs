//! agents.
