//! What can be answered to a question, as it is offered, and what an answer means.

use aurora_model::Choice;

use super::panel::{Canvas, Sign};

/// What is asked; the same choice says something else about something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Whether a list of tasks is run.
    Preview,
    /// Whether the parts of a goal are written down as a plan.
    Decomposition,
    /// What becomes of a task that failed.
    Failure,
    /// Whether a task may begin.
    Policy,
    /// Whether a task's changes are taken over.
    Changes,
    /// Whether a call is made.
    Operation,
    /// Whether a call was made.
    Unknown,
}

/// What a choice does.
fn meaning(canvas: Canvas, asked: Asked, choice: Choice, choices: &[Choice]) -> String {
    let arrow = canvas.sign(Sign::Arrow);
    let text = match (asked, choice) {
        // Without a model there is nobody to fall back to.
        (Asked::Preview, Choice::Proceed) if !choices.contains(&Choice::Fallback) => {
            "Execute (gaps: try ad-hoc agents)"
        }
        (Asked::Decomposition, Choice::Proceed) if !choices.contains(&Choice::Fallback) => {
            "Write the plan (gaps: try ad-hoc agents)"
        }
        (Asked::Preview, Choice::Proceed) => {
            return format!("Execute (try ad-hoc agents {arrow} fallback to LLM)");
        }
        (Asked::Decomposition, Choice::Proceed) => {
            return format!("Write the plan (gaps: try ad-hoc agents {arrow} fallback to LLM)");
        }
        (Asked::Decomposition, Choice::Fallback) => "Write the plan (gaps: LLM directly, faster)",
        (Asked::Decomposition, Choice::Abort) => "Cancel, write nothing",
        (Asked::Preview, Choice::Fallback) => "Execute (LLM directly for gaps, faster)",
        (Asked::Preview, Choice::Abort) => "Cancel and restart",
        (Asked::Policy, Choice::Allow) => "Let it begin all the same",
        (Asked::Changes, Choice::Allow) => "Take the changes over all the same",
        (Asked::Policy | Asked::Changes, Choice::Skip) => {
            "Leave the task out, and what depends on it"
        }
        (Asked::Operation, Choice::Allow) => "Make exactly this call",
        (Asked::Operation, Choice::Deny) => "Do not make it; the agent goes on without it",
        (Asked::Operation, Choice::RequestChanges) => "Do not make it, and say what to do instead",
        (Asked::Unknown, Choice::Done) => "It was made; the agent is told so",
        (Asked::Unknown, Choice::Retry) => "It was not made; make it now",
        (Asked::Unknown, Choice::Skip) => "Leave it; the agent is told that nobody knows",
        (_, Choice::Proceed) => "Go on",
        (_, Choice::Retry) => "Retry with same agent",
        (_, Choice::Skip) => "Skip and continue (what depends on it is skipped too)",
        (_, Choice::Fallback) => "Use LLM directly for this task",
        (_, Choice::Abort) => "Save checkpoint and exit",
        (_, Choice::Allow) => "Allow it",
        (_, Choice::Deny) => "Refuse it",
        (_, Choice::RequestChanges) => "Refuse it, and say what should be done otherwise",
        (_, Choice::Pause) => "Work no further, and make the best of what is there",
        (_, Choice::Done) => "It was done",
    };
    text.to_owned()
}

impl Asked {
    /// Whether Enter alone chooses the first option. What would let a risky thing happen is only
    /// ever said by a key that was meant.
    const fn has_default(self) -> bool {
        !matches!(self, Self::Policy | Self::Changes | Self::Operation | Self::Unknown)
    }
}

/// The key of a choice; no two that are offered together have the same.
fn key(choice: Choice, choices: &[Choice]) -> char {
    match choice {
        Choice::Proceed => 'p',
        Choice::Fallback => 'f',
        Choice::Allow => 'y',
        Choice::Retry => 'r',
        Choice::Skip => 's',
        // Beside `allow` an `a` could be meant for either, so that it is nobody's.
        Choice::Abort if choices.contains(&Choice::Allow) => 'b',
        Choice::Abort => 'a',
        Choice::Deny => 'n',
        Choice::RequestChanges => 'c',
        Choice::Pause => 'u',
        Choice::Done => 'd',
    }
}

/// The name of a choice with its key in brackets, as what stands before, in and behind them.
fn label(choice: Choice, choices: &[Choice]) -> (String, String, String) {
    let (key, name) = (key(choice, choices), choice.name());
    let parts = |before: &str, after: &str| {
        (before.to_owned(), key.to_uppercase().to_string(), after.to_owned())
    };
    match name.split_once(key) {
        Some((before, after)) => parts(before, after),
        None => parts("", &format!("es, {name}")),
    }
}

