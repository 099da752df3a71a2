//! Judges changed paths: protected ones, the areas of policy and plan, path rules and contracts.

use aurora_model::{Answer, Context, Effect, EffectKind, Operation, PathRef, Reason, Touch};

use super::describe::{describe, shown};
use super::unevaluated;
use crate::Policy;
use crate::analysis::Analysis;
use crate::analysis::path::PatternSet;
use crate::policy::instead_of_key;
use crate::policy::keys::Key;
use crate::policy::operations::row_of;
use crate::policy::words::word_fits;

/// Where scratch files live: outside every plan, and nobody's work.
const SCRATCH: [&str; 3] = ["/tmp/", "/var/tmp/", "/dev/"];

/// Policy files, and the settings that put the gate in front of an agent.
const OWN_FILES: [&str; 6] = [
    ".aurora/policies.yaml",
    ".aurora/approvals.yaml",
    ".aurora/agents.yaml",
    ".aurora/config.yaml",
    ".claude/settings.json",
    ".claude/settings.local.json",
];

/// Adds what path constraints say.
pub(super) fn judge(
    analysis: &Analysis,
    policy: &Policy,
    context: &Context,
    reasons: &mut Vec<Reason>,
) {
    let plan = PlanAreas::of(context);
    for effect in &analysis.effects {
        let mut touched = touched(effect);
        if effect.in_script {
            // In a script a path with a variable in it may be any path.
            touched.retain(|(path, _)| !path.glob);
        }
        if touched.is_empty() {
            continue;
        }
        let mut judging = Judging { effect, touched, context, reasons };
        judging.own_files();
        judging.closed(policy, Key::ProtectedPaths);
        judging.closed(policy, Key::ProtectedAreas);
        judging.closed(policy, Key::ForbiddenAreas);
        if !policy.list(Key::AllowedAreas).is_empty() {
            let set = policy.patterns(Key::AllowedAreas);
            judging.allowed(set, "areas.allowed_areas", policy.origin(Key::AllowedAreas));
        }
        judging.plan(&plan);
        judging.path_rules(policy);
        judging.contracts(policy);
    }
}

/// The paths that an effect changes, each with whether everything below it goes along.
pub(super) fn touched(effect: &Effect) -> Vec<(&PathRef, bool)> {
    match &effect.kind {
        EffectKind::ChangePath { path, recursive, .. } => vec![(path, *recursive)],
        EffectKind::DeleteFiles { paths, recursive, .. } => {
            paths.iter().map(|path| (path, *recursive)).collect()
        }
        _ => Vec::new(),
    }
}

/// The areas of the accepted plan; the inner nothing is a list that cannot be evaluated.
struct PlanAreas {
    allowed: Option<Option<PatternSet>>,
    forbidden: Option<Option<PatternSet>>,
}

impl PlanAreas {
    fn of(context: &Context) -> Self {
        let set = |list: &[String]| (!list.is_empty()).then(|| PatternSet::new(list).ok());
        let plan = context.plan.as_ref();
        Self {
            allowed: plan.and_then(|plan| set(&plan.allowed_areas)),
            forbidden: plan.and_then(|plan| set(&plan.forbidden_areas)),
        }
    }
}

/// One effect on its way past every path constraint.
struct Judging<'a> {
    effect: &'a Effect,
    touched: Vec<(&'a PathRef, bool)>,
    context: &'a Context,
    reasons: &'a mut Vec<Reason>,
}

