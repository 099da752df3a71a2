//! Checkpoints that were made earlier: the list of them, and one of them whole.

use aurora_model::{Change, Checkpoint, CheckpointKind, Timestamp};
use serde_json::{Value, json};

use super::changes;
use super::checkpoint::{self, DiffFiles};
use super::escape;
use super::moment;
use super::skipped;
use super::style::Style;

const MIN_MESSAGE_COLUMNS: usize = 12;

/// The word for why a checkpoint was made.
#[must_use]
pub fn kind(kind: CheckpointKind) -> &'static str {
    match kind {
        CheckpointKind::Asked => "asked",
        CheckpointKind::Watched => "watched",
        CheckpointKind::Safety => "safety",
        CheckpointKind::Restored => "restored",
        CheckpointKind::Promoted => "promoted",
        CheckpointKind::Shadow => "shadow",
        CheckpointKind::Desk => "desk",
        CheckpointKind::Adopted => "adopted",
    }
}

/// A checkpoint's message, or what stands for it.
#[must_use]
pub fn message(checkpoint: &Checkpoint) -> String {
    let first = checkpoint.message.lines().next().unwrap_or_default().trim();
    if !first.is_empty() {
        return escape::line(first);
    }
    let words = match checkpoint.kind {
        CheckpointKind::Asked | CheckpointKind::Watched => "",
        CheckpointKind::Safety => "what was there before a rollback or promotion",
        CheckpointKind::Restored => "what a rollback left",
        CheckpointKind::Promoted => "what a promotion left",
        CheckpointKind::Shadow => "what a shadow began from, or held",
        CheckpointKind::Desk => "what an attempt begins with, or left",
        CheckpointKind::Adopted => "what the adoption of a desk's work left",
    };
    words.to_owned()
}

/// Below so many columns a table says only how long ago something was.
const MIN_COLUMNS_FOR_MOMENTS: usize = 100;

/// The table of checkpoints, which come the newest first. `clip` fits it to the terminal.
#[must_use]
pub fn table(checkpoints: &[&Checkpoint], now: Timestamp, clip: bool, style: Style) -> String {
    let head = ["CHECKPOINT", "WHEN", "", "KIND", "FILES", "MESSAGE"].map(ToOwned::to_owned);
    let mut rows: Vec<[String; 6]> = checkpoints.iter().map(|one| row(one, now)).collect();
    if clip && style.width < MIN_COLUMNS_FOR_MOMENTS {
        rows.iter_mut().for_each(|[_, _, moment, ..]| moment.clear());
    }
    let widths: [usize; 5] = std::array::from_fn(|column| {
        let cell = |row: &[String; 6]| row.get(column).map_or(0, |cell| columns(cell));
        rows.iter().map(cell).chain([cell(&head)]).max().unwrap_or(0)
    });
    let used: usize = widths.iter().filter(|width| **width > 0).map(|width| width + 2).sum();
    let room = style.width.saturating_sub(used).max(MIN_MESSAGE_COLUMNS);
    let room = if clip { room } else { usize::MAX };
    let mut out = style.faint(&line(&head, &widths, room));
    out.push('\n');
    for row in &rows {
        out.push_str(&line(row, &widths, room));
        out.push('\n');
    }
    out
}

fn row(checkpoint: &Checkpoint, now: Timestamp) -> [String; 6] {
    [
        escape::line(&checkpoint.checkpoint_id.0),
        moment::ago(now, checkpoint.timestamp),
        moment::utc(checkpoint.timestamp),
        kind(checkpoint.kind).to_owned(),
        checkpoint.files_changed_since_last.to_string(),
        message(checkpoint),
    ]
}

fn line(cells: &[String; 6], widths: &[usize; 5], room: usize) -> String {
    let mut out = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if *width == 0 {
            continue;
        }
        let gap = " ".repeat(width.saturating_sub(columns(cell)));
        // Numbers stand under each other from the right.
        let number = column == 4;
        if number {
            out.push_str(&gap);
        }
        out.push_str(cell);
        if !number {
            out.push_str(&gap);
        }
        out.push_str("  ");
    }
    if let Some(message) = cells.last() {
        out.push_str(&clipped(message, room));
    }
    out.trim_end().to_owned()
}

fn columns(text: &str) -> usize {
    text.chars().map(escape::width).sum()
}

fn clipped(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += escape::width(*c);
        used <= room
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// One row of the list, for a program.
#[must_use]
pub fn row_json(checkpoint: &Checkpoint) -> Value {
    let mut out = checkpoint::identity(checkpoint);
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("files_changed_count", json!(checkpoint.files_changed_since_last));
    put("skipped_count", json!(checkpoint.skipped.len()));
    put("validation_status", json!(checkpoint.validation_status));
    put("severity", json!(checkpoint.severity));
    Value::Object(out)
}

/// One checkpoint with what follows from its trees.
pub struct Whole<'a> {
    /// The checkpoint.
    pub checkpoint: &'a Checkpoint,
    /// What differs from the previous one.
    pub since_last: &'a [Change],
    /// What differs from where the chain began.
    pub total: &'a [Change],
    /// Where its diffs are.
    pub diffs: &'a DiffFiles,
    /// How many files are staged and not so in the worktree, and what shows them.
    pub staged: Option<(usize, String)>,
}

