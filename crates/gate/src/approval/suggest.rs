//! Narrow rules proposed from what people decided before, each with a back-test.
