//! Conversations with tools over a real socket, in the shape of each provider.

use aurora_agents::llm::{Model, ModelAgent, Stop};
use aurora_agents::talk::{CallResult, Conversation, Converser, Message, ToolSchema, Tools, Turn};
use aurora_agents::{Agent, Holding, ModelProfile, ModelProvider, Price};
use aurora_model::{AgentName, Known, Tokens, Usd};
use serde_json::{Value, json};

use crate::provider::{Provider, Reply, beginning, calling, speech};

fn model(provider: ModelProvider, at: &Provider) -> Model {
    let profile = ModelProfile {
        provider,
        name: "model-1".to_owned(),
        base_url: Some(at.url.clone()),
        api_key_env: provider.usual_key().map(str::to_owned),
        max_output_tokens: 500,
        price: Some(Price { input_usd_per_mtok: 1_000.0, output_usd_per_mtok: 10_000.0 }),
    };
    Model::new(profile, provider.usual_key().map(|_| "sk-secret-1".to_owned())).unwrap()
}

fn tools() -> Vec<ToolSchema> {
    let tool = |name: &str| ToolSchema {
        name: name.to_owned(),
        description: format!("does {name}"),
        args: json!({"type": "object", "properties": {"path": {"type": "string"}},
            "required": ["path"]}),
    };
    vec![tool("repo.read_file"), tool("run_command")]
}

fn done(provider: ModelProvider) -> &'static str {
    match provider {
        ModelProvider::Anthropic => "end_turn",
        ModelProvider::OpenAi | ModelProvider::Ollama => "stop",
        ModelProvider::Gemini => "STOP",
    }
}

async fn next(model: &Model, talk: &Conversation) -> Turn {
    model.next(talk, &tools(), &mut |_| {}).await.unwrap()
}

fn result(turn: &Turn, at: usize, content: &str) -> CallResult {
    let call = &turn.calls[at];
    let (call, tool) = (call.id.clone(), call.name.clone());
    CallResult { call, tool, content: content.to_owned(), is_error: false }
}

/// The conversation, as if it had been written down and read again.
fn kept(talk: &Conversation) -> Conversation {
    let again = |message: &Message| -> Message {
        serde_json::from_str(&serde_json::to_string(message).unwrap()).unwrap()
    };
    Conversation { messages: talk.messages.iter().map(again).collect(), ..talk.clone() }
}

// APR-7: two calls in one turn, each with its own result, over every API.
#[tokio::test]
async fn apr_7_each_api_makes_calls_and_hears_their_results_under_their_names() {
    for provider in ModelProvider::ALL {
        let two = [
            ("repo_read_file", "call-a", r#"{"path":"a.txt"}"#),
            ("repo_read_file", "call-b", r#"{"path":"b \u00e4.txt"}"#),
        ];
        let at = Provider::playing(vec![
            Reply::Stream(calling(provider, "I look.", &two)),
            Reply::Stream(speech(provider, &["All", " done"], done(provider))),
        ]);
        let model = model(provider, &at);
        let mut talk = Conversation::begin("be careful".to_owned(), "read both".to_owned());
        let mut heard = String::new();
        let tools = tools();
        let turn = model.next(&talk, &tools, &mut |text| heard.push_str(text)).await.unwrap();
        assert_eq!((heard.as_str(), turn.text.as_str()), ("I look.", "I look."), "{provider:?}");
        let names: Vec<&str> = turn.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["repo.read_file"; 2], "{provider:?}: the name is ours again");
        assert_eq!(turn.calls[0].id, "call-a", "{provider:?}");
        assert_eq!(turn.calls[1].args, json!({"path": "b ä.txt"}), "{provider:?}");
        assert_eq!(turn.stop, Stop::Finished, "{provider:?}");
        // AGT-6: each turn has its own cost.
        assert_eq!(turn.cost.tokens, Some(Tokens { input: 11, output: 7 }), "{provider:?}");
        assert_eq!(turn.cost.known, Known::Reported);
        let results = vec![result(&turn, 1, "bees"), result(&turn, 0, "ays")];
        talk.take(turn);
        talk.answer(results).unwrap();
        // What goes on is what was written down, not what is in memory.
        let talk = kept(&talk);
        let last = next(&model, &talk).await;
        assert_eq!((last.text.as_str(), last.calls.len()), ("All done", 0), "{provider:?}");
        let mut progress = talk.progress.clone();
        progress.count(&last.cost);
        assert_eq!(progress.turns, 2);
        assert_eq!(progress.cost.unwrap().usd, Usd::from_dollars(2.0 * 0.081));
        let asked = at.asked();
        assert_offered(provider, &asked[0].body);
        assert_heard(provider, &asked[1].body);
    }
}

/// That both tools were offered under names that the API takes.
fn assert_offered(provider: ModelProvider, body: &Value) {
    let first = match provider {
        ModelProvider::Anthropic => &body["tools"][0],
        ModelProvider::OpenAi | ModelProvider::Ollama => &body["tools"][0]["function"],
        ModelProvider::Gemini => &body["tools"][0]["functionDeclarations"][0],
    };
    assert_eq!(first["name"], "repo_read_file", "{provider:?}: {body}");
    assert!(first.to_string().contains("\"required\""), "{provider:?}: {first}");
}

/// That both calls were repeated, and answered in their order.
fn assert_heard(provider: ModelProvider, body: &Value) {
    let content = |one: &Value| one["content"].as_str().unwrap_or_default().to_owned();
    match provider {
        ModelProvider::Anthropic => {
            let said = &body["messages"][1]["content"];
            assert_eq!(said[0]["text"], "I look.");
            assert_eq!((&said[1]["id"], &said[1]["type"]), (&json!("call-a"), &json!("tool_use")));
            let heard = &body["messages"][2]["content"];
            assert_eq!(heard[0]["tool_use_id"], "call-a");
            assert_eq!((content(&heard[0]), content(&heard[1])), ("ays".into(), "bees".into()));
            assert_eq!(body["messages"].as_array().unwrap().len(), 3, "results are one message");
        }
        ModelProvider::OpenAi => {
            // The first message is the system's.
            assert_eq!(body["messages"][2]["tool_calls"][1]["id"], "call-b");
            let heard = &body["messages"][3];
            assert_eq!(heard["tool_call_id"], "call-a");
            assert_eq!(
                (content(heard), content(&body["messages"][4])),
                ("ays".into(), "bees".into())
            );
        }
        ModelProvider::Gemini => {
            let said = &body["contents"][1]["parts"];
            let signed =
                said.as_array().unwrap().iter().find(|part| part.get("functionCall").is_some());
            assert_eq!(signed.unwrap()["thoughtSignature"], "c2lnbmVk", "{said}");
            let heard = &body["contents"][2]["parts"];
            assert_eq!(heard[0]["functionResponse"]["id"], "call-a", "{heard}");
            assert_eq!(heard[1]["functionResponse"]["response"]["content"], "bees");
        }
        ModelProvider::Ollama => {
            assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["name"], "repo_read_file");
            assert_eq!(content(&body["messages"][3]), "ays");
            assert_eq!(content(&body["messages"][4]), "bees");
        }
    }
}

