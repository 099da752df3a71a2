//! Which process is at the other end of a connection on this machine, and whether it may decide.

use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::wiring::fence;

/// Whether the process that connected may decide in the name of whoever started the server: it must
/// run under the same account, and belong to no agent.
pub fn may_decide(from: SocketAddr, to: SocketAddr) -> Result<(), String> {
    let cannot = "nobody can tell which process asks; use a token of a person";
    let (uid, inode) = socket(from, to).ok_or(cannot)?;
    if uid != rustix::process::getuid().as_raw() {
        return Err("the token of this start is for who started the server".to_owned());
    }
    let holders = holders(inode);
    if holders.is_empty() {
        return Err(cannot.to_owned());
    }
    match holders.into_iter().any(fence::is_agent) {
        true => Err("an agent can never decide".to_owned()),
        false => Ok(()),
    }
}

/// Whether the process that connected is known to belong to an agent.
pub fn is_agent(from: SocketAddr, to: SocketAddr) -> bool {
    socket(from, to).is_some_and(|(_, inode)| holders(inode).into_iter().any(fence::is_agent))
}

/// The account and the number of the socket that connects these two, as its owner sees it.
fn socket(from: SocketAddr, to: SocketAddr) -> Option<(u32, u64)> {
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| {
        let text = std::fs::read_to_string(table).ok()?;
        text.lines().skip(1).find_map(|line| row(line, from, to))
    })
}

fn row(line: &str, from: SocketAddr, to: SocketAddr) -> Option<(u32, u64)> {
    let mut words = line.split_whitespace().skip(1);
    let (local, remote) = (words.next()?, words.next()?);
    let is_it = address(local)? == plain(from) && address(remote)? == plain(to);
    let uid = words.nth(4)?.parse().ok()?;
    let inode = words.nth(1)?.parse().ok()?;
    is_it.then_some((uid, inode))
}

/// An address as the kernel writes it: words of four bytes as this machine holds them, then the port.
fn address(text: &str) -> Option<(IpAddr, u16)> {
    let (digits, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = Vec::new();
    for start in (0..digits.len()).step_by(8) {
        let word = u32::from_str_radix(digits.get(start..start + 8)?, 16).ok()?;
        bytes.extend(word.to_ne_bytes());
    }
    let ip = match bytes.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?),
        _ => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?),
    };
    Some((ip.to_canonical(), port))
}

fn plain(address: SocketAddr) -> (IpAddr, u16) {
    (address.ip().to_canonical(), address.port())
}

/// The processes that hold a socket, but for ourselves.
fn holders(inode: u64) -> Vec<u32> {
    let wanted = format!("socket:[{inode}]");
    let own = rustix::process::getuid().as_raw();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        let Some(pid) = pid else { continue };
        let same = entry.metadata().is_ok_and(|kind| kind.uid() == own || own == 0);
        if same && holds(&entry.path(), &wanted) {
            found.push(pid);
        }
    }
    found
}

fn holds(process: &Path, wanted: &str) -> bool {
    let open = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    open.filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .any(|target| target.to_str() == Some(wanted))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_process_at_the_other_end_of_a_connection_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (from, to) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
        let (uid, inode) = socket(from, to).unwrap();
        assert_eq!(uid, rustix::process::getuid().as_raw());
        assert!(holders(inode).contains(&std::process::id()));
        drop(client);
        let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
        assert_eq!(socket(nobody, to), None);
    }
}
