//! Agents cannot decide: not what their own run asks, and not by another way to start us.

use super::asking::{open, push};
use crate::log;
use crate::spawn::Scratch;

/// APR-8: an agent that calls `aur approvals approve` itself is refused, also where it takes away the
/// mark of its environment, or starts us from a process that outlives its parent.
#[test]
fn an_agent_that_approves_its_own_request_is_refused() {
    let aur = env!("CARGO_BIN_EXE_aur");
    let scratch = Scratch::new("", "# Try\n- [ ] Approve it <!-- id: a -->\n");
    let (repo, dir) = (scratch.world.path("repo"), scratch.world.dir.clone());
    let (repo, dir) = (repo.display(), dir.display());
    let approve = format!("{aur} approvals approve spawn-7.q3 --yes");
    let script = format!(
        "cd {repo}\n{approve} 2>{dir}/first; echo $? >>{dir}/first\n\
         env -i HOME=/nowhere PATH=$PATH {approve} 2>{dir}/second; echo $? >>{dir}/second\n\
         (setsid bash -c 'unset AURORA_RUN; {approve} 2>{dir}/third; echo $? >>{dir}/third' &)\n\
         while ! grep -q '^[0-9]' {dir}/third; do sleep 0.05; done\n"
    );
    scratch.world.write("try.sh", &script);
    let scenario = format!("tasks:\n  a: [{{run: [bash, {dir}/try.sh]}}]\n");
    scratch.world.write("repo/.aurora/scenario.yaml", &scenario);
    drop(log::store(&scratch.world));
    open(&scratch.world, &push("spawn-7.q3"));
    let told = scratch.spawn();
    assert_eq!(told.run.code, Some(0), "{:?}", told.run);
    for (name, what) in [
        ("first", "an agent of spawn-"),
        ("second", "a process that an agent started"),
        ("third", "a process that an agent started"),
    ] {
        let said = scratch.world.read(name);
        assert!(said.contains(&format!("approving is for people, and this is {what}")), "{said}");
        assert_eq!(said.lines().last(), Some("3"), "{said}");
    }
    let json = scratch.world.run(&["approvals", "show", "spawn-7.q3", "--json"]).json();
    assert_eq!(json["state"], "pending");
}
