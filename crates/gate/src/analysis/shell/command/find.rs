//! find and fd: which files they reach, and what they do to each.

use aurora_model::Touch;

use super::options::{Spec, Style};
use super::step::Step;
use crate::analysis::shell::field::{Field, Seg};
use crate::analysis::shell::machine::Call;

/// What a find expression says.
#[derive(Default)]
struct Expression {
    /// Patterns that a file's name or path must match.
    patterns: Vec<Pattern>,
    /// Some test other than those leaves files out.
    restricted: bool,
    /// How deep it goes.
    max_depth: Option<u64>,
    deletes: bool,
    commands: Vec<Vec<Field>>,
    written: Vec<Field>,
}

enum Pattern {
    Name(Field),
    Path(Field),
}

/// What a find line would do.
pub fn find(call: &Call<'_>) -> Vec<Step> {
    let (starts, rest) = starts(call.args);
    let expression = Expression::read(rest);
    let here = Field::lit(".", call.span);
    let starts: Vec<&Field> = if starts.is_empty() { vec![&here] } else { starts };
    let found = expression.found(&starts);
    let mut steps: Vec<Step> = expression
        .written
        .iter()
        .map(|target| Step::Change {
            target: target.clone(),
            touch: Touch::Write,
            recursive: false,
        })
        .collect();
    if expression.deletes {
        steps.push(Step::DeleteBelow(found.clone().unwrap_or_else(|| owned(&starts))));
    }
    for command in &expression.commands {
        let removes = command.first().is_some_and(removes);
        if found.is_none() && removes {
            // Nothing is left out, so everything below goes.
            steps.push(Step::DeleteBelow(owned(&starts)));
        }
        let items =
            found.clone().unwrap_or_else(|| starts.iter().map(|start| below(start)).collect());
        steps.push(Step::Repeated(vec![Step::Run(vec![], filled(command, &items))]));
    }
    if steps.is_empty() && !rest.iter().any(|arg| arg.prefix().starts_with("-printf")) {
        steps.extend(printed(found, &starts));
    }
    steps
}

/// The files that are printed, where one pattern names them all.
fn printed(found: Option<Vec<Field>>, starts: &[&Field]) -> Option<Step> {
    let items = found.unwrap_or_else(|| starts.iter().map(|start| below(start)).collect());
    match items.as_slice() {
        [only] if only.has_glob() => Some(Step::Print(only.clone())),
        _ => None,
    }
}

fn owned(fields: &[&Field]) -> Vec<Field> {
    fields.iter().map(|field| (*field).clone()).collect()
}

fn removes(program: &Field) -> bool {
    let name = program.text().and_then(|text| text.rsplit('/').next());
    matches!(name, Some("rm" | "unlink" | "shred"))
}

/// The folders to start from, and the expression behind them.
fn starts(args: &[Field]) -> (Vec<&Field>, &[Field]) {
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        match first.text() {
            Some("-H" | "-L" | "-P" | "-E" | "-X" | "-d" | "-s" | "-x") => rest = after,
            Some("-D" | "-f") => rest = after.get(1..).unwrap_or_default(),
            Some(text) if text.starts_with("-O") => rest = after,
            _ => break,
        }
    }
    let is_expression = |field: &Field| {
        field.prefix().starts_with('-') || ["(", ")", "!", ","].iter().any(|sign| field.is(sign))
    };
    let count = rest.iter().position(is_expression).unwrap_or(rest.len());
    let (starts, rest) = rest.split_at_checked(count).unwrap_or_default();
    (starts.iter().collect(), rest)
}

