//! What waits, in few lines: the most dangerous first, and what is alike together.

use std::collections::BTreeMap;

use aurora_model::{Tier, Timestamp};

use super::Item;
use crate::output::style::Style;
use crate::output::wrap::hang;
use crate::output::{changes, escape, moment};

/// One thing that waits, or did.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// How dangerous it is; nothing where nobody has said.
    pub tier: Option<Tier>,
    /// How it stands, where it does not wait.
    pub state: Option<String>,
    /// When it was asked.
    pub at: Option<Timestamp>,
    /// When it ends if nobody decides.
    pub expires_at: Option<Timestamp>,
    /// The question.
    pub title: String,
    /// Why it is asked, the first reason, and how many more there are.
    pub reason: Option<(String, usize)>,
    /// Who may decide; nothing for everybody.
    pub deciders: Option<String>,
    /// What can be answered.
    pub options: Vec<&'static str>,
    /// What those that are alike have in common; nothing where it is alike to none.
    pub shape: Option<String>,
    /// Who asks for what, for several that are alike.
    pub kind: String,
}

impl From<&Item> for Row {
    fn from(item: &Item) -> Self {
        let request = &item.request;
        let more = request.reasons.len().saturating_sub(1);
        let narrow = !item.deciders.is_empty() || request.ruling.quorum > 1;
        let agent = request.requester.agent.as_ref().map(|agent| format!(" by {agent}"));
        Self {
            id: request.id.to_string(),
            tier: Some(request.tier),
            state: (!item.is_open()).then(|| item.state.name().replace('_', " ")),
            at: Some(request.asked_at),
            expires_at: item.expires_at,
            title: request.title.clone(),
            reason: request.reasons.first().map(|reason| (reason.message.clone(), more)),
            deciders: narrow.then(|| super::deciders(item)),
            options: request.options.iter().map(|choice| choice.name()).collect(),
            shape: Some(item.shape()),
            kind: format!("{}{}", request.subject.tool, agent.unwrap_or_default()),
        }
    }
}

/// All of them: the most dangerous first, of those the oldest; what is alike stands together.
#[must_use]
pub fn all(mut rows: Vec<Row>, limit: usize, now: Timestamp, style: Style) -> String {
    rows.sort_by_key(|row| (std::cmp::Reverse(row.tier), row.at.map(|at| at.unix_ms)));
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows.iter().take(limit) {
        let shape = row.shape.as_ref().map(|shape| format!("{shape}/{:?}", row.state));
        let place = shape.as_ref().and_then(|shape| places.get(shape)).copied();
        match place.and_then(|place| groups.get_mut(place)) {
            Some(group) => group.push(row),
            None => {
                places.extend(shape.map(|shape| (shape, groups.len())));
                groups.push(vec![row]);
            }
        }
    }
    let mut out = String::new();
    for group in &groups {
        match group.as_slice() {
            [only] => one(&mut out, only, now, style),
            several => alike(&mut out, several, now, style),
        }
    }
    let more = rows.len().saturating_sub(limit);
    if more > 0 {
        out.push_str(&format!("and {more} more; --limit shows more of them\n"));
    }
    out
}

fn one(out: &mut String, row: &Row, now: Timestamp, style: Style) {
    out.push_str(&head(row, now, style));
    out.push_str(&hang("  ", &escape::line(&row.title), style.width));
    if let Some((reason, more)) = &row.reason {
        let more = if *more > 0 { format!(" (and {more} more)") } else { String::new() };
        out.push_str(&hang("  ", &format!("{}{more}", escape::line(reason)), style.width));
    }
    tail(out, row, style);
}

/// Who decides, and what can be said.
fn tail(out: &mut String, row: &Row, style: Style) {
    if let (Some(deciders), None) = (&row.deciders, &row.state) {
        out.push_str(&hang("  ", &format!("decides: {}", escape::line(deciders)), style.width));
    }
    if row.state.is_none() {
        out.push_str(&hang("  ", &row.options.join(" | "), style.width));
    }
}

fn head(row: &Row, now: Timestamp, style: Style) -> String {
    let tier = row.tier.map(|tier| painted(tier, style));
    let when = row.at.map(|at| moment::ago(now, at));
    let left = row.expires_at.map(|at| format!("expires in {}", moment::left(now, at)));
    let when: Vec<String> = [row.state.clone(), when, left].into_iter().flatten().collect();
    let (id, when) = (escape::line(&row.id), when.join(", "));
    let long = row.tier.map_or(0, |tier| tier.name().len() + 2);
    let used = id.chars().count() + 2 + long + when.chars().count();
    // What does not fit beside the name stands below it.
    let apart = if used > style.width { "\n  " } else { "  " };
    let tier = tier.map(|tier| format!("{tier}  ")).unwrap_or_default();
    format!("{}{apart}{tier}{}\n", style.bold(&id), style.faint(&when))
}

fn painted(tier: Tier, style: Style) -> String {
    match tier {
        Tier::Critical | Tier::High => style.bad(tier.name()),
        Tier::Medium => style.notable(tier.name()),
        Tier::Low => tier.name().to_owned(),
    }
}

/// Several of the same shape: said once, with a line each.
fn alike(out: &mut String, rows: &[&Row], now: Timestamp, style: Style) {
    let Some(first) = rows.first() else { return };
    let tier = first.tier.map(|tier| painted(tier, style)).unwrap_or_default();
    let what = escape::line(&first.kind);
    out.push_str(&format!("{} alike: {what}  {tier}\n", rows.len()));
    for row in rows {
        let left = row.expires_at.map(|at| format!(" (expires in {})", moment::left(now, at)));
        let id = style.bold(&escape::line(&row.id));
        out.push_str(&format!("  {id}{}\n", style.faint(&left.unwrap_or_default())));
        out.push_str(&hang("    ", &escape::line(&row.title), style.width));
    }
    tail(out, first, style);
}

/// The parked tasks of each agent, with the calls that each waits for.
#[must_use]
pub fn parked(items: &[Item], now: Timestamp, style: Style) -> String {
    let mut agents: BTreeMap<String, BTreeMap<String, Vec<&Item>>> = BTreeMap::new();
    for item in items {
        let subject = &item.request.subject;
        let agent = item.request.requester.agent.as_ref().map(ToString::to_string);
        let names = [
            subject.run.as_ref().map(ToString::to_string),
            subject.task.as_ref().map(ToString::to_string),
        ];
        let task: Vec<String> = names.into_iter().flatten().collect();
        let tasks = agents.entry(agent.unwrap_or_else(|| "nobody".to_owned())).or_default();
        tasks.entry(task.join(" ")).or_default().push(item);
    }
    let mut out = String::new();
    for (agent, tasks) in &agents {
        let many = changes::count(tasks.len(), "parked task");
        out.push_str(&format!("{}: {many}\n", style.bold(&escape::line(agent))));
        for (task, calls) in tasks {
            let waits = changes::count(calls.len(), "call");
            out.push_str(&format!("  {} waits for {waits}\n", escape::line(task)));
            for item in calls {
                let state = item.state.name().replace('_', " ");
                let left =
                    item.expires_at.map(|at| format!(", expires in {}", moment::left(now, at)));
                let id = escape::line(item.id().as_str());
                let tier = item.request.tier.name();
                out.push_str(&format!("    {id}  {tier}, {state}{}\n", left.unwrap_or_default()));
                out.push_str(&hang("      ", &escape::line(&item.request.title), style.width));
            }
        }
    }
    out
}
