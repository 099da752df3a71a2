//! Commands as agents: every way of reading keeps the contract, and reads what it is meant to.

mod control;

use std::sync::Mutex;

use aurora_model::{Known, Tokens, Usd};

use super::*;
use crate::agent::{Ended, Heard};
use crate::contract::{self, Subject};
use crate::null::NullAgent;
use crate::profile::{Limits, Provider, Success};
use crate::scripted;
use crate::template::Template;

/// A session of the real Claude Code with a scripted model.
const CLAUDE: &[u8] = include_bytes!("../../testdata/claude_code.jsonl");
const LINE_JSON: &[u8] = b"thinking aloud\n\
    {\"type\":\"progress\",\"content\":\"half way\"}\n\
    {\"type\":\"tool_call\",\"name\":\"Bash\",\"args\":{\"command\":\"ls\"}}\n\
    {\"type\":\"cost\",\"usd\":0.25,\"input_tokens\":10,\"output_tokens\":2,\"model\":\"m\"}\n\
    {\"type\":\"cost\",\"usd\":0.25,\"input_tokens\":10}\n\
    {\"level\":\"info\",\"msg\":\"a log line of its own\"}\n\
    {\"type\":\"result\",\"success\":true,\"summary\":\"painted\"}\n";

struct Judged {
    agent: Box<dyn Agent>,
    good: &'static [u8],
}

impl Subject for Judged {
    fn agent(&self) -> &dyn Agent {
        self.agent.as_ref()
    }
    fn good_words(&self) -> Vec<u8> {
        self.good.to_vec()
    }
}

fn profile() -> AgentProfile {
    AgentProfile::new(AgentName::parse("painter").unwrap(), Provider::Null)
}

fn command(words: &[&str], prompt: PromptBy, output: Output) -> CliProfile {
    let command = words.iter().map(|word| Template::parse(word).unwrap()).collect();
    CliProfile { command, prompt, output }
}

fn agent(output: Output) -> CliAgent {
    CliAgent::new(profile(), command(&["paint"], PromptBy::Stdin, output))
}

#[test]
fn agt_2_a_command_that_writes_text_keeps_the_contract() {
    let agent = Box::new(agent(Output::Text));
    contract::check(&Judged { agent, good: b"working\nall done\n" });
}

#[test]
fn agt_2_a_command_that_takes_the_prompt_as_an_argument_keeps_the_contract() {
    let command = command(&["paint", "--for={prompt}"], PromptBy::Argument, Output::Text);
    let agent = Box::new(CliAgent::new(profile(), command));
    contract::check(&Judged { agent, good: b"all done" });
}

#[test]
fn agt_2_a_command_that_speaks_the_line_protocol_keeps_the_contract() {
    contract::check(&Judged { agent: Box::new(agent(Output::LineJson)), good: LINE_JSON });
}

#[test]
fn agt_2_claude_code_keeps_the_contract() {
    let agent = Box::new(agent(Output::ClaudeStreamJson));
    contract::check(&Judged { agent, good: CLAUDE });
}

#[test]
fn agt_2_claude_code_that_asks_keeps_the_contract() {
    let agent = Box::new(agent(Output::ClaudeControl));
    contract::check(&Judged { agent, good: CLAUDE });
}

#[test]
fn agt_2_the_scripted_agent_keeps_the_contract() {
    let agent = Box::new(scripted::agent(profile(), "/bin/aur", "/s{x}.yaml"));
    contract::check(&Judged { agent, good: LINE_JSON });
}

