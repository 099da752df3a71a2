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
}

/// What a choice does.
fn meaning(canvas: Canvas, asked: Asked, choice: Choice) -> String {
    let arrow = canvas.sign(Sign::Arrow);
    let text = match (asked, choice) {
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
        (_, Choice::Proceed) => "Go on",
        (_, Choice::Retry) => "Retry with same agent",
        (_, Choice::Skip) => "Skip and continue (what depends on it is skipped too)",
        (_, Choice::Fallback) => "Use LLM directly for this task",
        (_, Choice::Abort) => "Save checkpoint and exit",
        (_, Choice::Allow) => "Allow it",
    };
    text.to_owned()
}

/// Everything that stands below a panel that asks something, up to the cursor.
#[must_use]
pub fn ask(canvas: Canvas, asked: Asked, choices: &[Choice]) -> String {
    format!("\n{}\n{}", options(canvas, asked, choices), prompt(choices))
}

/// The block of options.
fn options(canvas: Canvas, asked: Asked, choices: &[Choice]) -> String {
    let longest = choices.iter().map(|choice| choice.name().len()).max().unwrap_or(0);
    let mut out = String::from("Options:\n");
    for choice in choices {
        let name = choice.name();
        let (first, rest) = name.split_at_checked(1).unwrap_or((name, ""));
        let pad = " ".repeat(longest - name.len());
        let key = canvas.style.bold(&format!("[{}]", first.to_uppercase()));
        let lead = longest + 7;
        let room = canvas.columns().saturating_sub(lead).max(20);
        let text = super::wrap::wrap(&meaning(canvas, asked, *choice), room);
        let text = text.replace('\n', &format!("\n{}", " ".repeat(lead)));
        out.push_str(&format!("  {key}{rest}{pad} - {text}\n"));
    }
    out
}

/// What stands before the cursor: `Choice [P/f/a]: `.
fn prompt(choices: &[Choice]) -> String {
    let letters: Vec<String> = choices
        .iter()
        .enumerate()
        .map(|(index, choice)| {
            let letter: String = choice.name().chars().take(1).collect();
            if index == 0 { letter.to_uppercase() } else { letter }
        })
        .collect();
    format!("Choice [{}]: ", letters.join("/"))
}

/// What an answer chooses: a letter, a word, or nothing for the first; nothing where it is none of them.
#[must_use]
pub fn chosen(answer: &str, choices: &[Choice]) -> Option<Choice> {
    let answer = answer.trim().to_lowercase();
    if answer.is_empty() {
        return choices.first().copied();
    }
    choices.iter().copied().find(|choice| {
        let name = choice.name();
        name == answer || (answer.chars().count() == 1 && name.starts_with(&answer))
    })
}

/// Says that an answer was none of the choices.
#[must_use]
pub fn not_a_choice(canvas: Canvas, answer: &str, choices: &[Choice]) -> String {
    let names: Vec<&str> = choices.iter().map(|choice| choice.name()).collect();
    let answer = canvas.cut(answer.trim(), 40);
    format!("`{answer}` is none of: {}\n", names.join(", "))
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
            assert_eq!(chosen(answer, &choices), expected, "{answer}");
        };
        check("", Some(Choice::Proceed));
        check(" \n", Some(Choice::Proceed));
        check("F\n", Some(Choice::Fallback));
        check("abort", Some(Choice::Abort));
        check("ab", None);
        check("y", None);
        assert_eq!(
            not_a_choice(canvas(), "\x1b[2J", &choices),
            "`\\x1b[2J` is none of: proceed, fallback, abort\n"
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
}
