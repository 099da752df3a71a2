//! The engine in a world of chance: whatever happens, a run ends right.

#[cfg(test)]
mod approvals;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod chance;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod driving;
#[cfg(test)]
mod elsewhere;
#[cfg(test)]
mod faulty;
#[cfg(test)]
mod life;
#[cfg(test)]
mod many;
#[cfg(test)]
mod notify;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod property;
#[cfg(test)]
mod queued;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod watch;
#[cfg(test)]
mod world;