/// Everything that stands below a panel that asks something, up to the cursor.
#[must_use]
pub fn ask(canvas: Canvas, asked: Asked, choices: &[Choice]) -> String {
    format!("\n{}\n{}", options(canvas, asked, choices), prompt(asked, choices))
}

/// The block of options.
fn options(canvas: Canvas, asked: Asked, choices: &[Choice]) -> String {
    let labels: Vec<_> = choices.iter().map(|choice| label(*choice, choices)).collect();
    let wide =
        |(before, key, after): &(String, String, String)| before.len() + key.len() + after.len();
    let longest = labels.iter().map(wide).max().unwrap_or(0);
    let mut out = String::from("Options:\n");
    for (choice, label) in choices.iter().zip(&labels) {
        let pad = " ".repeat(longest - wide(label));
        let (before, key, after) = label;
        let key = canvas.style.bold(&format!("[{key}]"));
        let lead = longest + 7;
        let room = canvas.columns().saturating_sub(lead).max(20);
        let text = super::wrap::wrap(&meaning(canvas, asked, *choice, choices), room);
        let text = text.replace('\n', &format!("\n{}", " ".repeat(lead)));
        out.push_str(&format!("  {before}{key}{after}{pad} - {text}\n"));
    }
    out
}

/// Words that are asked for behind a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    /// How they are asked for.
    pub prompt: &'static str,
    /// Whether the choice is none without them.
    pub needed: bool,
}

/// Whether words belong to a choice: an agent that is refused something should know why.
#[must_use]
pub fn wants_words(asked: Asked, choice: Choice) -> Option<Words> {
    match (asked, choice) {
        (_, Choice::RequestChanges) => {
            Some(Words { prompt: "What should be done instead: ", needed: true })
        }
        (Asked::Operation, Choice::Deny) => {
            Some(Words { prompt: "Why (Enter for no reason): ", needed: false })
        }
        _ => None,
    }
}

/// What stands before the cursor: `Choice [P/f/a]: `; the key that Enter stands for is upper case.
#[must_use]
pub fn prompt(asked: Asked, choices: &[Choice]) -> String {
    let keys = choices.iter().enumerate().map(|(index, choice)| {
        let key = key(*choice, choices);
        let usual = index == 0 && asked.has_default();
        if usual { key.to_uppercase().to_string() } else { key.to_string() }
    });
    format!("Choice [{}]: ", keys.collect::<Vec<_>>().join("/"))
}

/// Why an answer chooses nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It is empty, and nothing is chosen by that here.
    Empty,
    /// It could be meant for more than one of them.
    Ambiguous,
    /// It is none of them.
    Unknown,
}

/// What an answer chooses: a key, a word, or nothing for the first where Enter may stand for it.
pub fn chosen(asked: Asked, answer: &str, choices: &[Choice]) -> Result<Choice, Refused> {
    let answer = answer.trim().to_lowercase();
    if answer.is_empty() {
        let first = choices.first().copied().filter(|_| asked.has_default());
        return first.ok_or(Refused::Empty);
    }
    let says = |choice: &Choice| {
        let (before, key, after) = label(*choice, choices);
        let yes = *choice == Choice::Allow && answer == "yes";
        answer == choice.name()
            || answer == key.to_lowercase()
            || yes
            || answer == format!("{before}{key}{after}").to_lowercase()
    };
    if let Some(choice) = choices.iter().copied().find(says) {
        return Ok(choice);
    }
    let begins = choices.iter().filter(|choice| choice.name().starts_with(&answer));
    Err(if begins.count() > 1 { Refused::Ambiguous } else { Refused::Unknown })
}

/// Says why an answer was not taken, and asks again, up to the cursor.
#[must_use]
pub fn again(
    canvas: Canvas,
    asked: Asked,
    (answer, why): (&str, Refused),
    choices: &[Choice],
) -> String {
    let names: Vec<&str> = choices.iter().map(|choice| choice.name()).collect();
    let answer = answer.trim().to_lowercase();
    let shown = canvas.cut(&answer, 40);
    let said = match why {
        Refused::Empty => {
            format!("Enter alone chooses nothing here; say one of: {}", names.join(", "))
        }
        Refused::Ambiguous => {
            let meant: Vec<&str> =
                names.iter().copied().filter(|name| name.starts_with(&answer)).collect();
            format!("`{shown}` could be {}", meant.join(" or "))
        }
        Refused::Unknown => format!("`{shown}` is none of: {}", names.join(", ")),
    };
    format!("{said}\n{}", prompt(asked, choices))
}

#[cfg(test)]
mod tests {
    use super::super::style::Style;
    use super::*;

