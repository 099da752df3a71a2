//! Models over a real socket: what is sent, what is heard, what goes wrong and what is said then.

use std::future::Future;
use std::process::Command;
use std::sync::Mutex;

use aurora_agents::llm::{Completion, Model, ModelAgent, Request, Stop};
use aurora_agents::{
    Agent, Error, Heard, Holding, Job, Listener, ModelProfile, ModelProvider, Price, Start,
};
use aurora_model::{AgentName, Known, Tokens, Usd};
use serde_json::{Value, json};

use crate::provider::{Asked, Provider, Reply, beginning, speech};

const KEY: &str = "sk-very-secret-123";

#[derive(Default)]
struct Ear(Mutex<Vec<Heard>>);

impl Listener for Ear {
    fn hear(&self, heard: Heard) {
        self.0.lock().unwrap().push(heard);
    }
}

impl Ear {
    fn lines(&self) -> Vec<String> {
        let heard = self.0.lock().unwrap();
        let line = |heard: &Heard| match heard {
            Heard::Said(line) => Some(line.clone()),
            _ => None,
        };
        heard.iter().filter_map(line).collect()
    }
}

fn profile(provider: ModelProvider, at: &Provider) -> ModelProfile {
    ModelProfile {
        provider,
        name: "model-1".to_owned(),
        base_url: Some(at.url.clone()),
        api_key_env: provider.usual_key().map(str::to_owned),
        max_output_tokens: 500,
        price: Some(Price { input_usd_per_mtok: 1_000.0, output_usd_per_mtok: 10_000.0 }),
    }
}

fn model(provider: ModelProvider, at: &Provider) -> Model {
    let key = provider.usual_key().map(|_| format!("{KEY}\n"));
    Model::new(profile(provider, at), key).unwrap()
}

fn request(prompt: &str) -> Request {
    Request { system: Some("be brief".to_owned()), prompt: prompt.to_owned(), ..Request::default() }
}

fn job() -> Job {
    Job {
        name: "run/sg-1/1".to_owned(),
        prompt: "say hello".to_owned(),
        title: "hello".to_owned(),
        task: "sg-1".to_owned(),
        attempt: 1,
        role: Some("a translator".to_owned()),
        cwd: "/".to_owned(),
        timeout_seconds: 10,
    }
}

/// How a provider says that an answer is complete.
fn done(provider: ModelProvider) -> &'static str {
    match provider {
        ModelProvider::Anthropic => "end_turn",
        ModelProvider::OpenAi | ModelProvider::Ollama => "stop",
        ModelProvider::Gemini => "STOP",
    }
}

/// That there were too many requests, and for how many seconds there should be none.
fn later(seconds: u64) -> Reply {
    Reply::Headed(429, format!("retry-after: {seconds}\r\n"))
}

/// Does the same with each provider, with all of them at once.
async fn each<F: Future<Output = ()> + Send + 'static>(check: impl Fn(ModelProvider) -> F) {
    let checks = ModelProvider::ALL.map(|provider| tokio::spawn(check(provider)));
    for check in checks {
        check.await.unwrap();
    }
}

async fn complete(model: &Model) -> Result<Completion, Error> {
    model.complete(&request("hello?")).await
}

