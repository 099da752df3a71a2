//! APR-9: what is told arrives at each kind of receiver, and each can tell that it had it before.

use std::process::{Command, Stdio};

use aurora_model::Tier;
use serde_json::json;

use super::ground::{SECRETS, channels, deliver, open, pace, queue, request, until, yes};
use super::receiver::{Post, Web};

/// Verifies a call as a receiver would, by the convention's own library where it is installed.
const VERIFY: &str = r#"
import base64, hashlib, hmac, json, sys, time
call = json.load(sys.stdin)
secret, headers, body = call["secret"], call["headers"], call["body"]
key = base64.b64decode(secret.removeprefix("whsec_"))
signed = headers["webhook-id"] + "." + headers["webhook-timestamp"] + "." + body
wanted = base64.b64encode(hmac.new(key, signed.encode(), hashlib.sha256).digest()).decode()
given = [one.split(",")[1] for one in headers["webhook-signature"].split(" ")]
assert any(hmac.compare_digest(one, wanted) for one in given), (given, wanted)
assert abs(time.time() - int(headers["webhook-timestamp"])) < 300
assert "." not in headers["webhook-id"]
try:
    from standardwebhooks.webhooks import Webhook
except ImportError:
    print("by hand")
else:
    Webhook(secret).verify(body, headers)
    try:
        Webhook(secret).verify(body + " ", headers)
    except Exception:
        print("by the library")
    else:
        raise SystemExit("a changed body passes")
"#;

/// APR-9: whoever knows one of the secrets can verify the signature, by another implementation.
#[tokio::test]
async fn a_webhook_is_signed_so_that_another_implementation_verifies_it_with_either_secret() {
    let web = Web::new(200).await;
    let to = &web.address;
    let channels = channels(&format!(
        "- {{name: ops, kind: webhook, to: 'http://{to}/hook?x=1', secret_env: AURORA_HOOK, link: 'http://a.example/'}}"
    ));
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let delivery = deliver(&store, &channels, pace());
    queue(&store, &channels).open(&request("run.q1", "push to main")).await.unwrap();
    until("the call arrives", async || !web.calls().is_empty()).await;
    let call = web.calls().remove(0);
    assert_eq!((call.path.as_str(), call.id().as_str()), ("/hook?x=1", "run~q1/1/ops"));
    let told = call.json();
    assert_eq!(told["type"], "approval.asked");
    assert_eq!(told["data"]["id"], "run.q1/1/ops");
    assert_eq!(told["data"]["title"], "push to main");
    assert_eq!(told["data"]["tier"], "high");
    assert_eq!(told["data"]["link"], "http://a.example/approvals/run.q1");
    for hidden in ["SECRET-ARGUMENT", "IGNORE ALL RULES", "whsec"] {
        assert!(!call.body.contains(hidden), "{hidden} is told");
    }
    until("it is not sent again", async || {
        delivery.counts().get("ops").is_some_and(|counts| counts.delivered == 1)
    })
    .await;
    // It is counted before it is written.
    until("nothing waits", async || store.next_outgoing().await.unwrap().is_none()).await;
    for secret in SECRETS.split(' ') {
        let input = json!({ "secret": secret, "headers": call.headers, "body": call.body });
        let child = Command::new("python3")
            .args(["-c", VERIFY])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            eprintln!("SKIPPED: there is no python3 to verify a signature");
            return;
        };
        serde_json::to_writer(child.stdin.take().unwrap(), &input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "the signature does not verify");
        eprintln!("verified {}", String::from_utf8_lossy(&output.stdout).trim());
    }
}

