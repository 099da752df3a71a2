//! Effects in words.

use aurora_model::{Count, Effect, EffectKind, PathRef, Touch};

/// Longer texts are cut before they reach a person.
const MAX_SHOWN_CHARS: usize = 80;
/// More paths than this are counted instead of named.
const MAX_SHOWN_PATHS: usize = 3;

/// What an effect does, in words that follow "it": "deletes 3 files", "writes `.env`" …
#[must_use]
pub fn describe(effect: &Effect) -> String {
    match &effect.kind {
        EffectKind::DeleteFiles { paths, count, recursive } => deletion(paths, *count, *recursive),
        EffectKind::ChangePath { path, touch, recursive } => change(path, *touch, *recursive),
        EffectKind::ForcePush { how, remote } => force_push(how, remote.as_deref()),
        EffectKind::PushMain { destination, remote } => {
            let on =
                remote.as_deref().map_or_else(String::new, |name| format!(" on {}", shown(name)));
            match destination.as_str() {
                "main" | "master" => format!("pushes to `{destination}`{on}"),
                _ => format!("pushes to main or master{on}: {}", shown(destination)),
            }
        }
        EffectKind::DiscardWork { what } => format!("throws away work: {}", shown(what)),
        EffectKind::DropObject { object } => {
            format!("drops {}, with everything in it", shown(object))
        }
        EffectKind::EmptyTable { object } => format!("empties {}: every row goes", shown(object)),
        EffectKind::ChangeAllRows { statement } => {
            format!("changes every row: `{}` has no WHERE", shown(statement))
        }
        EffectKind::DestroyInfra { what } => format!("destroys infrastructure: {}", shown(what)),
        EffectKind::WipeDisk { device } => {
            format!("overwrites {}: everything on it is lost", shown(device))
        }
        EffectKind::LoseRoot { path, how } => {
            format!("{how} `{}`: the system, or everything of a person, rests on it", shown(path))
        }
        EffectKind::Opaque { what, why, .. } => {
            format!(
                "runs something that cannot be seen beforehand: {}: {}",
                shown(what),
                shown(why)
            )
        }
        EffectKind::UnknownTool { name } => {
            format!("calls `{}`, a tool that Aurora has no model of", shown(name))
        }
        EffectKind::Network { target } => format!("reaches out to {}", shown(target)),
    }
}

/// Text that cannot move the cursor or hide anything on a terminal, and is not too long.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::new();
    for (index, char) in text.chars().enumerate() {
        if index == MAX_SHOWN_CHARS {
            out.push('…');
            break;
        }
        if char.is_control() || is_invisible(char) {
            out.extend(char.escape_unicode());
        } else {
            out.push(char);
        }
    }
    out
}

/// Characters that reorder or hide text.
const fn is_invisible(char: char) -> bool {
    matches!(
        char,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

/// Some paths by name, the rest as a number.
fn named(paths: &[PathRef]) -> String {
    let names = paths.iter().take(MAX_SHOWN_PATHS);
    let list: Vec<String> = names.map(|path| format!("`{}`", shown(&path.text))).collect();
    match paths.len().saturating_sub(MAX_SHOWN_PATHS) {
        0 => list.join(", "),
        more => format!("{} and {more} more", list.join(", ")),
    }
}

fn deletion(paths: &[PathRef], count: Count, recursive: bool) -> String {
    match (count, recursive, paths) {
        (_, true, []) => "deletes folders and everything below them".to_owned(),
        (_, true, [_]) => format!("deletes {} and everything below it", named(paths)),
        (_, true, _) => format!("deletes {} and everything below them", named(paths)),
        (Count::Unknown, false, []) => "deletes an unknown number of files".to_owned(),
        (Count::Unknown, false, _) => {
            format!("deletes an unknown number of files ({})", named(paths))
        }
        (Count::Known(1), false, [_]) => format!("deletes {}", named(paths)),
        (Count::Known(1), false, _) => "deletes 1 file".to_owned(),
        (Count::Known(count), false, []) => format!("deletes {count} files"),
        (Count::Known(count), false, _) => format!("deletes {count} files ({})", named(paths)),
    }
}

fn change(path: &PathRef, touch: Touch, recursive: bool) -> String {
    let verb = match touch {
        Touch::Create => "creates",
        Touch::Write => "writes to",
        Touch::Append => "appends to",
        Touch::Truncate => "empties or cuts short",
        Touch::Remove => "removes",
        Touch::Rename => "renames or replaces",
        Touch::Mode => "changes the permissions of",
        Touch::Owner => "changes the owner of",
        Touch::Link => "makes a link at",
    };
    let below = if recursive { " and everything below it" } else { "" };
    format!("{verb} `{}`{below}", shown(&path.text))
}

fn force_push(how: &str, remote: Option<&str>) -> String {
    let remote = remote.map_or_else(|| "the remote".to_owned(), shown);
    let how_shown = shown(how);
    let removes =
        how.starts_with(':') || how.starts_with("--del") || how.starts_with("--pru") || how == "-d";
    if removes {
        format!("removes refs on {remote} (`{how_shown}`): what only they hold is lost there")
    } else {
        format!("force-pushes to {remote} (`{how_shown}`): history on the remote is rewritten")
    }
}
