//! `aur approvals channels`: over what people are told, whether it works from here, and a test of it.

use aurora_engine::notify::{Message, Route};
use aurora_gate::approval::rules::notify::{Channel, Moment};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::output::style::Style;
use crate::output::wrap::hang;
use crate::wiring::approvals::settings;
use crate::wiring::notify;
use crate::wiring::place::{Given, Place};
use crate::wiring::run::Site;
use crate::wiring::workspace::now;

/// Which to try.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Send a test over this channel, now, and say whether it arrived.
    #[arg(long, value_name = "CHANNEL")]
    test: Option<String>,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  aur approvals channels
  aur approvals channels --test team

Channels stand below `notify:` in .aurora/approvals.yaml. What is told leaves together with what
happened, from `aur serve`, a run that is being driven, or the command that made it happen.

Exit codes: 0 done; 1 the test did not arrive; 2 wrong usage.";

/// Lists them, or tries one.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let rules = settings::rules(&Place::look(Given::default()))?;
    let channels = rules.channels();
    let routes = notify::routes(channels, notify::bell());
    if let Some(name) = &args.test {
        return test(name, &routes, args.json);
    }
    if args.json {
        let listed: Vec<Value> = channels.iter().zip(&routes).map(as_json).collect();
        output::print_json(&json!({ "channels": listed }))?;
        return Ok(Exit::Ok);
    }
    let (mut text, width) = (String::new(), Style::of_stdout().width);
    for (channel, route) in channels.iter().zip(&routes) {
        let told: Vec<&str> = channel.on.iter().map(|moment| Moment::name(*moment)).collect();
        let (name, kind) = (&channel.name, channel.kind.name());
        let (tier, told) = (channel.min_tier.name(), told.join(", "));
        text.push_str(&hang("", &format!("{name}  {kind}  from {tier}: {told}"), width));
        if let Some(why) = route.trouble() {
            text.push_str(&hang("  ", &format!("not from here: {why}"), width));
        }
    }
    if channels.is_empty() {
        text.push_str(
            "nobody is told: there are no channels below `notify:`\nin .aurora/approvals.yaml\n",
        );
    }
    output::print(&text)?;
    Ok(Exit::Ok)
}

fn as_json((channel, route): (&Channel, &Route)) -> Value {
    json!({
        "name": channel.name,
        "kind": channel.kind.name(),
        "on": channel.on.iter().map(|moment| moment.name()).collect::<Vec<_>>(),
        "min_tier": channel.min_tier.name(),
        "works_here": route.trouble().is_none(),
        "trouble": route.trouble(),
    })
}

fn test(name: &str, routes: &[Route], json: bool) -> anyhow::Result<Exit> {
    let Some(route) = routes.iter().find(|route| route.name() == name) else {
        let names: Vec<&str> = routes.iter().map(Route::name).collect();
        let hint = match aurora_gate::settings::nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", names.join(", ")),
        };
        return Err(Failure::usage(format!("there is no channel `{name}`")).hint(hint).into());
    };
    let message = Message::test(name, now());
    let message = message.ok_or_else(|| Failure::failed("a test cannot be written"))?;
    let sent = Site::runtime()?.block_on(route.send_now(&message));
    if let Err(why) = sent {
        return Err(Failure::failed(format!("the test over `{name}` did not arrive: {why}")).into());
    }
    if json {
        output::print_json(&json!({ "channel": name, "id": message.data.id, "arrived": true }))?;
    } else {
        output::print(&format!("the test over {name} arrived\n"))?;
    }
    Ok(Exit::Ok)
}
