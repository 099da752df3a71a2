//! Notices of the desktop by `notify-send`, where there is one.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::future::Future;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use aurora_engine::notify::Desktop;
use aurora_workspace::process::{self, Ended, Keeper};

use crate::wiring::run;

const PROGRAM: &str = "notify-send";
/// What it needs to find the desktop. It gets nothing else.
const VARIABLES: [&str; 6] =
    ["PATH", "HOME", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];

/// Shows notices by a program.
pub struct NotifySend {
    program: PathBuf,
    keeper: Keeper,
    env: BTreeMap<OsString, OsString>,
}

impl NotifySend {
    /// The program, where there is one.
    pub fn find() -> Option<Arc<dyn Desktop>> {
        let folders = std::env::var_os("PATH")?;
        let program = std::env::split_paths(&folders)
            .map(|folder| folder.join(PROGRAM))
            .find(|path| path.is_absolute() && can_run(path))?;
        let keeper = run::keeper().ok()?;
        let own = |name: &&str| Some((OsString::from(name), std::env::var_os(name)?));
        let env = VARIABLES.iter().filter_map(own).collect();
        Some(Arc::new(Self { program, keeper, env }))
    }
}

fn can_run(path: &std::path::Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

impl Desktop for NotifySend {
    fn show<'a>(
        &'a self,
        title: &'a str,
        body: &'a str,
        urgent: bool,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        let urgency = if urgent { "critical" } else { "normal" };
        let args = ["--app-name=aurora", "--urgency", urgency, "--", title, body].map(OsStr::new);
        let mut argv = vec![self.program.clone().into_os_string()];
        argv.extend(args.map(OsStr::to_owned));
        let (env, cwd) = (self.env.clone(), PathBuf::from("/"));
        let command = process::Command { argv, cwd, env, containment: None };
        let keeper = self.keeper.clone();
        Box::pin(async move {
            let shown = tokio::task::spawn_blocking(move || {
                let running =
                    process::start(&keeper, &command).map_err(|error| error.to_string())?;
                let (pipes, handle) = running.split();
                // It says nothing that anybody needs, and must not wait for somebody to listen.
                drop(pipes);
                match handle.wait() {
                    Ended::Code(0) => Ok(()),
                    Ended::NotStarted { why } => Err(why),
                    ended => Err(format!("{PROGRAM} ended with {ended:?}")),
                }
            });
            shown.await.map_err(|error| error.to_string())?
        })
    }
}