fn why(result: Result<Completion, Error>) -> (String, bool) {
    match result.unwrap_err() {
        error @ Error::Model { transient, .. } => (error.to_string(), transient),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn agt_2_each_api_streams_text_line_by_line_and_counts_its_tokens() {
    for provider in ModelProvider::ALL {
        let pieces = ["Hel", "lo\nsecond \u{1b}[31mline", "\n", "äöü"];
        let at = Provider::playing(vec![Reply::Stream(speech(provider, &pieces, done(provider)))]);
        let agent = ModelAgent::new(AgentName::parse("m").unwrap(), model(provider, &at));
        assert_eq!(agent.start(&job()).unwrap(), Start::Call);
        let ear = Ear::default();
        let report = agent.attend(&job(), None, &ear).await.unwrap();
        assert!(report.success, "{provider:?}: {}", report.summary);
        assert_eq!(ear.lines(), ["Hello", "second line", "äöü"], "{provider:?}");
        // AGT-6: the provider's own count, at the price of the settings.
        assert_eq!(report.cost.tokens, Some(Tokens { input: 11, output: 7 }), "{provider:?}");
        assert_eq!(report.cost.known, Known::Reported);
        assert_eq!(report.cost.usd, Usd::from_dollars(0.011 + 0.07));
        assert_eq!(report.summary, "äöü");
        assert_eq!(report.transcript, pieces.concat().into_bytes());
        assert!(matches!(ear.0.lock().unwrap().last(), Some(Heard::Spent(_))));
        assert_asked(provider, &at.asked());
    }
}

/// That the one request that was made is as the provider wants it.
fn assert_asked(provider: ModelProvider, asked: &[Asked]) {
    let [asked] = asked else { panic!("{provider:?}: {} requests", asked.len()) };
    let body = &asked.body;
    let (line, key, limit, prompt) = match provider {
        ModelProvider::Anthropic => (
            "/v1/messages",
            format!("x-api-key: {KEY}"),
            &body["max_tokens"],
            &body["messages"][0]["content"],
        ),
        ModelProvider::OpenAi => (
            "/v1/chat/completions",
            format!("authorization: bearer {KEY}"),
            &body["max_tokens"],
            &body["messages"][1]["content"],
        ),
        ModelProvider::Gemini => (
            "/v1beta/models/model-1:streamGenerateContent?alt=sse",
            format!("x-goog-api-key: {KEY}"),
            &body["generationConfig"]["maxOutputTokens"],
            &body["contents"][0]["parts"][0]["text"],
        ),
        ModelProvider::Ollama => (
            "/api/chat",
            String::new(),
            &body["options"]["num_predict"],
            &body["messages"][1]["content"],
        ),
    };
    assert_eq!(asked.line, format!("POST {line} HTTP/1.1"));
    assert!(asked.head.contains(&key), "{provider:?}: {}", asked.head);
    assert_eq!(limit, &json!(500), "{provider:?}: {body}");
    assert_eq!(prompt, "say hello", "{provider:?}: {body}");
    assert!(body.to_string().contains("You act as a translator."), "{provider:?}: {body}");
}

#[tokio::test]
async fn a_schema_goes_to_the_provider_or_into_words_where_it_cannot() {
    let schema = json!({"type": "object", "properties": {"word": {"type": "string"}},
        "required": ["word"], "additionalProperties": false});
    for provider in ModelProvider::ALL {
        let text = r#"{"word":"hello"}"#;
        let at = Provider::playing(vec![Reply::Stream(speech(provider, &[text], done(provider)))]);
        let request = Request { schema: Some(schema.clone()), ..request("a word") };
        let completion = model(provider, &at).complete(&request).await.unwrap();
        assert_eq!((completion.text.as_str(), completion.stop), (text, Stop::Finished));
        let asked = at.asked();
        let body = &asked[0].body;
        let sent: &Value = match provider {
            ModelProvider::Anthropic => &body["output_config"]["format"]["schema"],
            ModelProvider::OpenAi => &body["response_format"]["json_schema"]["schema"],
            ModelProvider::Gemini => &body["generationConfig"]["responseJsonSchema"],
            ModelProvider::Ollama => {
                assert_eq!(body["format"], "json");
                let system = body["messages"][0]["content"].as_str().unwrap();
                assert!(system.contains(&schema.to_string()), "{system}");
                continue;
            }
        };
        assert_eq!(sent, &schema, "{provider:?}: {body}");
    }
}

#[tokio::test]
async fn a_server_that_knows_no_schemas_is_told_in_words() {
    let refusal = r#"{"error":{"message":"This response_format type is unavailable now"}}"#;
    let provider = ModelProvider::OpenAi;
    let at = Provider::playing(vec![
        Reply::Status(400, refusal.to_owned()),
        Reply::Stream(speech(provider, &["{}"], "stop")),
    ]);
    let request = Request { schema: Some(json!({"type": "object"})), ..request("a word") };
    assert_eq!(model(provider, &at).complete(&request).await.unwrap().text, "{}");
    let asked = at.asked();
    assert!(asked[0].body.get("response_format").is_some());
    assert!(asked[1].body.get("response_format").is_none());
    assert!(asked[1].body["messages"][0]["content"].as_str().unwrap().contains("JSON Schema"));
}

#[tokio::test]
async fn what_passes_is_tried_again_and_what_stays_is_told() {
    each(|provider| async move {
        let answer = || Reply::Stream(speech(provider, &["fine"], done(provider)));
        let at = Provider::playing(vec![later(0), answer()]);
        assert_eq!(complete(&model(provider, &at)).await.unwrap().text, "fine", "{provider:?}");
        assert_eq!(at.asked().len(), 2);

        let trouble = || Reply::Status(500, r#"{"error":{"message":"inner trouble"}}"#.to_owned());
        let at = Provider::playing(vec![trouble(), trouble(), answer()]);
        assert_eq!(complete(&model(provider, &at)).await.unwrap().text, "fine", "{provider:?}");
        assert_eq!(at.asked().len(), 3);
    })
    .await;
    let late = || Reply::Status(503, "busy".to_owned());
    let at = Provider::playing(vec![late(), late(), late(), late()]);
    let (why, transient) = why(complete(&model(ModelProvider::Gemini, &at)).await);
    assert!(why.contains("503: busy; the provider has trouble"), "{why}");
    assert!(transient);
    assert_eq!(at.asked().len(), 3, "at most two more times");
}

#[tokio::test]
async fn a_provider_that_wants_much_patience_is_not_waited_for() {
    let at = Provider::playing(vec![later(3600), later(3600)]);
    let (why, transient) = why(complete(&model(ModelProvider::OpenAi, &at)).await);
    assert!(why.contains("429") && why.contains("limits"), "{why}");
    assert!(transient);
    assert_eq!(at.asked().len(), 1);
}

#[tokio::test]
async fn a_stream_that_is_cut_is_tried_again_only_while_nothing_was_heard() {
    each(|provider| async move {
        let answer = || Reply::Stream(speech(provider, &["fine"], done(provider)));
        let at = Provider::playing(vec![Reply::Cut(vec![]), Reply::Stream(vec![]), answer()]);
        assert_eq!(complete(&model(provider, &at)).await.unwrap().text, "fine", "{provider:?}");
        assert_eq!(at.asked().len(), 3, "{provider:?}");

        let begun = beginning(provider, &["half an", " ans"]);
        for reply in [Reply::Cut(begun.clone()), Reply::Stream(begun)] {
            let at = Provider::playing(vec![reply, answer()]);
            let agent = ModelAgent::new(AgentName::parse("m").unwrap(), model(provider, &at));
            let ear = Ear::default();
            let report = agent.attend(&job(), None, &ear).await.unwrap();
            assert!(!report.success, "{provider:?}");
            assert!(report.summary.contains("broke off"), "{provider:?}: {}", report.summary);
            assert_eq!(report.transcript, b"half an ans", "{provider:?}");
            assert_eq!(ear.lines(), ["half an ans"], "{provider:?}");
            // AGT-6: what was heard has cost something, though nobody counted.
            assert_eq!(report.cost.known, Known::Estimated, "{provider:?}");
            assert_eq!(at.asked().len(), 1, "{provider:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn garbage_is_no_answer() {
    each(|provider| async move {
        let page = "<html><body>It works!</body></html>\n\n".to_owned();
        let half = "data: {\"choices\": [}\n\n{\n".to_owned();
        for garbage in [page, half] {
            let replies = (0..3).map(|_| Reply::Stream(vec![garbage.clone()])).collect();
            let at = Provider::playing(replies);
            let (why, _) = why(complete(&model(provider, &at)).await);
            assert!(why.contains("could not ask model-1: http://127.0.0.1:"), "{why}");
            assert!(!why.contains('\n'), "{why}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_error_within_the_stream_is_told_in_the_providers_words() {
    let check = |provider, events: Vec<String>, expected: &'static str| async move {
        let replies = (0..3).map(|_| Reply::Stream(events.clone())).collect();
        let at = Provider::playing(replies);
        let (why, _) = why(complete(&model(provider, &at)).await);
        assert!(why.contains(expected), "{why}");
    };
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let events = vec![format!("event: error\ndata: {overloaded}\n\n")];
    check(ModelProvider::Anthropic, events, "reported an error: Overloaded").await;
    let error = "data: {\"error\":{\"message\":\"out of memory\",\"type\":\"server_error\"}}\n\n";
    check(ModelProvider::OpenAi, vec![error.to_owned()], "out of memory").await;
    let error = "{\"error\":\"model requires more system memory\"}\n";
    check(ModelProvider::Ollama, vec![error.to_owned()], "broke off: model requires more").await;
    let error =
        "data: {\"error\":{\"code\":503,\"message\":\"too busy\",\"status\":\"UNAVAILABLE\"}}\n\n";
    check(ModelProvider::Gemini, vec![error.to_owned()], "too busy").await;
}

#[tokio::test]
async fn agt_4_a_model_that_never_answers_is_left_when_the_future_is_dropped() {
    for provider in ModelProvider::ALL {
        let at = Provider::playing(vec![Reply::Never]);
        let model = model(provider, &at);
        let asked = tokio::task::spawn_blocking(move || {
            at.wait_until_asked();
            at
        });
        let at = tokio::select! {
            answer = complete(&model) => panic!("{provider:?} answered {answer:?}"),
            at = asked => at.unwrap(),
        };
        // The connection goes with the future: the other side sees its end.
        tokio::task::spawn_blocking(move || at.wait_until_left()).await.unwrap();
    }
}

#[tokio::test]
async fn the_key_is_in_no_message() {
    for provider in [ModelProvider::Anthropic, ModelProvider::OpenAi, ModelProvider::Gemini] {
        let body =
            format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}. \u001b[31m"}}}}"#);
        let at = Provider::playing(vec![Reply::Status(401, body)]);
        let model = model(provider, &at);
        let (why, transient) = why(complete(&model).await);
        assert!(why.contains("401: Incorrect API key provided: ….;"), "{why}");
        assert!(why.contains(provider.usual_key().unwrap()), "{why}");
        assert!(!why.contains(KEY) && !why.contains('\u{1b}'), "{why}");
        assert!(!transient);
        assert!(!format!("{model:?}").contains(KEY));
        assert_eq!(at.asked().len(), 1, "a wrong key is not tried again");
    }
}

#[tokio::test]
async fn a_missing_key_names_its_variable_before_anything_is_sent() {
    let at = Provider::playing(vec![Reply::Never]);
    let profile = profile(ModelProvider::Anthropic, &at);
    for (key, expected) in
        [(None, "set the variable ANTHROPIC_API_KEY"), (Some("a\u{7}b"), "set it again")]
    {
        let model = Model::new(profile.clone(), key.map(str::to_owned)).unwrap();
        let error = complete(&model).await.unwrap_err();
        assert!(matches!(error, Error::Settings { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        let agent = ModelAgent::new(AgentName::parse("m").unwrap(), model);
        assert!(agent.start(&job()).is_err());
    }
    assert!(at.asked().is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_with_its_address() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let at = Provider::playing(vec![]);
    let profile = ModelProfile {
        base_url: Some(format!("http://{nobody}")),
        ..profile(ModelProvider::Ollama, &at)
    };
    let (why, transient) = why(complete(&Model::new(profile, None).unwrap()).await);
    assert!(why.contains(&format!("could not connect to http://{nobody}: ")), "{why}");
    assert!(why.contains("ollama serve"), "{why}");
    assert!(transient);
}

#[tokio::test]
async fn a_redirect_does_not_carry_the_key_elsewhere() {
    let elsewhere = Provider::playing(vec![Reply::Never]);
    let at = Provider::playing(vec![Reply::Headed(
        302,
        format!("location: {}/v1/messages\r\n", elsewhere.url),
    )]);
    let (why, _) = why(complete(&model(ModelProvider::Anthropic, &at)).await);
    assert!(why.contains("302"), "{why}");
    assert!(elsewhere.asked().is_empty());
}

#[tokio::test]
async fn an_answer_that_is_cut_short_held_back_or_empty_is_no_success() {
    let cases = [
        (ModelProvider::Anthropic, "max_tokens", "text", "max_output_tokens"),
        (ModelProvider::OpenAi, "length", "text", "max_output_tokens"),
        (ModelProvider::Gemini, "SAFETY", "text", "held the answer back"),
        (ModelProvider::Ollama, "load", "text", "ended by `load`"),
        (ModelProvider::Ollama, "stop", " \n", "said nothing"),
    ];
    for (provider, stop, text, expected) in cases {
        let at = Provider::playing(vec![Reply::Stream(speech(provider, &[text], stop))]);
        let agent = ModelAgent::new(AgentName::parse("m").unwrap(), model(provider, &at));
        let report = agent.attend(&job(), None, &Ear::default()).await.unwrap();
        assert!(!report.success && report.summary.contains(expected), "{}", report.summary);
    }
}

#[tokio::test]
async fn a_models_name_reaches_the_provider_as_it_was_written() {
    for name in ["mistral-medium", "qwen-max", "org/model-low", "odd::name"] {
        let provider = ModelProvider::OpenAi;
        let at = Provider::playing(vec![Reply::Stream(speech(provider, &["x"], "stop"))]);
        let profile = ModelProfile { name: name.to_owned(), ..profile(provider, &at) };
        complete(&Model::new(profile, Some(KEY.to_owned())).unwrap()).await.unwrap();
        let asked = at.asked();
        assert_eq!(asked[0].body["model"], name);
        assert!(asked[0].body.get("reasoning_effort").is_none());
    }
}

#[test]
fn agt_3_a_model_can_do_nothing_but_speak_and_says_what_it_may_cost() {
    let at = Provider::playing(vec![]);
    let agent =
        ModelAgent::new(AgentName::parse("m").unwrap(), model(ModelProvider::Anthropic, &at));
    let can = agent.capabilities();
    assert!(!can.edits_files && can.reports_cost);
    assert_eq!(can.holding, Holding::Asks);
    let cost = agent.estimate(&job());
    assert_eq!(cost.known, Known::Estimated);
    assert_eq!(cost.tokens.unwrap().output, 500);
    assert!(cost.usd > Usd::from_dollars(5.0), "500 tokens of output at $10,000 a million");
}

#[test]
fn a_proxy_of_the_environment_is_not_asked() {
    // The environment is that of a process of its own, which runs a test that asks all four.
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "llm::agt_2_each_api_streams_text_line_by_line_and_counts_its_tokens"])
        .envs(
            ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"]
                .map(|name| (name, "http://127.0.0.1:1")),
        )
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&status.stdout);
    assert!(status.status.success() && said.contains("1 passed"), "{said}");
}
