//! Asks the gate, and reads the files that it wants to see before it asks again.

use std::io::Read;
use std::path::{Path, PathBuf};

use aurora_gate::Policy;
use aurora_model::{Action, Context, Verdict};

/// How often a file that was read may lead to another one.
const MAX_ROUNDS: usize = 4;
const MAX_FILES: usize = 32;
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// What a wanted file turned out to be.
enum Found {
    /// Text, whole.
    Text(String),
    /// A program, not a script: there is nothing to read in it.
    Binary,
    /// Text that is too long.
    TooLong,
}

/// The gate's verdict, with every file read that it wanted and that can be read, and the context with
/// those files. A file that is there and is not read because of a limit is said to be unread, so that
/// a limit lets nothing through.
#[must_use]
pub fn judge(action: &Action, policy: &Policy, context: &Context) -> (Verdict, Context) {
    let mut context = context.clone();
    let mut verdict = aurora_gate::judge(action, policy, &context);
    for round in 0..=MAX_ROUNDS {
        let mut news = false;
        for name in &verdict.wanted {
            if context.files.contains_key(name) || context.unread.contains(name) {
                continue;
            }
            let Some(found) = look(name, &context) else { continue };
            news = true;
            let within = round < MAX_ROUNDS && context.files.len() < MAX_FILES;
            match found {
                Found::Text(text) if within => drop(context.files.insert(name.clone(), text)),
                Found::Binary => drop(context.files.insert(name.clone(), String::new())),
                Found::Text(_) | Found::TooLong => drop(context.unread.insert(name.clone())),
            }
        }
        if !news {
            break;
        }
        verdict = aurora_gate::judge(action, policy, &context);
    }
    (verdict, context)
}

/// A wanted file, where there is one.
fn look(name: &str, context: &Context) -> Option<Found> {
    let below = |folder: &Option<String>, name: &str| {
        folder.as_ref().map(|folder| Path::new(folder).join(name))
    };
    let candidates: [Option<PathBuf>; 3] = [
        name.strip_prefix("~/").and_then(|rest| below(&context.home, rest)),
        below(&context.cwd, name),
        below(&context.root, name),
    ];
    candidates.into_iter().flatten().find_map(|path| read(&path))
}

fn read(path: &Path) -> Option<Found> {
    // Opening a pipe would wait for somebody to write into it.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = std::fs::File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).ok()?;
    if bytes.iter().take(1024).any(|byte| *byte == 0) {
        return Some(Found::Binary);
    }
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
        return Some(Found::TooLong);
    }
    Some(Found::Text(String::from_utf8_lossy(&bytes).into_owned()))
}
