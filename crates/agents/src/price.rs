//! What tokens cost: a small dated table of models, and costs made of counted or guessed tokens.

use aurora_model::{Cost, Known, Tokens, Usd};

use crate::profile::{ModelProfile, ModelProvider, Price};

/// When the prices of the table were looked up; what came later is not in it.
pub const PRICED_ON: &str = "2025-11";

/// Provider, name, US dollars per million tokens to the model and from it. A name stands for itself
/// and for its dated versions, never for a longer name: a wrong price is worse than none.
static TABLE: &[(ModelProvider, &str, f64, f64)] = &[
    (ModelProvider::Anthropic, "claude-opus-4-5", 5.0, 25.0),
    (ModelProvider::Anthropic, "claude-opus-4-1", 15.0, 75.0),
    (ModelProvider::Anthropic, "claude-opus-4", 15.0, 75.0),
    (ModelProvider::Anthropic, "claude-opus-4-0", 15.0, 75.0),
    (ModelProvider::Anthropic, "claude-sonnet-4-5", 3.0, 15.0),
    (ModelProvider::Anthropic, "claude-sonnet-4", 3.0, 15.0),
    (ModelProvider::Anthropic, "claude-sonnet-4-0", 3.0, 15.0),
    (ModelProvider::Anthropic, "claude-haiku-4-5", 1.0, 5.0),
    (ModelProvider::Anthropic, "claude-3-7-sonnet", 3.0, 15.0),
    (ModelProvider::Anthropic, "claude-3-5-sonnet", 3.0, 15.0),
    (ModelProvider::Anthropic, "claude-3-5-haiku", 0.8, 4.0),
    (ModelProvider::Anthropic, "claude-3-haiku", 0.25, 1.25),
    (ModelProvider::OpenAi, "gpt-5.1", 1.25, 10.0),
    (ModelProvider::OpenAi, "gpt-5", 1.25, 10.0),
    (ModelProvider::OpenAi, "gpt-5-mini", 0.25, 2.0),
    (ModelProvider::OpenAi, "gpt-5-nano", 0.05, 0.4),
    (ModelProvider::OpenAi, "gpt-4.1", 2.0, 8.0),
    (ModelProvider::OpenAi, "gpt-4.1-mini", 0.4, 1.6),
    (ModelProvider::OpenAi, "gpt-4.1-nano", 0.1, 0.4),
    (ModelProvider::OpenAi, "gpt-4o", 2.5, 10.0),
    (ModelProvider::OpenAi, "gpt-4o-mini", 0.15, 0.6),
    (ModelProvider::OpenAi, "o3", 2.0, 8.0),
    (ModelProvider::OpenAi, "o3-mini", 1.1, 4.4),
    (ModelProvider::OpenAi, "o4-mini", 1.1, 4.4),
    (ModelProvider::Gemini, "gemini-2.5-pro", 1.25, 10.0),
    (ModelProvider::Gemini, "gemini-2.5-flash", 0.3, 2.5),
    (ModelProvider::Gemini, "gemini-2.5-flash-lite", 0.1, 0.4),
    (ModelProvider::Gemini, "gemini-2.0-flash", 0.1, 0.4),
    (ModelProvider::Gemini, "gemini-2.0-flash-lite", 0.075, 0.3),
];

/// What one call may be said to have cost, in US dollars: more is a mistake or a lie, and would use up
/// a month's budget at once.
const MOST_BELIEVED: f64 = 10_000.0;

/// An amount of US dollars that somebody says a call cost, or why it is not believed.
///
/// # Errors
/// When it is negative, no number, or more than any call costs.
pub fn believed(dollars: f64) -> Result<Usd, String> {
    if (0.0..=MOST_BELIEVED).contains(&dollars) {
        return Ok(Usd::from_dollars(dollars));
    }
    let amount = match dollars.abs() < 1e9 {
        true => format!("{dollars}"),
        false => format!("{dollars:e}"),
    };
    Err(format!("said that it cost {amount} dollars, which is not believed"))
}

