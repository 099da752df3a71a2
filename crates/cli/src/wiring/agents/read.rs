//! Reads one `agents.yaml` and says everything that is wrong with it, each with its place.

use std::collections::BTreeMap;
use std::path::Path;

use aurora_agents::template::Blank;
use aurora_agents::{
    AgentProfile, CliProfile, Limits, ModelProfile, ModelProvider, Output, Price, PromptBy,
    Provider, Success, Template,
};
use aurora_gate::settings::{self, Node, Pair, Place, Problems, SettingsError, Shape};
use aurora_model::{AgentName, Usd};

use super::{runtime, tools};

const TOP_KEYS: [&str; 4] = ["default", "model", "agents", "runtime"];
const AGENT_KEYS: [&str; 13] = [
    "id",
    "provider",
    "role",
    "environment",
    "pass_environment",
    "limits",
    "success",
    "command",
    "prompt",
    "output",
    "scenario",
    "model",
    "tools",
];
const MODEL_KEYS: [&str; 6] =
    ["provider", "name", "base_url", "api_key_env", "max_output_tokens", "price"];
const PRICE_KEYS: [&str; 2] = ["input_usd_per_mtok", "output_usd_per_mtok"];
const LIMIT_KEYS: [&str; 2] = ["max_cost_usd", "timeout_seconds"];
const SUCCESS_KEYS: [&str; 3] = ["exit_codes", "require_line", "fail_on"];
const PROVIDERS: [&str; 4] = ["cli", "scripted", "api", "null"];
/// Ways to reach an agent that are known and not there yet.
const LATER_PROVIDERS: [&str; 4] = ["acp", "app-server", "http", "stdio"];

const MAX_USD: f64 = 1_000_000.0;
const WEEK_SECONDS: u64 = 7 * 24 * 3600;

/// What one file says.
#[derive(Debug, Default)]
pub struct Layer {
    /// The default agent and where it is named.
    pub default: Option<(AgentName, Place)>,
    /// The model.
    pub model: Option<ModelProfile>,
    /// The agents.
    pub agents: Vec<AgentProfile>,
}

/// Reads a file's text; `folder` is the one that its relative paths begin at.
pub fn layer(file: &str, text: &str, folder: &Path, errors: &mut Vec<SettingsError>) -> Layer {
    let mut problems = Problems::new(file);
    let mut layer = Layer::default();
    if let Some(root) = settings::read(text, &mut problems) {
        Reader { file, folder, problems: &mut problems }.root(&root, &mut layer);
    }
    errors.extend(problems.finish());
    layer
}

struct Reader<'r> {
    file: &'r str,
    folder: &'r Path,
    problems: &'r mut Problems,
}

/// The value of a key of a mapping.
fn get<'n>(pairs: &'n [Pair], name: &str) -> Option<&'n Node> {
    pairs.iter().find(|pair| pair.name == name).map(|pair| &pair.value)
}

