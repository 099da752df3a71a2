//! Reads the `notify` section and says what is wrong with it, and where.

use std::collections::BTreeSet;

use aurora_model::{Tier, Who, id::is_name};

use super::{Channel, ChannelKind, Mail, Moment, SecretPlace, address};
use crate::settings::{MAX_ITEMS, Node, Pair, Problems, Shape};

/// What every channel can say.
const KEYS: [&str; 12] = [
    "name",
    "kind",
    "on",
    "min_tier",
    "only_for",
    "to",
    "secret_env",
    "secret_file",
    "link",
    "server",
    "from",
    "user",
];
/// What the name of a variable with a secret begins with.
const VARIABLES: &str = "AURORA_";
/// A list is no longer than this.
const MAX_CHANNELS: usize = 32;

/// Reads the section; what is wrong is noted, and such a channel is left out.
pub fn read(node: &Node, problems: &mut Problems) -> Vec<Channel> {
    let Shape::List(nodes) = &node.shape else {
        problems.mistyped(node, "notify", "a list of channels");
        return Vec::new();
    };
    if nodes.len() > MAX_CHANNELS {
        problems.add(node.at, "notify", format!("a list of more than {MAX_CHANNELS} channels"));
        return Vec::new();
    }
    let mut names = BTreeSet::new();
    let mut channels = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let path = format!("notify.{}", index + 1);
        let Some(channel) = channel(node, &path, problems) else { continue };
        if names.insert(channel.name.clone()) {
            channels.push(channel);
        } else {
            let message = format!("there is a channel `{}` already", channel.name);
            problems.add(node.at, &path, message);
        }
    }
    channels
}

/// The keys of one channel.
struct Keys<'n> {
    node: &'n Node,
    pairs: &'n [Pair],
    path: &'n str,
}

impl<'n> Keys<'n> {
    fn get(&self, name: &str) -> Option<(&'n Node, String)> {
        let pair = self.pairs.iter().find(|pair| pair.name == name)?;
        Some((&pair.value, format!("{}.{name}", self.path)))
    }

    fn texts(&self, name: &str, problems: &mut Problems) -> Vec<(String, &'n Node)> {
        let Some((node, key)) = self.get(name) else { return Vec::new() };
        let nodes = problems.one_or_more(node, &key).unwrap_or_default();
        let texts = nodes.iter().take(MAX_ITEMS);
        texts.filter_map(|node| Some((problems.text(node, &key)?, node))).collect()
    }

    fn text(&self, name: &str, problems: &mut Problems) -> Option<String> {
        let (node, key) = self.get(name)?;
        problems.text(node, &key)
    }
}

fn channel(node: &Node, path: &str, problems: &mut Problems) -> Option<Channel> {
    let Shape::Map(pairs) = &node.shape else {
        problems.mistyped(node, path, "a channel with `kind` and what it needs");
        return None;
    };
    for pair in pairs.iter().filter(|pair| !KEYS.contains(&pair.name.as_str())) {
        let key = format!("{path}.{}", pair.name);
        if matches!(pair.name.as_str(), "secret" | "token" | "password") {
            let hint = "put it into a variable and name that: `secret_env: AURORA_…`";
            problems.add_with_hint(pair.at, &key, "a secret does not belong into this file", hint);
        } else {
            problems.unknown_key(pair, &key, &KEYS);
        }
    }
    let keys = Keys { node, pairs, path };
    let Some((kind_at, key)) = keys.get("kind") else {
        let kinds: Vec<&str> = ChannelKind::ALL.iter().map(|kind| kind.name()).collect();
        problems.add(node.at, path, format!("has no `kind`: one of {}", kinds.join(", ")));
        return None;
    };
    let kinds = ChannelKind::ALL.map(ChannelKind::name);
    let kind = ChannelKind::from_name(&problems.choice(kind_at, &key, &kinds)?)?;
    let channel = Channel {
        name: name(&keys, kind, problems)?,
        kind,
        on: moments(&keys, problems),
        min_tier: tier(&keys, problems),
        only_for: only_for(&keys, problems),
        to: Vec::new(),
        secrets: secrets(&keys, problems),
        link: link(&keys, problems),
        mail: None,
    };
    misplaced(&keys, kind, problems);
    whereto(channel, &keys, problems)
}

