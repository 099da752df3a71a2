//! What is checked of every request before anybody looks at what it wants: for whom it was meant, and
//! from which page it comes. There are no cookies, so that a page of somebody else's has nothing to
//! ride on; this keeps it from trying.

use std::net::IpAddr;

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, Request, StatusCode, Uri, Version};

use crate::problem::Problem;

/// Names of this machine for itself.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "::1"];

/// Whether only this machine can reach an address.
#[must_use]
pub fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|one| one.is_loopback())
        }
    }
}

/// Refuses requests that were meant for another name (a page that made its own name lead here), and
/// those that a page from elsewhere makes.
///
/// # Errors
/// When it is one of these.
pub fn check<B>(
    request: &Request<B>,
    hosts: &[String],
    own: Option<IpAddr>,
) -> Result<(), Problem> {
    let headers = request.headers();
    let host = named_host(request.uri(), request.version(), headers)?;
    let name = name_of(host);
    // An address in the place of a name is nobody's to lead elsewhere.
    let is_own = own.is_some() && name.parse().ok() == own;
    let known = is_own || LOOPBACK.contains(&name.as_str()) || hosts.contains(&name);
    if !known {
        let told =
            format!("`{name}` is no name of this server; `aur serve --host {name}` makes it one");
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "unknown-host", told));
    }
    let cross =
        || Problem::forbidden("cross-origin", "pages of other origins may not ask this server");
    if let Some(origin) = headers.get(ORIGIN) {
        let origin = origin.to_str().map_err(|_| cross())?;
        let from =
            origin.split_once("://").filter(|(scheme, _)| ["http", "https"].contains(scheme));
        let same = from.is_some_and(|(_, from)| from.eq_ignore_ascii_case(host));
        if !same {
            return Err(cross());
        }
    }
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    match site {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(cross()),
    }
}

/// The host that the client meant, with its port.
fn named_host<'a>(
    uri: &'a Uri,
    version: Version,
    headers: &'a HeaderMap,
) -> Result<&'a str, Problem> {
    let mut all = headers.get_all(HOST).iter();
    let (first, second) = (all.next(), all.next());
    let unclear = || Problem::malformed("one `Host` is needed");
    if second.is_some() {
        return Err(unclear());
    }
    let given = first.map(|host| host.to_str().map_err(|_| unclear())).transpose()?;
    // What a request line names wins over the header, as HTTP has it.
    match (uri.authority(), given) {
        (Some(authority), _) => Ok(authority.as_str()),
        (None, Some(host)) if !host.is_empty() => Ok(host),
        (None, None) if version == Version::HTTP_10 => Ok("localhost"),
        _ => Err(unclear()),
    }
}

/// A host without its port and without brackets, in small letters.
fn name_of(host: &str) -> String {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.trim_end_matches('.').to_ascii_lowercase()
}

/// Says to browsers what they may not do with an answer.
pub fn harden(headers: &mut HeaderMap) {
    let said: [(HeaderName, &'static str); 6] = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in said {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(headers: &[(&'static str, &str)]) -> Option<u16> {
        let mut request = Request::new(());
        for (name, value) in headers {
            request.headers_mut().append(*name, HeaderValue::from_str(value).unwrap());
        }
        let hosts = ["aurora.example".to_owned()];
        let own = Some("192.0.2.7".parse().unwrap());
        check(&request, &hosts, own).err().map(|problem| problem.status.as_u16())
    }

    #[test]
    fn only_names_of_this_server_are_answered() {
        for good in ["127.0.0.1:7788", "localhost", "[::1]:7788", "AURORA.example.", "192.0.2.7:1"]
        {
            assert_eq!(checked(&[("host", good)]), None, "{good}");
        }
        for bad in ["evil.example", "127.0.0.1.evil.example", "localhost.evil:7788", "169.254.1.1"]
        {
            assert_eq!(checked(&[("host", bad)]), Some(421), "{bad}");
        }
        assert_eq!(checked(&[]), Some(400));
        assert_eq!(checked(&[("host", "localhost"), ("host", "evil.example")]), Some(400));
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let from = |origin: &str| checked(&[("host", "localhost:7788"), ("origin", origin)]);
        assert_eq!(from("http://localhost:7788"), None);
        for bad in
            ["http://localhost:7789", "null", "https://evil.example", "file://localhost:7788"]
        {
            assert_eq!(from(bad), Some(403), "{bad}");
        }
        let site = |site: &str| checked(&[("host", "localhost"), ("sec-fetch-site", site)]);
        assert_eq!((site("none"), site("same-origin")), (None, None));
        assert_eq!((site("cross-site"), site("same-site")), (Some(403), Some(403)));
    }

    #[test]
    fn only_this_machine_reaches_a_loopback_address() {
        for (address, expected) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("0.0.0.0", false),
            ("::", false),
            ("192.168.1.1", false),
        ] {
            assert_eq!(is_loopback(address.parse().unwrap()), expected, "{address}");
        }
    }
}
