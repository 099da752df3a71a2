//! Where a model is asked: addresses as people write them, made into those that the client wants.

use reqwest::Url;

use crate::profile::ModelProvider;

/// Where a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// What the client puts its paths behind; it ends with a slash.
    pub endpoint: String,
    /// Scheme, host and port, for people.
    pub origin: String,
}

impl Address {
    /// The address of a provider, or another one that speaks its API.
    pub fn of(provider: ModelProvider, base_url: Option<&str>) -> Result<Self, String> {
        let written = base_url.unwrap_or(own(provider)).trim();
        let refused = |why: &str| format!("base_url `{written}` {why}");
        let mut url = Url::parse(written).map_err(|error| refused(&format!("is none: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(refused("must begin with http:// or https:// and a host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            // It is not repeated, since it holds a secret.
            return Err("base_url must not hold a name or password".to_owned());
        }
        let path = path(provider, url.path());
        url.set_path(&path);
        url.set_fragment(None);
        if provider != ModelProvider::OpenAi {
            url.set_query(None);
        }
        let origin = url.origin().ascii_serialization();
        Ok(Self { endpoint: url.into(), origin })
    }

    /// Whether what is sent there is not encrypted.
    pub fn is_plain(&self) -> bool {
        self.origin.starts_with("http://")
    }
}

/// A provider's own address.
const fn own(provider: ModelProvider) -> &'static str {
    match provider {
        ModelProvider::Anthropic => "https://api.anthropic.com",
        ModelProvider::OpenAi => "https://api.openai.com",
        ModelProvider::Gemini => "https://generativelanguage.googleapis.com",
        ModelProvider::Ollama => "http://127.0.0.1:11434",
    }
}

/// The path below which the API is. People leave out the version, or write the whole path.
fn path(provider: ModelProvider, written: &str) -> String {
    let (version, whole) = match provider {
        ModelProvider::Anthropic => ("/v1", "/messages"),
        ModelProvider::OpenAi => ("/v1", "/chat/completions"),
        ModelProvider::Gemini => ("/v1beta", "/models"),
        ModelProvider::Ollama => ("", "/api/chat"),
    };
    let path = written.trim_end_matches('/');
    let path = path.strip_suffix(whole).unwrap_or(path);
    let path = match provider {
        // Ollama's own API is beside the one with which it is like OpenAI's.
        ModelProvider::Ollama => {
            path.strip_suffix("/v1").or_else(|| path.strip_suffix("/api")).unwrap_or(path)
        }
        _ if path.is_empty() => version,
        _ => path,
    };
    format!("{path}/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_people_write_them_lead_to_the_api() {
        use ModelProvider::{Anthropic, Gemini, Ollama, OpenAi};
        let check = |provider, written: Option<&str>, expected: &str| {
            let address = Address::of(provider, written).unwrap();
            assert_eq!(address.endpoint, expected, "{written:?}");
        };
        check(Anthropic, None, "https://api.anthropic.com/v1/");
        check(Anthropic, Some("http://127.0.0.1:8080"), "http://127.0.0.1:8080/v1/");
        check(Anthropic, Some("http://h/proxy/v1/messages"), "http://h/proxy/v1/");
        check(OpenAi, None, "https://api.openai.com/v1/");
        check(OpenAi, Some("https://h/api/v1"), "https://h/api/v1/");
        check(OpenAi, Some(" https://h/v1/chat/completions "), "https://h/v1/");
        check(OpenAi, Some("https://h/x?api-version=1"), "https://h/x/?api-version=1");
        check(Gemini, None, "https://generativelanguage.googleapis.com/v1beta/");
        check(Ollama, None, "http://127.0.0.1:11434/");
        check(Ollama, Some("http://h:11434/v1/"), "http://h:11434/");
        check(Ollama, Some("http://h/ollama/api"), "http://h/ollama/");
    }

    #[test]
    fn what_is_no_address_is_refused_and_a_password_is_not_repeated() {
        for written in ["", "localhost:8080", "file:///etc/passwd", "http://", "ftp://h/"] {
            assert!(Address::of(ModelProvider::OpenAi, Some(written)).is_err(), "{written}");
        }
        let error = Address::of(ModelProvider::OpenAi, Some("http://me:secret@h/")).unwrap_err();
        assert!(!error.contains("secret"), "{error}");
    }
}
