//! The watchdog against the real kernel.
