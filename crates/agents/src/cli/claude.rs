//! Claude Code's own lines, as `claude -p --output-format stream-json --verbose` writes them.

use aurora_model::{Cost, Known, Tokens, Usd};
use serde_json::Value;

use crate::price;

/// What is kept between the lines.
#[derive(Debug, Default)]
pub struct Claude {
    model: Option<String>,
    /// The usage of the answers so far, for a process that ends without a result.
    tokens: Tokens,
    /// The answer that was counted last: each of its parts comes with the same usage.
    counted: Option<String>,
}

/// What one line said.
#[derive(Debug, Default, PartialEq)]
pub struct Said {
    /// Text for people.
    pub said: Vec<String>,
    /// Tools that it calls, with their arguments.
    pub tools: Vec<(String, Value)>,
    /// How it ended.
    pub result: Option<Result<String, String>>,
    /// What it cost in all.
    pub cost: Option<Cost>,
    /// Why that is not believed.
    pub doubt: Option<String>,
}

fn text_of<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// All tokens of a usage: those that were in a cache went to the model too.
fn tokens_of(usage: &Value) -> Tokens {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
    let input = count("input_tokens")
        .saturating_add(count("cache_creation_input_tokens"))
        .saturating_add(count("cache_read_input_tokens"));
    Tokens { input, output: count("output_tokens") }
}

impl Claude {
    /// Understands a line; nothing when it is none of Claude Code's.
    pub fn hear(&mut self, line: &Value) -> Option<Said> {
        match text_of(line, "type")? {
            "assistant" => Some(self.answer(line.get("message")?)),
            "result" => Some(self.result(line)),
            "system" => {
                if let Some(model) = text_of(line, "model") {
                    self.model = Some(model.to_owned());
                }
                Some(Said::default())
            }
            // What its tools answered, partial messages, rate limits: kept in the transcript only.
            _ => Some(Said::default()),
        }
    }

    fn answer(&mut self, message: &Value) -> Said {
        if let Some(usage) = message.get("usage") {
            let id = text_of(message, "id").map(str::to_owned);
            if id.is_none() || id != self.counted {
                let tokens = tokens_of(usage);
                self.tokens.input = self.tokens.input.saturating_add(tokens.input);
                self.tokens.output = self.tokens.output.saturating_add(tokens.output);
                self.counted = id;
            }
        }
        let mut said = Said::default();
        let parts = message.get("content").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            match text_of(part, "type") {
                Some("text") => said.said.extend(text_of(part, "text").map(str::to_owned)),
                Some("tool_use") => {
                    let name = text_of(part, "name").unwrap_or("?").to_owned();
                    said.tools.push((name, part.get("input").cloned().unwrap_or_default()));
                }
                _ => {}
            }
        }
        said
    }

    fn result(&mut self, line: &Value) -> Said {
        let subtype = text_of(line, "subtype").unwrap_or("no subtype");
        // Anything but a clear "no error" counts as one.
        let good =
            line.get("is_error").and_then(Value::as_bool) == Some(false) && subtype == "success";
        let words = match text_of(line, "result") {
            Some(words) => words.to_owned(),
            // A failure must not be told as a success.
            None if !good && subtype == "success" => "gave a result that is none".to_owned(),
            None => subtype.to_owned(),
        };
        let mut doubt = None;
        let cost = line.get("total_cost_usd").and_then(Value::as_f64).map(|dollars| {
            let (usd, known) = match price::believed(dollars) {
                Ok(usd) => (usd, Known::Reported),
                Err(why) => {
                    doubt = Some(why);
                    (Usd::ZERO, Known::Unknown)
                }
            };
            let tokens = line.get("usage").map(tokens_of);
            Cost { usd, known, tokens, model: self.model.clone() }
        });
        let result = Some(if good { Ok(words) } else { Err(words) });
        Said { result, cost, doubt, ..Said::default() }
    }

    /// Adds what is known of a cost that was never told.
    pub fn settle(&self, cost: &mut Cost) {
        if cost.known == Known::Unknown && self.tokens != Tokens::default() {
            cost.tokens = cost.tokens.or(Some(self.tokens));
            if cost.model.is_none() {
                cost.model.clone_from(&self.model);
            }
        }
    }
}
