//! What every agent promises.