    fn canvas() -> Canvas {
        Canvas { style: Style::plain(), unicode: true, framed: true }
    }

    /// REV-3: Proceed, Fallback, Abort, and Enter is Proceed.
    #[test]
    fn the_options_of_a_preview_are_as_they_were_asked_for() {
        let choices = [Choice::Proceed, Choice::Fallback, Choice::Abort];
        insta::assert_snapshot!(
            ask(canvas(), Asked::Preview, &choices),
            @r"

        Options:
          [P]roceed  - Execute (try ad-hoc agents → fallback to LLM)
          [F]allback - Execute (LLM directly for gaps, faster)
          [A]bort    - Cancel and restart

        Choice [P/f/a]:
        "
        );
        let check = |answer: &str, expected: Option<Choice>| {
            assert_eq!(chosen(Asked::Preview, answer, &choices).ok(), expected, "{answer}");
        };
        check("", Some(Choice::Proceed));
        check(" \n", Some(Choice::Proceed));
        check("F\n", Some(Choice::Fallback));
        check("abort", Some(Choice::Abort));
        check("ab", None);
        check("y", None);
        assert_eq!(
            again(canvas(), Asked::Preview, ("\x1b[2J", Refused::Unknown), &choices),
            "`\\x1b[2j` is none of: proceed, fallback, abort\nChoice [P/f/a]: "
        );
    }

    /// EXE-4: Retry, Skip, Fallback, Abort.
    #[test]
    fn the_options_of_a_failure_say_what_happens_to_dependents() {
        let choices = [Choice::Retry, Choice::Skip, Choice::Fallback, Choice::Abort];
        let narrow = Canvas { style: Style::plain().columns(50), ..canvas() };
        insta::assert_snapshot!(ask(narrow, Asked::Failure, &choices), @r"

        Options:
          [R]etry    - Retry with same agent
          [S]kip     - Skip and continue (what depends on
                       it is skipped too)
          [F]allback - Use LLM directly for this task
          [A]bort    - Save checkpoint and exit

        Choice [R/s/f/a]:
        ");
    }

    /// POL-6: whoever allows something must mean it: no default, and no key of two meanings.
    #[test]
    fn what_the_policy_asks_has_no_default_and_no_key_that_could_be_another() {
        let choices = [Choice::Allow, Choice::Retry, Choice::Skip, Choice::Abort];
        insta::assert_snapshot!(ask(canvas(), Asked::Changes, &choices), @r"

        Options:
          [Y]es, allow - Take the changes over all the same
          [R]etry      - Retry with same agent
          [S]kip       - Leave the task out, and what depends on it
          a[B]ort      - Save checkpoint and exit

        Choice [y/r/s/b]:
        ");
        for asked in [Asked::Policy, Asked::Changes] {
            let check = |answer: &str, expected: Result<Choice, Refused>| {
                assert_eq!(chosen(asked, answer, &choices), expected, "{answer}");
            };
            check("\n", Err(Refused::Empty));
            check("a\n", Err(Refused::Ambiguous));
            check("al", Err(Refused::Unknown));
            check("y", Ok(Choice::Allow));
            check("Yes", Ok(Choice::Allow));
            check("yes, allow", Ok(Choice::Allow));
            check("allow", Ok(Choice::Allow));
            check("b", Ok(Choice::Abort));
            check("abort", Ok(Choice::Abort));
            check("q", Err(Refused::Unknown));
        }
        let said = |answer, why| again(canvas(), Asked::Changes, (answer, why), &choices);
        insta::assert_snapshot!(said("", Refused::Empty), @r"
        Enter alone chooses nothing here; say one of: allow, retry, skip, abort
        Choice [y/r/s/b]:
        ");
        insta::assert_snapshot!(said("A\n", Refused::Ambiguous), @r"
        `a` could be allow or abort
        Choice [y/r/s/b]:
        ");
    }

    /// REV-3, EXE-4, POL-6: whatever is offered together, each has a key of its own and its name.
    #[test]
    fn no_two_options_have_the_same_key() {
        for set in 1_u32..1 << Choice::ALL.len() {
            let choices: Vec<Choice> = Choice::ALL
                .into_iter()
                .enumerate()
                .filter(|(bit, _)| set & (1 << bit) != 0)
                .map(|(_, choice)| choice)
                .collect();
            let keys: std::collections::BTreeSet<char> =
                choices.iter().map(|choice| key(*choice, &choices)).collect();
            assert_eq!(keys.len(), choices.len(), "{choices:?}");
            for choice in &choices {
                for answer in [key(*choice, &choices).to_string(), choice.name().to_owned()] {
                    assert_eq!(chosen(Asked::Changes, &answer, &choices), Ok(*choice));
                }
            }
        }
    }
}
