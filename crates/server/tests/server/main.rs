//! The HTTP face: the router as a service without a socket, and a real socket where that matters.

#[cfg(test)]
mod abuse;
#[cfg(test)]
mod asking;
#[cfg(test)]
mod auth;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod document;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod stream;
#[cfg(test)]
mod using;
