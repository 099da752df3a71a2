//! What agents and models do when they are asked for real, over sockets and pipes.

#[cfg(test)]
mod decompose;
#[cfg(test)]
mod llm;
#[cfg(test)]
mod provider;
#[cfg(test)]
mod talk;