fn name(keys: &Keys<'_>, kind: ChannelKind, problems: &mut Problems) -> Option<String> {
    let Some((node, key)) = keys.get("name") else { return Some(kind.name().to_owned()) };
    let name = problems.text(node, &key)?;
    if !is_name(&name) || name.len() > 60 {
        problems.add(node.at, &key, "letters, digits, `.`, `_` and `-` make a name");
        return None;
    }
    Some(name)
}

fn moments(keys: &Keys<'_>, problems: &mut Problems) -> Vec<Moment> {
    let Some((node, key)) = keys.get("on") else { return Moment::USUAL.to_vec() };
    let words = Moment::ALL.map(Moment::name);
    let nodes = problems.one_or_more(node, &key).unwrap_or_default();
    let chosen = nodes.iter().filter_map(|node| {
        let word = problems.choice(node, &key, &words)?;
        Moment::from_name(&word)
    });
    let chosen: BTreeSet<Moment> = chosen.collect();
    chosen.into_iter().collect()
}

fn tier(keys: &Keys<'_>, problems: &mut Problems) -> Tier {
    let words = Tier::ALL.map(Tier::name);
    let chosen = keys.get("min_tier").and_then(|(node, key)| problems.choice(node, &key, &words));
    chosen.and_then(|word| Tier::from_name(&word)).unwrap_or(Tier::Low)
}

fn only_for(keys: &Keys<'_>, problems: &mut Problems) -> Vec<Who> {
    let texts = keys.texts("only_for", problems);
    let mut found = Vec::new();
    for (text, node) in texts {
        match Who::parse(&text) {
            Some(who) => found.push(who),
            None => {
                let key = format!("{}.only_for", keys.path);
                let hint = "a person is `ana`, everybody with a role is `role:lead`";
                problems.add_with_hint(node.at, &key, format!("`{text}` is nobody"), hint);
            }
        }
    }
    found
}

fn secrets(keys: &Keys<'_>, problems: &mut Problems) -> Vec<SecretPlace> {
    let mut found = Vec::new();
    let key = format!("{}.secret_env", keys.path);
    for (name, node) in keys.texts("secret_env", problems) {
        let letter = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        if name.starts_with(VARIABLES) && name.chars().all(letter) {
            found.push(SecretPlace::Variable(name));
        } else {
            // What stands there may be the secret itself, so it is not repeated.
            let message = format!("the name of a variable that begins with {VARIABLES}");
            problems.add(node.at, &key, format!("must be {message}"));
        }
    }
    let key = format!("{}.secret_file", keys.path);
    for (name, node) in keys.texts("secret_file", problems) {
        if is_name(&name) {
            found.push(SecretPlace::File(name));
        } else {
            let message = "must be the name of a file in ~/.aurora/secrets, without a folder";
            problems.add(node.at, &key, message);
        }
    }
    found
}

fn link(keys: &Keys<'_>, problems: &mut Problems) -> Option<String> {
    let (node, key) = keys.get("link")?;
    let text = problems.text(node, &key)?;
    match address::web(&text) {
        Ok(web) if !web.path.contains('?') => Some(text.trim_end_matches('/').to_owned()),
        Ok(_) => {
            problems.add(node.at, &key, "must not have a `?`: a link decides nothing");
            None
        }
        Err(why) => {
            problems.add(node.at, &key, why);
            None
        }
    }
}

/// Notes what a channel of this kind does not have.
fn misplaced(keys: &Keys<'_>, kind: ChannelKind, problems: &mut Problems) {
    let alone = matches!(kind, ChannelKind::Terminal | ChannelKind::Desktop);
    for pair in keys.pairs {
        let fits = match pair.name.as_str() {
            "server" | "from" | "user" => kind == ChannelKind::Email,
            "to" | "secret_env" | "secret_file" => !alone,
            _ => true,
        };
        if !fits {
            let message = format!("a channel of kind {} has no `{}`", kind.name(), pair.name);
            problems.add(pair.at, &format!("{}.{}", keys.path, pair.name), message);
        }
    }
}