#[test]
fn agt_2_the_agent_that_does_nothing_keeps_the_contract() {
    let agent = Box::new(NullAgent::new(AgentName::parse("null").unwrap()));
    contract::check(&Judged { agent, good: b"" });
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Listener for Notes {
    fn hear(&self, heard: Heard) {
        let note = match heard {
            Heard::Said(text) => format!("says {text}"),
            Heard::Complained(text) => format!("complains {text}"),
            Heard::Tool { name, args } => format!("calls {name} {args}"),
            Heard::Spent(cost) => format!("spent {}", cost.usd),
        };
        self.0.lock().unwrap().push(note);
    }
}

/// What an ear makes of these words, with the process ending so.
fn heard(output: Output, profile: &AgentProfile, said: &[u8], ended: Ended) -> (Report, String) {
    let notes = Notes::default();
    let mut ear = Ear::new(output, profile, &notes);
    said.chunks(7).for_each(|piece| ear.hear_stdout(piece));
    let report = ear.report(Some(ended));
    let notes = notes.0.lock().unwrap().join("\n");
    (report, notes)
}

#[test]
fn the_line_protocol_is_understood_and_other_lines_are_text() {
    let (report, notes) = heard(Output::LineJson, &profile(), LINE_JSON, Ended::Code(0));
    assert_eq!(
        notes,
        "says thinking aloud\n\
         says half way\n\
         calls Bash {\"command\":\"ls\"}\n\
         spent $0.25\n\
         spent $0.50\n\
         says {\"level\":\"info\",\"msg\":\"a log line of its own\"}\n\
         says painted"
    );
    assert!(report.success);
    assert_eq!(report.summary, "painted");
    assert_eq!(report.cost.usd, Usd::from_dollars(0.5));
    assert_eq!(report.cost.tokens, Some(Tokens { input: 20, output: 2 }));
}

#[test]
fn agt_6_a_session_of_the_real_claude_code_is_understood() {
    let (report, notes) = heard(Output::ClaudeStreamJson, &profile(), CLAUDE, Ended::Code(0));
    let calls: Vec<&str> = notes.lines().filter(|note| note.starts_with("calls")).collect();
    assert_eq!(calls.len(), 4, "{notes}");
    assert!(calls[1].starts_with("calls Bash {\"command\":\"bash -c 'git push --force"));
    assert!(notes.contains("says I will commit and publish."));
    assert_eq!(notes.matches("says All done.").count(), 1, "{notes}");
    assert!(report.success);
    assert_eq!(report.summary, "All done.");
    assert_eq!(report.cost.usd, Usd::from_dollars(0.004));
    assert_eq!(report.cost.known, Known::Reported);
    assert_eq!(report.cost.tokens, Some(Tokens { input: 500, output: 100 }));
    assert!(report.cost.model.is_some_and(|model| model.starts_with("claude-")));
}

#[test]
fn claude_code_that_ends_without_a_result_or_with_an_error_has_failed() {
    let check = |said: &str, why: &str| {
        let (report, _) =
            heard(Output::ClaudeStreamJson, &profile(), said.as_bytes(), Ended::Code(0));
        assert!(!report.success);
        assert!(report.summary.contains(why), "{}", report.summary);
    };
    check("", "without a result");
    check(
        "{\"type\":\"result\",\"subtype\":\"success\"}\n",
        "gave a result that is none (the agent reported a failure)",
    );
    check(
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"result\":\"API Error\"}\n",
        "API Error",
    );
    check(
        "{\"type\":\"result\",\"subtype\":\"error_max_turns\",\"is_error\":false}\n",
        "error_max_turns",
    );
    // Killed in the middle: the tokens that were counted are not lost.
    let cut = CLAUDE.len() / 2;
    let (report, _) =
        heard(Output::ClaudeStreamJson, &profile(), &CLAUDE[..cut], Ended::Signal(15));
    assert!(!report.success);
    assert_eq!(report.cost.known, Known::Unknown);
    assert!(report.cost.tokens.is_some_and(|tokens| tokens.input > 0));
}

// AGT-4: an agent that ends with 0 after failing is caught by what it says.
#[test]
fn an_agent_that_exits_0_after_failing_is_caught_by_its_marks() {
    let mut profile = profile();
    profile.success = Success {
        exit_codes: vec![0, 4],
        require_line: Some("DONE".to_owned()),
        fail_on: vec!["Traceback".to_owned()],
    };
    let check = |said: &str, ended: Ended, success: bool, why: &str| {
        let (report, _) = heard(Output::Text, &profile, said.as_bytes(), ended);
        assert_eq!(report.success, success, "{}", report.summary);
        assert!(report.summary.contains(why), "{}", report.summary);
    };
    check("ok\nDONE\n", Ended::Code(0), true, "DONE");
    check("ok\nDONE", Ended::Code(4), true, "DONE");
    check("ok\nDONE", Ended::Code(1), false, "DONE (exit code 1)");
    check("giving up\n", Ended::Code(0), false, "without saying `DONE`; its last words: giving up");
    check("Traceback (most recent)\nDONE\n", Ended::Code(0), false, "means failure: Traceback");
    let failed = "{\"type\":\"result\",\"success\":false,\"summary\":\"no paint\"}\n";
    let (report, _) = heard(Output::LineJson, &profile, failed.as_bytes(), Ended::Code(0));
    let said = "no paint (the agent reported a failure)";
    assert_eq!((report.success, report.summary.as_str()), (false, said));
}

// EXE-3: whoever decides about a failure reads its cause first, in one line.
#[test]
fn a_failure_is_told_in_one_line_that_begins_with_its_cause() {
    let check = |out: &str, err: &str, ended: Ended, expected: &str| {
        let (profile, notes) = (profile(), Notes::default());
        let mut ear = Ear::new(Output::LineJson, &profile, &notes);
        ear.hear_stdout(out.as_bytes());
        ear.hear_stderr(err.as_bytes());
        let report = ear.report(Some(ended));
        assert_eq!((report.success, report.summary.as_str()), (false, expected));
    };
    let result = "{\"type\":\"result\",\"success\":false,\"summary\":\"\\nno paint\\nsorry\"}\n";
    check(result, "a trace\n", Ended::Code(1), "no paint … (exit code 1)");
    check("working\n", "trace\nno network\n\n", Ended::Code(1), "no network (exit code 1)");
    check("one\ntwo\n \n", "", Ended::Code(7), "two (exit code 7)");
    check("", "", Ended::Code(7), "ended without a word (exit code 7)");
    let killed = "was ended by signal 9 (SIGKILL); its last words: half";
    check("half", "", Ended::Signal(9), killed);
    let why = "no such file\n(os error 2)".to_owned();
    let not_started = "could not be started: no such file (os error 2)";
    check("", "", Ended::NotStarted { why }, not_started);
}

#[test]
fn a_cost_beyond_the_limit_ends_the_attempt() {
    let mut profile = profile();
    profile.limits = Limits { max_cost: Some(Usd::from_dollars(0.4)), timeout_seconds: None };
    let notes = Notes::default();
    let mut ear = Ear::new(Output::LineJson, &profile, &notes);
    ear.hear_stdout(b"{\"type\":\"cost\",\"usd\":0.4}\n");
    assert!(!ear.has_enough());
    ear.hear_stdout(b"{\"type\":\"cost\",\"usd\":0.1}\n");
    assert!(ear.has_enough());
    let report = ear.report(None);
    assert!(!report.success);
    assert!(report.summary.starts_with("cost $0.50, and may cost $0.40"), "{}", report.summary);
}

#[test]
fn agt_6_an_absurd_cost_is_not_believed_and_said_to_be_so() {
    let lines = "{\"type\":\"cost\",\"usd\":0.25}\n{\"type\":\"cost\",\"usd\":1e308}\n\
                 {\"type\":\"cost\",\"usd\":-3}\n{\"type\":\"cost\",\"usd\":9999.99}\n\
                 {\"type\":\"cost\",\"usd\":0.5}\n";
    let (report, notes) = heard(Output::LineJson, &profile(), lines.as_bytes(), Ended::Code(0));
    assert_eq!((report.cost.usd, report.cost.known), (Usd::from_dollars(0.75), Known::Unknown));
    for doubt in ["1e308 dollars", "-3 dollars", "$10000.24 in all"] {
        let said = format!("said that it cost {doubt}, which is not believed");
        assert!(notes.contains(&said), "{notes}");
    }
    let result = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\
                  \"result\":\"ok\",\"total_cost_usd\":1e300}\n";
    let (report, notes) =
        heard(Output::ClaudeStreamJson, &profile(), result.as_bytes(), Ended::Code(0));
    assert!(report.success);
    assert_eq!((report.cost.usd, report.cost.known), (Usd::ZERO, Known::Unknown));
    assert!(notes.contains("said that it cost 1e300 dollars, which is not believed"), "{notes}");
}

#[test]
fn arguments_are_filled_in_and_never_split() {
    let words = ["paint", "--title", "{title}", "{prompt}"];
    let agent = CliAgent::new(profile(), command(&words, PromptBy::Argument, Output::Text));
    let job = Job {
        name: "r/t/1".to_owned(),
        prompt: "$(rm -rf /) 'a b'\n--flag".to_owned(),
        title: "two words".to_owned(),
        task: "t".to_owned(),
        attempt: 1,
        role: None,
        cwd: "/".to_owned(),
        timeout_seconds: 1,
    };
    let Ok(Start::Process(launch)) = agent.start(&job) else { panic!("a process") };
    assert_eq!(launch.argv, ["paint", "--title", "two words", "$(rm -rf /) 'a b'\n--flag"]);
    let nul = Job { prompt: "a\0b".to_owned(), ..job };
    assert!(agent.start(&nul).is_err());
}