/// The same for what several amounts add up to.
///
/// # Errors
/// When it is more than any call costs.
pub fn believed_sum(sum: Usd) -> Result<Usd, String> {
    match sum > Usd::from_dollars(MOST_BELIEVED) {
        true => Err(format!("said that it cost {sum} in all, which is not believed")),
        false => Ok(sum),
    }
}

/// What a model costs: as the settings say, else as the table says, else nobody knows.
#[must_use]
pub fn of(profile: &ModelProfile) -> Option<Price> {
    profile.price.or_else(|| built_in(profile.provider, &profile.name))
}

/// The price of a model by the built-in table. A model on one's own machine costs nothing.
#[must_use]
pub fn built_in(provider: ModelProvider, name: &str) -> Option<Price> {
    if provider == ModelProvider::Ollama {
        // Names that end so are run by Ollama's own cloud, for money.
        let elsewhere = name.ends_with("-cloud") || name.ends_with(":cloud");
        return (!elsewhere).then_some(Price { input_usd_per_mtok: 0.0, output_usd_per_mtok: 0.0 });
    }
    TABLE.iter().find(|(of, listed, ..)| *of == provider && is_version(name, listed)).map(
        |&(_, _, input_usd_per_mtok, output_usd_per_mtok)| Price {
            input_usd_per_mtok,
            output_usd_per_mtok,
        },
    )
}

/// Whether a name is a listed one, or a dated version of it such as `gpt-4o-2024-08-06`.
fn is_version(name: &str, listed: &str) -> bool {
    let Some(rest) = name.strip_prefix(listed) else { return false };
    let Some(version) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    let digits = version.bytes().take_while(u8::is_ascii_digit).count();
    version == "latest" || digits >= 3
}

/// What counted tokens cost: known when the price is, else only the tokens are. A count that makes
/// more of it than any call costs is not believed, and the amount is unknown.
#[must_use]
pub fn counted(model: &str, price: Option<Price>, tokens: Tokens) -> Cost {
    let cost = cost(model, price, tokens, Known::Reported);
    match believed_sum(cost.usd) {
        Ok(_) => cost,
        Err(_) => Cost { usd: Usd::ZERO, known: Known::Unknown, ..cost },
    }
}

/// Says so when the tokens that a provider counted were not believed.
#[must_use]
pub fn doubt(price: Option<Price>, cost: &Cost) -> Option<String> {
    let (Known::Unknown, Some(price), Some(tokens)) = (cost.known, price, cost.tokens) else {
        return None;
    };
    believed_sum(amount(price, tokens)).err()
}

/// What guessed tokens would cost: an estimate when the price is known, else only the tokens are.
#[must_use]
pub fn guessed(model: &str, price: Option<Price>, tokens: Tokens) -> Cost {
    cost(model, price, tokens, Known::Estimated)
}