impl Judging<'_> {
    /// The first touched path that a set covers, and the pattern that does.
    fn covered<'s>(&self, set: &'s PatternSet) -> Option<(&PathRef, &'s str)> {
        self.touched.iter().find_map(|(path, recursive)| {
            let below = || if *recursive { below(set, path, self.context) } else { None };
            let pattern = set.covering(path).or_else(below)?;
            Some((*path, pattern))
        })
    }

    fn push(
        &mut self,
        answer: Answer,
        operation: Operation,
        rule: &str,
        why: &str,
        instead: Option<&str>,
        origin: String,
    ) {
        self.reasons.push(Reason {
            answer,
            operation,
            rule: rule.to_owned(),
            message: format!("{}: {why}", describe(self.effect)),
            span: self.effect.span,
            instead: instead.map(str::to_owned),
            origin,
        });
    }

    fn unevaluated(&mut self, operation: Operation, rule: &str, origin: String) {
        self.reasons.push(unevaluated(operation, rule.to_owned(), self.effect.span, origin));
    }

    /// The files that hold the gate itself: a change to them always asks.
    fn own_files(&mut self) {
        let home = self.context.home.as_deref();
        let moves = matches!(
            self.effect.kind,
            EffectKind::ChangePath { touch: Touch::Rename | Touch::Remove | Touch::Link, .. }
        );
        let own =
            self.touched.iter().any(|(path, recursive)| is_own(path, *recursive || moves, home));
        if own {
            let why = "it decides what the gate lets through";
            let instead = Some("tell the person which rule is in the way, and let them change it");
            let origin = "always".to_owned();
            let operation = Operation::ProtectedPath;
            self.push(Answer::Ask, operation, "safety.own_files", why, instead, origin);
        }
    }

    /// The lists of the policy that close paths for everyone.
    fn closed(&mut self, policy: &Policy, key: Key) {
        if policy.list(key).is_empty() {
            return;
        }
        let (operation, rule, word) = match key {
            Key::ProtectedPaths => {
                (Operation::ProtectedPath, "safety.protected_paths", "protected")
            }
            Key::ProtectedAreas => (Operation::Area, "areas.protected_areas", "read-only"),
            _ => (Operation::Area, "areas.forbidden_areas", "forbidden"),
        };
        let Some(set) = policy.patterns(key) else {
            self.unevaluated(operation, rule, policy.origin(key));
            return;
        };
        let Some((path, pattern)) = self.covered(set) else { return };
        let why = covered_why(path, pattern, word);
        let origin = policy.item_origin(key, pattern);
        let instead = row_of(operation).map(|row| row.instead).or_else(|| instead_of_key(key));
        self.push(Answer::Deny, operation, rule, &why, instead, origin);
    }

    /// A list outside of which nothing may change.
    fn allowed(&mut self, set: Option<&PatternSet>, rule: &str, origin: String) {
        let Some(set) = set else {
            self.unevaluated(Operation::Area, rule, origin);
            return;
        };
        let outside = self.touched.iter().find(|(path, _)| !is_inside(set, path));
        let Some((path, _)) = outside else { return };
        let name = shown(&path.text);
        let instead = instead_of_key(Key::AllowedAreas);
        if path.resolved.is_some() {
            let why = format!("`{name}` is outside the allowed areas");
            self.push(Answer::Deny, Operation::Area, rule, &why, instead, origin);
        } else {
            let why = format!("nobody knows whether `{name}` is inside the allowed areas");
            self.push(Answer::Ask, Operation::Area, rule, &why, instead, origin);
        }
    }

    fn plan(&mut self, plan: &PlanAreas) {
        let origin = || "the accepted plan".to_owned();
        if let Some(set) = &plan.allowed {
            self.allowed(set.as_ref(), "plan.allowed_areas", origin());
        }
        let rule = "plan.forbidden_areas";
        match &plan.forbidden {
            None => {}
            Some(None) => self.unevaluated(Operation::Area, rule, origin()),
            Some(Some(set)) => {
                let Some((path, pattern)) = self.covered(set) else { return };
                let why = covered_why(path, pattern, "forbidden by the plan");
                let instead = instead_of_key(Key::ForbiddenAreas);
                self.push(Answer::Deny, Operation::Area, rule, &why, instead, origin());
            }
        }
    }

    fn path_rules(&mut self, policy: &Policy) {
        let role = self.context.role.as_deref();
        for (index, rule) in policy.path_rules().iter().enumerate() {
            if !rule.holds_for(role) {
                continue;
            }
            let id = format!("path_rules.{}", index + 1);
            let origin = rule.origin.to_string();
            let Some(set) = &rule.set else {
                self.unevaluated(Operation::PathRule, &id, origin);
                continue;
            };
            let Some((path, pattern)) = self.covered(set) else { continue };
            let who = role.map_or_else(|| "everyone".to_owned(), |role| format!("`{role}`"));
            let word = match rule.answer {
                Answer::Deny => format!("closed to {who}"),
                _ => format!("open to {who} only with a person's yes"),
            };
            let mut why = covered_why(path, pattern, &word);
            if let Some(reason) = &rule.reason {
                why = format!("{why}: {reason}");
            }
            let instead = rule.instead.as_deref();
            let instead =
                instead.or(Some("make the change elsewhere, or let a role do it that may"));
            self.push(rule.answer, Operation::PathRule, &id, &why, instead, origin);
        }
    }

    fn contracts(&mut self, policy: &Policy) {
        for contract in policy.contracts() {
            if self.context.held_locks.contains(&contract.lock) {
                continue;
            }
            let id = format!("contracts.{}", contract.name);
            let origin = contract.origin.to_string();
            let Some(set) = &contract.set else {
                self.unevaluated(Operation::Contract, &id, origin);
                continue;
            };
            let Some((path, _)) = self.covered(set) else { continue };
            let why = format!(
                "`{}` belongs to the contract `{}`, and the lock `{}` is not held",
                shown(&path.text),
                contract.name,
                contract.lock
            );
            let instead = Some("take the lock first, or leave the contract as it is");
            self.push(Answer::Deny, Operation::Contract, &id, &why, instead, origin);
        }
    }
}