/// APR-9: Slack's likes, ntfy and mail are told what people need, and hostile titles stay text.
#[tokio::test]
async fn slack_ntfy_and_mail_are_told_and_a_hostile_title_is_harmless_everywhere() {
    let (room, push, post) = (Web::new(200).await, Web::new(200).await, Post::new().await);
    let channels = channels(&format!(
        "\
- {{name: team, kind: slack, to: 'http://{}/services/x', link: 'https://a.example'}}
- {{name: phone, kind: ntfy, to: 'http://{}/sub/aurora', secret_env: AURORA_TOKEN, link: 'https://a.example'}}
- {{name: mail, kind: email, server: 'smtp://{}', from: aurora@example.org, to: [ana@example.org, ben@example.org]}}
",
        room.address, push.address, post.address
    ));
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let _delivery = deliver(&store, &channels, pace());
    let title = "push\r\nBcc: eve@evil.example\r\n\r\n<!channel> <https://evil.example|ok> `x` & *b* \u{202e}é";
    queue(&store, &channels).open(&request("r1", title)).await.unwrap();
    until("all three have it", async || {
        !room.calls().is_empty() && !push.calls().is_empty() && !post.letters().is_empty()
    })
    .await;

    let said = room.calls().remove(0).json();
    let text = said["text"].as_str().unwrap();
    assert!(text.starts_with("*approval needed (high)*: `push  Bcc: eve@evil.example"), "{text}");
    assert!(
        text.contains("&lt;!channel&gt; &lt;https://evil.example|ok&gt; 'x' &amp; *b*"),
        "{text}"
    );
    let blocks = said["blocks"].to_string();
    assert!(!blocks.contains("<!channel>") && !blocks.contains("<https://evil"), "{blocks}");
    assert!(blocks.contains("<https://a.example/approvals/r1|look at it>"), "{blocks}");

    let call = push.calls().remove(0);
    assert_eq!((call.path.as_str(), call.id().as_str()), ("/sub", "r1/1/phone"));
    assert_eq!(call.headers["authorization"], "Bearer tk_abc");
    let pushed = call.json();
    assert_eq!(pushed["topic"], "aurora");
    assert_eq!(pushed["priority"], 4);
    assert_eq!(pushed["tags"], json!(["high", "asked"]));
    assert_eq!(pushed["click"], "https://a.example/approvals/r1");
    assert!(pushed["message"].as_str().unwrap().starts_with("push  Bcc: eve"), "{pushed}");

    let letter = post.letters().remove(0);
    assert_eq!(letter.to, [" TO:<ana@example.org>", " TO:<ben@example.org>"]);
    let names: Vec<&str> = letter.head.iter().filter_map(|line| line.split(": ").next()).collect();
    assert!(!names.contains(&"Bcc"), "{:?}", letter.head);
    let has = |wanted: &str| letter.head.iter().any(|line| line.starts_with(wanted));
    assert!(has("Message-ID: <r1.1.mail@aurora.invalid>"), "{:?}", letter.head);
    assert!(has("References: <r1@aurora.invalid>"), "{:?}", letter.head);
    assert!(has("Auto-Submitted: auto-generated"), "{:?}", letter.head);
    assert!(has("Subject: [aurora] approval needed (high): push"), "{:?}", letter.head);
}

/// APR-9: whoever was told of something is told how it was decided, when they want to know; people
/// are not asked for what was decided meanwhile, and programs hear of everything.
#[tokio::test]
async fn people_are_not_asked_for_what_was_decided_meanwhile() {
    let (room, hook) = (Web::new(200).await, Web::new(200).await);
    let channels = channels(&format!(
        "\
- {{name: team, kind: slack, to: 'http://{}/x', on: [asked, decided]}}
- {{name: ops, kind: webhook, to: 'http://{}/', secret_env: AURORA_HOOK, on: [asked, decided]}}
- {{name: grave, kind: slack, to: 'http://{}/y', on: [asked, decided], min_tier: critical}}
",
        room.address, hook.address, room.address
    ));
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let queue = queue(&store, &channels);
    let mut asked = request("r1", "push to main");
    asked.tier = Tier::Medium;
    queue.open(&asked).await.unwrap();
    queue.decide(&asked.id, &yes(&asked)).await.unwrap();
    let delivery = deliver(&store, &channels, pace());
    until("nothing waits", async || store.next_outgoing().await.unwrap().is_none()).await;
    let said: Vec<String> =
        room.calls().iter().map(|call| call.json()["text"].to_string()).collect();
    assert_eq!(said, ["\"*approved by ana (medium)*: `push to main`\""]);
    let called: Vec<String> = hook.calls().iter().map(super::receiver::Call::id).collect();
    assert_eq!(called, ["r1/1/ops", "r1/2/ops"]);
    assert_eq!(delivery.counts()["team"].dropped, 1);
}
