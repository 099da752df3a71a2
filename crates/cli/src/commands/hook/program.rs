//! How an agent's settings name this program.

use std::path::Path;

use crate::exit::Failure;
use crate::wiring::words;

/// How settings name this very program.
#[derive(Debug)]
pub enum Program {
    /// By its name: others who share the settings have it at another place.
    OnPath,
    /// By its place on this machine.
    At(String),
}

/// Settings of a project are shared, so its own name is enough there when that finds this program.
pub fn find(user: bool) -> anyhow::Result<Program> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot find this program's path: {error}")))?;
    if !user && is_found_by_name(&own) {
        return Ok(Program::OnPath);
    }
    let text = own.to_str().filter(|text| Path::new(text).exists()).ok_or_else(|| {
        Failure::failed(format!("this program's path cannot be used: {}", own.display()))
            .hint("run the installed program again")
    })?;
    Ok(Program::At(text.to_owned()))
}

/// Whether `aur` on PATH is this program.
fn is_found_by_name(own: &Path) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path)
        .map(|folder| folder.join("aur"))
        .find(|candidate| is_executable(candidate));
    // A relative entry finds something else in every folder.
    let Some(first) = first.filter(|candidate| candidate.is_absolute()) else { return false };
    matches!((first.canonicalize(), own.canonicalize()), (Ok(first), Ok(own)) if first == own)
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|kind| kind.is_file() && kind.permissions().mode() & 0o111 != 0)
}

/// The line that the agent will run.
pub fn command(program: &Program, defer: bool) -> String {
    let name = match program {
        Program::OnPath => "aur",
        Program::At(path) => path,
    };
    let mut argv = vec![name, "hook", "claude-code"];
    if defer {
        argv.push("--defer");
    }
    words::join(&argv)
}
