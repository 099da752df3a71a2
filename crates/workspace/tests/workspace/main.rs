//! The workspace crate against a real git, a real kernel and real crashes.

#[cfg(test)]
mod crash;
#[cfg(test)]
mod desk;
#[cfg(test)]
mod edits;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod listing;
#[cfg(test)]
mod place;
#[cfg(test)]
mod property;
