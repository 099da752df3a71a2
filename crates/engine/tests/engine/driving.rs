//! One driver at a time, and what it does when it is stopped or the log refuses.
