//! `aur policy suggest`: what people decided becomes rules to paste, and nothing is written.

use aurora_gate::approval::digest_of;
use aurora_model::{ActionType, Autonomy, Choice, Request, Tier};
use serde_json::json;

use super::asking::{call, decide, open};
use crate::harness::World;

/// A file that an agent wants to write.
fn wish(name: &str, path: &str) -> Request {
    let mut request = call(name, "repo.write_file", json!({ "path": path, "content": "x" }));
    request.subject.tier = Tier::Low;
    request.subject.autonomy = Autonomy::Supervised;
    request.subject.targets = Vec::new();
    request.digest = digest_of(&request.subject);
    request.tier = Tier::Low;
    request.autonomy = Autonomy::Supervised;
    request.actions = vec![ActionType::parse("docs:write").unwrap()];
    request
}

/// APR-3: narrow, with a back-test, with an end, and a person adds it.
#[test]
fn what_people_always_allow_is_proposed_and_written_nowhere() {
    let world = World::with_commit();
    let nothing = world.run(&["policy", "suggest"]);
    assert_eq!(nothing.stdout, "nothing to propose: 0 decided operations looked at\n");
    for n in 1..=5 {
        let request = wish(&format!("spawn-7.q{n}"), &format!("docs/page{n}.md"));
        open(&world, &request);
        decide(&world, &request, "ana", Choice::Allow, "fine");
    }
    let no = wish("spawn-7.q9", "src/main.rs");
    open(&world, &no);
    decide(&world, &no, "ana", Choice::Deny, "not that");

    let told = world.run(&["policy", "suggest", "--json"]).json();
    let proposals = told["proposals"].as_array().unwrap();
    assert_eq!((told["looked_at"].as_u64(), proposals.len()), (Some(6), 1), "{told}");
    let one = &proposals[0];
    assert_eq!(one["kind"], "docs:write");
    assert_eq!(one["back_test"]["rightly"].as_array().unwrap().len(), 5);
    assert_eq!(one["back_test"]["wrongly"], json!([]));
    assert_eq!(one["back_test"]["still_asked"], 1);
    assert!(!world.path("repo/.aurora/policies.yaml").exists(), "a person adds it");

    let text = world.run(&["policy", "suggest"]).stdout;
    assert!(
        text.contains("would have allowed 5 rightly, 0 wrongly, and left 1 to a person"),
        "{text}"
    );
    assert_eq!(world.run(&["policy", "suggest", "--min", "6"]).code, Some(0));
    let seldom = world.run(&["policy", "suggest", "--min", "6", "--json"]).json();
    assert_eq!(seldom["proposals"], json!([]));

    // What is printed is a policy file as it stands.
    world.write("repo/.aurora/policies.yaml", &text);
    let shown = world.run(&["policy", "show"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.stdout.contains(one["id"].as_str().unwrap()), "{}", shown.stdout);
    let again = world.run(&["policy", "suggest", "--json"]).json();
    assert_eq!(again["proposals"], json!([]), "what a rule answers is not proposed again");
}
