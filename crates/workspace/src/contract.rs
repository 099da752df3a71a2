//! What every `Workspace` promises, as tests that each implementation passes.
