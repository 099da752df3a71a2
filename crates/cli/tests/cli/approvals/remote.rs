//! The same commands against a running server.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use aurora_model::Choice;
use serde_json::{Value, json};

use super::asking::{decide, me, open, push};
use crate::harness::World;

/// A server on a free port, ended when the test ends.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(world: &World) -> Self {
        let mut child = world.command(&["serve", "--port", "0", "--json"]).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        let told: Value = loop {
            assert!(out.read_line(&mut text).unwrap() > 0, "it says where it listens: {text}");
            if let Ok(told) = serde_json::from_str(&text) {
                break told;
            }
        };
        Self { child, url: told["url"].as_str().unwrap().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// APR-1, APR-2, APR-3: list, show, decide and be refused, over HTTP as beside the log.
#[test]
fn requests_are_decided_over_a_server_as_beside_the_log() {
    let world = World::with_commit();
    let (first, second) = (push("spawn-7.q1"), push("spawn-7.q2"));
    open(&world, &first);
    open(&world, &second);
    let server = Server::start(&world);
    let url = server.url.clone();
    let run = |args: &[&str]| world.run(&[&["approvals"], args, &["--server", &url]].concat());
    let list = run(&["list", "--json"]);
    assert_eq!(list.code, Some(0), "{list:?}");
    assert_eq!(list.json()["questions"].as_array().unwrap().len(), 2);
    let both = [run(&["show", "spawn-7.q1"]), world.run(&["approvals", "show", "spawn-7.q1"])];
    assert_eq!(both[0].stdout, both[1].stdout, "the same is shown");
    let digest = first.digest.as_str();
    let wrong = run(&["approve", "spawn-7.q1", "--digest", "0123456789ab"]);
    assert_eq!(wrong.code, Some(3), "{wrong:?}");
    let yes = run(&["approve", "spawn-7.q1", "--digest", digest, "--reason", "fine", "--json"]);
    assert_eq!((yes.code, &yes.json()["state"]), (Some(0), &json!("approved")), "{yes:?}");
    let shown = world.run(&["approvals", "show", "spawn-7.q1", "--json"]).json();
    assert_eq!(shown["decision"]["by"]["surface"], "http");
    assert_eq!(shown["decision"]["by"]["name"], json!(me()));
    decide(&world, &second, "ana", Choice::Deny, "never");
    let late = run(&["approve", "spawn-7.q2", "--yes"]);
    assert_eq!(late.code, Some(3), "{late:?}");
    assert!(late.stderr.contains("decided before: denied, by ana (http): never"), "{late:?}");
    assert_eq!(run(&["show", "spawn-9"]).code, Some(2));
    let closed =
        world.command(&["approvals", "list", "--server", &url, "--token-file", "README.md"]);
    let closed = world.finish({ closed }.stdin(Stdio::null()).spawn().unwrap());
    assert_eq!(closed.code, Some(3), "a token that nobody knows opens nothing: {closed:?}");
}

/// APR-1: what happens is told over the server's events.
#[test]
fn a_server_tells_what_happens_as_it_happens() {
    let world = World::with_commit();
    let request = push("spawn-7.q1");
    open(&world, &request);
    let server = Server::start(&world);
    let args = ["approvals", "watch", "--json", "--server", &server.url];
    let mut watching = world.command(&args).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    let waits = next();
    assert_eq!((&waits["type"], &waits["id"]), (&json!("requested"), &json!("spawn-7.q1")));
    decide(&world, &request, "ana", Choice::Deny, "never");
    let told = next();
    assert_eq!((&told["type"], &told["request"]["state"]), (&json!("decided"), &json!("denied")));
    watching.kill().unwrap();
    watching.wait().unwrap();
}

/// APR-8: a server that is not there, an address that is none, and a token in the open are refused.
#[test]
fn what_is_no_server_is_said_in_one_line() {
    let world = World::with_commit();
    let run = |url: &str| world.run(&["approvals", "list", "--server", url]);
    let nobody = run("http://127.0.0.1:1");
    assert_eq!(nobody.code, Some(1), "{nobody:?}");
    assert!(nobody.stderr.contains("is `aur serve` running there?"), "{nobody:?}");
    assert_eq!(run("ftp://x").code, Some(2));
    let open = world.command(&["approvals", "list", "--server", "http://192.0.2.1"]);
    let open = world.finish({ open }.env("AURORA_TOKEN", "t").spawn().unwrap());
    assert_eq!(open.code, Some(2), "{open:?}");
    assert!(open.stderr.contains("for everybody to read"), "{open:?}");
}
