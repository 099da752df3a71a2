//! The queue behind a server.

mod http;
mod shape;

use std::path::PathBuf;

use aurora_engine::approvals::Filter;
use aurora_model::{ApprovalEvent, QuestionId};
use serde_json::{Value, json};

use super::{Change, Refusal, Requests, Said, Saying, Taken};
use crate::exit::Failure;
use crate::output::request::{Detail, Happened, Item};
use http::{Answer, Http};

/// So many requests of one page.
const PAGE: usize = 200;

/// The queue behind a server.
pub struct Remote {
    http: Http,
}

impl Remote {
    /// The queue of the server at an address, opened by a token: of a file, of `AURORA_TOKEN`, or of
    /// the server that was started here.
    pub fn open(url: &str, token_file: Option<&PathBuf>) -> anyhow::Result<Self> {
        Ok(Self { http: Http::new(url, token_file)? })
    }

    fn get(&self, path: &str) -> anyhow::Result<Option<Value>> {
        match self.http.get(path)? {
            Answer::Told(value) => Ok(Some(value)),
            Answer::Problem(problem) if problem.status == 404 => Ok(None),
            Answer::Problem(problem) => Err(problem.failure().into()),
        }
    }

    fn exact(&self, id: &str) -> anyhow::Result<Option<(Item, Value)>> {
        if QuestionId::parse(id).is_none() {
            return Ok(None);
        }
        let Some(told) = self.get(&format!("/approvals/{id}"))? else { return Ok(None) };
        Ok(Some((shape::item(&told)?, told)))
    }

    fn said(&self, item: &Item, path: &str, body: &Value) -> anyhow::Result<Said> {
        let id = item.id();
        match self.http.post(&format!("/approvals/{id}/{path}"), body)? {
            Answer::Told(_) => {
                let now = self.exact(id.as_str())?;
                let gone = || Failure::failed(format!("{id} is not there any more"));
                let (item, _) = now.ok_or_else(gone)?;
                Ok(Said::Taken(Box::new(Taken { item, driven: None, resume: None })))
            }
            Answer::Problem(problem) => match problem.refusal(id.as_str()) {
                Some(refusal) => Ok(Said::Refused(refusal)),
                None => Err(problem.failure().into()),
            },
        }
    }
}

impl Requests for Remote {
    fn list(&self, filter: &Filter, limit: usize) -> anyhow::Result<Vec<Item>> {
        let mut query = vec![("limit".to_owned(), PAGE.to_string())];
        let wanted = [
            ("state", filter.state.map(|state| state.name().to_owned())),
            ("tier", filter.tier.map(|tier| tier.name().to_owned())),
            ("gate", filter.gate.map(|gate| gate.name().to_owned())),
            ("run", filter.run.clone()),
            ("agent", filter.agent.clone()),
        ];
        let given = wanted.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        query.extend(given);
        let mut items = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let mut query = query.clone();
            query.extend(after.take().map(|after| ("after".to_owned(), after)));
            let told = match self.http.get(&format!("/approvals?{}", http::encoded(&query)))? {
                Answer::Told(told) => told,
                Answer::Problem(problem) => return Err(problem.failure().into()),
            };
            let listed = told.get("approvals").and_then(Value::as_array);
            for one in listed.into_iter().flatten() {
                items.push(shape::item(one)?);
            }
            match told.get("next").and_then(Value::as_str) {
                Some(next) if items.len() < limit => after = Some(next.to_owned()),
                _ => return Ok(items),
            }
        }
    }

    fn find(&self, id: &str) -> anyhow::Result<Option<Item>> {
        if let Some((item, _)) = self.exact(id)? {
            return Ok(Some(item));
        }
        let waiting = self.list(&Filter::default(), super::MOST)?;
        let begins = |item: &&Item| !id.is_empty() && item.id().as_str().starts_with(id);
        let found: Vec<&Item> = waiting.iter().filter(begins).take(3).collect();
        match found.as_slice() {
            [] => Ok(None),
            [only] => Ok(self.exact(only.id().as_str())?.map(|(item, _)| item)),
            several => {
                let names: Vec<&str> = several.iter().map(|item| item.id().as_str()).collect();
                Err(Failure::usage(format!("`{id}` could be {}", names.join(" or ")))
                    .hint("write more of it")
                    .into())
            }
        }
    }

    fn detail(&self, item: &Item) -> anyhow::Result<Detail> {
        let found = self.exact(item.id().as_str())?;
        Ok(found.map(|(_, told)| shape::detail(&told)).unwrap_or_default())
    }

    fn decide(&self, item: &Item, saying: &Saying) -> anyhow::Result<Said> {
        let body = json!({
            "choice": saying.choice, "digest": saying.seen, "reason": saying.reason,
        });
        self.said(item, "decision", &body)
    }

    fn edit(&self, item: &Item, change: &Change) -> anyhow::Result<Said> {
        let body = json!({"args": change.args, "digest": change.seen, "reason": change.reason});
        self.said(item, "edit", &body)
    }

    fn watch(
        &self,
        begin: &mut dyn FnMut() -> anyhow::Result<()>,
        each: &mut dyn FnMut(&Happened) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let mut begun = false;
        self.http.events("/events?stream=approval/", &mut |record| {
            let Some(record) = record else {
                if !std::mem::replace(&mut begun, true) {
                    begin()?;
                }
                return Ok(true);
            };
            let stream = record.get("stream").and_then(Value::as_str).unwrap_or_default();
            let id = stream.strip_prefix("approval/").and_then(QuestionId::parse);
            let event = record.get("payload").cloned().map(serde_json::from_value::<ApprovalEvent>);
            let at = record.get("at").cloned().map(serde_json::from_value);
            let (Some(id), Some(Ok(event)), Some(Ok(at))) = (id, event, at) else {
                return Ok(true);
            };
            let item = self.exact(id.as_str())?.map(|(item, _)| item);
            each(&Happened { id, at, event, item })
        })
    }
}