// MOD-2: what a model makes up is an error that it is told, and ends nothing.
#[tokio::test]
async fn arguments_that_are_no_json_and_tools_that_nobody_has_are_kept_as_they_came() {
    for provider in [ModelProvider::Anthropic, ModelProvider::OpenAi] {
        let two = [("run_command", "c1", r#"{"path": "a"#), ("rm_everything", "c2", "{}")];
        let at = Provider::playing(vec![
            Reply::Stream(calling(provider, "", &two)),
            Reply::Stream(speech(provider, &["sorry"], done(provider))),
        ]);
        let model = model(provider, &at);
        let mut talk = Conversation::begin(String::new(), "go".to_owned());
        let turn = next(&model, &talk).await;
        assert!(turn.calls[0].malformed().is_some(), "{provider:?}: {:?}", turn.calls);
        assert!(turn.calls[1].malformed().is_none());
        assert_eq!(turn.calls[1].name, "rm_everything");
        let results = vec![result(&turn, 0, "bad"), result(&turn, 1, "unknown")];
        talk.take(turn);
        talk.answer(results).unwrap();
        assert_eq!(next(&model, &talk).await.text, "sorry", "{provider:?}");
        let asked = at.asked();
        // An API that wants an object gets one.
        let said = asked[1].body.to_string();
        assert!(said.contains("malformed") && !said.contains(r#""input":"{"#), "{said}");
    }
}

#[tokio::test]
async fn two_calls_of_one_name_are_told_apart() {
    let provider = ModelProvider::OpenAi;
    let two = [("run_command", "same", "{}"), ("run_command", "same", "{}")];
    let at = Provider::playing(vec![Reply::Stream(calling(provider, "", &two))]);
    let talk = Conversation::begin(String::new(), "go".to_owned());
    let turn = next(&model(provider, &at), &talk).await;
    let ids: Vec<&str> = turn.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["same", "same-2"]);
}

// AGT-2: the same patience as for a plain question, and no call is made of half an answer.
#[tokio::test]
async fn a_passing_trouble_is_waited_for_and_an_answer_that_breaks_off_makes_no_call() {
    for provider in ModelProvider::ALL {
        let at = Provider::playing(vec![
            Reply::Headed(529, "retry-after: 0\r\n".to_owned()),
            Reply::Stream(speech(provider, &["here"], done(provider))),
            Reply::Cut(beginning(provider, &["I will"])),
        ]);
        let model = model(provider, &at);
        let talk = Conversation::begin(String::new(), "go".to_owned());
        assert_eq!(next(&model, &talk).await.text, "here", "{provider:?}");
        let broken = model.next(&talk, &tools(), &mut |_| {}).await.unwrap_err();
        assert!(broken.transient && broken.cost.is_some(), "{provider:?}: {broken:?}");
        assert!(broken.to_string().starts_with("could not ask model-1: "), "{broken}");
    }
}

// AGT-5: an agent with tools changes files, and every action waits for our answer.
#[test]
fn an_agent_works_with_tools_only_where_the_settings_give_it_some() {
    let at = Provider::playing(Vec::new());
    let agent = |tools| {
        let name = AgentName::parse("m").unwrap();
        ModelAgent::new(name, model(ModelProvider::Ollama, &at)).with_tools(tools)
    };
    let words = agent(None);
    assert!(words.talker().is_none() && !words.capabilities().edits_files);
    let some = agent(Some(Tools::Named(vec!["repo.list".to_owned()])));
    let capabilities = some.capabilities();
    assert!(capabilities.edits_files);
    assert_eq!(capabilities.holding, Holding::Asks);
    let tools = some.talker().unwrap().tools;
    assert!(tools.include("repo.list") && !tools.include("run_command"));
}
