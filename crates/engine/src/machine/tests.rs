//! The machine by tables: what is told, what follows.
