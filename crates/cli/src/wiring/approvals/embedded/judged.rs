//! What would be done instead, judged again by the gate before anybody can say yes to it.

use aurora_engine::world::tools::judged::Resolved;
use aurora_gate::Policy;
use aurora_gate::approval::lifecycle::Edit;
use aurora_gate::approval::{Rules, digest_of};
use aurora_model::{Decider, Subject, ToolCall};

use super::super::{Change, calls, settings};
use crate::exit::Failure;
use crate::output::request::Item;
use crate::wiring::place::{Given, Place};
use crate::wiring::store::Log;

/// The edit of a request, with the gate's word about it.
pub fn edit(
    log: &Log,
    item: &Item,
    change: &Change,
    by: Decider,
    policy: Policy,
    rules: &Rules,
) -> anyhow::Result<Edit> {
    let old = &item.request.subject;
    if !change.args.is_object() {
        return Err(Failure::usage("the arguments of a call are a JSON object").into());
    }
    let place = Place::look(Given {
        cwd: Some(old.project.clone().into()),
        role: item.request.requester.role.clone(),
        ..Given::default()
    });
    let digest = settings::policy_digest(&policy);
    let asked = calls::Asked {
        call: ToolCall { name: old.tool.clone(), args: change.args.clone() },
        agent: old.agent.as_ref().map(|agent| agent.as_str()),
        role: item.request.requester.role.as_deref(),
        before: Some(old),
    };
    let found = calls::judge(Some(log), place, policy, rules, &asked)?;
    let Resolved { judged, targets, title } = found.resolved;
    let subject = Subject {
        args: change.args.clone(),
        targets,
        policy: digest,
        tier: judged.tier,
        autonomy: found.autonomy,
        ..old.clone()
    };
    Ok(Edit {
        by,
        seen: change.seen.clone(),
        policy: subject.policy.clone(),
        reason: change.reason.clone(),
        digest: digest_of(&subject),
        subject,
        verdict: judged.decision,
        reasons: judged.reasons,
        effects: judged.effects,
        actions: judged.actions,
        tier: judged.tier,
        title: Some(title),
    })
}
