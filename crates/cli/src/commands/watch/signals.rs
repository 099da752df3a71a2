//! Ctrl+C and its kin, as a call on a thread of its own.

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Calls `tell` for a signal that asks us to end, until it says that nobody listens. The second
/// signal ends the program at once, whatever it is doing.
pub fn forward(tell: impl Fn() -> bool + Send + 'static) -> io::Result<()> {
    let (mut receiver, sender) = UnixStream::pair()?;
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&asked))?;
        signal_hook::flag::register(signal, Arc::clone(&asked))?;
        signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
    }
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || while receiver.read(&mut [0]).is_ok_and(|count| count > 0) && tell() {})?;
    Ok(())
}
