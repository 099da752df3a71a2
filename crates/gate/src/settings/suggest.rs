//! "Did you mean": the nearest known name, only when it is near.

/// The candidate that a misspelt name most likely means.
#[must_use]
pub fn nearest<'c>(wrong: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let wrong: Vec<char> = normal(wrong).take(80).collect();
    let limit = (wrong.len() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|name| (distance(&wrong, &normal(name).collect::<Vec<_>>()), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Case and the choice of `-` or `_` do not make names different.
fn normal(name: &str) -> impl Iterator<Item = char> {
    name.chars().map(|char| if char == '-' { '_' } else { char.to_ascii_lowercase() })
}

/// How many insertions, deletions, replacements and swaps of neighbours lie between two words.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, &l) in left.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, &r) in right.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX);
            let mut best = at(&above, column) + usize::from(l != r);
            best = best.min(at(&above, column + 1) + 1).min(at(&line, column) + 1);
            let swapped = row > 0
                && column > 0
                && left.get(row - 1) == Some(&r)
                && right.get(column - 1) == Some(&l);
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            line.push(best);
        }
        before = above;
        above = line;
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_near_names_are_suggested() {
        let names = ["git_force_push", "git_push_main", "drop_table", "action", "max_files"];
        let check = |wrong, expected: Option<&str>| {
            assert_eq!(nearest(wrong, names), expected, "{wrong}");
        };
        check("git_force_psuh", Some("git_force_push"));
        check("git-force-push", Some("git_force_push"));
        check("GitForcePush", Some("git_force_push"));
        check("drop_tables", Some("drop_table"));
        check("acton", Some("action"));
        check("max_file", Some("max_files"));
        check("colour", None);
        check("x", None);
        check("", None);
    }
}
