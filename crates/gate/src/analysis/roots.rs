//! What the machine, or everything of a person, rests on: losing such a folder is losing a disk.

use aurora_model::{Context, Effect, EffectKind, PathRef, Touch};

use super::path::normalize;
use super::shell::pattern;

/// The folders of the system, below `/`. What is deeper in them is judged as any other file.
const ROOTS: [&str; 40] = [
    "Applications",
    "Library",
    "Network",
    "System",
    "Users",
    "Volumes",
    "bin",
    "boot",
    "cores",
    "dev",
    "efi",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "libexec",
    "libx32",
    "media",
    "mnt",
    "nix",
    "opt",
    "private",
    "private/etc",
    "private/var",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "usr",
    "usr/bin",
    "usr/lib",
    "usr/lib64",
    "usr/local",
    "usr/sbin",
    "usr/share",
    "var",
    "var/lib",
];

/// Adds to these effects that a root is lost, where one of them loses it.
pub(super) fn add_lost(effects: &mut Vec<Effect>, context: &Context) {
    let roots = Roots::of(context);
    let lost: Vec<Effect> = effects.iter().flat_map(|effect| roots.lost_by(effect)).collect();
    effects.extend(lost);
}

/// The roots as seen from a place.
struct Roots<'a> {
    home: Vec<&'a str>,
    /// The root of the worktree, where it is one of the roots itself: then nothing in it is inside.
    own: Option<&'a str>,
}

impl<'a> Roots<'a> {
    fn of(context: &'a Context) -> Self {
        let home = context.home.as_deref().map(parts).unwrap_or_default();
        let is_root = |root: &&str| {
            let root = parts(root);
            root.is_empty() || root == home
        };
        let own = context.root.as_deref().filter(is_root);
        Self { home, own }
    }

    fn lost_by(&self, effect: &Effect) -> Vec<Effect> {
        let lost = |path: &PathRef, how: &str| {
            let (path, how) = (path.text.clone(), how.to_owned());
            let kind = EffectKind::LoseRoot { path, how };
            Effect { kind, span: effect.span, in_script: effect.in_script }
        };
        match &effect.kind {
            EffectKind::DeleteFiles { paths, recursive, .. } => {
                let hit = paths.iter().filter(|path| self.are_hit(path, *recursive));
                hit.map(|path| lost(path, "deletes")).collect()
            }
            EffectKind::ChangePath { path, touch, recursive: true } if self.are_hit(path, true) => {
                let how = match touch {
                    Touch::Rename => "moves away",
                    Touch::Mode => "changes the permissions of everything in",
                    Touch::Owner => "changes the owner of everything in",
                    _ => return Vec::new(),
                };
                vec![lost(path, how)]
            }
            _ => Vec::new(),
        }
    }

    /// Whether a path is a root, may be one, or is everything in one.
    fn are_hit(&self, path: &PathRef, recursive: bool) -> bool {
        let Some(resolved) = path.resolved.as_deref() else { return false };
        if resolved == ".." {
            // What is above the worktree holds it. A pattern takes it along only with its folders.
            return recursive || !path.glob;
        }
        let absolute = if resolved.starts_with('/') {
            resolved.to_owned()
        } else {
            let from_own = |own| normalize(&format!("{own}/{resolved}"), None);
            let Some(absolute) = self.own.and_then(from_own) else { return false };
            absolute
        };
        let parts = parts(&absolute);
        // A star that stands for a value which nobody knows says nothing: only what was written counts.
        let written: Vec<&str> = path.text.split('/').collect();
        let invented = |part: &&str| is_pattern(part) && !written.contains(part);
        if path.glob && parts.iter().any(invented) {
            return false;
        }
        if self.is_root(&parts, path.glob) {
            return true;
        }
        let Some((last, above)) = parts.split_last() else { return true };
        path.glob && is_everything(last) && self.is_root(above, true)
    }

    fn is_root(&self, parts: &[&str], glob: bool) -> bool {
        let same = |root: &[&str]| {
            let fits = |(part, name): (&&str, &&str)| {
                part == name || (glob && pattern::matches(part, name))
            };
            root.len() == parts.len() && parts.iter().zip(root).all(fits)
        };
        let of_system = || ROOTS.iter().any(|root| same(&root.split('/').collect::<Vec<_>>()));
        parts.is_empty() || same(&self.home) || of_system()
    }
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

fn is_pattern(part: &str) -> bool {
    part.contains(['*', '?', '['])
}

/// Whether a pattern leaves hardly anything out: it has no letter of its own (`*`, `.*`, `[a-z]*`).
fn is_everything(part: &str) -> bool {
    let mut inside = false;
    let own = part.chars().filter(|char| {
        let was_inside = inside;
        inside = if inside { *char != ']' } else { *char == '[' };
        !was_inside && !inside && !matches!(char, '*' | '?' | '.' | '!' | ']')
    });
    is_pattern(part) && own.count() == 0
}
