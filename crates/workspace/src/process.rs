//! Processes that can be ended for good: each runs under a keeper, and is over when everything it started is gone.

mod find;
mod init;
mod keeper;
mod message;
mod namespace;
mod tree;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};

use self::message::{Order, Role, Spec, Word, Words};
use crate::error::{Error, Result};

/// The program that keeps processes: our own, with the arguments that make it call [`keep`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keeper {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// What to start, said completely: nothing is inherited but limits and the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program, by path or by name in `PATH` of `env`, and its arguments.
    pub argv: Vec<OsString>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// All its variables.
    pub env: BTreeMap<OsString, OsString>,
    /// How it is held; the best way that works when nothing is said.
    pub containment: Option<Containment>,
}

/// How a tree of processes is held, so that all of it can be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Containment {
    /// In a PID namespace: the kernel ends everything with its first process.
    PidNamespace,
    /// Below a process that inherits all orphans, and looks for descendants until none is left.
    Subreaper,
}

impl Containment {
    /// All of them, the best first.
    pub const ALL: [Self; 2] = [Self::PidNamespace, Self::Subreaper];

    /// Its name for people and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PidNamespace => "pid_namespace",
            Self::Subreaper => "subreaper",
        }
    }
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It could not be started.
    NotStarted {
        /// Why.
        why: String,
    },
    /// Its keeper died; nobody knows.
    Lost,
}

/// Our ends of a process's pipes.
#[derive(Debug)]
pub struct Pipes {
    /// What is written here is its input.
    pub stdin: OwnedFd,
    /// Its output.
    pub stdout: OwnedFd,
    /// Its error output.
    pub stderr: OwnedFd,
}

/// A process that was started, or could not be: then its pipes are at their end and `wait` says why.
#[derive(Debug)]
pub struct Running {
    /// What is written here is its input.
    pub stdin: OwnedFd,
    /// Its output.
    pub stdout: OwnedFd,
    /// Its error output.
    pub stderr: OwnedFd,
    /// How it is held.
    pub containment: Containment,
    /// Why it is not held in a better way, where one was tried.
    pub why_not_better: Option<String>,
    /// Its number, as seen by us; nothing when it was not started.
    pub pid: Option<u32>,
    /// What it can be told.
    pub handle: Handle,
}

impl Running {
    /// The pipes, and what the process can be told.
    #[must_use]
    pub fn split(self) -> (Pipes, Handle) {
        let pipes = Pipes { stdin: self.stdin, stdout: self.stdout, stderr: self.stderr };
        (pipes, self.handle)
    }
}

/// What a running process can be told, from any thread. Dropping it ends everything.
#[derive(Debug)]
pub struct Handle {
    line: Arc<Line>,
}

impl Handle {
    /// Asks the main process to end (SIGTERM).
    pub fn terminate(&self) {
        self.line.tell(Order::Terminate);
    }

    /// Ends everything, now.
    pub fn kill(&self) {
        self.line.tell(Order::Kill);
    }

    /// Stops everything where it stands; `thaw` lets it go on.
    pub fn freeze(&self) {
        self.line.tell(Order::Freeze);
    }

    /// Lets go on what `freeze` stopped.
    pub fn thaw(&self) {
        self.line.tell(Order::Thaw);
    }

    /// Waits until everything is gone, and says how the main process ended.
    pub fn wait(&self) -> Ended {
        self.line.wait()
    }

    /// Becomes readable when `wait` has something to say.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.line.control.as_fd()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.line.is_over() {
            return;
        }
        self.line.tell(Order::Kill);
        let line = Arc::clone(&self.line);
        // Waiting here could take as long as the kernel likes; without a thread the keeper still
        // sees that the line is dead.
        let _ = std::thread::Builder::new().name("reap".to_owned()).spawn(move || line.wait());
    }
}

/// The line to a keeper: orders go out from any thread, words are read by one at a time.
#[derive(Debug)]
struct Line {
    control: UnixStream,
    far: Mutex<Far>,
}

/// What is at the other end of the line.
#[derive(Debug)]
struct Far {
    keeper: Child,
    /// The one that ends last when the keeper dies.
    init: Option<OwnedFd>,
    words: Words,
    ended: Option<Ended>,
}

impl Line {
    fn far(&self) -> MutexGuard<'_, Far> {
        self.far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, order: Order) {
        // A keeper that is gone has nothing left to end.
        let _ = message::order(&self.control, order);
    }

    fn is_over(&self) -> bool {
        self.far.try_lock().is_ok_and(|far| far.ended.is_some())
    }

    fn wait(&self) -> Ended {
        let mut far = self.far();
        if let Some(ended) = &far.ended {
            return ended.clone();
        }
        let ended = loop {
            match far.words.next(&self.control) {
                Ok(Some(Word::Ended(ended))) => break ended,
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break Ended::Lost,
            }
        };
        far.end(ended)
    }
}

impl Far {
    /// Waits for whoever is still there, and remembers how it ended.
    fn end(&mut self, ended: Ended) -> Ended {
        let _ = self.keeper.wait();
        if let Some(init) = self.init.take() {
            let mut fds = [PollFd::new(&init, PollFlags::IN)];
            while matches!(poll(&mut fds, None), Err(rustix::io::Errno::INTR)) {}
        }
        self.ended = Some(ended.clone());
        ended
    }
}