/// Whether a path is one of the files that hold the gate, of the project or of the user.
fn is_own(path: &PathRef, whole: bool, home: Option<&str>) -> bool {
    let Some(resolved) = path.resolved.as_deref() else { return false };
    let of_user = home.and_then(|home| resolved.strip_prefix(home)?.strip_prefix('/'));
    let name = of_user.unwrap_or(resolved);
    let folder = matches!(name, ".aurora" | ".claude");
    OWN_FILES.contains(&name) || (whole && folder)
}

fn covered_why(path: &PathRef, pattern: &str, word: &str) -> String {
    let (path, pattern) = (shown(&path.text), shown(pattern));
    if path == pattern {
        format!("`{path}` is {word}")
    } else {
        format!("`{path}` is {word} by `{pattern}`")
    }
}

/// Whether a path lies inside an area, or is scratch.
fn is_inside(set: &PatternSet, path: &PathRef) -> bool {
    let scratch = path
        .resolved
        .as_deref()
        .is_some_and(|resolved| SCRATCH.iter().any(|folder| resolved.starts_with(folder)));
    scratch || set.covering(path).is_some()
}

/// Which pattern covers something below a path; an ancestor of the worktree holds the worktree.
fn below<'s>(set: &'s PatternSet, path: &PathRef, context: &Context) -> Option<&'s str> {
    if let Some(pattern) = set.covered_below(path) {
        return Some(pattern);
    }
    let resolved = path.resolved.as_deref()?;
    let ancestor = resolved == "/"
        || context.root.as_deref().is_some_and(|root| is_ancestor(resolved, path.glob, root));
    if !ancestor {
        return None;
    }
    set.covered_below(&PathRef { text: ".".into(), resolved: Some(".".into()), glob: false })
}

/// Whether an absolute path, perhaps with globs in it, names the root or a folder above it.
fn is_ancestor(path: &str, glob: bool, root: &str) -> bool {
    if !path.starts_with('/') {
        return false;
    }
    let mut folders = root.split('/').filter(|part| !part.is_empty());
    path.split('/').filter(|part| !part.is_empty()).all(|part| {
        folders.next().is_some_and(|folder| {
            part == folder || (glob && !folder.starts_with('.') && word_fits(part, folder))
        })
    })
}
