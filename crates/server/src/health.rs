//! What the server says about itself and about whoever asks.

use aurora_engine::people::TokenKind;
use axum::http::StatusCode;
use serde_json::json;

use crate::answer::{Outcome, Reply};
use crate::call::Call;
use crate::figures;
use crate::problem::Problem;

/// `GET /healthz`.
pub async fn lives(_: Call) -> Outcome {
    Ok(Reply::ok(json!({"status": "ok"})))
}

/// `GET /readyz`.
pub async fn is_ready(call: Call) -> Outcome {
    let read = call.server.store().read_all(0, 1).await;
    read.map_err(|error| {
        let told = format!("the log cannot be read: {error}");
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", told)
    })?;
    Ok(Reply::ok(json!({"status": "ok"})))
}

/// `GET /metrics`.
pub async fn metrics(call: Call) -> Outcome {
    let text = figures::text(&call.server).await?;
    Ok(Reply::Text("text/plain; version=0.0.4; charset=utf-8", text))
}

/// `GET /whoami`.
pub async fn who_am_i(call: Call) -> Outcome {
    let caller = call.caller()?;
    Ok(Reply::ok(json!({
        "name": caller.name,
        "kind": caller.kind,
        "roles": caller.roles,
        "token": caller.token,
        "may_decide": caller.kind == TokenKind::Person,
    })))
}
