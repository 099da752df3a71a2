//! Judges a call that somebody asks about over HTTP, or edits there, as every other face does.

use std::path::PathBuf;

use aurora_engine::world::reading;
use aurora_gate::approval::rules::Asked as Ruled;
use aurora_gate::approval::{Classifier as _, actions_of_call, tighten};
use aurora_gate::judge::describe;
use aurora_model::{Action, GateKind, Subject, ToolCall};
use aurora_server::ports::{Asked, Judged};

use crate::exit::Failure;
use crate::output::escape;
use crate::wiring::approvals::settings;
use crate::wiring::judging;
use crate::wiring::layers;
use crate::wiring::patience::{self, PATIENCE};
use crate::wiring::place::{Given, Place};

/// Judges a call at a place.
pub fn judge(asked: Asked) -> anyhow::Result<Judged> {
    let project = asked.before.as_ref().map(|before| PathBuf::from(&before.project));
    let given = Given {
        cwd: project.filter(|path| path.is_absolute()),
        role: asked.role.clone(),
        ..Given::default()
    };
    let place = Place::look(given);
    let (policy, rules) = (layers::load(&place, None)?, settings::rules(&place)?);
    let digest = settings::policy_digest(&policy);
    let root = place.root().unwrap_or_default();
    let call = ToolCall { name: asked.tool.clone(), args: asked.args.clone() };
    let judged = patience::in_time(PATIENCE, move || {
        let action = Action::Tool(call);
        let context = place.context(judging::may_run_git(&action));
        let (verdict, context) = reading::judge(&action, &policy, &context);
        let actions = actions_of_call(&action, &context);
        Ok((verdict, actions))
    });
    let (verdict, actions) =
        judged.map_err(|problem| Failure::failed(format!("cannot judge this: {problem}")))?;
    let tier = rules.strictest(&actions);
    let agent = asked.agent.as_ref().map(|agent| agent.as_str());
    let before = asked.before.as_deref();
    let own = rules.autonomy(agent, asked.role.as_deref());
    let autonomy = before.map_or(own, |before| before.autonomy.min(own));
    let gate = GateKind::Operation;
    let ruling = rules.ruling(&Ruled { gate, tier, autonomy, actions: &actions });
    let effects: Vec<String> = verdict.effects.iter().map(describe).collect();
    let title = effects.first().cloned().unwrap_or_else(|| title(&asked));
    let subject = Subject {
        project: before
            .map_or_else(|| root.to_string_lossy().into_owned(), |one| one.project.clone()),
        run: asked.run,
        task: asked.task,
        agent: asked.agent,
        tool: asked.tool,
        schema: asked.schema,
        args: asked.args,
        // What is named elsewhere by the new arguments is found again before it is done, and what
        // differs then is stale.
        targets: before.map(|before| before.targets.clone()).unwrap_or_default(),
        policy: digest,
        tier,
        autonomy: before.map_or(autonomy, |before| before.autonomy),
    };
    Ok(Judged {
        subject,
        verdict: tighten(verdict.decision, &actions, autonomy),
        reasons: verdict.reasons,
        effects,
        actions,
        tier,
        autonomy,
        ruling,
        title,
    })
}

/// The call in one line, where nothing is known of what it does.
fn title(asked: &Asked) -> String {
    const LENGTH: usize = 100;
    let text = match asked.args.get("command").and_then(|command| command.as_str()) {
        Some(command) => command.to_owned(),
        None => asked.args.to_string(),
    };
    let short: String = text.chars().take(LENGTH).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{}: {}{more}", asked.tool, escape::line(&short))
}