impl Expression {
    fn read(args: &[Field]) -> Self {
        let mut out = Self::default();
        let mut rest = args;
        let mut negated = false;
        let mut depth = 0_usize;
        let mut excluding: Option<usize> = None;
        let mut branch = 0;
        let mut pruned = false;
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            let Some(text) = first.text() else { continue };
            if text == "!" || text == "-not" {
                negated = !negated;
                continue;
            }
            match text {
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let end = rest.iter().position(ends_command).unwrap_or(rest.len());
                    let (command, after) = rest.split_at_checked(end).unwrap_or_default();
                    if !command.is_empty() {
                        out.commands.push(command.to_vec());
                    }
                    rest = after.get(1..).unwrap_or_default();
                }
                "-delete" => out.deletes = true,
                "(" => {
                    depth += 1;
                    excluding = excluding.or(negated.then_some(depth));
                }
                ")" => {
                    excluding = excluding.filter(|start| *start < depth);
                    depth = depth.saturating_sub(1);
                }
                "-o" | "-or" | "," if depth == 0 => {
                    if pruned {
                        // What that branch names is left out, not reached.
                        out.patterns.truncate(branch);
                        out.restricted = true;
                    }
                    pruned = false;
                    branch = out.patterns.len();
                }
                "-prune" => pruned = true,
                "-empty" | "-quit" | "-executable" | "-nouser" | "-nogroup" | "-writable"
                | "-readable" => out.restricted = true,
                _ => {
                    let count = values(text);
                    if let Some(value) = rest.first().filter(|_| count > 0) {
                        out.test(text, value, negated != excluding.is_some());
                    }
                    rest = rest.get(count..).unwrap_or_default();
                }
            }
            negated = false;
        }
        out
    }

    /// One test or action with a value.
    fn test(&mut self, name: &str, value: &Field, negated: bool) {
        match name {
            "-name" | "-iname" if value.is("*") && !negated => {}
            "-maxdepth" => self.max_depth = value.text().and_then(|depth| depth.parse().ok()),
            "-type" | "-xtype" | "-mindepth" | "-regextype" | "-printf" | "-fstype" => {}
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => self.written.push(value.clone()),
            _ if negated => self.restricted = true,
            "-name" | "-iname" => self.patterns.push(Pattern::Name(value.clone())),
            "-path" | "-ipath" | "-wholename" | "-iwholename" => {
                self.patterns.push(Pattern::Path(value.clone()));
            }
            "-regex" | "-iregex" => match value.text().and_then(ending) {
                Some(name) => self.patterns.push(Pattern::Name(Field::lit(name, value.span))),
                None => self.restricted = true,
            },
            _ => self.restricted = true,
        }
    }

    /// The files that it reaches, as patterns; nothing when it leaves none out.
    fn found(&self, starts: &[&Field]) -> Option<Vec<Field>> {
        if !self.patterns.is_empty() {
            let all = self.patterns.iter().flat_map(|pattern| match pattern {
                Pattern::Name(name) => {
                    starts.iter().map(|start| in_folder(start, &globbed(name))).collect()
                }
                Pattern::Path(path) => vec![globbed(path)],
            });
            return Some(all.collect());
        }
        if self.restricted || self.max_depth.is_some_and(|depth| depth <= 1) {
            let any = |start: &&Field| {
                let mut all = Field::lit("", start.span);
                all.push_glob("*");
                in_folder(start, &all)
            };
            return Some(starts.iter().map(any).collect());
        }
        None
    }
}

/// How many values a test or action takes.
fn values(name: &str) -> usize {
    match name {
        "-fprintf" => 2,
        "-amin" | "-anewer" | "-atime" | "-cmin" | "-cnewer" | "-ctime" | "-fstype" | "-gid"
        | "-group" | "-ilname" | "-iname" | "-inum" | "-ipath" | "-iregex" | "-iwholename"
        | "-links" | "-lname" | "-maxdepth" | "-mindepth" | "-mmin" | "-mtime" | "-name"
        | "-newer" | "-path" | "-perm" | "-regex" | "-regextype" | "-samefile" | "-size"
        | "-type" | "-uid" | "-used" | "-user" | "-wholename" | "-xtype" | "-context"
        | "-printf" | "-fls" | "-fprint" | "-fprint0" | "-files0-from" | "-flags" | "-Bmin"
        | "-Btime" => 1,
        _ if name.starts_with("-newer") => 1,
        _ => 0,
    }
}

fn ends_command(field: &Field) -> bool {
    field.is(";") || field.is("+") || field.is("\\;")
}

