//! Starting git so that nothing of the repository's is executed and nothing from outside gets in.