impl Whole<'_> {
    /// For a person; `all` lists everything that was left out.
    #[must_use]
    pub fn human(&self, now: Timestamp, all: bool, style: Style) -> String {
        let one = self.checkpoint;
        let mut out = format!(
            "{}  {}  {} ({})\n",
            style.bold(&escape::line(&one.checkpoint_id.0)),
            kind(one.kind),
            moment::utc(one.timestamp),
            moment::ago(now, one.timestamp)
        );
        let mut say = |name: &str, value: &str| {
            if !value.is_empty() {
                out.push_str(&format!("  {:<9} {value}\n", format!("{name}:")));
            }
        };
        say("message", &escape::lines(one.message.trim()).replace('\n', "\n            "));
        let previous = one.previous_checkpoint_id.as_ref();
        say("previous", &previous.map_or("none".to_owned(), |id| escape::line(&id.0)));
        say("feature", &escape::line(&one.feature));
        say("HEAD", &skipped::head(&one.head));
        say("tree", &escape::line(&one.tree.0));
        say("diff", &escape::line(self.diffs.incremental.as_deref().unwrap_or_default()));
        say("in total", &escape::line(self.diffs.cumulative.as_deref().unwrap_or_default()));
        out.push_str(&format!("\nsince the previous: {}\n", changes::summary(self.since_last)));
        out.push_str(&changes::list(self.since_last, changes::MAX_PATHS, style));
        out.push_str(&format!("since the beginning: {}\n", changes::summary(self.total)));
        if let Some((number, command)) = &self.staged {
            let files = changes::count(*number, "file");
            let command = escape::line(command);
            out.push_str(&format!("staged apart from the worktree: {files}; `{command}`\n"));
        }
        out.push_str(&skipped::nested(one));
        out.push_str(&self.left_out(all, style));
        for violation in &one.violations {
            let text = escape::line(&skipped::violation(violation));
            let severity = skipped::severity(violation.severity);
            let text = format!("violation ({severity}): {text}");
            out.push_str(&super::wrap::hang("", &text, style.width));
        }
        out
    }

    fn left_out(&self, all: bool, style: Style) -> String {
        let one = self.checkpoint;
        let summary = skipped::summary(&one.skipped);
        if summary.is_empty() {
            return String::new();
        }
        if all {
            let count = changes::count(one.skipped.len(), "path");
            return format!("left out: {count}\n{}", skipped::list(&one.skipped));
        }
        super::wrap::hang("", &format!("left out: {summary}; --skipped lists all"), style.width)
    }

    /// For a program: the metadata of a checkpoint.
    #[must_use]
    pub fn json(&self) -> Value {
        let one = self.checkpoint;
        let mut out = checkpoint::identity(one);
        let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
        put("previous_tree", json!(one.previous_tree));
        put("base_tree", json!(one.base_tree));
        put("staged_tree", json!(one.staged_tree));
        put("files_changed_since_last", checkpoint::paths(self.since_last));
        put("files_changed_total", checkpoint::paths(self.total));
        put("changes", json!(self.since_last));
        put("skipped", json!(one.skipped));
        put("empty_folders", json!(one.empty_folders));
        put("nested", json!(one.nested));
        put("violations", json!(one.violations));
        put("validation_status", json!(one.validation_status));
        put("severity", json!(one.severity));
        put("diff_incremental", json!(self.diffs.incremental));
        put("diff_cumulative", json!(self.diffs.cumulative));
        Value::Object(out)
    }
}

#[cfg(test)]
mod tests {
    use aurora_model::{CheckpointId, Head, Severity, TreeId, ValidationStatus};

    use super::*;

    fn checkpoint(message: &str) -> Checkpoint {
        let tree = || TreeId("0".to_owned());
        Checkpoint {
            checkpoint_id: CheckpointId("ckpt-001-aaaaaaaa".to_owned()),
            timestamp: Timestamp { unix_ms: 0 },
            previous_checkpoint_id: None,
            feature: "checkout".to_owned(),
            kind: CheckpointKind::Asked,
            message: message.to_owned(),
            tree: tree(),
            previous_tree: tree(),
            base_tree: tree(),
            staged_tree: None,
            head: Head { commit: None, branch: None },
            files_changed_since_last: 12,
            skipped: Vec::new(),
            empty_folders: Vec::new(),
            permissions: std::collections::BTreeMap::new(),
            nested: Vec::new(),
            violations: Vec::new(),
            validation_status: ValidationStatus::Valid,
            severity: Severity::Info,
        }
    }

    #[test]
    fn a_narrow_terminal_has_room_for_the_message() {
        let one = checkpoint("before the great refactoring");
        let now = Timestamp { unix_ms: 90_000 };
        assert_eq!(
            table(&[&one], now, true, Style::plain()),
            "CHECKPOINT         WHEN          KIND   FILES  MESSAGE\n\
             ckpt-001-aaaaaaaa  1 minute ago  asked     12  before the great refactoring\n"
        );
        let whole = table(&[&one], now, false, Style::plain());
        assert!(whole.contains("1 minute ago  1970-01-01 00:00 UTC  asked"), "{whole}");
    }
}