/// Starts a command under a keeper. A command that cannot be started is no error here: `wait` says it.
///
/// # Errors
/// When the keeper cannot be started, or this system has not the containment that was asked for.
pub fn start(keeper: &Keeper, command: &Command) -> Result<Running> {
    let mut refusals: Vec<String> = Vec::new();
    for containment in Containment::ALL {
        if command.containment.is_some_and(|wanted| wanted != containment) {
            continue;
        }
        match attempt(keeper, command, containment)? {
            Attempt::Running(mut running) => {
                running.why_not_better = refusals.pop();
                return Ok(*running);
            }
            Attempt::Refused(why) => refusals.push(why),
        }
    }
    Err(Error::Unsupported {
        what: format!("nothing holds processes here: {}", refusals.join("; ")),
        hint: "`aur agents doctor` says what works here".to_owned(),
    })
}

/// Tries each containment for real, with a process that ends at once.
#[must_use]
pub fn probe(keeper: &Keeper) -> Vec<(Containment, Result<()>)> {
    let mut argv = vec![keeper.program.clone().into_os_string()];
    argv.extend(keeper.args.iter().cloned());
    let try_one = |containment| {
        let command = Command {
            argv: argv.clone(),
            cwd: PathBuf::from("/"),
            env: BTreeMap::new(),
            containment: Some(containment),
        };
        // A keeper without a line to anybody says so and ends: that it ran is what counts.
        match start(keeper, &command)?.split().1.wait() {
            Ended::Code(_) => Ok(()),
            other => {
                let source = io::Error::other(format!("it ended as {other:?}"));
                Err(Error::Io { doing: "keep", path: keeper.program.clone(), source })
            }
        }
    };
    Containment::ALL.into_iter().map(|containment| (containment, try_one(containment))).collect()
}

/// What came of trying one containment.
enum Attempt {
    Running(Box<Running>),
    Refused(String),
}

fn attempt(keeper: &Keeper, command: &Command, containment: Containment) -> Result<Attempt> {
    let failed = |source| Error::Io { doing: "start", path: keeper.program.clone(), source };
    let (control, theirs) = UnixStream::pair().map_err(failed)?;
    let (stdin_of_agent, stdin) = io::pipe().map_err(failed)?;
    let (stdout, stdout_of_agent) = io::pipe().map_err(failed)?;
    let (stderr, stderr_of_agent) = io::pipe().map_err(failed)?;
    let child = std::process::Command::new(&keeper.program)
        .args(&keeper.args)
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // What is typed at our terminal is for us.
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let far = Far { keeper: child, init: None, words: Words::default(), ended: None };
    let handle = Handle { line: Arc::new(Line { control, far: Mutex::new(far) }) };
    let spec = Spec::new(Role::Keeper, containment, keeper, command);
    let fds = [stdin_of_agent.as_fd(), stdout_of_agent.as_fd(), stderr_of_agent.as_fd()];
    let sent = message::send(&handle.line.control, &spec, fds);
    drop((stdin_of_agent, stdout_of_agent, stderr_of_agent));
    let word = sent.and_then(|()| handle.line.far().words.next(&handle.line.control));
    let pid = match word {
        Ok(Some(Word::Started { pid, init })) => {
            let init = i32::try_from(init).ok().and_then(Pid::from_raw);
            handle.line.far().init =
                init.and_then(|init| pidfd_open(init, PidfdFlags::empty()).ok());
            Some(pid)
        }
        Ok(Some(Word::Ended(ended))) => {
            handle.line.far().end(ended);
            None
        }
        Ok(Some(Word::Refused { why })) => {
            handle.line.far().end(Ended::Lost);
            return Ok(Attempt::Refused(why));
        }
        Ok(None) | Err(_) => return Err(failed(silent(&handle))),
    };
    let (stdin, stdout, stderr) = (stdin.into(), stdout.into(), stderr.into());
    let why_not_better = None;
    let running = Running { stdin, stdout, stderr, containment, why_not_better, pid, handle };
    Ok(Attempt::Running(Box::new(running)))
}

/// What there is to say about a keeper that said nothing.
fn silent(handle: &Handle) -> io::Error {
    let _ = handle.line.control.shutdown(std::net::Shutdown::Both);
    let mut far = handle.line.far();
    far.ended = Some(Ended::Lost);
    match far.keeper.wait() {
        Ok(status) => io::Error::other(format!("the keeper ended early ({status})")),
        Err(error) => error,
    }
}

/// Keeps what the one at the other end of stdin asks for, and returns when everything is gone.
/// Only a process without threads may call it, because the kernel gives namespaces to no other.
///
/// # Errors
/// When stdin is no line to somebody who says what to keep.
pub fn keep() -> Result<()> {
    let failed =
        |source| Error::Io { doing: "hear what to keep from", path: "stdin".into(), source };
    let stdin = io::stdin().as_fd().try_clone_to_owned().map_err(failed)?;
    let control = UnixStream::from(stdin);
    let (spec, fds) = message::receive(&control).map_err(failed)?;
    let kept = match spec.role {
        Role::Keeper => keeper::run(&control, spec, fds),
        Role::Init => init::run(control, &spec, fds),
    };
    kept.map_err(failed)
}
