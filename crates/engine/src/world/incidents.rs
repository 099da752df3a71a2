//! What happens in a run because of which an agent may do less from then on: written once, and told.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use aurora_gate::approval::autonomy::{Incident, downgrade_for, scope_of_agent};
use aurora_model::{AgentName, AttemptEnd, Route};
use aurora_workspace::desk::Notice;

use super::Inner;
use super::conversation::Worker;
use super::site::UNSEEN;
use crate::approvals::autonomy;
use crate::error::Result;
use crate::machine::State;

/// How many calls of each agent the policy denied in this run, since it was lowered for that last.
#[derive(Default)]
pub(super) struct Denials(Mutex<BTreeMap<AgentName, u32>>);

impl Denials {
    fn add(&self, agent: &AgentName, more: u32) -> u32 {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(agent.clone()).or_default();
        *count = count.saturating_add(more);
        *count
    }

    fn forget(&self, agent: &AgentName) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(agent);
    }
}

impl Inner {
    /// The policy denied calls of an agent, which lowers it when that happens again and again.
    pub(super) async fn denied(&self, worker: &Worker, more: u32) -> Result<()> {
        if more == 0 {
            return Ok(());
        }
        let count = self.denials.add(&worker.agent, more);
        let incident = Incident::Violations { count };
        if downgrade_for(incident).is_none() {
            return Ok(());
        }
        // Whoever is raised again by a person begins to be counted anew.
        self.denials.forget(&worker.agent);
        let run = &self.settings.run;
        let why = format!("the policy denied {count} of its calls in {run}");
        self.lower(&worker.agent, incident, &why).await
    }

    /// A call named a path outside the desk.
    pub(super) async fn left(&self, worker: &Worker, path: &str) -> Result<()> {
        let shown: String = path.chars().filter(|c| !c.is_control()).take(200).collect();
        let why = format!("a call in {} leaves its desk: {shown}", worker.attempt);
        self.lower(&worker.agent, Incident::EscapeAttempt, &why).await
    }

    /// An attempt is over: money that is used up and git data that was changed lower its agent.
    pub(super) async fn over(
        &self,
        (name, route): (&str, &Route),
        end: &AttemptEnd,
        noticed: &[Notice],
        state: &State,
    ) -> Result<()> {
        let (Route::Agent { agent } | Route::AdHoc { agent, .. }) = route else { return Ok(()) };
        if let AttemptEnd::OverBudget { error } = end {
            let why = format!("there is no money left for {name}: {error}");
            self.lower(agent, Incident::BudgetExhausted, &why).await?;
        }
        let is_known =
            |one: &Notice| one.what.starts_with(UNSEEN) || state.noticed.contains(&one.what);
        let is_new = |one: &&Notice| one.critical && !is_known(one);
        if let Some(one) = noticed.iter().find(is_new) {
            let why = format!("while it worked at {name}: {}", one.what);
            self.lower(agent, Incident::EscapeAttempt, &why).await?;
        }
        Ok(())
    }

    /// Lets an agent do less, and tells whoever watches; once.
    async fn lower(&self, agent: &AgentName, incident: Incident, why: &str) -> Result<()> {
        let Some(level) = downgrade_for(incident) else { return Ok(()) };
        let scope = scope_of_agent(agent.as_str());
        let (store, now) = (self.settings.store.as_ref(), (self.settings.now)());
        if autonomy::lower(store, &scope, level, why, now).await? {
            let level = level.name();
            self.settings.audience.warned(&format!(
                "{agent} is {level} from now on: {why}; `aur agents autonomy raise {scope} LEVEL` \
                 lets it do more again"
            ));
        }
        Ok(())
    }
}
