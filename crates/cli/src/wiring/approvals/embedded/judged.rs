//! What would be done instead, judged again by the gate before anybody can say yes to it.

use aurora_engine::world::reading;
use aurora_gate::Policy;
use aurora_gate::approval::lifecycle::Edit;
use aurora_gate::approval::risk::actions_of_call;
use aurora_gate::approval::{Classifier as _, Rules, digest_of, tighten};
use aurora_gate::judge::describe;
use aurora_model::{Action, Decider, Subject, ToolCall};

use super::super::{Change, settings};
use crate::exit::Failure;
use crate::output::request::Item;
use crate::wiring::place::{Given, Place};

/// The edit of a request, with the gate's word about it.
pub fn edit(
    item: &Item,
    change: &Change,
    by: Decider,
    policy: &Policy,
    rules: &Rules,
) -> anyhow::Result<Edit> {
    let old = &item.request.subject;
    if !change.args.is_object() {
        return Err(Failure::usage("the arguments of a call are a JSON object").into());
    }
    let action = Action::Tool(ToolCall { name: old.tool.clone(), args: change.args.clone() });
    let place = Place::look(Given { cwd: Some(old.project.clone().into()), ..Given::default() });
    // What it would run is read, as it was when the call was judged first; what it would be done to is
    // looked at again before it is made.
    let (verdict, context) = reading::judge(&action, policy, &place.context(true));
    let actions = actions_of_call(&action, &context);
    let tier = rules.strictest(&actions);
    let subject = Subject {
        args: change.args.clone(),
        policy: settings::policy_digest(policy),
        tier,
        ..old.clone()
    };
    Ok(Edit {
        by,
        seen: change.seen.clone(),
        policy: subject.policy.clone(),
        reason: change.reason.clone(),
        digest: digest_of(&subject),
        subject,
        verdict: tighten(verdict.decision, &actions, old.autonomy),
        reasons: verdict.reasons,
        effects: verdict.effects.iter().map(describe).collect(),
        actions,
        tier,
    })
}
