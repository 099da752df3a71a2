//! `aur serve`: approvals, runs, checkpoints, policies and the log over HTTP.

mod background;
mod judge;
mod peer;
mod ports;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use aurora_engine::people::{TokenBook, TokenKind};
use aurora_model::Surface;
use aurora_server::{Limits, Local, Server, Settings, Stop, is_loopback};
use aurora_store::Store;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::place::{Given, Place};
use crate::wiring::run::{self, Site};
use crate::wiring::serve::{self, Announced};
use crate::wiring::store::Log;
use crate::wiring::workspace::now;
use crate::wiring::{approvals, fence, person};

/// Where to listen, and for whom.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The address and port to listen on.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7788")]
    listen: SocketAddr,
    /// Another port of that address; 0 takes one that is free, and says which.
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// A name by which this server is reached, besides those of this machine for itself; may be
    /// given more than once.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// How many requests a token may make per second, on average.
    #[arg(long, value_name = "N", default_value_t = 50)]
    rate: u32,
    /// Say where it listens in JSON.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  aur serve
  aur serve --port 0 --json
  aur serve --listen 0.0.0.0:7788 --host aurora.example

Without a token in the log, and on loopback only, whoever starts it gets a token of this start: it is
in .aurora/serve.json, which nobody else can read. Beyond loopback tokens are needed: `aur token
create --person NAME`; put something in front that speaks TLS.
GET /api/v1/openapi.json says what can be asked. Ctrl+C ends it in order.";

/// Serves.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    output::with_error(args.json, go(args))
}

fn go(args: &Args) -> anyhow::Result<Exit> {
    fence::for_people("serving")?;
    let mut address = args.listen;
    if let Some(port) = args.port {
        address.set_port(port);
    }
    let store = Log::open()?.store;
    let runtime = Site::runtime()?;
    runtime.block_on(listen(args, address, store))
}

async fn listen(args: &Args, address: SocketAddr, store: Arc<dyn Store>) -> anyhow::Result<Exit> {
    let loopback = is_loopback(address.ip());
    let has_people = has_people(&store).await?;
    if !loopback && !has_people {
        let told =
            format!("{address} can be reached by others, and nobody has a token to decide by");
        return Err(Failure::usage(told)
            .hint("`aur token create --person NAME` makes one; or listen on 127.0.0.1")
            .into());
    }
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::failed(format!("cannot listen on {address}: {error}"))
            .hint("`--port 0` takes a port that is free")
    })?;
    let address = listener
        .local_addr()
        .map_err(|error| Failure::failed(format!("cannot tell where it listens: {error}")))?;
    let secret = if has_people { None } else { Some(serve::secret()?) };
    let url = format!("http://{}", reached_at(address));
    let told = Announced {
        url: url.clone(),
        pid: std::process::id(),
        token: secret.as_ref().map(|secret| secret.expose().to_owned()),
    };
    // The same name as at a terminal: one person must not count as two.
    let rules = approvals::settings::rules(&Place::look(Given::default()))?;
    let name = person::here(&rules, Surface::Http).name;
    let local = secret.map(|secret| Local { hash: secret.hash(), person: name });
    let (queue, background) = background::start(&store)?;
    let server = Server::new(Settings {
        ports: ports::all(&queue, background.deliveries()),
        queue,
        local,
        hosts: args.hosts.clone(),
        limits: Limits { rate_per_s: f64::from(args.rate.max(1)), ..Limits::default() },
    });
    let stop = Stop::of(&server);
    listen_for_signals(stop)?;
    serve::announce(&told)?;
    say(args, &told, loopback)?;
    let served = aurora_server::serve(server, listener).await;
    serve::withdraw()?;
    background.stop().await;
    served.map_err(|error| Failure::failed(format!("cannot serve: {error}")))?;
    Ok(Exit::Ok)
}

/// Whether a person has a token that opens.
async fn has_people(store: &Arc<dyn Store>) -> anyhow::Result<bool> {
    let tokens = TokenBook::new(Arc::clone(store)).all().await.map_err(run::failure)?;
    Ok(tokens.iter().any(|one| one.kind == TokenKind::Person && one.is_valid(now())))
}

/// An address by which a server that listens on this one is reached.
fn reached_at(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn say(args: &Args, told: &Announced, loopback: bool) -> anyhow::Result<()> {
    let file = serve::path()?;
    if args.json {
        let token = told.token.as_ref().map(|_| file.display().to_string());
        output::print_json(&json!({"url": told.url, "pid": told.pid, "token_file": token}))?;
    } else {
        output::print(&format!("listening on {}\n", told.url))?;
        match &told.token {
            Some(_) => output::note(&format!("the token of this start is in {}", file.display())),
            None => output::note("tokens of `aur token create` open it"),
        }
    }
    if !loopback {
        output::warn("others can reach it, and it speaks no TLS: put something in front that does");
    }
    Ok(())
}

/// The first signal ends it in order, the second at once.
fn listen_for_signals(stop: Stop) -> anyhow::Result<()> {
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        let cannot = |error| Failure::failed(format!("cannot listen for signals: {error}"));
        let mut stream = signal(kind).map_err(cannot)?;
        let stop = stop.clone();
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                stop.stop();
            }
        });
    }
    Ok(())
}
