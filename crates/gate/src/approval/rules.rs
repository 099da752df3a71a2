//! `approvals.yaml`: who may decide what, how dangerous things are, and what happens when nobody decides.

pub mod notify;

use aurora_model::{ActionType, Autonomy, GateKind, Ruling, Tier, TimeoutRule};

use super::risk::Classifier;
use crate::settings::SettingsErrors;

/// Everything that `approvals.yaml` says, over the defaults.
#[derive(Debug, Clone, Default)]
pub struct Rules {}

/// What a ruling depends on.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Which gate asks.
    pub gate: GateKind,
    /// How dangerous it is.
    pub tier: Tier,
    /// How much the agent may do by itself.
    pub autonomy: Autonomy,
    /// What kinds of action it is.
    pub actions: &'a [ActionType],
}

impl Rules {
    /// Reads the layers, the widest first (the user's own file, then the project's).
    ///
    /// # Errors
    /// When a file says something that it cannot say, with every place.
    pub fn read(layers: &[(String, String)]) -> Result<Self, SettingsErrors> {
        let _ = layers;
        Ok(Self::default())
    }

    /// Who may decide, how many must, and what happens when nobody does: the most specific wins.
    #[must_use]
    pub fn ruling(&self, asked: &Asked<'_>) -> Ruling {
        let _ = asked;
        let timeout = TimeoutRule {
            policy: "wait".to_owned(),
            settings: serde_json::json!({}),
            chosen_by: "built-in defaults".to_owned(),
        };
        Ruling {
            timeout,
            deciders: Vec::new(),
            quorum: 1,
            remind_every_s: None,
            warn_before_s: None,
        }
    }

    /// How much an agent may do by itself: agent before role before project.
    #[must_use]
    pub fn autonomy(&self, agent: Option<&str>, role: Option<&str>) -> Autonomy {
        let _ = (agent, role);
        Autonomy::Supervised
    }

    /// Whether only people can answer: a flag such as `--yes` must not.
    #[must_use]
    pub fn needs_person(&self, asked: &Asked<'_>) -> bool {
        let ruling = self.ruling(asked);
        ruling.quorum > 1 || !ruling.deciders.is_empty()
    }

    /// The roles of a person.
    #[must_use]
    pub fn roles_of(&self, person: &str) -> Vec<String> {
        let _ = person;
        Vec::new()
    }
}

impl Classifier for Rules {
    fn tier(&self, action: &ActionType) -> Tier {
        let _ = action;
        Tier::High
    }
}
