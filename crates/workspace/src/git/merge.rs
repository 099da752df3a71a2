//! Three-way merges of file contents, by `git merge-file`.
