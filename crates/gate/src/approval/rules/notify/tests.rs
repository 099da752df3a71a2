//! APR-9: channels as people write them, and what is wrong with those that cannot be.

use super::*;
use crate::settings;

fn channels(text: &str) -> (Vec<Channel>, Vec<String>) {
    let mut problems = settings::Problems::new("approvals.yaml");
    let node = settings::read(text, &mut problems).unwrap();
    let channels = read(&node, &mut problems);
    (channels, problems.finish().iter().map(ToString::to_string).collect())
}

/// APR-9: every kind of channel, with everything that it can have.
#[test]
fn every_kind_of_channel_is_read() {
    let (found, problems) = channels(
        "\
- kind: terminal
- {name: desk, kind: desktop, on: [asked, decided, asked], min_tier: high}
- {name: ops, kind: webhook, to: 'https://ops.example.org/hook?a=1', secret_env: [AURORA_NEW, AURORA_OLD]}
- {name: team, kind: slack, secret_env: AURORA_SLACK, link: 'https://aurora.example.org/'}
- {name: own, kind: slack, to: 'http://127.0.0.1:9/hooks/x'}
- {name: phone, kind: ntfy, to: 'https://ntfy.example.org/sub/aurora', secret_file: ntfy, only_for: [ana, 'role:lead']}
- name: mail
  kind: email
  server: smtps://mail.example.org
  from: aurora@example.org
  to: [ana@example.org, ben@example.org]
  user: aurora
  secret_file: mail
- {name: local, kind: email, server: 'smtp://[::1]:2525', from: a@b, to: c@d}
",
    );
    assert_eq!(problems, Vec::<String>::new());
    let names: Vec<&str> = found.iter().map(|channel| channel.name.as_str()).collect();
    assert_eq!(names, ["terminal", "desk", "ops", "team", "own", "phone", "mail", "local"]);
    assert_eq!(found[0].on, Moment::USUAL);
    assert_eq!(found[1].on, [Moment::Asked, Moment::Decided]);
    assert_eq!(found[1].min_tier, Tier::High);
    assert_eq!(found[2].secrets.len(), 2);
    assert_eq!(found[3].link.as_deref(), Some("https://aurora.example.org"));
    assert_eq!(found[5].only_for, [Who::Person("ana".into()), Who::Role("lead".into())]);
    let mail = found[6].mail.as_ref().unwrap();
    assert_eq!(
        (mail.host.as_str(), mail.port, mail.tls),
        ("mail.example.org", 465, MailTls::Implicit)
    );
    let mail = found[7].mail.as_ref().unwrap();
    assert_eq!((mail.host.as_str(), mail.port, mail.tls), ("::1", 2525, MailTls::None));
}

/// APR-9: what a channel cannot be is told with its place, and a secret is never repeated.
#[test]
fn what_cannot_be_is_told_with_its_place_and_without_the_secret() {
    for (text, expected) in [
        ("a: b", "1:1: notify: expected a list of channels"),
        ("- 5", "expected a channel with `kind`"),
        ("- {name: x}", "1:3: notify.1: has no `kind`"),
        ("- {kind: slak}", "did you mean `slack`?"),
        ("- {kind: terminal, to: 'https://h/'}", "a channel of kind terminal has no `to`"),
        ("- {kind: terminal}\n- {kind: terminal}", "2:3: notify.2: there is a channel `terminal`"),
        ("- {kind: terminal, name: a/b}", "make a name"),
        ("- {kind: terminal, on: [askd]}", "did you mean `asked`?"),
        ("- {kind: terminal, min_tier: hihg}", "did you mean `high`?"),
        ("- {kind: terminal, only_for: ['role:']}", "is nobody"),
        ("- {kind: terminal, link: 'https://h/?token=1'}", "a link decides nothing"),
        ("- {kind: terminal, lnk: 'https://h/'}", "did you mean `link`?"),
        ("- {kind: webhook, to: 'https://h/'}", "what it says is signed"),
        ("- {kind: webhook, secret_env: AURORA_S}", "needs one `to`"),
        (
            "- {kind: webhook, to: 'file:///etc/x', secret_env: AURORA_S}",
            "must begin with https://",
        ),
        ("- {kind: webhook, to: 'https://me:s3cret@h/', secret_env: AURORA_S}", "name or password"),
        ("- {kind: webhook, to: 'https://h/', secret_env: s3cret}", "begins with AURORA_"),
        ("- {kind: webhook, to: 'https://h/', secret_env: AWS_S3CRET}", "begins with AURORA_"),
        ("- {kind: webhook, to: 'https://h/', secret_file: ../../s3cret}", "~/.aurora/secrets"),
        ("- {kind: webhook, to: 'https://h/', secret: s3cret}", "does not belong into this file"),
        ("- {kind: slack}", "whoever knows its address"),
        ("- {kind: slack, to: 'https://hooks.slack.com/services/s3cret'}", "is a secret"),
        ("- {kind: ntfy, to: 'https://ntfy.sh/'}", "must end with a topic"),
        ("- {kind: ntfy, to: 'http://n/t', secret_env: AURORA_S}", "nobody reads the token"),
        ("- {kind: email, to: a@b, from: a@b}", "needs `server`"),
        ("- {kind: email, to: a@b, from: a@b, server: 'http://h'}", "smtps:// or smtp://"),
        ("- {kind: email, to: \"a@b>, c\", from: a@b, server: 'smtp://h'}", "no address of mail"),
        ("- {kind: email, to: a@b, from: a@b, server: 'smtp://h', user: u}", "go together"),
    ] {
        let (_, problems) = channels(text);
        let all = problems.join("\n");
        assert!(all.contains(expected), "{text}\n  expected {expected}\n  found {all}");
        let lower = all.to_lowercase();
        assert!(!lower.contains("s3cret"), "{text} gives it away: {all}");
    }
}
