//! Which untracked paths the repository's rules leave out, as git reads them.
