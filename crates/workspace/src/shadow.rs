//! Shadow workspaces: work that reaches the real worktree only when it is promoted.
