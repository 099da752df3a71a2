//! The `*** Begin Patch` form that Codex and others use for edits.

use aurora_model::{Cause, Context, Count, Effect, EffectKind, Span, Touch};

use super::place;
use crate::analysis::Analysis;

/// What the patch would change; what is not understood is refused.
pub(super) fn analyse(text: &str, context: &Context) -> Analysis {
    let mut out = Analysis::default();
    let mut files = 0;
    let mut lines = 0;
    let mut deleted = Vec::new();
    let mut ended = false;
    let mut at = 0;
    for line in text.trim().lines() {
        let span = Span::new(at, at + line.len());
        at += line.len() + 1;
        let mut change = |name: &str, touch| {
            let path = place(name.trim(), context);
            let kind = EffectKind::ChangePath { path, touch, recursive: false };
            out.effects.push(Effect::new(kind, span));
        };
        let Some(directive) = line.strip_prefix("*** ") else {
            if line.starts_with(['+', '-']) {
                lines += 1;
            }
            continue;
        };
        match directive.split_once(": ") {
            Some(("Add File", name)) => change(name, Touch::Create),
            Some(("Update File", name)) => change(name, Touch::Write),
            Some(("Move to", name)) => change(name, Touch::Rename),
            Some(("Delete File", name)) => deleted.push((place(name.trim(), context), span)),
            Some(("Environment ID", _)) => continue,
            _ if directive.trim() == "Begin Patch" || directive.trim() == "End of File" => continue,
            _ if directive.trim() == "End Patch" => {
                ended = true;
                continue;
            }
            _ => {
                out.refused = Some(format!("`{line}` is not a line of such a patch"));
                continue;
            }
        }
        files += 1;
    }
    for (path, span) in deleted {
        let paths = vec![path];
        let kind = EffectKind::DeleteFiles { paths, count: Count::Known(1), recursive: false };
        out.effects.push(Effect::new(kind, span));
    }
    if !ended && out.refused.is_none() {
        out.refused = Some("the patch does not end".to_owned());
    }
    if let Some(why) = out.refused.clone() {
        let kind = EffectKind::Opaque { what: "patch".to_owned(), why, cause: Cause::Unreadable };
        out.effects.push(Effect::new(kind, Span::new(0, text.len())));
    }
    out.scope = Some(crate::analysis::ChangeScope { files, lines });
    out
}
