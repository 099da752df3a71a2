//! `aur man`: manual pages from the same source as the help.

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap::builder::Resettable;
use clap_mangen::Man;

use crate::Cli;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::atomic;

/// Where to put them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Write a page for every command into this folder instead of printing aur(1).
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  aur man | man -l -
  aur man --out ~/.local/share/man/man1";

/// Prints the first page, or writes all.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let Some(folder) = &args.out else {
        output::print(&String::from_utf8_lossy(&page(&root)?))?;
        return Ok(Exit::Ok);
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::failed(format!("cannot make folder {}: {error}", folder.display()))
    })?;
    let written = write_all(&root, folder)?;
    output::print(&format!("wrote {written} pages into {}\n", folder.display()))?;
    Ok(Exit::Ok)
}

fn page(command: &clap::Command) -> anyhow::Result<Vec<u8>> {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let bare = command.clone().after_help(Resettable::Reset);
    let mut bytes = Vec::new();
    Man::new(bare).render(&mut bytes)?;
    let page = String::from_utf8_lossy(&bytes);
    let more = sections(&after);
    // The version comes last, where there is one.
    let whole = match page.split_once(VERSION) {
        Some((before, after)) => format!("{before}\n{more}{}{after}", VERSION.trim_start()),
        None => format!("{page}{more}"),
    };
    Ok(whole.into_bytes())
}

const VERSION: &str = "\n.SH VERSION\n";
const EXAMPLES_TITLE: &str = "Examples:\n";

/// What stands after the help as sections of a page: the examples as they are written, the rest as
/// paragraphs, of which those with indented lines keep their lines too.
fn sections(after: &str) -> String {
    let (examples, notes) = match after.strip_prefix(EXAMPLES_TITLE) {
        Some(rest) => rest.split_once("\n\n").unwrap_or((rest, "")),
        None => ("", after),
    };
    let mut out = String::new();
    if !examples.is_empty() {
        out.push_str(&format!(".SH EXAMPLES\n{}", unfilled(examples)));
    }
    if !notes.is_empty() {
        out.push_str(".SH NOTES\n");
    }
    for paragraph in notes.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        out.push_str(".PP\n");
        if paragraph.lines().any(|line| line.starts_with(' ')) {
            out.push_str(&unfilled(paragraph));
        } else {
            paragraph.lines().for_each(|line| out.push_str(&(roff_line(line) + "\n")));
        }
    }
    out
}

/// Lines that stay as they are.
fn unfilled(text: &str) -> String {
    let lines: String = text
        .lines()
        .map(|line| roff_line(line.strip_prefix("  ").unwrap_or(line)) + "\n")
        .collect();
    format!(".nf\n{lines}.fi\n")
}

/// A line in which nothing is taken for a request or an escape.
fn roff_line(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    let text = text.replace('`', "\\(ga").replace('~', "\\(ti").replace('^', "\\(ha");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

fn write_all(command: &clap::Command, folder: &Path) -> anyhow::Result<usize> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    atomic::write(&folder.join(format!("{name}.1")), &page(command)?)?;
    let mut written = 1;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        written += write_all(below, folder)?;
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines_and_notes_are_paragraphs() {
        let check = |after: &str, expected: &str| assert_eq!(sections(after), expected, "{after}");
        check("", "");
        check("Examples:\n  a -b\n    c", ".SH EXAMPLES\n.nf\na \\-b\n  c\n.fi\n");
        check(
            "Examples:\n  .x '\\n'\n\nOne\ntwo.\n\nCodes:\n  0  yes",
            ".SH EXAMPLES\n.nf\n\\&.x \\(aq\\en\\(aq\n.fi\n.SH NOTES\n.PP\nOne\ntwo.\n.PP\n.nf\nCodes:\n0  yes\n.fi\n",
        );
    }
}
