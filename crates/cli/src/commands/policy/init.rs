//! `aur policy init`: a policy file to start from.

use std::path::Path;

use aurora_gate::policy::TEMPLATE;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::atomic;
use crate::wiring::layers::POLICY_FILE;
use crate::wiring::place::{self, Given, Place};

/// Where to write it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// For this project, at the worktree's root (this is the default).
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// For everything that you do, in your home folder.
    #[arg(long)]
    user: bool,
    /// Replace a policy that is there; the old one is kept as a backup.
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "Examples:
  aur policy init
  aur policy init --user
  aur policy init --force

The project's .aurora folder gets a .gitignore of its own: Aurora's state stays out of git, the
files that people write (policies.yaml, agents.yaml, config.yaml) are yours to commit.";

const GITIGNORE: &str = "# Aurora's own state stays out of git; what people write may go in.
*
!.gitignore
!policies.yaml
!agents.yaml
!config.yaml
";

/// Writes the file.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let folder = if args.user {
        place::home().ok_or_else(|| {
            Failure::usage("cannot find your home folder").hint("set HOME, or leave out --user")
        })?
    } else {
        Place::look(Given::default())
            .root()
            .ok_or_else(|| Failure::failed("cannot find the current folder"))?
    };
    let path = folder.join(POLICY_FILE);
    let told = write_policy(&path, args.force)?;
    if !args.user {
        write_gitignore(&path)?;
    }
    output::print(&told)?;
    Ok(Exit::Ok)
}

fn write_policy(path: &Path, force: bool) -> anyhow::Result<String> {
    let shown = path.display();
    let mut told = String::new();
    if path.symlink_metadata().is_ok() {
        if !force {
            return Err(Failure::usage(format!("{shown} is there already"))
                .hint("--force replaces it and keeps a backup")
                .into());
        }
        let old = std::fs::read(path)
            .map_err(|error| Failure::failed(format!("cannot read {shown}: {error}")))?;
        if old != TEMPLATE.as_bytes() {
            let backup = atomic::backup(path, &old)?;
            told = format!("kept the old policy as {}\n", backup.display());
        }
    }
    make_folder(path)?;
    atomic::write(path, TEMPLATE.as_bytes())?;
    Ok(format!("{told}wrote {shown}\nlook at it with `aur policy show --origin`\n"))
}

fn write_gitignore(policy: &Path) -> anyhow::Result<()> {
    let path = policy.with_file_name(".gitignore");
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    atomic::write(&path, GITIGNORE.as_bytes())
}

fn make_folder(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::failed(format!("cannot make folder {}: {error}", folder.display())).into()
    })
}
