//! The life of a request: every state and every command, and whatever chance makes of them.

mod chance;
mod people;
mod table;
mod time;

use aurora_model::{
    AgentName, Autonomy, GateKind, QuestionId, Requester, Ruling, Surface, Target, TimeoutRule,
};
use serde_json::{Value, json};

use super::*;
use crate::approval::digest_of;

/// When the requests of these tests are asked.
pub(super) const ASKED: Timestamp = Timestamp { unix_ms: 1_772_728_099_503 };

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp { unix_ms: ASKED.unix_ms + seconds * 1000 }
}

pub(super) fn digest(digit: char) -> Digest {
    Digest::parse(&digit.to_string().repeat(64)).unwrap()
}

pub(super) fn subject(command: &str, tier: Tier) -> Subject {
    Subject {
        project: "/home/ada/shop".to_owned(),
        run: None,
        task: None,
        agent: AgentName::parse("claude"),
        tool: "shell".to_owned(),
        schema: 1,
        args: json!({ "command": command }),
        targets: vec![Target::Path { path: "old".to_owned(), content: Some(digest('c')) }],
        policy: digest('b'),
        tier,
        autonomy: Autonomy::Supervised,
    }
}

pub(super) fn rule(policy: &str, settings: Value) -> TimeoutRule {
    TimeoutRule { policy: policy.to_owned(), settings, chosen_by: "a test".to_owned() }
}

/// A request of claude to run a command, which ends after an hour.
pub(super) fn request() -> Request {
    let subject = subject("rm -r old", Tier::High);
    Request {
        id: QuestionId::parse("apr-1").unwrap(),
        gate: GateKind::Operation,
        digest: digest_of(&subject),
        subject,
        options: options::options_for(GateKind::Operation).to_vec(),
        title: "run rm -r old".to_owned(),
        reasons: Vec::new(),
        effects: Vec::new(),
        actions: vec![ActionType::parse("code:delete").unwrap()],
        tier: Tier::High,
        autonomy: Autonomy::Supervised,
        on_no: String::new(),
        claimed: None,
        detail: None,
        requester: Requester {
            agent: AgentName::parse("claude"),
            role: Some("backend".to_owned()),
            person: Some("ci".to_owned()),
        },
        ruling: Ruling {
            timeout: rule("deny", json!({ "timeout_s": 3600 })),
            deciders: Vec::new(),
            quorum: 1,
            remind_every_s: None,
            warn_before_s: None,
        },
        parked: None,
        asked_at: ASKED,
    }
}

pub(super) fn person(name: &str) -> Decider {
    let roles = if name == "bob" { vec!["lead".to_owned()] } else { Vec::new() };
    Decider { name: name.to_owned(), kind: DeciderKind::Person, roles, surface: Surface::Http }
}

pub(super) fn say(request: &Request, choice: Choice, by: Decider) -> Command {
    Command::Decide {
        choice,
        by,
        seen: request.digest.clone(),
        policy: digest('b'),
        reason: Some("because".to_owned()),
    }
}

pub(super) fn edit(request: &Request, command: &str, tier: Tier, by: Decider) -> Edit {
    let subject = Subject { tier, ..subject(command, tier) };
    Edit {
        by,
        seen: request.digest.clone(),
        policy: digest('b'),
        reason: None,
        digest: digest_of(&subject),
        subject,
        verdict: Answer::Ask,
        reasons: Vec::new(),
        effects: vec!["less".to_owned()],
        actions: request.actions.clone(),
        tier,
        title: None,
    }
}

/// A request and everything that happened to it.
#[derive(Clone)]
pub(super) struct Story {
    pub standing: Option<Standing>,
    pub now: Timestamp,
    pub events: Vec<(Timestamp, ApprovalEvent)>,
}

impl Story {
    pub fn of(request: Request) -> Self {
        let mut story = Self { standing: None, now: ASKED, events: Vec::new() };
        story.tell(&Command::Open(Box::new(request))).unwrap();
        story
    }

    pub fn at(mut self, seconds: i64) -> Self {
        self.now = at(seconds);
        self
    }

    pub fn told(mut self, command: &Command) -> Self {
        self.tell(command).unwrap();
        self
    }

    pub fn standing(&self) -> &Standing {
        self.standing.as_ref().unwrap()
    }

    pub fn request(&self) -> &Request {
        &self.standing().request
    }

    pub fn state(&self) -> ApprovalState {
        self.standing().state
    }

    /// Tells it something, and says what happened.
    pub fn tell(&mut self, command: &Command) -> Result<Vec<ApprovalEvent>, Refused> {
        let events = decide(self.standing.as_ref(), command, self.now)?;
        for event in &events {
            self.standing = apply(self.standing.take(), event, self.now);
            self.events.push((self.now, event.clone()));
        }
        Ok(events)
    }

    /// Lets the clock say everything that it has to say now.
    pub fn wake(&mut self) -> Vec<ApprovalEvent> {
        let mut all = Vec::new();
        loop {
            let said = self.tell(&Command::Wake).unwrap();
            if said.is_empty() {
                return all;
            }
            all.extend(said);
            assert!(all.len() < 100, "the clock does not stop: {all:?}");
        }
    }

    /// A yes of somebody to what stands there now.
    pub fn yes(&mut self, name: &str) -> Result<Vec<ApprovalEvent>, Refused> {
        let command = say(self.request(), Choice::Allow, person(name));
        self.tell(&command)
    }
}
