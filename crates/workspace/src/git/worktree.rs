//! A worktree per feature, on a branch `aurora/<slug>`.
