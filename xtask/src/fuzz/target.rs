//! What is fuzzed, and what must hold whatever the input is.

use aurora_gate::policy::{LayerKind, LayerSource};
use aurora_gate::{Policy, judge};
use aurora_model::{Action, Answer, Cause, Context, Effect, EffectKind, SqlDialect, Verdict};

/// One of the gate's parsers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Shell text.
    Shell,
    /// SQL; the first byte chooses the dialect.
    Sql,
    /// A patch.
    Patch,
    /// A policy file.
    Policy,
}

impl Target {
    /// Every target.
    pub const ALL: [Self; 4] = [Self::Shell, Self::Sql, Self::Patch, Self::Policy];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Sql => "sql",
            Self::Patch => "patch",
            Self::Policy => "policy",
        }
    }

    /// The target of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn from_name(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|target| target.name() == name);
        found.ok_or_else(|| format!("there is no fuzz target {name}; shell, sql, patch or policy"))
    }
}

/// What every input is judged with.
#[derive(Debug)]
pub struct Ground {
    policy: Policy,
    context: Context,
}

impl Default for Ground {
    fn default() -> Self {
        Self::new()
    }
}

impl Ground {
    /// The built-in policy in a worktree with everything known about it.
    #[must_use]
    pub fn new() -> Self {
        let context = Context {
            cwd: Some("/home/u/proj".to_owned()),
            root: Some("/home/u/proj".to_owned()),
            home: Some("/home/u".to_owned()),
            branch: Some("main".to_owned()),
            upstream: Some("origin/main".to_owned()),
            ..Context::default()
        };
        Self { policy: Policy::builtin(), context }
    }

    /// Runs one input; `twice` also asks for the same answer again.
    ///
    /// # Errors
    /// What does not hold.
    pub fn run(&self, target: Target, data: &[u8], twice: bool) -> Result<(), String> {
        let text = || String::from_utf8_lossy(data).into_owned();
        match target {
            Target::Shell => self.judged(&Action::Shell { command: text() }, twice),
            Target::Sql => {
                let (dialect, text) = dialect(data);
                self.judged(&Action::Sql { text, dialect }, twice)
            }
            Target::Patch => self.judged(&Action::Patch { patch: data.to_vec() }, twice),
            Target::Policy => self.loaded(text(), twice),
        }
    }

    fn judged(&self, action: &Action, twice: bool) -> Result<(), String> {
        let verdict = judge(action, &self.policy, &self.context);
        let text = match action {
            Action::Shell { command } => Some(command.as_str()),
            Action::Sql { text, .. } => Some(text.as_str()),
            _ => None,
        };
        holds(&verdict, text)?;
        if twice && judge(action, &self.policy, &self.context) != verdict {
            return Err("two verdicts on the same action".to_owned());
        }
        Ok(())
    }

    /// A policy file is understood or refused, and what is understood can judge.
    fn loaded(&self, text: String, twice: bool) -> Result<(), String> {
        let source =
            [LayerSource { kind: LayerKind::Project, name: "policies.yaml".to_owned(), text }];
        let told = match Policy::load(&source) {
            Err(errors) => errors.to_string(),
            Ok(policy) => {
                for command in ["git push --force", "rm -rf build", "git status"] {
                    let action = Action::Shell { command: command.to_owned() };
                    holds(&judge(&action, &policy, &self.context), Some(command))?;
                }
                policy.to_yaml(true)
            }
        };
        if told.is_empty() {
            return Err("a policy file was refused without a word".to_owned());
        }
        let again = || match Policy::load(&source) {
            Err(errors) => errors.to_string(),
            Ok(policy) => policy.to_yaml(true),
        };
        if twice && again() != told {
            return Err("two readings of the same policy file".to_owned());
        }
        Ok(())
    }
}

/// The first byte chooses the dialect, so that one input covers one of them.
fn dialect(data: &[u8]) -> (SqlDialect, String) {
    let (first, rest) = data.split_first().unwrap_or((&0, &[]));
    let dialect = match first % 5 {
        0 => SqlDialect::Generic,
        1 => SqlDialect::Postgres,
        2 => SqlDialect::Mysql,
        3 => SqlDialect::Sqlite,
        _ => SqlDialect::Mssql,
    };
    (dialect, String::from_utf8_lossy(rest).into_owned())
}

/// What must hold of every verdict: the strictest reason decided, nothing opaque was let through,
/// and spans lie in the text.
fn holds(verdict: &Verdict, text: Option<&str>) -> Result<(), String> {
    let strictest = verdict.reasons.iter().map(|reason| reason.answer).max();
    if strictest.unwrap_or(Answer::Allow) != verdict.decision {
        return Err("the strictest reason did not decide".to_owned());
    }
    // In a script file what depends on variables is let through; what cannot be read never is.
    let opaque = |effect: &Effect| match effect.kind {
        EffectKind::Opaque { cause: Cause::Dynamic, .. } => !effect.in_script,
        EffectKind::Opaque { .. } => true,
        _ => false,
    };
    if verdict.decision == Answer::Allow && verdict.effects.iter().any(opaque) {
        return Err("something that could not be understood was allowed".to_owned());
    }
    let Some(text) = text else { return Ok(()) };
    let spans = verdict.reasons.iter().map(|reason| reason.span);
    for span in spans.chain(verdict.effects.iter().map(|effect| effect.span)) {
        if text.get(span.start..span.end).is_none() {
            return Err("a span that is not in the text".to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use aurora_model::{Operation, Span};

    fn verdict(decision: Answer, kind: EffectKind, span: Span) -> Verdict {
        Verdict {
            decision,
            operation: Operation::None,
            rule: None,
            reasons: Vec::new(),
            effects: vec![Effect::new(kind, span)],
            wanted: Vec::new(),
        }
    }

    #[test]
    fn a_verdict_that_does_not_hold_is_found() {
        let network = || EffectKind::Network { target: "x".into() };
        let opaque = |cause| EffectKind::Opaque { what: "x".into(), why: "y".into(), cause };
        let good = verdict(Answer::Allow, network(), Span::new(0, 2));
        assert_eq!(holds(&good, Some("ab")), Ok(()));
        assert!(holds(&good, Some("a")).is_err(), "the span is outside");
        assert!(holds(&good, Some("a\u{df}")).is_err(), "the span cuts a character");
        let none = Span::new(0, 0);
        assert!(holds(&verdict(Answer::Deny, network(), none), None).is_err(), "no reason");
        for (cause, in_script, expected) in [
            (Cause::Dynamic, false, false),
            (Cause::Dynamic, true, true),
            (Cause::Network, true, false),
            (Cause::Unreadable, true, false),
        ] {
            let mut allowed = verdict(Answer::Allow, opaque(cause), none);
            allowed.effects.iter_mut().for_each(|effect| effect.in_script = in_script);
            assert_eq!(holds(&allowed, None).is_ok(), expected, "{cause:?} {in_script}");
        }
    }
}
