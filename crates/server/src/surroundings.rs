//! What others know and the server only passes on: checkpoints, policies, agents.

use aurora_model::{Action, SqlDialect, ToolCall};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{Outcome, Reply};
use crate::call::{Call, given};
use crate::cursor::List;
use crate::problem::Problem;

/// `GET /checkpoints`.
pub async fn checkpoints(call: Call) -> Outcome {
    let feature = call.text("feature").map(str::to_owned);
    let all = call.server.ports.checkpoints.list(feature).await?;
    let skipped = List::Checkpoints.place(call.text("after"))?;
    let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
    let total = all.len();
    let page: Vec<Value> = all.into_iter().rev().skip(skipped).take(call.limit()).collect();
    let end = skipped.saturating_add(page.len());
    let next = (end < total && !page.is_empty())
        .then(|| List::Checkpoints.at(u64::try_from(end).unwrap_or(u64::MAX)));
    Ok(Reply::ok(json!({"checkpoints": page, "total": total, "next": next})))
}

/// `GET /checkpoints/{id}`.
pub async fn checkpoint(call: Call) -> Outcome {
    let id = call.text("id").unwrap_or_default().to_owned();
    let feature = call.text("feature").map(str::to_owned);
    Ok(Reply::ok(call.server.ports.checkpoints.show(id, feature).await?))
}

/// `GET /policies`.
pub async fn policy(call: Call) -> Outcome {
    let policy = call.server.ports.policies.effective().await?;
    Ok(Reply::ok(json!({"digest": policy.digest, "settings": policy.settings})))
}

/// `GET /agents`.
pub async fn agents(call: Call) -> Outcome {
    Ok(Reply::ok(call.server.ports.agents.list().await?))
}

/// An action to be judged: one of four.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewCheck {
    #[serde(default, deserialize_with = "given")]
    command: Option<CommandText>,
    #[serde(default, deserialize_with = "given")]
    sql: Option<String>,
    #[serde(default, deserialize_with = "given")]
    dialect: Option<SqlDialect>,
    #[serde(default, deserialize_with = "given")]
    patch: Option<String>,
    #[serde(default, deserialize_with = "given")]
    tool: Option<String>,
    #[serde(default, deserialize_with = "given")]
    args: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    role: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum CommandText {
    Line(String),
    Argv(Vec<String>),
}

/// `POST /policies/check`.
pub async fn check(call: Call) -> Outcome {
    let mut sent: NewCheck = call.body()?;
    let role = sent.role.take();
    if role.as_deref().is_some_and(|role| !aurora_model::id::is_name(role)) {
        return Err(Problem::malformed("`role` can have letters, digits and `._-` only"));
    }
    let action = action(sent)?;
    Ok(Reply::ok(call.server.ports.policies.check(action, role).await?))
}

fn action(sent: NewCheck) -> Result<Action, Problem> {
    let wrong = |told: &str| Problem::malformed(told);
    if sent.dialect.is_some() && sent.sql.is_none() {
        return Err(wrong("`dialect` without `sql`"));
    }
    if sent.args.is_some() && sent.tool.is_none() {
        return Err(wrong("`args` without `tool`"));
    }
    let mut actions = Vec::new();
    match sent.command {
        Some(CommandText::Line(command)) => actions.push(Action::Shell { command }),
        Some(CommandText::Argv(argv)) if argv.is_empty() => {
            return Err(wrong("`command` names no program"));
        }
        Some(CommandText::Argv(argv)) => actions.push(Action::Exec { argv }),
        None => {}
    }
    let dialect = sent.dialect.unwrap_or_default();
    actions.extend(sent.sql.map(|text| Action::Sql { text, dialect }));
    actions.extend(sent.patch.map(|patch| Action::Patch { patch: patch.into_bytes() }));
    let args = sent.args.unwrap_or_else(|| json!({}));
    if !args.is_object() {
        return Err(wrong("`args` must be an object"));
    }
    actions.extend(sent.tool.map(|name| Action::Tool(ToolCall { name, args })));
    match (actions.pop(), actions.is_empty()) {
        (Some(action), true) => Ok(action),
        _ => Err(wrong("name exactly one of `command`, `sql`, `patch` and `tool`")),
    }
}
