//! Looking at the worktree: everything, or what the watchdog named.
