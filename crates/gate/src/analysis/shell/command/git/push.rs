//! git push and its relatives: what is forced, what is deleted, and whether main is the destination.

use aurora_model::{EffectKind, Span};

use super::code;
use super::facts::Facts;
use super::refspec::{self, MATCHING, landing, main_by_text};
use crate::analysis::shell::command::options::{OptName, Parsed, Spec, Style};
use crate::analysis::shell::command::step::Step;
use crate::analysis::shell::field::Field;

const PUSH: Spec = Spec {
    short_values: "o",
    short_optional: "",
    long_values: &["repo", "receive-pack", "exec", "push-option", "recurse-submodules"],
    long_flags: &[
        "verbose",
        "quiet",
        "all",
        "branches",
        "mirror",
        "delete",
        "tags",
        "dry-run",
        "porcelain",
        "force",
        "force-if-includes",
        "thin",
        "set-upstream",
        "progress",
        "prune",
        "verify",
        "follow-tags",
        "atomic",
        "ipv4",
        "ipv6",
        "help",
    ],
    long_optional: &["force-with-lease", "signed"],
    style: Style::Permute,
};

const SEND_PACK: Spec = Spec {
    short_values: "",
    long_values: &["receive-pack", "exec", "remote", "push-option"],
    long_flags: &[
        "verbose",
        "quiet",
        "all",
        "mirror",
        "dry-run",
        "force",
        "force-if-includes",
        "thin",
        "progress",
        "atomic",
        "stdin",
        "stateless-rpc",
        "helper-status",
        "help",
    ],
    ..PUSH
};

const SUBTREE: Spec = Spec {
    short_values: "Pmb",
    long_values: &["prefix", "message", "branch", "onto", "annotate"],
    long_flags: &["quiet", "debug", "ignore-joins", "rejoin", "squash", "force", "help"],
    ..PUSH
};

/// Remote names that nobody gives to a branch.
const USUAL_REMOTES: [&str; 3] = ["origin", "upstream", "fork"];

/// What `git push ARGS` would do.
#[must_use]
pub fn push(args: &[Field], facts: &Facts<'_>) -> Vec<Step> {
    let parsed = PUSH.parse(args);
    if is_dry(&parsed) {
        return Vec::new();
    }
    let mut push = Push::new(&parsed, facts);
    push.remote_code();
    push.force_options();
    push.destinations();
    push.unknown_arguments();
    push.steps
}

/// What `git send-pack ARGS` would do: without refs it pushes all that both sides have.
#[must_use]
pub fn send_pack(args: &[Field], facts: &Facts<'_>) -> Vec<Step> {
    let parsed = SEND_PACK.parse(args);
    if is_dry(&parsed) || parsed.operands.is_empty() {
        return Vec::new();
    }
    let mut push = Push::new(&parsed, facts);
    push.remote_code();
    push.force_options();
    // git http-push deletes a remote branch with these.
    push.force_if_given('d', "");
    push.force_if_given('D', "");
    if push.is_on('\0', "mirror") || push.is_on('\0', "all") {
        push.lands_on_main("all branches", None);
    } else if parsed.operands.len() < 2 {
        push.lands_on_main(MATCHING, None);
    } else {
        push.refspecs(parsed.operands.get(1..).unwrap_or_default());
    }
    push.steps
}

/// What `git subtree ARGS` would do: only its `push` reaches a remote.
#[must_use]
pub fn subtree(args: &[Field], facts: &Facts<'_>) -> Vec<Step> {
    let mut parsed = SUBTREE.parse(args);
    if parsed.operands.first().is_none_or(|first| !first.is("push")) {
        return Vec::new();
    }
    parsed.operands.remove(0);
    let mut push = Push::new(&parsed, facts);
    push.refspecs(parsed.operands.get(1..).unwrap_or_default());
    push.steps
}

fn is_dry(parsed: &Parsed<'_>) -> bool {
    parsed.switched_on('n', "dry-run") || parsed.has('\0', "help")
}

struct Push<'p, 'a, 'f> {
    parsed: &'p Parsed<'a>,
    facts: &'p Facts<'f>,
    remote: Option<String>,
    steps: Vec<Step>,
}

impl<'p, 'a, 'f> Push<'p, 'a, 'f> {
    fn new(parsed: &'p Parsed<'a>, facts: &'p Facts<'f>) -> Self {
        let named = parsed.operands.first().copied().or_else(|| parsed.value('\0', "repo"));
        let remote = named.and_then(|remote| remote.text()).map(str::to_owned);
        Self { parsed, facts, remote, steps: Vec::new() }
    }

    fn is_on(&self, short: char, long: &str) -> bool {
        self.parsed.switched_on(short, long)
    }

    fn forces(&mut self, how: impl Into<String>, span: Option<Span>) {
        let kind = EffectKind::ForcePush { how: how.into(), remote: self.remote.clone() };
        self.steps.push(Step::Emit(kind, span));
    }

    fn lands_on_main(&mut self, destination: impl Into<String>, span: Option<Span>) {
        let destination = destination.into();
        let kind = EffectKind::PushMain { destination, remote: self.remote.clone() };
        self.steps.push(Step::Emit(kind, span));
    }

