//! Moves what older versions kept elsewhere to where it belongs today.

use std::path::{Path, PathBuf};

use aurora_gate::Policy;
use aurora_gate::policy::{LayerKind, LayerSource};

use super::layers::POLICY_FILE;
use super::{atomic, settings_file};
use crate::exit::Failure;

/// Where the budget stood once.
const OLD_FILE: &str = ".aurora/config.yaml";
const SECTION: &str = "budget";
const KEYS: [&str; 3] =
    ["budget.monthly_limit_usd", "budget.warn_at_percent", "budget.hard_limit_action"];
const COMMENT: &str = "`budget` is in policies.yaml now";

/// Moves an old `budget:` of `.aurora/config.yaml` to `.aurora/policies.yaml`, with a copy of both
/// files beside them. Says what was done; nothing when there is nothing to move. What the new file
/// says stays.
pub fn migrate_budget(root: &Path) -> anyhow::Result<Option<String>> {
    let (old_path, new_path) = (root.join(OLD_FILE), root.join(POLICY_FILE));
    let Some(old_text) = text_of(&old_path)?.filter(|text| has_section(text)) else {
        return Ok(None);
    };
    let stuck = |error: anyhow::Error| {
        Failure::usage(format!("cannot move `budget` from {OLD_FILE} to {POLICY_FILE}: {error}"))
            .hint("nothing was changed; correct the file, or move the values yourself")
    };
    let old = settings_file::values(OLD_FILE, &old_text).map_err(stuck)?;
    let old: Vec<_> =
        old.into_iter().filter(|(key, _)| settings_file::is_below(key, SECTION)).collect();
    if old.is_empty() {
        return Ok(None);
    }
    let new_text = text_of(&new_path)?;
    let before = new_text.clone().unwrap_or_default();
    check(&before).map_err(stuck)?;
    let plan = Plan::make(&old, before).map_err(stuck)?;
    check(&plan.text).map_err(stuck)?;
    let emptied = settings_file::remove(OLD_FILE, &old_text, SECTION, COMMENT).map_err(stuck)?;
    let mut backups = vec![atomic::backup_as(&old_path, old_text.as_bytes(), ".bak")?];
    if let Some(text) = new_text.as_ref().filter(|text| **text != plan.text) {
        backups.push(atomic::backup_as(&new_path, text.as_bytes(), ".bak")?);
    }
    // The new file first: whoever is interrupted in between finds both, and they agree.
    if new_text.as_ref() != Some(&plan.text) {
        atomic::write(&new_path, plan.text.as_bytes())?;
    }
    atomic::write(&old_path, emptied.as_bytes())?;
    Ok(Some(plan.told(&backups)))
}

/// What the new file will say, and what there is to tell about it.
struct Plan {
    text: String,
    moved: Vec<String>,
    kept: Vec<String>,
    unknown: Vec<String>,
}

impl Plan {
    fn make(old: &[settings_file::Value], text: String) -> anyhow::Result<Self> {
        let new = settings_file::values(POLICY_FILE, &text)?;
        let mut plan = Self { text, moved: Vec::new(), kept: Vec::new(), unknown: Vec::new() };
        // Values are put at the beginning of a section, so that the last one comes first.
        for (key, value) in old.iter().rev() {
            let there = new.iter().find(|(other, _)| other == key).map(|(_, value)| value);
            match there {
                _ if !KEYS.contains(&key.as_str()) => plan.unknown.insert(0, key.clone()),
                Some(there) if there == value => {}
                Some(there) => {
                    plan.kept.insert(0, format!("{key} stays {there}, {OLD_FILE} said {value}"));
                }
                None => {
                    plan.text = settings_file::set(POLICY_FILE, &plan.text, key, value)?;
                    plan.moved.insert(0, format!("{key}: {value}"));
                }
            }
        }
        Ok(plan)
    }

    fn told(&self, backups: &[PathBuf]) -> String {
        let mut text =
            format!("`budget` in {OLD_FILE} is deprecated and was moved to {POLICY_FILE}");
        if !self.moved.is_empty() {
            text.push_str(&format!(" ({})", self.moved.join(", ")));
        }
        for kept in &self.kept {
            text.push_str(&format!("; {kept}"));
        }
        if !self.unknown.is_empty() {
            text.push_str(&format!("; not known and left out: {}", self.unknown.join(", ")));
        }
        let name =
            |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let backups: Vec<String> = backups.iter().filter_map(name).collect();
        text.push_str(&format!("; copies as they were: {}", backups.join(", ")));
        text
    }
}

/// Whether something like the section stands at the top level, as far as one can see without
/// reading: a file that has nothing to do with it may be in whatever form it likes.
fn has_section(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches(['\u{feff}', '{', ' ', '"', '\'']);
        line.starts_with(SECTION)
    })
}

fn check(text: &str) -> anyhow::Result<()> {
    let (kind, name) = (LayerKind::Project, POLICY_FILE.to_owned());
    Policy::load(&[LayerSource { kind, name, text: text.to_owned() }])
        .map_err(|errors| Failure::usage(errors.to_string()))?;
    Ok(())
}

fn text_of(path: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(
            String::from_utf8(bytes)
                .map_err(|_| Failure::usage(format!("{} is not UTF-8 text", path.display())))?,
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(Failure::failed(format!("cannot read {}: {error}", path.display())).into())
        }
    }
}