/// A regular expression that ends in a plain suffix, as a pattern for names.
fn ending(regex: &str) -> Option<String> {
    let (_, suffix) = regex.trim_end_matches('$').rsplit_once("\\.")?;
    let plain = !suffix.is_empty() && suffix.chars().all(|c| c.is_ascii_alphanumeric());
    plain.then(|| format!("*.{suffix}"))
}

/// A pattern that find matches itself, as one that stands in a field.
fn globbed(pattern: &Field) -> Field {
    match pattern.text() {
        Some(text) if text.contains(['*', '?', '[']) => {
            let (plain, glob) = text.split_at(text.find(['*', '?', '[']).unwrap_or(0));
            let mut out = Field::lit(plain, pattern.span);
            out.push_glob(glob);
            out
        }
        _ => pattern.clone(),
    }
}

/// A pattern in the folder where the search starts. Where that is the current one, the pattern
/// stands alone, because names are matched at any depth.
fn in_folder(start: &Field, pattern: &Field) -> Field {
    if start.is(".") || start.is("./") {
        return pattern.clone();
    }
    let mut out = start.clone();
    out.verbatim = None;
    if !start.suffix().ends_with('/') {
        out.push_lit("/");
    }
    out.push_field(pattern);
    out.many |= pattern.many;
    out
}

/// Some file below a folder.
fn below(start: &Field) -> Field {
    if start.is(".") || start.is("./") {
        return Field::unknown(false, start.span);
    }
    let mut all = Field::lit("", start.span);
    all.push_glob("**");
    in_folder(start, &all)
}

/// The command with the files in place of `{}`.
fn filled(command: &[Field], items: &[Field]) -> Vec<Field> {
    let mut argv = Vec::new();
    for field in command {
        if field.is("{}") {
            argv.extend(items.iter().cloned());
        } else if field
            .segs()
            .iter()
            .any(|seg| matches!(seg, Seg::Lit(text) if text.contains("{}")))
        {
            let mut out = Field::lit("", field.span);
            for (index, part) in field.display().split("{}").enumerate() {
                if index > 0 {
                    out.push_any(false);
                }
                out.push_lit(part);
            }
            argv.push(out);
        } else {
            argv.push(field.clone());
        }
    }
    argv
}

/// What a fd line would do.
pub fn fd(call: &Call<'_>) -> Vec<Step> {
    let is_exec =
        |field: &Field| ["-x", "--exec", "-X", "--exec-batch"].iter().any(|name| field.is(name));
    let Some(at) = call.args.iter().position(is_exec) else { return Vec::new() };
    let (before, command) = call.args.split_at_checked(at).unwrap_or_default();
    let command = command.get(1..).unwrap_or_default();
    let end = command.iter().position(ends_command).unwrap_or(command.len());
    let command = command.get(..end).unwrap_or_default();
    if command.is_empty() {
        return Vec::new();
    }
    let spec = Spec {
        short_values: "dEtecjSoC",
        long_values: &[
            "max-depth",
            "min-depth",
            "exact-depth",
            "exclude",
            "type",
            "extension",
            "size",
            "changed-within",
            "changed-before",
            "owner",
            "color",
            "threads",
            "max-results",
            "base-directory",
            "search-path",
            "path-separator",
            "ignore-file",
            "format",
            "batch-size",
        ],
        style: Style::Permute,
        ..Spec::FLAGS
    };
    let parsed = spec.parse(before);
    let mut items: Vec<Field> = Vec::new();
    for extension in parsed.values('e', "extension") {
        let mut pattern = Field::lit("", extension.span);
        pattern.push_glob(&format!("*.{}", extension.display().trim_start_matches('.')));
        items.push(pattern);
    }
    if items.is_empty() {
        items.push(Field::unknown(true, call.span));
    }
    let marks = ["{}", "{/}", "{//}", "{.}", "{/.}"];
    let placed =
        command.iter().any(|field| marks.iter().any(|mark| field.display().contains(mark)));
    let mut argv = filled(command, &items);
    if !placed {
        argv.extend(items);
    }
    vec![Step::Repeated(vec![Step::Run(vec![], argv)])]
}
