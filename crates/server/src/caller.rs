//! Who asks, as their token says.

use aurora_engine::people::{Presented, Secret, TokenKind, same};
use aurora_model::{Decider, DeciderKind, Surface};
use axum::http::header::AUTHORIZATION;
use axum::http::{Extensions, HeaderMap};

use crate::problem::Problem;
use crate::router::Peer;
use crate::server::Server;

/// Longer ones are nobody's.
const MAX_TOKEN_BYTES: usize = 256;
/// What the secret of one start is called where tokens have an id.
pub const LOCAL: &str = "local";

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Whose name it is.
    pub name: String,
    /// What it is.
    pub kind: TokenKind,
    /// Their roles.
    pub roles: Vec<String>,
    /// The id of the token.
    pub token: String,
}

impl Caller {
    /// Whoever decides by this.
    #[must_use]
    pub fn decider(&self) -> Decider {
        let kind = match self.kind {
            TokenKind::Person => DeciderKind::Person,
            TokenKind::Agent | TokenKind::Service => DeciderKind::Agent,
        };
        let (name, roles) = (self.name.clone(), self.roles.clone());
        Decider { name, kind, roles, surface: Surface::Http }
    }
}

/// Finds out who asks.
///
/// # Errors
/// When nobody knows them, or the log cannot be read.
pub async fn identify(server: &Server, headers: &HeaderMap) -> Result<Caller, Problem> {
    let text = presented(headers)?;
    if let Some(local) = &server.local
        && same(&local.hash, &Secret::hash_of(text))
    {
        let roles = server.ports.policies.roles_of(local.person.clone()).await?;
        let (name, kind) = (local.person.clone(), TokenKind::Person);
        return Ok(Caller { name, kind, roles, token: LOCAL.to_owned() });
    }
    match server.tokens.check(text, server.now()).await? {
        Presented::Valid(token) => {
            let mut roles = token.roles;
            if token.kind == TokenKind::Person {
                roles.extend(server.ports.policies.roles_of(token.person.clone()).await?);
            }
            roles.sort();
            roles.dedup();
            Ok(Caller { name: token.person, kind: token.kind, roles, token: token.id })
        }
        Presented::Expired => Err(Problem::unauthorized("the token has expired")),
        Presented::Revoked => Err(Problem::unauthorized("the token was revoked")),
        Presented::Unknown => Err(Problem::unauthorized("the token is not known")),
    }
}

/// Whether a person's token is used by what may decide. The secret of this start can be read by
/// everything that runs under the same account, so that it is looked at who uses it.
///
/// # Errors
/// When it may not.
pub async fn may_decide(
    server: &Server,
    caller: &Caller,
    extensions: &Extensions,
) -> Result<(), Problem> {
    let peer = extensions.get::<Peer>().copied();
    if caller.token != LOCAL {
        let near = peer.filter(|peer| peer.from.ip().to_canonical().is_loopback());
        let Some(Peer { from, to }) = near else { return Ok(()) };
        return match server.ports.neighbours.is_agent(from, to).await? {
            true => Err(Problem::forbidden("agents-never-decide", "an agent can never decide")),
            false => Ok(()),
        };
    }
    let Some(Peer { from, to }) = peer else {
        return Err(Problem::forbidden("unknown-process", "nobody can tell which process asks"));
    };
    let told = server.ports.neighbours.may_decide(from, to).await?;
    told.map_err(|why| Problem::forbidden("agents-never-decide", why))
}

/// The token that came with a request.
fn presented(headers: &HeaderMap) -> Result<&str, Problem> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (first, second) = (all.next(), all.next());
    let missing = || {
        Problem::unauthorized("a token is needed: `Authorization: Bearer aur_…`").with(
            "hint",
            "`aur token create --person NAME` makes one; `aur serve` says where its own is",
        )
    };
    let text = first.and_then(|value| value.to_str().ok()).ok_or_else(missing)?;
    let (scheme, token) = text.split_once(' ').ok_or_else(missing)?;
    let token = token.trim();
    let sound = scheme.eq_ignore_ascii_case("bearer") && second.is_none();
    if !sound || token.is_empty() || token.len() > MAX_TOKEN_BYTES {
        return Err(missing());
    }
    Ok(token)
}
