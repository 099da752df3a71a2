//! `aur serve` and `aur token`: the program over a real socket, and who it lets decide.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::World;

const PATIENCE: Duration = Duration::from_secs(60);

/// A running server, ended with the test.
struct Served {
    child: Child,
    url: String,
    token: String,
}

impl Served {
    fn start(world: &World) -> Self {
        let mut child = world
            .command(&["serve", "--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on http://").unwrap_or_default().to_owned();
        let told: Value = serde_json::from_str(&world.read("repo/.aurora/serve.json")).unwrap();
        assert_eq!(told["url"], format!("http://{url}"));
        assert_eq!(told["pid"], child.id());
        let token = told["token"].as_str().unwrap_or_default().to_owned();
        Self { child, url, token }
    }

    fn ask(&self, method: &str, path: &str, token: &str, body: Option<&Value>) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.url).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(http(method, path, token, body).as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        answer(&text)
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    fn end(&mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn http(method: &str, path: &str, token: &str, body: Option<&Value>) -> String {
    let body = body.map(ToString::to_string).unwrap_or_default();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Authorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn answer(text: &str) -> (u16, Value) {
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, serde_json::from_str(body).unwrap_or_default())
}

fn asked(served: &Served, agent: &str) -> (String, Value) {
    let call = json!({"tool": "Bash", "args": {"command": "npm publish"}});
    let (status, told) = served.ask("POST", "/api/v1/approvals", agent, Some(&call));
    assert_eq!(status, 201, "{told}");
    assert!(told["reasons"].as_array().is_some_and(|why| !why.is_empty()), "{told}");
    let path = format!("/api/v1/approvals/{}/decision", told["approval_id"].as_str().unwrap());
    (path, json!({"digest": told["digest"], "decision": "approve"}))
}

fn token(world: &World, args: &[&str]) -> (String, String) {
    let args = [&["token", "create", "--json"], args].concat();
    let told = world.run(&args).json();
    let text = |key: &str| told[key].as_str().unwrap().to_owned();
    (text("token"), text("id"))
}

// APR-8
#[test]
fn who_starts_the_server_decides_and_nobody_else_on_the_machine() {
    let world = World::with_commit();
    let (agent, _) = token(&world, &["--person", "claude", "--kind", "agent"]);
    let mut served = Served::start(&world);
    let file = world.path("repo/.aurora/serve.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let (path, yes) = asked(&served, &agent);
    assert_eq!(served.ask("POST", &path, "", Some(&yes)).0, 401, "nobody is anonymous");
    assert_eq!(served.ask("POST", &path, &agent, Some(&yes)).0, 403);
    // A process of an agent's has read the file and uses what is in it.
    let (host, port) = served.url.rsplit_once(':').unwrap();
    let sent = http("POST", &path, &served.token, Some(&yes));
    let script = format!("exec 3<>/dev/tcp/{host}/{port}; printf %s \"$SENT\" >&3; cat <&3");
    let told = Command::new("bash")
        .args(["-c", &script])
        .env("AURORA_RUN", "spawn-1")
        .env("SENT", &sent)
        .output()
        .unwrap();
    let (status, told) = answer(&String::from_utf8_lossy(&told.stdout));
    assert_eq!((status, &told["type"]), (403, &json!("urn:aurora:problem:agents-never-decide")));
    let (status, told) = served.ask("POST", &path, &served.token, Some(&yes));
    assert_eq!((status, &told["state"]), (200, &json!("approved")), "{told}");
    let listed = world.run(&["approvals", "list", "--state", "approved", "--json"]);
    assert!(listed.stdout.contains("npm publish") || listed.code == Some(2), "{}", listed.shown());
    served.signal(Signal::TERM);
    assert_eq!(served.end(), Some(0));
    assert!(!file.exists(), "nothing is left that says it runs");
}

// APR-8
#[test]
fn a_token_holds_until_it_is_taken_back_and_beyond_loopback_one_is_needed() {
    let world = World::with_commit();
    let refused = world.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, Some(2), "{}", refused.shown());
    assert!(refused.stderr.contains("aur token create --person"), "{}", refused.shown());
    let (ana, id) = token(&world, &["--person", "ana", "--role", "lead", "--expires", "1d"]);
    let (agent, _) = token(&world, &["--person", "claude", "--kind", "agent"]);
    assert!(ana.starts_with("aur_") && ana.len() == 68, "{ana}");
    let listed = world.run(&["token", "list"]);
    assert!(listed.stdout.contains(&id) && !listed.stdout.contains(&ana), "{}", listed.shown());
    let mut served = Served::start(&world);
    assert_eq!(served.token, "", "people have tokens of their own");
    let (status, told) = served.ask("GET", "/api/v1/whoami", &ana, None);
    assert_eq!((status, &told["name"], &told["roles"]), (200, &json!("ana"), &json!(["lead"])));
    let (path, yes) = asked(&served, &agent);
    assert_eq!(world.run(&["token", "revoke", &id]).code, Some(0));
    assert_eq!(served.ask("POST", &path, &ana, Some(&yes)).0, 401, "from the next request on");
    assert_eq!(world.run(&["token", "revoke", "tok-nobody"]).code, Some(2));
    let kept = world.run(&["audit", "show", "--stream", "tokens", "--json"]);
    assert!(kept.stdout.contains("token_revoked") && !kept.stdout.contains(&ana));
    served.signal(Signal::INT);
    assert_eq!(served.end(), Some(0));
}

// APR-8
#[test]
fn an_agent_cannot_make_itself_a_token_or_a_server() {
    let world = World::with_commit().with("AURORA_RUN", "spawn-1");
    for args in [
        &["token", "create", "--person", "ana"][..],
        &["token", "revoke", "tok-1"],
        &["serve", "--port", "0"],
    ] {
        let run = world.run(args);
        assert_eq!(run.code, Some(3), "{}", run.shown());
    }
    assert!(!world.path("repo/.aurora").exists());
}