/// Where it goes, which each kind says in its own way.
fn whereto(mut channel: Channel, keys: &Keys<'_>, problems: &mut Problems) -> Option<Channel> {
    let to = keys.texts("to", problems);
    let missing = |what: &str, problems: &mut Problems| {
        let message = format!("a channel of kind {} needs {what}", channel.kind.name());
        problems.add(keys.node.at, keys.path, message);
        None
    };
    match channel.kind {
        ChannelKind::Terminal | ChannelKind::Desktop => return Some(channel),
        ChannelKind::Email => return mail(channel, to, keys, problems),
        ChannelKind::Webhook if channel.secrets.is_empty() => {
            return missing("`secret_env` or `secret_file`: what it says is signed", problems);
        }
        ChannelKind::Slack if to.is_empty() && channel.secrets.len() == 1 => return Some(channel),
        ChannelKind::Slack if !channel.secrets.is_empty() => {
            return missing("either `to` or one secret, which is its address", problems);
        }
        ChannelKind::Slack if to.is_empty() => {
            return missing("`secret_env`: whoever knows its address can write there", problems);
        }
        ChannelKind::Ntfy if channel.secrets.len() > 1 => {
            return missing("one secret at most, which is its token", problems);
        }
        ChannelKind::Webhook | ChannelKind::Slack | ChannelKind::Ntfy => {}
    }
    let [(text, node)] = to.as_slice() else { return missing("one `to`: its address", problems) };
    let key = format!("{}.to", keys.path);
    match web_address(&channel, text) {
        Ok(()) => {
            channel.to = vec![text.clone()];
            Some(channel)
        }
        Err(why) => {
            problems.add(node.at, &key, why);
            None
        }
    }
}

fn web_address(channel: &Channel, text: &str) -> Result<(), &'static str> {
    let web = address::web(text)?;
    match channel.kind {
        ChannelKind::Slack if web.host.ends_with("hooks.slack.com") => {
            Err("is a secret and does not belong into this file: use `secret_env`")
        }
        ChannelKind::Ntfy => {
            let topic = web.path.strip_prefix('/').unwrap_or_default();
            let topic = topic.rsplit_once('/').map_or(topic, |(_, topic)| topic);
            let letter = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            if topic.is_empty() || topic.len() > 64 || !topic.chars().all(letter) {
                return Err("must end with a topic: https://ntfy.example.org/aurora");
            }
            let open = web.is_encrypted || address::is_here(web.host);
            if channel.secrets.is_empty() || open {
                Ok(())
            } else {
                Err("must begin with https://, so that nobody reads the token")
            }
        }
        _ => Ok(()),
    }
}

fn mail(
    mut channel: Channel,
    to: Vec<(String, &Node)>,
    keys: &Keys<'_>,
    problems: &mut Problems,
) -> Option<Channel> {
    let (server, from) = (keys.text("server", problems), keys.text("from", problems));
    let (Some(server), Some(from)) = (server, from) else {
        let message = "a channel of kind email needs `server`, `from` and `to`";
        problems.add(keys.node.at, keys.path, message);
        return None;
    };
    let mut wrong = false;
    let at = |name: &str| keys.get(name).map_or(keys.node.at, |(node, _)| node.at);
    let addresses = to.iter().map(|(text, node)| (text, node.at, "to"));
    for (text, place, key) in addresses.chain([(&from, at("from"), "from")]) {
        if !address::is_mail(text) {
            let key = format!("{}.{key}", keys.path);
            problems.add(place, &key, format!("`{text}` is no address of mail"));
            wrong = true;
        }
    }
    if to.is_empty() {
        problems.add(keys.node.at, keys.path, "a channel of kind email needs `to`");
        wrong = true;
    }
    let user = keys.text("user", problems);
    if user.is_some() != (channel.secrets.len() == 1) {
        let message = "`user` and one secret, its password, go together";
        problems.add(keys.node.at, keys.path, message);
        wrong = true;
    }
    let server = address::server(&server);
    if let Err(why) = &server {
        problems.add(at("server"), &format!("{}.server", keys.path), *why);
    }
    let (host, port, tls) = server.ok()?;
    channel.to = to.into_iter().map(|(text, _)| text).collect();
    channel.mail = Some(Mail { host, port, tls, from, user });
    (!wrong).then_some(channel)
}
