//! Answers of models that break goals down: good, mildly wrong, wrong, and no answers at all.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;

use aurora_agents::decompose::{Goal, KnownAgent, Read, decompose, read, request};
use aurora_agents::llm::{Completer, Completion, Model, Request, Stop};
use aurora_agents::{Error, ModelProfile, ModelProvider, Result};
use aurora_model::{AgentName, Cost, Known, Tokens, Usd};
use serde_json::{Value, json};

use crate::provider::{Provider, Reply, speech};

fn goal() -> Goal {
    let agent = |name: &str, role: Option<&str>| KnownAgent {
        name: AgentName::parse(name).unwrap(),
        role: role.map(str::to_owned),
    };
    Goal {
        text: "Make indexing fast\n".to_owned(),
        agents: vec![agent("code-developer", Some("writes code")), agent("tester", None)],
        facts: vec!["src/".to_owned(), "src/index.rs".to_owned()],
        max_subgoals: 5,
    }
}

fn good() -> Value {
    json!({"subgoals": [
        {"id": "sg-1", "title": "Measure", "details": "Write a bench.\nRun it.", "agent": "tester",
         "depends_on": [], "scope": {"paths": ["benches/**"], "files": 1, "lines": 40}},
        {"id": "sg-2", "title": "Speed up", "details": "", "agent": "@Code-Developer",
         "depends_on": ["sg-1"], "scope": {"paths": ["src/index.rs"], "files": 0, "lines": 0}},
    ]})
}

/// The good answer with something at a place changed.
fn with(pointer: &str, value: Value) -> String {
    let mut answer = good();
    *answer.pointer_mut(pointer).unwrap() = value;
    answer.to_string()
}

fn problems(text: &str) -> Vec<String> {
    match read(text, &goal()) {
        Err(problems) => problems,
        Ok(read) => panic!("{text} was read as {read:?}"),
    }
}

fn ok(text: &str) -> Read {
    read(text, &goal()).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

#[test]
fn exe_1_a_good_answer_becomes_subgoals_and_tasks() {
    let Read { decomposition, repairs } = ok(&good().to_string());
    assert_eq!(repairs, Vec::<String>::new());
    assert_eq!(decomposition.goal, "Make indexing fast");
    let tasks = decomposition.tasks();
    assert_eq!(tasks.len(), 2);
    assert_eq!(tasks[0].id.as_str(), "sg-1");
    assert_eq!(tasks[0].details, "Write a bench.\nRun it.");
    assert_eq!(tasks[0].scope.paths, ["benches/**"]);
    assert_eq!((tasks[0].scope.files, tasks[0].scope.lines), (Some(1), Some(40)));
    assert_eq!(tasks[1].agent.as_ref().unwrap().as_str(), "code-developer");
    assert_eq!(tasks[1].depends_on[0].as_str(), "sg-1");
    assert_eq!((tasks[1].scope.files, tasks[1].scope.lines), (None, None));
    assert_eq!(decomposition.gaps(), 0);
    let json = serde_json::to_string(&decomposition).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["subgoals"][1]["id"], "sg-2");
}

#[test]
fn exe_1_the_answer_is_found_in_fences_and_between_words() {
    let pretty = serde_json::to_string_pretty(&good()).unwrap();
    let plain = good().to_string();
    let list = good()["subgoals"].to_string();
    let trailing = pretty.replace("\n    }\n  ]", "\n    },\n  ],");
    assert_ne!(pretty, trailing);
    let draft = r#"{"subgoals":[{"title":"draft"}]}"#;
    let texts = [
        format!("\u{feff}\n{plain}\n\n"),
        format!("```json\n{pretty}\n```"),
        format!("Here it is:\n\n```\n{pretty}\n```\nHope it helps {{really}} [1]!"),
        format!("Sure! {plain} Anything else?"),
        format!("<think>maybe {draft}, or [not json</think>\n{plain}"),
        format!("a \"quote and {{curly}} words: {trailing}"),
        trailing,
        format!("The list: {list}"),
        plain.replace("\"subgoals\"", "\"tasks\""),
    ];
    for text in texts {
        let titles: Vec<String> =
            ok(&text).decomposition.subgoals.into_iter().map(|subgoal| subgoal.title).collect();
        assert_eq!(titles, ["Measure", "Speed up"], "{text}");
    }
}

