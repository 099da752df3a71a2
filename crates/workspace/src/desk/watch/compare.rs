//! What differs between two looks at git's own data, in words.

use std::collections::{BTreeMap, BTreeSet};

use super::{Notice, Seen};
use crate::escape::git_data;
use crate::git::GitWorkspace;

/// So many refs are named one by one.
const MOST_REFS: usize = 20;
/// So many of one kind are named in one line.
const NAMED: usize = 5;

/// What was noted is no more.
pub(super) fn lost() -> Notice {
    Notice::critical(
        "what was noted of git's own data when the run began is gone, so that what was changed \
         since then cannot be told",
    )
}

impl GitWorkspace {
    /// What differs, the critical first.
    pub(super) fn differences(&self, before: &Seen, now: &Seen) -> Vec<Notice> {
        let mut found: Vec<Notice> = git_data::differences(&before.git, &now.git)
            .into_iter()
            .map(|(what, critical)| Notice { what, critical })
            .collect();
        found.extend(self.moved_heads(before, now));
        found.extend(self.moved_refs(before, now));
        found.extend(indexes(before, now));
        found.sort_by_key(|one| !one.critical);
        found
    }

    fn own_name(&self) -> String {
        let name = self.place.git_dir.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn moved_heads(&self, before: &Seen, now: &Seen) -> Vec<Notice> {
        let own = self.own_name();
        let moved = before.heads.iter().filter_map(|(name, was)| {
            let is = now.heads.get(name);
            if is == Some(was) {
                return None;
            }
            if *name == own {
                let is = is.map_or("nothing", String::as_str);
                return Some(Notice::critical(format!(
                    "the run's worktree has {is} checked out, and had {was} when the run began"
                )));
            }
            // A worktree that somebody removed is none of ours.
            let is = is?;
            let place = match name.as_str() {
                "" => "your checkout".to_owned(),
                name => format!("the worktree {name}"),
            };
            Some(Notice {
                critical: is == "nothing",
                what: format!("{place} has {is} checked out, and had {was}"),
            })
        });
        moved.collect()
    }

    fn moved_refs(&self, before: &Seen, now: &Seen) -> Vec<Notice> {
        let own = before.heads.get(&self.own_name());
        let Some(now) = &now.refs else {
            return vec![Notice::critical("git cannot list the refs of your repository any more")];
        };
        let empty = BTreeMap::new();
        let before = before.refs.as_ref().unwrap_or(&empty);
        let own = own.map(|branch| format!("refs/heads/{branch}"));
        // Worktrees that are made meanwhile have branches of their own.
        let made = self.list_worktrees().unwrap_or_default();
        let made: BTreeSet<String> =
            made.into_iter().map(|one| format!("refs/heads/{}", one.branch)).collect();
        let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let (mut notices, mut remote, mut more) = (Vec::new(), Vec::new(), 0);
        for name in names {
            let (was, is) = (before.get(name), now.get(name));
            if was == is || (was.is_none() && made.contains(name)) {
                continue;
            }
            let what = became(name, was, is);
            if Some(name) == own.as_ref() {
                notices.push(Notice::critical(format!(
                    "the run's branch was moved, with commits that nothing has judged: {what}"
                )));
            } else if name.starts_with("refs/replace/") {
                let what = format!("git reads another object in place of one: {what}");
                notices.push(Notice::critical(what));
            } else if name.starts_with("refs/remotes/") {
                remote.push(name.clone());
            } else if notices.len() < MOST_REFS {
                notices.push(Notice::told(what));
            } else {
                more += 1;
            }
        }
        notices.extend((more > 0).then(|| Notice::told(format!("{more} more refs changed"))));
        let fetched = "what is known of remotes changed, as by a fetch";
        notices.extend((!remote.is_empty()).then(|| Notice::told(listed(fetched, &remote))));
        notices
    }
}

fn became(name: &str, was: Option<&String>, is: Option<&String>) -> String {
    let (kind, short) = if let Some(short) = name.strip_prefix("refs/heads/") {
        ("the branch ", short)
    } else if let Some(short) = name.strip_prefix("refs/tags/") {
        ("the tag ", short)
    } else {
        ("", name)
    };
    let digits = |id: &String| id.chars().take(10).collect::<String>();
    match (was, is) {
        (Some(was), Some(is)) => {
            format!("{kind}{short} is at {}, and was at {}", digits(is), digits(was))
        }
        (None, Some(is)) => format!("{kind}{short} is new, at {}", digits(is)),
        (Some(was), _) => format!("{kind}{short} is gone, and was at {}", digits(was)),
        (None, None) => format!("{kind}{short}"),
    }
}

fn indexes(before: &Seen, now: &Seen) -> Vec<Notice> {
    let mut found = Vec::new();
    let was_there = !before.index.signature.is_empty();
    if was_there && now.index.signature.is_empty() {
        found.push(Notice::critical("the index of your checkout is gone"));
    } else if before.index.digest != now.index.digest {
        found.push(Notice::told("what is staged in your checkout changed"));
    }
    if before.home_index.digest != now.home_index.digest {
        // Also what git ignores is committed when it is staged, and no checkpoint has it.
        let now: String = now.home_index.digest.chars().take(7).collect();
        found.push(Notice::critical(format!(
            "what is staged in the run's worktree changed (now {now}): look with `git status` there \
             before you commit"
        )));
    }
    found
}

/// The first few of many, after what they are.
pub(super) fn listed(what: &str, all: &[String]) -> String {
    let mut named: Vec<String> = all.iter().take(NAMED).cloned().collect();
    let more = all.len().saturating_sub(named.len());
    if more > 0 {
        named.push(format!("{more} more"));
    }
    format!("{what}: {}", named.join(", "))
}
