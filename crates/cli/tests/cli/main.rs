//! The program as its users meet it: each test runs it in a world of its own.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod approvals;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod batch;
#[cfg(test)]
mod budget;
#[cfg(test)]
mod channels;
#[cfg(test)]
mod check;
#[cfg(test)]
mod checkpoint;
#[cfg(test)]
mod claude_code;
#[cfg(test)]
mod claude_control;
#[cfg(test)]
mod goals;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod hook;
#[cfg(test)]
mod install;
#[cfg(test)]
mod keep;
#[cfg(test)]
mod log;
#[cfg(test)]
mod misc;
#[cfg(test)]
mod policy;
#[cfg(test)]
mod rollback;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod shadow;
#[cfg(test)]
mod spawn;
#[cfg(test)]
mod talk;
#[cfg(test)]
mod watch;
#[cfg(test)]
mod worktree;
