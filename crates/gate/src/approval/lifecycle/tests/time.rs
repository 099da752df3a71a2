//! What the clock says, when, and how often.