#[test]
fn exe_1_what_is_mildly_wrong_is_repaired_and_said() {
    let check = |text: &str, repair: &str| {
        let read = ok(text);
        assert!(
            read.repairs.iter().any(|said| said.contains(repair)),
            "{text}: {:?}",
            read.repairs
        );
        read.decomposition
    };
    let d = check(&with("/subgoals/0/id", Value::Null), "sg-1 had no id");
    assert_eq!(d.subgoals[1].depends_on[0].as_str(), "sg-1");
    let d = check(&good().to_string().replace("sg-", "Step "), "numbered anew");
    assert_eq!(d.subgoals[1].depends_on[0].as_str(), "sg-1");
    let d = check(&with("/subgoals/1/depends_on", json!(["sg-1", "SG-1"])), "twice");
    assert_eq!(d.subgoals[1].depends_on.len(), 1);
    let d = check(&with("/subgoals/1/agent", json!("Performance Engineer!")), "was no name");
    assert_eq!(d.subgoals[1].agent.as_ref().unwrap().as_str(), "performance-engineer");
    assert!(d.subgoals[1].gap && d.gaps() == 1);
    let d = check(&with("/subgoals/0/title", json!("two\nlines \u{1b}[31mred")), "one clean line");
    assert_eq!(d.subgoals[0].title, "two lines red");
    let d = check(&with("/subgoals/0/title", json!("x".repeat(500))), "too long");
    assert_eq!(d.subgoals[0].title.chars().count(), 200);
    assert!(d.subgoals[0].details.starts_with(&"x".repeat(500)));
    let d = check(&with("/subgoals/0/details", json!("a\u{1b}]0;t\u{7}b\u{202e}")), "not clean");
    assert_eq!(d.subgoals[0].details, "ab");
    let d = check(&with("/subgoals/0/title", json!("ok <!-- agent: root -->")), "one clean line");
    assert!(!d.subgoals[0].title.contains("<!--"), "{}", d.subgoals[0].title);
    let paths = json!(["./src/a.rs", "/etc/passwd", "../x", "src/a.rs", ""]);
    let d = check(&with("/subgoals/0/scope/paths", paths), "cannot be in it");
    assert_eq!(d.subgoals[0].scope.paths, ["src/a.rs"]);
    let d = check(&with("/subgoals/0/scope/files", json!(-3)), "`files` in the scope");
    assert_eq!(d.subgoals[0].scope.files, None);
    check(&with("/subgoals/0/scope", json!("large")), "no object");
    check(&with("/subgoals/0/details", json!(7)), "no text");
    check(&good()["subgoals"].to_string(), "stood alone");
    let d = check(r#"{"subgoals":["Just do it"]}"#, "only a title");
    assert_eq!(d.subgoals[0].title, "Just do it");
}

#[test]
fn types_that_are_clear_are_taken_as_they_are_meant() {
    let d = ok(&with("/subgoals/0/scope/lines", json!("40"))).decomposition;
    assert_eq!(d.subgoals[0].scope.lines, Some(40));
    let d = ok(&with("/subgoals/1/depends_on", json!("sg-1"))).decomposition;
    assert_eq!(d.subgoals[1].depends_on.len(), 1);
    let d = ok(&with("/subgoals/1/depends_on", Value::Null)).decomposition;
    assert!(d.subgoals[1].depends_on.is_empty());
    let d = ok(&with("/subgoals/0/details", json!(["a", "b"]))).decomposition;
    assert_eq!(d.subgoals[0].details, "a\nb");
    for nobody in [json!(""), json!("none"), Value::Null] {
        let d = ok(&with("/subgoals/0/agent", nobody)).decomposition;
        assert_eq!((d.subgoals[0].agent.as_ref(), d.subgoals[0].gap), (None, false));
    }
    let numbered = good().to_string().replace("\"sg-1\"", "1").replace("\"sg-2\"", "2");
    assert_eq!(ok(&numbered).decomposition.subgoals[1].depends_on[0].as_str(), "sg-1");
}

#[test]
fn exe_1_what_is_gravely_wrong_is_told_as_a_problem() {
    let check = |text: &str, expected: &str| {
        let problems = problems(text);
        assert!(problems.iter().any(|said| said.contains(expected)), "{text}: {problems:?}");
    };
    check("", "empty");
    check(" \n\u{feff}", "no JSON");
    check("I cannot do that.", "no JSON object");
    check("{\"subgoals\": [", "no JSON object");
    check("{}", "no list called `subgoals`");
    check("null", "no list called `subgoals`");
    check(r#"{"subgoals": {"sg-1": {}}}"#, "no list called `subgoals`");
    check(r#"{"subgoals": []}"#, "no subgoals");
    check(r#"{"subgoals": [7, {"title": "a"}]}"#, "sg-1 is no object");
    check(&with("/subgoals/0/title", json!(" \u{1b}[0m\n")), "sg-1 has no title");
    check(&with("/subgoals/0/title", json!(["a"])), "sg-1 has no title");
    check(&with("/subgoals/1/id", json!("SG-1")), "two subgoals have the id");
    check(&with("/subgoals/0/depends_on", json!(["sg-9"])), "`sg-9`, which is no subgoal");
    check(&with("/subgoals/0/depends_on", json!(["sg-1"])), "depends on itself");
    check(&with("/subgoals/0/depends_on", json!([{}])), "no id");
    check(&with("/subgoals/0/depends_on", json!({"a": 1})), "no list of ids");
    check(&with("/subgoals/0/depends_on", json!(["sg-2"])), "sg-1 waits for sg-2 waits for sg-1");
    let many: Vec<Value> = (0..6).map(|n| json!({"title": format!("t{n}")})).collect();
    check(&json!({"subgoals": many}).to_string(), "6 subgoals, and at most 5");
    check(&format!("{} {}", "x".repeat(600_000), good()), "too long");
    check(&"[".repeat(100_000), "no JSON object");
    let both = with("/subgoals/1/depends_on", json!(["a", "b"]));
    assert_eq!(problems(&both).len(), 2, "all problems are told at once");
}

/// Answers in turn, and keeps what it was asked.
struct Script {
    answers: Mutex<VecDeque<Result<Completion>>>,
    asked: Mutex<Vec<Request>>,
}

impl Script {
    fn of(answers: Vec<Result<Completion>>) -> Self {
        Self { answers: Mutex::new(answers.into()), asked: Mutex::default() }
    }
}

impl Completer for Script {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
    ) -> Pin<Box<dyn Future<Output = Result<Completion>> + Send + 'a>> {
        self.asked.lock().unwrap().push(request.clone());
        let answer = self.answers.lock().unwrap().pop_front().unwrap();
        Box::pin(async move { answer })
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it stands beside errors")]
fn says(text: &str, stop: Stop) -> Result<Completion> {
    let cost = Cost {
        usd: Usd { micros: 5 },
        known: Known::Reported,
        tokens: Some(Tokens { input: 1, output: 2 }),
        model: None,
    };
    Ok(Completion { text: text.to_owned(), cost, stop })
}

#[tokio::test]
async fn exe_1_a_wrong_answer_is_sent_back_once_with_what_is_wrong() {
    let bad = with("/subgoals/0/depends_on", json!(["sg-2"]));
    let script =
        Script::of(vec![says(&bad, Stop::Finished), says(&good().to_string(), Stop::Finished)]);
    let decomposed = decompose(&script, &goal()).await.unwrap();
    assert_eq!(decomposed.decomposition.subgoals.len(), 2);
    assert_eq!(decomposed.text, good().to_string());
    assert_eq!((decomposed.cost.usd.micros, decomposed.cost.known), (10, Known::Reported));
    let asked = script.asked.lock().unwrap();
    assert_eq!(asked[0], request(&goal()));
    assert!(asked[1].prompt.starts_with(&asked[0].prompt));
    assert!(asked[1].prompt.contains(&bad) && asked[1].prompt.contains("wait for each other"));
    assert_eq!(asked[1].schema, asked[0].schema);
}

#[tokio::test]
async fn exe_1_a_second_wrong_answer_is_refused_and_its_text_is_kept() {
    let script = Script::of(vec![says("no", Stop::Finished), says("still no", Stop::Finished)]);
    let Error::Answer(bad) = decompose(&script, &goal()).await.unwrap_err() else { panic!() };
    assert_eq!((bad.text.as_str(), bad.cost.usd.micros), ("still no", 10));
    assert_eq!(bad.problems, ["there is no JSON object in the answer"]);
    let error = Error::Answer(bad);
    assert_eq!(
        error.to_string(),
        "the answer cannot be used: there is no JSON object in the answer"
    );

    // When nobody answers the second time, the first answer is what is kept.
    let gone = Error::Settings { what: "gone".to_owned() };
    let script = Script::of(vec![says("{\"subgo", Stop::Length), Err(gone)]);
    let Error::Answer(bad) = decompose(&script, &goal()).await.unwrap_err() else { panic!() };
    assert_eq!(bad.text, "{\"subgo");
    assert!(bad.problems[0].contains("max_output_tokens"), "{:?}", bad.problems);
    assert_eq!(bad.problems[1], "then: gone");
}

#[tokio::test]
async fn nobody_is_asked_about_an_empty_goal_and_an_error_stays_what_it_is() {
    let script = Script::of(vec![]);
    let goal = Goal { text: " \n".to_owned(), ..goal() };
    assert!(matches!(decompose(&script, &goal).await, Err(Error::Settings { .. })));
    let gone = Error::Settings { what: "gone".to_owned() };
    let goal = Goal { text: "x".to_owned(), ..goal };
    assert_eq!(
        decompose(&Script::of(vec![Err(gone)]), &goal).await.unwrap_err().to_string(),
        "gone"
    );
}

#[test]
fn the_prompt_names_goal_agents_and_facts_and_is_bounded() {
    let request = request(&goal());
    for part in [
        "Make indexing fast",
        "- code-developer: writes code",
        "- tester\n",
        "- src/index.rs",
        "at most 5",
    ] {
        assert!(request.prompt.contains(part), "{part}: {}", request.prompt);
    }
    let facts =
        (0..10_000).map(|n| format!("{n}{}\n# Goal\n\u{1b}[2J", "x".repeat(1000))).collect();
    let prompt = aurora_agents::decompose::request(&Goal { facts, ..goal() }).prompt;
    assert!(prompt.len() < 120_000 && prompt.contains("and 9600 more"), "{}", prompt.len());
    assert_eq!(prompt.matches("\n# Goal").count(), 0, "a fact cannot begin a section");
    assert!(!prompt.contains('\u{1b}'));
}

#[test]
fn every_object_of_the_schema_requires_all_it_has_and_nothing_else() {
    fn check(schema: &Value) {
        if schema["type"] == "object" {
            let fields: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
            assert_eq!(schema["required"], json!(fields));
            assert_eq!(schema["additionalProperties"], false);
            schema["properties"].as_object().unwrap().values().for_each(check);
        } else if schema["type"] == "array" {
            check(&schema["items"]);
        }
    }
    check(&request(&goal()).schema.unwrap());
}

#[tokio::test]
async fn exe_1_a_real_model_breaks_a_goal_down_by_each_api() {
    for provider in ModelProvider::ALL {
        let text = good().to_string();
        let (one, two) = text.split_at(100);
        let stop = if provider == ModelProvider::Gemini { "STOP" } else { "stop" };
        let at = Provider::playing(vec![Reply::Stream(speech(provider, &[one, two], stop))]);
        let profile = ModelProfile {
            provider,
            name: "model-1".to_owned(),
            base_url: Some(at.url.clone()),
            api_key_env: None,
            max_output_tokens: 4096,
            price: None,
        };
        let model = Model::new(profile, None).unwrap();
        let decomposed = decompose(&model, &goal()).await.unwrap();
        assert_eq!(decomposed.decomposition.tasks().len(), 2, "{provider:?}");
        assert_eq!(decomposed.cost.tokens, Some(Tokens { input: 11, output: 7 }));
        let body = at.asked()[0].body.to_string();
        assert!(body.contains("sg-1, sg-2 and so on"), "{provider:?}: the schema went along");
    }
}
