//! Finding a program, and saying in words why one could not be started.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

/// Where programs are when nobody says where.
const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// The longest argument or variable that the kernel takes, with the zero at its end.
const MAX_STRING: usize = 128 << 10;

/// Says what is wrong with a folder in which something is to run.
pub(super) fn check_folder(cwd: &Path) -> Result<(), String> {
    match std::fs::metadata(cwd) {
        Ok(metadata) if !metadata.is_dir() => Err(format!("{} is no folder", cwd.display())),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("the folder {} does not exist", cwd.display()))
        }
        Err(error) => Err(format!("could not look at the folder {}: {error}", cwd.display())),
    }
}

/// Finds a program as the kernel will start it: by path as seen from the folder, else by name.
pub(super) fn program(name: &OsStr, cwd: &Path, path: Option<&OsStr>) -> Result<PathBuf, String> {
    if name.is_empty() {
        return Err("the program has no name".to_owned());
    }
    if name.as_bytes().contains(&b'/') {
        return Ok(cwd.join(name));
    }
    let path = path.unwrap_or(OsStr::new(USUAL));
    let mut closed = None;
    for dir in path.as_bytes().split(|&byte| byte == b':') {
        let candidate = cwd.join(OsStr::from_bytes(dir)).join(name);
        if !candidate.is_file() {
            continue;
        }
        if access(&candidate, Access::EXEC_OK).is_ok() {
            return Ok(candidate);
        }
        closed.get_or_insert(candidate);
    }
    Err(match closed {
        Some(candidate) => format!("{} is not executable", candidate.display()),
        None => format!("there is no program `{}` in {}", name.display(), path.display()),
    })
}

/// Says why the kernel did not start a program.
pub(super) fn explain(
    error: &io::Error,
    program: &Path,
    argv: &[OsString],
    env: &BTreeMap<OsString, OsString>,
) -> String {
    let shown = program.display();
    let says = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    if says(Errno::TOOBIG) {
        return too_big(argv, env);
    }
    if error.kind() == io::ErrorKind::InvalidInput {
        return format!("an argument, variable or path of {shown} holds a zero byte");
    }
    if says(Errno::NOENT) && program.exists() {
        let by = interpreter(program).map_or_else(String::new, |name| format!(" `{name}`"));
        return format!("{shown} needs an interpreter{by} that does not exist");
    }
    if says(Errno::NOENT) {
        return format!("there is no program {shown}");
    }
    if says(Errno::ACCESS) && program.is_dir() {
        return format!("{shown} is a folder, not a program");
    }
    if says(Errno::ACCESS) && access(program, Access::EXEC_OK).is_err() {
        return format!("{shown} is not executable");
    }
    if says(Errno::NOEXEC) {
        return format!(
            "{shown} is no program for this machine, nor a script that begins with `#!`"
        );
    }
    format!("could not start {shown}: {error}")
}

fn too_big(argv: &[OsString], env: &BTreeMap<OsString, OsString>) -> String {
    let variables = env.iter().map(|(name, value)| {
        (format!("the variable {}", name.display()), name.len() + value.len() + 1)
    });
    let arguments = argv.iter().enumerate();
    let arguments = arguments.map(|(at, word)| (format!("argument {at}"), word.len()));
    let all: Vec<(String, usize)> = arguments.chain(variables).collect();
    let sum: usize = all.iter().map(|(_, length)| length + 1).sum();
    match all.into_iter().max_by_key(|(_, length)| *length) {
        Some((what, length)) if length >= MAX_STRING => format!(
            "{what} has {length} bytes, and the kernel takes at most {} in one; long text must go \
             through stdin or a file",
            MAX_STRING - 1
        ),
        _ => format!(
            "arguments and variables have {sum} bytes together, more than the kernel takes; long \
             text must go through stdin or a file"
        ),
    }
}

/// The program that a script names in its first line.
fn interpreter(script: &Path) -> Option<String> {
    let mut line = Vec::new();
    let file = std::fs::File::open(script).ok()?;
    io::BufReader::new(file.take(256)).read_until(b'\n', &mut line).ok()?;
    let text = String::from_utf8_lossy(line.strip_prefix(b"#!")?).into_owned();
    text.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    // AGT-4
    #[test]
    fn a_program_is_found_by_path_or_by_name_and_its_absence_is_said() {
        let find = |name: &str, path| program(OsStr::new(name), Path::new("/usr"), path);
        assert_eq!(find("bin/env", None).unwrap(), Path::new("/usr/bin/env"));
        assert_eq!(find("/bin/x", None).unwrap(), Path::new("/bin/x"));
        assert!(find("sh", None).is_ok());
        assert_eq!(find("env", Some(OsStr::new("bin"))).unwrap(), Path::new("/usr/bin/env"));
        let error = find("no-such-program", Some(OsStr::new("/a:/b"))).unwrap_err();
        assert_eq!(error, "there is no program `no-such-program` in /a:/b");
        assert!(find("", None).is_err());
    }
}
