//! Models that are asked directly, by the API of whoever offers them.

mod address;
mod agent;
mod call;
pub(crate) mod clean;
mod converse;
mod fault;
mod lines;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::Duration;

use aurora_model::{Cost, Tokens};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::price;
use crate::profile::ModelProfile;
use address::Address;
use call::Shape;
use fault::Fault;

pub use agent::ModelAgent;
pub use lines::Lines;

/// How often a call that failed before anything came is made again.
const MAX_RETRIES: u32 = 2;

/// How long it waits before the first time; four times as long before the next.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// A provider that wants more patience than this is not waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// How long reaching the provider's machine may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What a model is asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Who it is to be, and the rules of the answer.
    pub system: Option<String>,
    /// The question.
    pub prompt: String,
    /// The JSON Schema that the answer must follow, where it must.
    pub schema: Option<Value>,
    /// How many tokens the answer may have, in place of the profile's.
    pub max_output_tokens: Option<u32>,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The text.
    pub text: String,
    /// What it cost.
    pub cost: Cost,
    /// Why it ended.
    pub stop: Stop,
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It was complete.
    Finished,
    /// It had as many tokens, or as many bytes, as it may have.
    Length,
    /// The provider held it back.
    Filtered,
    /// Something else, in the provider's word.
    Other(String),
}

/// Whoever completes a request: a model, or an agent that is asked like one.
pub trait Completer: Send + Sync {
    /// Answers a request. Dropping the future ends it.
    fn complete<'a>(
        &'a self,
        request: &'a Request,
    ) -> Pin<Box<dyn Future<Output = Result<Completion>> + Send + 'a>>;
}

/// A model at its provider, with the key that the caller found. The environment is never read.
pub struct Model {
    profile: ModelProfile,
    key: Option<String>,
    address: Address,
    /// Made on first use: it loads the certificates of the machine.
    client: OnceLock<genai::Client>,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key is left out.
        f.debug_struct("Model").field("profile", &self.profile).finish_non_exhaustive()
    }
}

impl Model {
    /// A model by its profile. The key is what the caller found in `api_key_env`; that one is
    /// missing is said when the model is asked, so that settings can be listed without it.
    ///
    /// # Errors
    /// When the address cannot be one.
    pub fn new(profile: ModelProfile, key: Option<String>) -> Result<Self> {
        let address = Address::of(profile.provider, profile.base_url.as_deref())
            .map_err(|what| Error::Settings { what: format!("model {}: {what}", profile.name) })?;
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        Ok(Self { profile, key, address, client: OnceLock::new() })
    }

    /// The model's profile.
    #[must_use]
    pub fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    /// Whether it can be asked as far as that can be told without asking.
    ///
    /// # Errors
    /// When it needs a key and has none, or one that cannot be sent.
    pub fn ready(&self) -> Result<()> {
        let name = &self.profile.name;
        let variable = self.profile.api_key_env.as_deref();
        let what = match (&self.key, variable) {
            (None, Some(variable)) => format!(
                "model {name} needs a key: set the variable {variable}, or name another one as \
                 api_key_env in the settings"
            ),
            (Some(key), _) if !key.bytes().all(|byte| byte.is_ascii_graphic()) => format!(
                "the key of model {name} in {} has characters that no key has: set it again",
                variable.unwrap_or("its variable")
            ),
            _ => return Ok(()),
        };
        Err(Error::Settings { what })
    }

    /// What a request would cost, at most as far as its answer is concerned.
    #[must_use]
    pub fn estimate(&self, request: &Request) -> Cost {
        let tokens = Tokens {
            input: guess_input(request),
            output: u64::from(self.max_output_tokens(request)),
        };
        price::guessed(&self.profile.name, price::of(&self.profile), tokens)
    }

    /// Asks the model and waits for the whole answer.
    ///
    /// # Errors
    /// When the key is missing, or the model could not be asked or broke off.
    pub async fn complete(&self, request: &Request) -> Result<Completion> {
        self.stream(request, &mut |_| {}).await
    }

    /// Asks the model and hands on the pieces of its text as they come.
    ///
    /// # Errors
    /// When the key is missing, or the model could not be asked or broke off.
    pub async fn stream(
        &self,
        request: &Request,
        hear: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Completion> {
        self.ready()?;
        self.ask(request, hear).await.map_err(|fault| Error::Model {
            model: self.profile.name.clone(),
            why: fault.why,
            transient: fault.transient,
        })
    }

    /// Asks, and asks again where that may help and nothing was heard yet.
    async fn ask(
        &self,
        request: &Request,
        hear: &mut (dyn FnMut(&str) + Send),
    ) -> std::result::Result<Completion, Fault> {
        let mut shape = Shape::for_request(self.profile.provider, request);
        let mut patience = Patience::default();
        loop {
            let fault = match self.call(request, shape, hear).await {
                Ok(completion) => return Ok(completion),
                Err(fault) => fault,
            };
            if shape == Shape::Schema && fault.rejects_schema() {
                // Not every server that speaks an API constrains answers: words must do then.
                shape = Shape::Words;
                continue;
            }
            if !patience.waited(&fault).await {
                return Err(fault);
            }
        }
    }

    fn max_output_tokens(&self, request: &Request) -> u32 {
        request.max_output_tokens.unwrap_or(self.profile.max_output_tokens)
    }

    fn client(&self) -> std::result::Result<&genai::Client, Fault> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // No proxy of the environment, and no redirect that would carry the key elsewhere.
        let mut web = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .tcp_nodelay(true)
            .connect_timeout(CONNECT_TIMEOUT);
        if self.address.is_plain() {
            // Nothing is encrypted, so no certificates are needed: there may be none.
            web = web.tls_certs_only([]);
        }
        let web = web.build().map_err(|error| Fault::ours(self, &fault::root_cause(&error)))?;
        let client = genai::Client::builder()
            .with_reqwest(web)
            .build()
            .map_err(|error| Fault::ours(self, &error.to_string()))?;
        Ok(self.client.get_or_init(|| client))
    }
}

impl Completer for Model {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
    ) -> Pin<Box<dyn Future<Output = Result<Completion>> + Send + 'a>> {
        Box::pin(self.complete(request))
    }
}

/// How often a call was made again, and how long it waits before the next time.
struct Patience {
    retries: u32,
    wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { retries: 0, wait: FIRST_WAIT }
    }
}

impl Patience {
    /// Waits before a call is made again; false when it is not to be.
    async fn waited(&mut self, fault: &Fault) -> bool {
        let wait = fault.wait.unwrap_or(self.wait);
        if !fault.may_go_away() || self.retries == MAX_RETRIES || wait > LONGEST_WAIT {
            return false;
        }
        tokio::time::sleep(wait).await;
        self.retries += 1;
        self.wait *= 4;
        true
    }
}

/// How many tokens go to the model, roughly.
fn guess_input(request: &Request) -> u64 {
    let system = request.system.as_deref().map_or(0, price::guess_tokens);
    let schema =
        request.schema.as_ref().map_or(0, |schema| price::guess_tokens(&schema.to_string()));
    system.saturating_add(schema).saturating_add(price::guess_tokens(&request.prompt))
}