fn cost(model: &str, price: Option<Price>, tokens: Tokens, known: Known) -> Cost {
    Cost {
        usd: price.map_or(Usd::ZERO, |price| amount(price, tokens)),
        known: if price.is_some() { known } else { Known::Unknown },
        tokens: Some(tokens),
        model: Some(model.to_owned()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody uses so many tokens in one call")]
fn amount(price: Price, tokens: Tokens) -> Usd {
    let input = tokens.input as f64 * price.input_usd_per_mtok;
    let output = tokens.output as f64 * price.output_usd_per_mtok;
    Usd::from_dollars((input + output) / 1e6)
}

/// How many tokens a text has, roughly, and rather too many: it is used to reserve money.
#[must_use]
pub fn guess_tokens(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX).div_ceil(3)
}

/// Two costs as one, known as well as the worse of them.
#[must_use]
pub fn sum(one: &Cost, other: &Cost) -> Cost {
    let known = match (one.known, other.known) {
        (Known::Unknown, _) | (_, Known::Unknown) => Known::Unknown,
        (Known::Estimated, _) | (_, Known::Estimated) => Known::Estimated,
        (Known::Reported, Known::Reported) => Known::Reported,
    };
    let tokens = match (one.tokens, other.tokens) {
        (Some(one), Some(other)) => Some(Tokens {
            input: one.input.saturating_add(other.input),
            output: one.output.saturating_add(other.output),
        }),
        (tokens, None) | (None, tokens) => tokens,
    };
    let model = other.model.clone().or_else(|| one.model.clone());
    Cost { usd: one.usd.plus(other.usd), known, tokens, model }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agt_6_an_absurd_amount_is_not_believed() {
        for dollars in [-0.01, f64::NAN, f64::INFINITY, 10_000.01, 1e308] {
            let doubt = believed(dollars).unwrap_err();
            assert!(doubt.ends_with("which is not believed") && doubt.len() < 80, "{doubt}");
        }
        for dollars in [0.0, 0.004, 10_000.0] {
            assert_eq!(believed(dollars), Ok(Usd::from_dollars(dollars)));
        }
        let price = Some(Price { input_usd_per_mtok: 10.0, output_usd_per_mtok: 75.0 });
        let tokens = Tokens { input: 1, output: 2_147_483_647 };
        let cost = counted("m", price, tokens);
        assert_eq!((cost.usd, cost.known), (Usd::ZERO, Known::Unknown));
        assert!(doubt(price, &cost).is_some());
        assert!(doubt(price, &counted("m", price, Tokens::default())).is_none());
        assert!(doubt(None, &counted("m", None, tokens)).is_none());
    }

    #[test]
    fn agt_6_a_listed_name_stands_for_its_dated_versions_and_not_for_longer_names() {
        use ModelProvider::{Anthropic, Gemini, Ollama, OpenAi};
        let check = |provider, name: &str, expected: Option<f64>| {
            let output = built_in(provider, name).map(|price| price.output_usd_per_mtok);
            assert_eq!(output, expected, "{name}");
        };
        check(Anthropic, "claude-sonnet-4-5", Some(15.0));
        check(Anthropic, "claude-sonnet-4-5-20250929", Some(15.0));
        check(Anthropic, "claude-sonnet-4-20250514", Some(15.0));
        check(Anthropic, "claude-3-5-haiku-latest", Some(4.0));
        check(Anthropic, "claude-opus-4-9", None);
        check(Anthropic, "claude-opus-5", None);
        check(OpenAi, "gpt-4o-2024-08-06", Some(10.0));
        check(OpenAi, "gpt-4o-mini", Some(0.6));
        check(OpenAi, "gpt-4o-audio-preview", None);
        check(OpenAi, "claude-sonnet-4-5", None);
        check(Gemini, "gemini-2.0-flash-001", Some(0.4));
        check(Gemini, "gemini-2.5-flash-lite", Some(0.4));
        check(Gemini, "gemini-2.5-flash-image", None);
        check(Ollama, "anything:7b", Some(0.0));
        check(Ollama, "anything:480b-cloud", None);
    }

    #[test]
    fn agt_6_counted_tokens_and_a_price_make_a_cost_and_without_a_price_tokens_stay() {
        let tokens = Tokens { input: 1_000_000, output: 100_000 };
        let price = built_in(ModelProvider::Anthropic, "claude-sonnet-4-5");
        let known = counted("m", price, tokens);
        assert_eq!((known.usd.to_string().as_str(), known.known), ("$4.50", Known::Reported));
        let unknown = counted("m", None, tokens);
        assert_eq!((unknown.usd, unknown.known), (Usd::ZERO, Known::Unknown));
        assert_eq!(unknown.tokens, Some(tokens));
        assert_eq!(guessed("m", price, tokens).known, Known::Estimated);
    }

    #[test]
    fn a_sum_is_known_as_well_as_its_worse_part() {
        let tokens = Tokens { input: 10, output: 20 };
        let free = Price { input_usd_per_mtok: 0.0, output_usd_per_mtok: 0.0 };
        let counted = counted("m", Some(free), tokens);
        assert_eq!(sum(&counted, &counted).known, Known::Reported);
        assert_eq!(sum(&counted, &guessed("m", Some(free), tokens)).known, Known::Estimated);
        let both = sum(&counted, &Cost::default());
        assert_eq!((both.known, both.tokens), (Known::Unknown, Some(tokens)));
    }
}