impl Reader<'_> {
    fn root(&mut self, root: &Node, layer: &mut Layer) {
        if root.is_nothing() {
            return;
        }
        let Some(pairs) = self.mapping(root, "", &TOP_KEYS) else { return };
        for pair in pairs {
            let key = pair.name.as_str();
            match key {
                "default" => {
                    let name = self.name(&pair.value, key);
                    layer.default = name.map(|name| (name, pair.value.at));
                }
                "model" => layer.model = self.model(&pair.value, key),
                "agents" => layer.agents = self.agents(&pair.value),
                "runtime" => runtime::check(pair, self.problems),
                _ => {}
            }
        }
    }

    /// The pairs of a mapping; unknown keys are noted.
    fn mapping<'n>(&mut self, node: &'n Node, path: &str, keys: &[&str]) -> Option<&'n [Pair]> {
        let Shape::Map(pairs) = &node.shape else {
            let expected = format!("a mapping with the keys {}", keys.join(", "));
            self.problems.mistyped(node, path, &expected);
            return None;
        };
        for pair in pairs.iter().filter(|pair| !keys.contains(&pair.name.as_str())) {
            let full = if path.is_empty() { pair.name.clone() } else { joined(path, &pair.name) };
            if pair.name == "api_key" {
                let hint = "`api_key_env` names the variable that holds it";
                self.problems.add_with_hint(pair.at, &full, "keys never stand in this file", hint);
            } else {
                self.problems.unknown_key(pair, &full, keys);
            }
        }
        Some(pairs)
    }

    fn missing(&mut self, node: &Node, path: &str, name: &str, why: &str) {
        self.problems.add_with_hint(node.at, path, format!("`{name}` is missing"), why);
    }

    fn name(&mut self, node: &Node, path: &str) -> Option<AgentName> {
        // `null` is a name too, though YAML takes it for nothing.
        let text = match &node.shape {
            Shape::Scalar { text, .. } if text == "null" => text.clone(),
            _ => self.problems.text(node, path)?,
        };
        let name = AgentName::parse(text.strip_prefix('@').unwrap_or(&text));
        if name.is_none() {
            let message = format!("{} is no name", node.kind());
            let hint = "use letters, digits, `.`, `_` and `-`";
            self.problems.add_with_hint(node.at, path, message, hint);
        }
        name
    }

    fn agents(&mut self, node: &Node) -> Vec<AgentProfile> {
        let Shape::List(nodes) = &node.shape else {
            self.problems.mistyped(node, "agents", "a list of agents");
            return Vec::new();
        };
        let mut agents: Vec<AgentProfile> = Vec::new();
        for (node, number) in nodes.iter().zip(1..) {
            let path = format!("agents.{number}");
            let Some(agent) = self.agent(node, &path) else { continue };
            if agents.iter().any(|other| other.name == agent.name) {
                let message = format!("the id `{}` is used twice", agent.name);
                let hint = "each agent needs an id of its own";
                self.problems.add_with_hint(node.at, &path, message, hint);
                continue;
            }
            agents.push(agent);
        }
        agents
    }

    fn agent(&mut self, node: &Node, path: &str) -> Option<AgentProfile> {
        let pairs = self.mapping(node, path, &AGENT_KEYS)?;
        if get(pairs, "id").is_none() {
            self.missing(node, path, "id", "the name by which tasks ask for it");
        }
        if get(pairs, "provider").is_none() {
            self.missing(node, path, "provider", "one of cli, scripted, api and null");
        }
        let key = |name: &str| joined(path, name);
        let name = get(pairs, "id").and_then(|node| self.name(node, &key("id")));
        let provider = get(pairs, "provider").and_then(|at| self.provider(node, pairs, at, path));
        let role = get(pairs, "role").and_then(|node| self.problems.text(node, &key("role")));
        let environment =
            get(pairs, "environment").map(|at| self.environment(at, &key("environment")));
        let pass =
            get(pairs, "pass_environment").map(|at| self.variables(at, &key("pass_environment")));
        let limits = get(pairs, "limits").map(|at| self.limits(at, &key("limits")));
        let success = get(pairs, "success").map(|at| self.success(at, &key("success")));
        Some(AgentProfile {
            name: name?,
            provider: provider?,
            role,
            environment: environment.unwrap_or_default(),
            pass_environment: pass.unwrap_or_default(),
            limits: limits.unwrap_or_default(),
            success: success.unwrap_or_default(),
            origin: format!("{}:{}", self.file, node.at.line),
        })
    }

    fn provider(
        &mut self,
        agent: &Node,
        pairs: &[Pair],
        node: &Node,
        path: &str,
    ) -> Option<Provider> {
        let key = joined(path, "provider");
        if let Shape::Scalar { text, .. } = &node.shape
            && LATER_PROVIDERS.contains(&text.as_str())
        {
            let message = format!("agents with `provider: {text}` cannot be used yet");
            let hint = "`provider: cli` runs any command";
            self.problems.add_with_hint(node.at, &key, message, hint);
            return None;
        }
        let word = self.problems.choice(node, &key, &PROVIDERS)?;
        self.misplaced(pairs, path, &word);
        match word.as_str() {
            "cli" => self.command(agent, pairs, path).map(Provider::Cli),
            "scripted" => {
                let Some(node) = get(pairs, "scenario") else {
                    self.missing(agent, path, "scenario", "the file that it plays");
                    return None;
                };
                let file = self.problems.text(node, &joined(path, "scenario"))?;
                let scenario = self.folder.join(file).to_string_lossy().into_owned();
                Some(Provider::Scripted { scenario })
            }
            "api" => {
                let own = get(pairs, "model").map(|at| self.model(at, &joined(path, "model")));
                let tools = get(pairs, "tools");
                let tools =
                    tools.and_then(|at| tools::read(at, &joined(path, "tools"), self.problems));
                match own {
                    Some(None) => None,
                    Some(model) => Some(Provider::Api { model, tools }),
                    None => Some(Provider::Api { model: None, tools }),
                }
            }
            _ => Some(Provider::Null),
        }
    }

    /// Notes keys that mean nothing to agents of this provider.
    fn misplaced(&mut self, pairs: &[Pair], path: &str, provider: &str) {
        for pair in pairs {
            let owners: &[&str] = match pair.name.as_str() {
                "command" | "prompt" | "output" => &["cli"],
                "scenario" => &["scripted"],
                "model" | "tools" => &["api"],
                "environment" | "pass_environment" | "success" => &["cli", "scripted"],
                _ => continue,
            };
            if !owners.contains(&provider) {
                let message = format!("means nothing to an agent with `provider: {provider}`");
                let hint = format!("it belongs to `provider: {}`", owners.join("` and `"));
                self.problems.add_with_hint(pair.at, &joined(path, &pair.name), message, hint);
            }
        }
    }

    fn command(&mut self, agent: &Node, pairs: &[Pair], path: &str) -> Option<CliProfile> {
        let key = joined(path, "command");
        let Some(node) = get(pairs, "command") else {
            self.missing(agent, path, "command", "program and arguments, as a list");
            return None;
        };
        let Shape::List(words) = &node.shape else {
            let hint = "for example [\"my-agent\", \"--task\", \"{prompt}\"]";
            let message = format!("expected a list of words, found {}", node.kind());
            self.problems.add_with_hint(node.at, &key, message, hint);
            return None;
        };
        if words.is_empty() {
            self.problems.add(node.at, &key, "is an empty list");
        }
        let read: Vec<_> = words.iter().map(|word| self.template(word, &key)).collect();
        let output = get(pairs, "output").map(|at| {
            let words = Output::ALL.map(Output::name);
            let word = self.problems.choice(at, &joined(path, "output"), &words)?;
            Output::ALL.into_iter().find(|output| output.name() == word)
        });
        let prompt = get(pairs, "prompt").map(|at| {
            let words = PromptBy::ALL.map(PromptBy::name);
            let word = self.problems.choice(at, &joined(path, "prompt"), &words)?;
            let by = PromptBy::ALL.into_iter().find(|by| by.name() == word)?;
            Some((by, at.at))
        });
        let command = read.into_iter().collect::<Option<Vec<_>>>()?;
        let prompt = self.prompt(prompt, &command, &joined(path, "prompt"))?;
        let output = output.unwrap_or(Some(Output::default()))?;
        (!command.is_empty()).then_some(CliProfile { command, prompt, output })
    }

    /// Where the prompt goes, which must agree with the command.
    fn prompt(
        &mut self,
        given: Option<Option<(PromptBy, Place)>>,
        command: &[Template],
        key: &str,
    ) -> Option<PromptBy> {
        let occurs = command.iter().any(|word| word.has(Blank::Prompt));
        let Some(given) = given else {
            return Some(if occurs { PromptBy::Argument } else { PromptBy::Stdin });
        };
        let (by, at) = given?;
        match (by, occurs) {
            (PromptBy::Argument, false) => {
                let message = "the prompt goes nowhere: `{prompt}` does not occur in the command";
                self.problems.add_with_hint(at, key, message, "add `{prompt}`, or say `stdin`");
                None
            }
            (PromptBy::Stdin, true) => {
                let message = "`{prompt}` occurs in the command, so the prompt is an argument";
                self.problems.add_with_hint(at, key, message, "keep one of the two");
                None
            }
            _ => Some(by),
        }
    }

    /// A word of a command. A number is a word too.
    fn template(&mut self, node: &Node, key: &str) -> Option<Template> {
        let (text, plain) = match &node.shape {
            Shape::Scalar { text, plain } if !node.is_nothing() => (text, *plain),
            Shape::Map(_) => {
                let hint = "a word with braces stands in quotes: \"{prompt}\"";
                self.problems.add_with_hint(node.at, key, "expected a word, found a mapping", hint);
                return None;
            }
            _ => {
                self.problems.mistyped(node, key, "a word");
                return None;
            }
        };
        match Template::parse(text) {
            Ok(template) => Some(template),
            Err(bad) => {
                // A word in quotes begins after its quote.
                let column = node.at.column + bad.at - usize::from(plain);
                let at = Place { line: node.at.line, column };
                let blanks: Vec<String> =
                    Blank::ALL.iter().map(|blank| format!("{{{}}}", blank.name())).collect();
                let hint = match settings::nearest(&bad.found, Blank::ALL.map(Blank::name)) {
                    Some(near) => format!("did you mean `{{{near}}}`?"),
                    None => format!(
                        "known are {}; `{{{{` and `}}}}` are braces themselves",
                        blanks.join(", ")
                    ),
                };
                self.problems.add_with_hint(at, key, bad.to_string(), hint);
                None
            }
        }
    }

    fn environment(&mut self, node: &Node, path: &str) -> BTreeMap<String, String> {
        let Shape::Map(pairs) = &node.shape else {
            self.problems.mistyped(node, path, "a mapping of variables");
            return BTreeMap::new();
        };
        let mut variables = BTreeMap::new();
        for pair in pairs {
            let key = joined(path, &pair.name);
            if !self.is_variable(&pair.name, pair.at, path) {
                continue;
            }
            match &pair.value.shape {
                Shape::Scalar { text, .. } if !pair.value.is_nothing() && !text.contains('\0') => {
                    variables.insert(pair.name.clone(), text.clone());
                }
                _ => self.problems.mistyped(&pair.value, &key, "text"),
            }
        }
        variables
    }

    /// Whether a text can name a variable. It is not repeated: somebody may have pasted a key.
    fn is_variable(&mut self, name: &str, at: Place, path: &str) -> bool {
        let good = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !good {
            let hint = "a name such as MY_VARIABLE; keys themselves never stand in this file";
            self.problems.add_with_hint(at, path, "this is not the name of a variable", hint);
        }
        good
    }

    fn variables(&mut self, node: &Node, path: &str) -> Vec<String> {
        let mut names = Vec::new();
        for node in self.problems.one_or_more(node, path).unwrap_or_default() {
            if let Some(name) = self.problems.text(node, path)
                && self.is_variable(&name, node.at, path)
            {
                names.push(name);
            }
        }
        names
    }

    fn limits(&mut self, node: &Node, path: &str) -> Limits {
        let mut limits = Limits::default();
        for pair in self.mapping(node, path, &LIMIT_KEYS).unwrap_or_default() {
            let key = joined(path, &pair.name);
            match pair.name.as_str() {
                "max_cost_usd" => {
                    let usd = self.problems.amount(&pair.value, &key, 0.0, MAX_USD);
                    limits.max_cost = usd.map(Usd::from_dollars);
                }
                "timeout_seconds" => {
                    limits.timeout_seconds =
                        self.problems.whole(&pair.value, &key, 1, WEEK_SECONDS);
                }
                _ => {}
            }
        }
        limits
    }

    fn success(&mut self, node: &Node, path: &str) -> Success {
        let mut success = Success::default();
        for pair in self.mapping(node, path, &SUCCESS_KEYS).unwrap_or_default() {
            let key = joined(path, &pair.name);
            match pair.name.as_str() {
                "exit_codes" => {
                    let nodes = self.problems.one_or_more(&pair.value, &key).unwrap_or_default();
                    let codes = nodes.iter().filter_map(|node| {
                        let code = self.problems.whole(node, &key, 0, 255)?;
                        i32::try_from(code).ok()
                    });
                    success.exit_codes = codes.collect();
                }
                "require_line" => success.require_line = self.problems.text(&pair.value, &key),
                "fail_on" => {
                    let nodes = self.problems.one_or_more(&pair.value, &key).unwrap_or_default();
                    success.fail_on =
                        nodes.iter().filter_map(|node| self.problems.text(node, &key)).collect();
                }
                _ => {}
            }
        }
        success
    }

    fn model(&mut self, node: &Node, path: &str) -> Option<ModelProfile> {
        let pairs = self.mapping(node, path, &MODEL_KEYS)?;
        let key = |name: &str| joined(path, name);
        if get(pairs, "provider").is_none() {
            let words = ModelProvider::ALL.map(ModelProvider::name).join(", ");
            self.missing(node, path, "provider", &format!("one of {words}"));
        }
        if get(pairs, "name").is_none() {
            self.missing(node, path, "name", "the model's name at its provider");
        }
        let provider = get(pairs, "provider").and_then(|at| {
            let words = ModelProvider::ALL.map(ModelProvider::name);
            ModelProvider::from_name(&self.problems.choice(at, &key("provider"), &words)?)
        });
        let name = get(pairs, "name").and_then(|at| self.problems.text(at, &key("name")));
        let base_url = get(pairs, "base_url").and_then(|at| self.base_url(at, &key("base_url")));
        let key_env = get(pairs, "api_key_env").and_then(|at| {
            let text = self.problems.text(at, &key("api_key_env"))?;
            self.is_variable(&text, at.at, &key("api_key_env")).then_some(text)
        });
        let max_output_tokens = get(pairs, "max_output_tokens").and_then(|at| {
            let tokens = self.problems.whole(at, &key("max_output_tokens"), 1, 1_000_000)?;
            u32::try_from(tokens).ok()
        });
        let price = get(pairs, "price").and_then(|at| self.price(at, &key("price")));
        let provider = provider?;
        // A key is not sent to an address that it was not meant for.
        let usual = if base_url.is_none() { provider.usual_key() } else { None };
        Some(ModelProfile {
            provider,
            name: name?,
            api_key_env: key_env.or_else(|| usual.map(str::to_owned)),
            base_url,
            max_output_tokens: max_output_tokens.unwrap_or(ModelProfile::USUAL_OUTPUT_TOKENS),
            price,
        })
    }

    fn base_url(&mut self, node: &Node, path: &str) -> Option<String> {
        let text = self.problems.text(node, path)?;
        if text.starts_with("http://") || text.starts_with("https://") {
            return Some(text);
        }
        let message = format!("expected an address, found {}", node.kind());
        let hint = "it begins with `http://` or `https://`";
        self.problems.add_with_hint(node.at, path, message, hint);
        None
    }

    fn price(&mut self, node: &Node, path: &str) -> Option<Price> {
        let pairs = self.mapping(node, path, &PRICE_KEYS)?;
        let mut read = |name: &str| {
            let Some(at) = get(pairs, name) else {
                self.missing(node, path, name, "US dollars per million tokens");
                return None;
            };
            self.problems.amount(at, &joined(path, name), 0.0, MAX_USD)
        };
        let (input, output) = (read("input_usd_per_mtok"), read("output_usd_per_mtok"));
        Some(Price { input_usd_per_mtok: input?, output_usd_per_mtok: output? })
    }
}

fn joined(path: &str, name: &str) -> String {
    format!("{path}.{name}")
}
