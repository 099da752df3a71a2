//! Opening, replacing and removing files beneath a root, never through a symbolic link.
