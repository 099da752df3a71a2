//! Sending over HTTP: no redirects, no proxies of the environment, no addresses of machines that only
//! a machine should speak to, and no address in an error.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, StatusCode, Url};

use super::route::{Fault, FaultKind};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);
/// A receiver cannot ask for more patience than this.
const LONGEST_PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// One address of the web.
pub(super) struct Place {
    url: Url,
    client: OnceLock<Client>,
}

impl Place {
    /// The place of that address; the address is not repeated when it is none.
    pub(super) fn new(address: &str) -> Result<Self, String> {
        let url = Url::parse(address).map_err(|error| format!("its address is none: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("its address must begin with https:// or http://".to_owned());
        }
        let host = url.host_str().unwrap_or_default();
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        if host.is_empty() || literal.is_ok_and(|address| !is_for_us(address)) {
            return Err("its address is one that nothing is sent to".to_owned());
        }
        Ok(Self { url, client: OnceLock::new() })
    }

    /// Another address at the same place.
    pub(super) fn with_path(mut self, path: &str) -> Self {
        self.url.set_path(path);
        self.url.set_query(None);
        self
    }

    /// The path.
    pub(super) fn path(&self) -> &str {
        self.url.path()
    }

    fn client(&self) -> Result<&Client, Fault> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let mut builder = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .user_agent(concat!("aurora/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .dns_resolver(Arc::new(Careful));
        if self.url.scheme() == "http" {
            // Nothing is encrypted, so no certificates are needed: there may be none.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| Fault::passing(in_words(error)))?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Sends JSON there.
    pub(super) async fn post(&self, headers: HeaderMap, body: String) -> Result<(), Fault> {
        let sending = self.client()?.post(self.url.clone()).headers(headers);
        let sending = sending.header("content-type", "application/json").body(body).send();
        let answer = sending.await.map_err(|error| Fault::passing(in_words(error)))?;
        let patience = answer.headers().get(RETRY_AFTER).and_then(|value| {
            let seconds = value.to_str().ok()?.trim().parse().ok()?;
            Some(Duration::from_secs(seconds).min(LONGEST_PATIENCE))
        });
        judge(answer.status(), patience)
    }
}

/// What an answer means.
fn judge(status: StatusCode, patience: Option<Duration>) -> Result<(), Fault> {
    let why = format!("the receiver answered {}", status.as_u16());
    let kind = match status.as_u16() {
        200..=299 => return Ok(()),
        410 => FaultKind::Gone,
        408 | 425 | 429 | 500..=599 => FaultKind::Passing(patience),
        _ => FaultKind::Refused,
    };
    Err(Fault { kind, why })
}

/// What went wrong, without the address.
fn in_words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    format!("the receiver cannot be reached: {cause}")
}

/// Finds hosts, and leaves out addresses that nothing is sent to: those of a cloud's own services,
/// which trust whoever can reach them.
struct Careful;

impl Resolve for Careful {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let mut good: Vec<SocketAddr> =
                found.filter(|address| is_for_us(address.ip())).collect();
            // The older kind first: where the newer one leads nowhere, it takes long to be told so.
            good.sort_by_key(SocketAddr::is_ipv6);
            if good.is_empty() {
                return Err("its host has no address that something is sent to".into());
            }
            Ok(Box::new(good.into_iter()) as Addrs)
        })
    }
}

/// Whether something may be sent to an address.
fn is_for_us(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let alibaba = [100, 100, 100, 200];
            !address.is_link_local()
                && !address.is_multicast()
                && !address.is_unspecified()
                && !address.is_broadcast()
                && address.octets() != alibaba
        }
        IpAddr::V6(address) => {
            let amazon = [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254];
            !address.is_unicast_link_local()
                && !address.is_multicast()
                && !address.is_unspecified()
                && address.segments() != amazon
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// APR-9: a cloud's own services are not spoken to, whatever the settings say.
    #[test]
    fn addresses_of_a_clouds_own_services_are_refused() {
        for refused in [
            "http://169.254.169.254/latest/meta-data",
            "http://[fe80::1]/",
            "http://[::ffff:169.254.169.254]/",
            "http://[fd00:ec2::254]/",
            "http://100.100.100.200/",
            "http://0.0.0.0/",
            "http://0xa9fea9fe/",
            "ftp://h/",
            "nothing",
        ] {
            assert!(Place::new(refused).is_err(), "{refused}");
        }
        for fine in ["http://127.0.0.1:8080/x", "https://10.0.0.1/", "https://example.org/x"] {
            assert!(Place::new(fine).is_ok(), "{fine}");
        }
    }

    /// APR-9: what an answer means for the next try.
    #[test]
    fn an_answer_is_taken_as_done_as_passing_as_refused_or_as_gone() {
        let kind = |status: u16| {
            let status = StatusCode::from_u16(status).unwrap();
            judge(status, None).err().map(|fault| fault.kind)
        };
        for (status, expected) in [
            (200, None),
            (204, None),
            (301, Some(FaultKind::Refused)),
            (400, Some(FaultKind::Refused)),
            (401, Some(FaultKind::Refused)),
            (408, Some(FaultKind::Passing(None))),
            (410, Some(FaultKind::Gone)),
            (429, Some(FaultKind::Passing(None))),
            (500, Some(FaultKind::Passing(None))),
            (503, Some(FaultKind::Passing(None))),
        ] {
            assert_eq!(kind(status), expected, "{status}");
        }
    }
}
