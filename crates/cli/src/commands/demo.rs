//! `aur demo`: the gate, a run and the way back, at work in a scratch repository.

mod recovery;
mod story;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use aurora_gate::Policy;
use aurora_model::{Action, ToolCall};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::style::Style;
use crate::output::verdict;
use crate::wiring::judging;
use crate::wiring::place::{Given, Place};
use crate::wiring::question;

/// Who answers.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Answer the run's questions beforehand. Without a terminal it is so in any case.
    #[arg(short, long)]
    yes: bool,
}

const EXAMPLES: &str = "Examples:
  aur demo
  aur demo --yes
  aur demo | less -R

It judges, and runs nothing that it judges; then a built-in agent does a list of tasks, and you are asked;
then it makes a checkpoint, spoils files and rolls back. No network, no key, a scratch folder that goes away.";

/// Shows one step after another.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let style = Style::of_stdout();
    let scratch = Scratch::make()?;
    let place = Place::look(Given { cwd: Some(scratch.project()), ..Given::default() });
    let context = place.context(true);
    let policy = Policy::builtin();
    let steps = steps();
    let branch = context.branch.as_deref().unwrap_or("main");
    let mut out = format!(
        "{}\n\nWhat Aurora answers when it is asked \"may this run?\". A scratch repository was made, {branch} is\n\
         checked out, and the built-in policy holds. Nothing of what is judged here is run.\n",
        style.bold("Aurora: the gate")
    );
    for (number, step) in steps.iter().enumerate() {
        let judged = judging::judge(&step.action, &policy, &context);
        let shown = judging::shown(&step.action);
        out.push_str(&format!(
            "\n{}\n{}\n\n",
            style.bold(&format!("{}. {}", number + 1, step.title)),
            style.faint(&format!("$ {}", step.asked))
        ));
        out.push_str(&verdict::human(&judged, &shown, style));
    }
    output::print(&out)?;
    let answers = match args.yes || !question::is_possible() {
        true => story::Answers::Flag,
        false => story::Answers::Person,
    };
    story::show(&scratch.project(), answers, style)?;
    output::print(&recovery::show(&scratch.project(), steps.len() + 1, style)?)?;
    output::print(
        "\nNext: `aur policy check -- <command>` asks about your own commands, `aur policy init` \
         writes a policy,\n`aur hook install claude-code` puts this gate in front of Claude Code, `aur checkpoint` \
         records a worktree,\n`aur agents init` names your agents, `aur spawn tasks.md` lets them work.\n",
    )?;
    Ok(Exit::Ok)
}

/// One thing to show.
struct Step {
    title: &'static str,
    asked: &'static str,
    action: Action,
}

const PATCH: &str = "diff --git a/src/app.py b/src/app.py
--- a/src/app.py
+++ b/src/app.py
@@ -1 +1,2 @@
 print('hello')
+print('bye')
diff --git a/.env b/.env
--- a/.env
+++ b/.env
@@ -1 +1 @@
-TOKEN=old
+TOKEN=new
";

fn steps() -> Vec<Step> {
    let shell = |title, asked, command: &str| Step {
        title,
        asked,
        action: Action::Shell { command: command.to_owned() },
    };
    vec![
        shell("A harmless line goes through", "aur policy check -- git status", "git status"),
        shell(
            "Text that only mentions a dangerous command is not that command",
            r#"aur policy check -- 'git commit -m "drop table users; git push --force"'"#,
            r#"git commit -m "drop table users; git push --force""#,
        ),
        shell(
            "A force push stays one, however it is wrapped",
            r#"aur policy check -- 'sudo env X=1 bash -c "cd app && git push -f origin dev"'"#,
            r#"sudo env X=1 bash -c "cd app && git push -f origin dev""#,
        ),
        shell(
            "What cannot be undone and cannot be counted asks a person",
            "aur policy check -- 'find . -name \"*.log\" | xargs rm'",
            "find . -name \"*.log\" | xargs rm",
        ),
        Step {
            title: "A protected path is never written, whichever tool an agent uses",
            asked: r#"aur policy check --tool Write --args '{"file_path": ".env", "content": "TOKEN=x"}'"#,
            action: Action::Tool(ToolCall {
                name: "Write".to_owned(),
                args: json!({"file_path": ".env", "content": "TOKEN=x"}),
            }),
        },
        Step {
            title: "Nor by a patch",
            asked: "aur policy check --patch change.patch",
            action: Action::Patch { patch: PATCH.as_bytes().to_vec() },
        },
    ]
}

/// A folder that goes away.
struct Scratch(PathBuf);

/// The repository in it.
const PROJECT: &str = "project";

impl Scratch {
    fn make() -> anyhow::Result<Self> {
        let base = std::env::temp_dir();
        for number in 0..100 {
            let path = base.join(format!("aurora-demo-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => {
                    let scratch = Self(path);
                    scratch.fill(&scratch.project())?;
                    return Ok(scratch);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(refuse(&path, &error)),
            }
        }
        Err(Failure::failed(format!("cannot make a scratch folder in {}", base.display())).into())
    }

    fn project(&self) -> PathBuf {
        self.0.join(PROJECT)
    }

    /// A repository by git itself when it is installed, else the two files that make one.
    fn fill(&self, project: &Path) -> anyhow::Result<()> {
        std::fs::create_dir(project).map_err(|error| refuse(project, &error))?;
        let made = Command::new("git")
            .args(["-c", "init.templateDir=", "init", "--quiet", "--initial-branch=main"])
            .arg(project)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let write = |name: &str, text: &str| {
            let path = project.join(name);
            let folder = path.parent().unwrap_or(Path::new("/"));
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&path, text))
                .map_err(|error| refuse(&path, &error))
        };
        if !made.is_ok_and(|status| status.success()) {
            write(".git/HEAD", "ref: refs/heads/main\n")?;
            write(".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")?;
            for folder in ["objects/info", "objects/pack", "refs/heads"] {
                let path = project.join(".git").join(folder);
                std::fs::create_dir_all(&path).map_err(|error| refuse(&path, &error))?;
            }
        }
        write("src/app.py", "print('hello')\n")?;
        write("src/util.py", "def twice(x):\n    return 2 * x\n")?;
        write(".env", "TOKEN=old\n")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind in the folder for temporary files is harmless.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn refuse(path: &Path, error: &std::io::Error) -> anyhow::Error {
    Failure::failed(format!("cannot make scratch file {}: {error}", path.display())).into()
}
