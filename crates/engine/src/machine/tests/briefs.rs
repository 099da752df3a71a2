//! Briefs in one line: `a, b<a, c<a+b` are three tasks and what they wait for.

use aurora_model::{
    AgentName, Assignment, Brief, Planned, RunId, RunSettings, Scope, Task, TaskId,
};

/// What a run of a test is told.
#[derive(Clone)]
pub struct Plan {
    pub brief: Brief,
}

/// Tasks for the agent `dev`, one at a time, two attempts, then the model, no answers given before.
pub fn plan(tasks: &str) -> Plan {
    let settings = RunSettings {
        max_parallel: 1,
        timeout_seconds: 120,
        max_attempts: 2,
        model: true,
        fallback: true,
        checkpoints: true,
        yes: false,
        people_only: Vec::new(),
        ungated: false,
    };
    let place =
        aurora_model::run::Place { feature: "f".to_owned(), path: "/w".to_owned(), branch: None };
    Plan {
        brief: Brief {
            run: RunId::parse("r").unwrap(),
            goal: "g".to_owned(),
            plan: None,
            source: None,
            kind: aurora_model::RunKind::Spawn,
            tasks: tasks.split(", ").map(planned).collect(),
            place,
            policy: None,
            settings,
        },
    }
}

fn planned(text: &str) -> Planned {
    let (id, on) = text.split_once('<').unwrap_or((text, ""));
    let depends_on = on.split('+').filter(|on| !on.is_empty()).map(task).collect();
    Planned {
        task: Task {
            id: task(id),
            title: id.to_owned(),
            details: String::new(),
            agent: None,
            depends_on,
            scope: Scope::default(),
            done: false,
        },
        assignment: Assignment::Agent { agent: agent("dev") },
        apart_from: Vec::new(),
    }
}

pub fn task(id: &str) -> TaskId {
    TaskId::parse(id).unwrap()
}

pub fn agent(name: &str) -> AgentName {
    AgentName::parse(name).unwrap()
}

impl Plan {
    pub fn with(mut self, change: impl FnOnce(&mut RunSettings)) -> Self {
        change(&mut self.brief.settings);
        self
    }

    pub fn parallel(self, most: u32) -> Self {
        self.with(|settings| settings.max_parallel = most)
    }

    pub fn yes(self) -> Self {
        self.with(|settings| settings.yes = true)
    }

    /// The tasks are only written down.
    pub fn goals(mut self) -> Self {
        self.brief.kind = aurora_model::RunKind::Goals;
        self
    }

    fn one(&mut self, id: &str) -> &mut Planned {
        self.brief.tasks.iter_mut().find(|one| one.task.id.as_str() == id).unwrap()
    }

    /// Nobody has the role that this task asks for; `dev` can play it, or nobody can.
    pub fn gap(mut self, id: &str, ad_hoc: bool) -> Self {
        let ad_hoc = ad_hoc.then(|| agent("dev"));
        self.one(id).assignment = Assignment::Gap { role: agent("qa"), ad_hoc };
        self
    }

    pub fn done(mut self, id: &str) -> Self {
        self.one(id).task.done = true;
        self
    }

    pub fn apart(mut self, id: &str, from: &str) -> Self {
        self.one(id).apart_from.push(task(from));
        self
    }

    pub fn files(mut self, id: &str, files: u32) -> Self {
        self.one(id).task.scope.files = Some(files);
        self
    }
}
