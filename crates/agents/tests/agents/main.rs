//! What agents and models do when they are asked for real, over sockets and pipes.

mod decompose;
mod llm;
mod provider;
