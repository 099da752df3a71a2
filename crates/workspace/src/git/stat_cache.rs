//! What each file's content was when it was last looked at, so that unchanged ones are not read.
