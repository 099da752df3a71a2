//! Addresses as they stand in the settings: of the web, of mail and of a mail server.

use super::MailTls;

/// The parts of an address of the web that matter here.
pub(super) struct Web<'a> {
    pub host: &'a str,
    pub is_encrypted: bool,
    pub path: &'a str,
}

/// Reads an address of the web, or says what is wrong with it. It is not repeated, since it may hold
/// a secret.
pub(super) fn web(text: &str) -> Result<Web<'_>, &'static str> {
    let (is_encrypted, rest) = if let Some(rest) = text.strip_prefix("https://") {
        (true, rest)
    } else if let Some(rest) = text.strip_prefix("http://") {
        (false, rest)
    } else {
        return Err("must begin with https:// or http://");
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err("must not hold a name or password");
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) || path.contains('#') {
        return Err("is no address");
    }
    let host = host_of(authority).ok_or("has no host")?;
    Ok(Web { host, is_encrypted, path })
}

/// The host, without its port.
fn host_of(authority: &str) -> Option<&str> {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0,
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    (!host.is_empty()).then_some(host)
}

/// Whether a host is this machine by its name.
pub(super) fn is_here(host: &str) -> bool {
    let parts: Vec<&str> = host.split('.').collect();
    let is_number = |part: &&str| part.parse::<u8>().is_ok();
    let of_loopback = matches!(parts.as_slice(), ["127", _, _, _]) && parts.iter().all(is_number);
    host.eq_ignore_ascii_case("localhost") || host == "::1" || of_loopback
}

/// Whether a text can be an address of mail.
pub(super) fn is_mail(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    let sound = |c: char| !c.is_control() && !c.is_whitespace() && !"<>()[],;:\\\"".contains(c);
    !name.is_empty() && !host.is_empty() && text.len() <= 254 && text.chars().all(sound)
}

/// A mail server: `smtps://host[:port]` or `smtp://host[:port]`.
pub(super) fn server(text: &str) -> Result<(String, u16, MailTls), &'static str> {
    let (implicit_tls, rest, usual) = if let Some(rest) = text.strip_prefix("smtps://") {
        (true, rest, 465)
    } else if let Some(rest) = text.strip_prefix("smtp://") {
        (false, rest, 587)
    } else {
        return Err("must begin with smtps:// or smtp://");
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.contains('@') {
        return Err("must not hold a name or password");
    }
    let host = host_of(rest).ok_or("has no host")?;
    let sound = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
    if !host.chars().all(sound) {
        return Err("has no host");
    }
    let after = rest.rsplit_once(']').map_or(rest, |(_, after)| after);
    let port = match after.rsplit_once(':') {
        Some((_, port)) => port.parse().map_err(|_| "has a port that is none")?,
        None => usual,
    };
    let tls = match (implicit_tls, is_here(host)) {
        (true, _) => MailTls::Implicit,
        (false, true) => MailTls::None,
        (false, false) => MailTls::StartTls,
    };
    Ok((host.to_owned(), port, tls))
}
