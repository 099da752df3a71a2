//! Redirections: what is read, what is written, and what a file holds because the line put it there.

use aurora_model::{EffectKind, Span, Touch};

use super::ast::{Part, Redirect, RedirectKind};
use super::command::disk;
use super::eval::concat;
use super::field::Field;
use super::machine::{Machine, Stream};

/// Where a command's output goes.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// It goes to a file instead of the next command: the file's name when it is known.
    redirected: Option<Option<String>>,
    append: bool,
}

impl Machine<'_> {
    /// Carries out redirections: what is read, what is changed, where output goes.
    pub(super) fn redirects(&mut self, redirects: &[Redirect]) -> Output {
        let mut output = Output::default();
        for redirect in redirects {
            if redirect.kind == RedirectKind::HereText {
                let mut text = self.joined(&redirect.target);
                let here_doc = matches!(redirect.target.parts.as_slice(), [Part::HereDoc(_)]);
                if !here_doc {
                    let at = text.verbatim;
                    text.push_lit("\n");
                    text.verbatim = at;
                }
                self.opens(redirect.fd.unwrap_or(0), Stream::Text(text));
                continue;
            }
            let mut targets = Vec::new();
            self.word_fields(&redirect.target, &mut targets);
            let span = self.place(redirect.span);
            let target = targets.into_iter().next().unwrap_or(Field::unknown(false, span));
            self.redirect(redirect, target, span, &mut output);
        }
        output
    }

    fn redirect(
        &mut self,
        redirect: &Redirect,
        mut target: Field,
        span: Span,
        output: &mut Output,
    ) {
        target.many = false;
        target.span = span;
        match redirect.kind {
            RedirectKind::Read => {
                let stream = if target.prefix().starts_with("/dev/tcp/") {
                    Stream::Network(target.display())
                } else {
                    self.stream_of(&target)
                };
                self.opens(redirect.fd.unwrap_or(0), stream);
            }
            RedirectKind::Duplicate => {
                // `echo x >&2` prints nothing that a pipe would see.
                if redirect.fd.unwrap_or(1) == 1 && target.is("2") {
                    output.redirected = Some(None);
                }
                let from = target.text().and_then(|text| text.parse::<u32>().ok());
                if let (Some(from), true) = (from, redirect.reads) {
                    let stream = self.stream_of_fd(from);
                    self.opens(redirect.fd.unwrap_or(0), stream);
                }
            }
            kind => {
                let touch = match kind {
                    RedirectKind::Append | RedirectKind::BothAppend => Touch::Append,
                    _ => Touch::Write,
                };
                let stdout = redirect.fd.unwrap_or(1) == 1
                    || matches!(kind, RedirectKind::Both | RedirectKind::BothAppend);
                if stdout
                    && !(target.is("/dev/stdout")
                        || target.is("/dev/fd/1")
                        || target.is("/dev/stderr"))
                {
                    output.redirected = Some(self.file_name(&target));
                    output.append = touch == Touch::Append;
                }
                self.overwrite(&target, touch, span);
            }
        }
    }

    /// A file descriptor is opened for reading.
    fn opens(&mut self, fd: u32, stream: Stream) {
        if fd == 0 {
            self.stdin = stream;
        } else {
            self.scope.fds.insert(fd, stream);
        }
    }

    /// What can be read from a file descriptor.
    pub(super) fn stream_of_fd(&self, fd: u32) -> Stream {
        match fd {
            0 => self.stdin.clone(),
            1 | 2 => Stream::Terminal,
            other => {
                let known = self.scope.fds.get(&other).cloned();
                known.unwrap_or_else(|| Stream::Output(format!("file descriptor {other}")))
            }
        }
    }

    /// A redirection or a program writes to this path.
    pub fn overwrite(&mut self, target: &Field, touch: Touch, span: Span) {
        let text = target.prefix();
        if text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/") {
            self.emit(EffectKind::Network { target: target.display() }, span);
        } else if disk::is_disk(text) || !text.starts_with("/dev/") {
            self.change(target, touch, false);
        }
    }

    /// What a file holds, as far as this line put it there.
    #[must_use]
    pub fn stream_of(&self, target: &Field) -> Stream {
        let Some(name) = self.file_name(target) else { return Stream::File(self.resolve(target)) };
        if let Some(streams) = self.scope.files.get(&name) {
            // Where it may hold this or that, both are read.
            return streams.iter().cloned().fold(Stream::Terminal, concat);
        }
        match fd_of(&name) {
            Some(fd) => self.stream_of_fd(fd),
            None => Stream::File(self.resolve(target)),
        }
    }

    pub(super) fn deliver(&mut self, stream: Stream, output: &Output) -> Stream {
        let Some(file) = &output.redirected else { return stream };
        if let Some(name) = file {
            self.keep(name.clone(), stream, output.append);
        }
        Stream::Terminal
    }

    fn keep(&mut self, name: String, stream: Stream, append: bool) {
        let contents = match (append, self.scope.files.remove(&name)) {
            (true, Some(before)) => {
                before.into_iter().map(|before| concat(before, stream.clone())).collect()
            }
            _ => vec![stream],
        };
        self.scope.files.insert(name, contents);
    }

    /// Remembers what a program has put into a file, in case the line runs it later.
    pub fn remember_file(&mut self, file: &Field, content: Stream, append: bool) {
        if let Some(name) = self.file_name(file) {
            self.keep(name, content, append);
        }
    }
}

/// The number of a file descriptor that is named as a file.
fn fd_of(name: &str) -> Option<u32> {
    if name == "/dev/stdin" {
        return Some(0);
    }
    let number = name.strip_prefix("/dev/fd/").or_else(|| {
        let rest = name.strip_prefix("/proc/")?;
        rest.split_once("/fd/").map(|(_, number)| number)
    })?;
    number.parse().ok()
}
