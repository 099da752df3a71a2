//! What reaches out of a worktree, or into git's own data: found and reported, never removed.
