//! A workspace whose files are in memory, for tests of whatever builds on workspaces.

/// A workspace whose files are in memory.
#[derive(Debug, Default)]
pub struct MemoryWorkspace {}
