//! What agents and models do when they are asked for real, over sockets and pipes.

mod llm;
mod provider;
