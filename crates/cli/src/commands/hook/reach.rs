//! How far the effects of an allowed call reach: an explicit yes is only for what stays close.

use aurora_model::{Effect, EffectKind, PathRef};

/// Folders outside the worktree that hold nothing of value.
const SCRATCH: [&str; 3] = ["/tmp/", "/var/tmp/", "/dev/"];

/// Whether everything that was seen stays inside the worktree and off the network. Operations that
/// a policy names count as close: where it allows them, somebody has said yes. In a script that is
/// run they do not, because there what is not certain is let through without such a word.
#[must_use]
pub fn stays_inside(effects: &[Effect]) -> bool {
    effects.iter().all(|effect| match &effect.kind {
        EffectKind::Network { .. } => false,
        EffectKind::ChangePath { path, .. } => is_close(path),
        EffectKind::DeleteFiles { paths, .. } => paths.iter().all(is_close),
        EffectKind::ForcePush { .. }
        | EffectKind::PushMain { .. }
        | EffectKind::DiscardWork { .. }
        | EffectKind::DropObject { .. }
        | EffectKind::EmptyTable { .. }
        | EffectKind::ChangeAllRows { .. }
        | EffectKind::DestroyInfra { .. }
        | EffectKind::WipeDisk { .. }
        | EffectKind::LoseRoot { .. }
        | EffectKind::Opaque { .. }
        | EffectKind::UnknownTool { .. } => !effect.in_script,
    })
}

/// Inside the worktree, or below a scratch folder; what is not known may be anywhere.
fn is_close(path: &PathRef) -> bool {
    path.resolved.as_deref().is_some_and(|resolved| {
        let outside = resolved.starts_with(['/', '~']) || resolved.split('/').any(|p| p == "..");
        !outside || SCRATCH.iter().any(|folder| is_below(resolved, folder))
    })
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| !rest.is_empty() && rest.split('/').all(|part| part != ".."))
}

#[cfg(test)]
mod tests {
    use aurora_model::{Count, Span, Touch};

    use super::*;

    fn path(resolved: Option<&str>) -> PathRef {
        PathRef { text: "x".into(), resolved: resolved.map(str::to_owned), glob: false }
    }

    fn check(kind: EffectKind, expected: bool) {
        let effect = Effect::new(kind, Span::new(0, 1));
        assert_eq!(stays_inside(std::slice::from_ref(&effect)), expected, "{effect:?}");
    }

    #[test]
    fn a_path_is_close_inside_the_worktree_and_below_scratch_folders() {
        for (resolved, expected) in [
            (Some("src/a.rs"), true),
            (Some("."), true),
            (Some("**/*.log"), true),
            (Some("..hidden"), true),
            (Some("/tmp/x"), true),
            (Some("/var/tmp/x/y"), true),
            (Some("/dev/null"), true),
            (Some("/tmp"), false),
            (Some("/tmp/"), false),
            (Some("/tmpfile"), false),
            (Some("/tmp/../etc/passwd"), false),
            (Some("/etc/hosts"), false),
            (Some("/"), false),
            (Some("~/x"), false),
            (Some("../x"), false),
            (None, false),
        ] {
            let path = path(resolved);
            let touch = Touch::Write;
            check(EffectKind::ChangePath { path: path.clone(), touch, recursive: false }, expected);
            let paths = vec![self::path(Some("a")), path];
            let count = Count::Known(2);
            check(EffectKind::DeleteFiles { paths, count, recursive: false }, expected);
        }
    }

    #[test]
    fn the_network_is_far_and_what_a_policy_names_is_the_policys_word() {
        assert!(stays_inside(&[]));
        check(EffectKind::Network { target: "example.com".into() }, false);
        check(EffectKind::DiscardWork { what: "x".into() }, true);
        check(EffectKind::ForcePush { how: "--force".into(), remote: None }, true);
        let discard = EffectKind::DiscardWork { what: "x".into() };
        let in_script = Effect { in_script: true, ..Effect::new(discard, Span::new(0, 1)) };
        assert!(!stays_inside(&[in_script]));
    }
}