    fn force_if_given(&mut self, short: char, long: &str) {
        if self.is_on(short, long)
            && let Some(opt) = self.parsed.opts.iter().rfind(|opt| opt.name.is(short, long))
        {
            let how = match &opt.name {
                OptName::Short(letter) => format!("-{letter}"),
                OptName::Long(name) => format!("--{name}"),
            };
            self.forces(how, Some(opt.field.span));
        }
    }

    fn force_options(&mut self) {
        self.force_if_given('f', "force");
        self.force_if_given('\0', "force-with-lease");
        self.force_if_given('\0', "mirror");
        self.force_if_given('\0', "prune");
    }

    /// The program on the other side can be any code.
    fn remote_code(&mut self) {
        for (short, long) in [('\0', "receive-pack"), ('\0', "exec")] {
            for code in self.parsed.values(short, long) {
                self.steps.push(Step::Code(code.clone()));
            }
        }
        let url =
            self.parsed.operands.first().or(self.parsed.value('\0', "repo").as_ref()).copied();
        self.steps.extend(url.and_then(code::transport));
    }

    fn destinations(&mut self) {
        let refspecs = self.parsed.operands.get(1..).unwrap_or_default();
        if self.is_on('d', "delete") {
            if !refspecs.is_empty() {
                self.force_if_given('d', "delete");
                self.refspecs(refspecs);
            }
        } else if self.is_on('\0', "mirror") {
            self.lands_on_main("all refs", None);
        } else if self.is_on('\0', "all") || self.is_on('\0', "branches") {
            self.lands_on_main("all branches", None);
        } else if !refspecs.is_empty() {
            self.refspecs(refspecs);
        } else if !self.is_on('\0', "tags") {
            self.without_refspecs();
        }
    }

    fn refspecs(&mut self, refspecs: &[&'a Field]) {
        let mut rest = refspecs.iter();
        while let Some(refspec) = rest.next() {
            // `tag NAME` means refs/tags/NAME.
            if refspec.is("tag") && rest.len() > 0 {
                rest.next();
                continue;
            }
            self.refspec(refspec);
        }
    }

    fn refspec(&mut self, refspec: &Field) {
        let landing = landing(refspec, self.facts);
        let span = Some(refspec.span);
        if landing.forced || landing.deletes {
            self.forces(refspec.display(), span);
        }
        if let Some(main) = landing.main {
            self.lands_on_main(main, span);
        }
    }

    /// Without refspecs, configuration and the checked-out branch decide.
    fn without_refspecs(&mut self) {
        let remote = self.remote_name();
        if self.facts.config_is_on(&format!("remote.{remote}.mirror")) {
            self.forces(format!("remote.{remote}.mirror"), None);
            return self.lands_on_main("all refs", None);
        }
        if let Some(refspecs) = self.facts.config(&format!("remote.{remote}.push")) {
            let Some(text) = refspecs.text() else { return self.refspec(&refspecs) };
            for word in text.split_whitespace() {
                self.refspec(&Field::lit(word, refspecs.span));
            }
            return;
        }
        let how = self.facts.config("push.default");
        let Some(how) = how.as_ref().map_or(Some("simple"), Field::text) else {
            return self.lands_on_main("decided by push.default, which is not known", None);
        };
        let main = match how {
            "nothing" => None,
            "matching" => Some(MATCHING.to_owned()),
            "upstream" | "tracking" => match &self.facts.branch {
                Some(branch) => self
                    .facts
                    .merge_of(branch)
                    .map_or_else(|| main_by_text(branch), |merge| main_by_text(&merge)),
                None => refspec::current(self.facts),
            },
            _ => refspec::current(self.facts),
        };
        if let Some(main) = main {
            self.lands_on_main(main, None);
        }
    }

    fn remote_name(&self) -> String {
        let branch = self.facts.branch.as_deref().unwrap_or_default();
        self.remote
            .clone()
            .or_else(|| self.facts.config_text(&format!("branch.{branch}.pushremote")))
            .or_else(|| self.facts.config_text("remote.pushdefault"))
            .or_else(|| self.facts.config_text(&format!("branch.{branch}.remote")))
            .unwrap_or_else(|| "origin".to_owned())
    }

    /// Asks when an unknown argument may hold options and nothing else was found.
    fn unknown_arguments(&mut self) {
        if !self.steps.is_empty() || !self.parsed.unknown_many {
            return;
        }
        let may_be_options = |field: &Field| field.many && field.has_any();
        let hidden = match self.parsed.operands.as_slice() {
            [only] => may_be_options(only),
            [first, second, ..] => {
                may_be_options(first) && USUAL_REMOTES.iter().any(|name| second.is(name))
            }
            [] => true,
        };
        let unread = self.parsed.opts.iter().any(|opt| opt.field.has_any() && opt.value.is_none());
        if hidden || unread {
            self.steps.push(Step::Opaque {
                what: "git push".to_owned(),
                why: "its options are not known".to_owned(),
            });
        }
    }
}
