//! Judges a call that somebody asks about over HTTP, or edits there, as every other face does.

use std::path::PathBuf;

use aurora_engine::world::tools::judged::Resolved;
use aurora_gate::approval::rules::Asked as Ruled;
use aurora_model::{GateKind, Subject, ToolCall};
use aurora_server::ports::{Asked, Judged};

use crate::wiring::approvals::{calls, settings};
use crate::wiring::layers;
use crate::wiring::place::{Given, Place};
use crate::wiring::store::Log;

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
    let before = asked.before.as_deref();
    let call = calls::Asked {
        call: ToolCall { name: asked.tool.clone(), args: asked.args.clone() },
        agent: asked.agent.as_ref().map(|agent| agent.as_str()),
        role: asked.role.as_deref(),
        before,
    };
    let log = Log::open_existing()?;
    let found = calls::judge(log.as_ref(), place, policy, &rules, &call)?;
    let autonomy = found.autonomy;
    let Resolved { judged, targets, title } = found.resolved;
    let (gate, tier) = (GateKind::Operation, judged.tier);
    let ruling = rules.ruling(&Ruled { gate, tier, autonomy, actions: &judged.actions });
    let subject = Subject {
        project: before
            .map_or_else(|| root.to_string_lossy().into_owned(), |one| one.project.clone()),
        run: asked.run,
        task: asked.task,
        agent: asked.agent,
        tool: asked.tool,
        schema: asked.schema,
        args: asked.args,
        targets,
        policy: digest,
        tier,
        autonomy,
    };
    Ok(Judged {
        subject,
        verdict: judged.decision,
        reasons: judged.reasons,
        effects: judged.effects,
        actions: judged.actions,
        tier,
        autonomy,
        ruling,
        title,
    })
}
