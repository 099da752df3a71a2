//! `aur budget`: shown, set, told over months, and moved from where it once was.

use aurora_model::Timestamp;
use insta::assert_snapshot;

use crate::harness::World;
use crate::log::{self, End, NOW};

fn spent() -> World {
    let world = World::with_commit();
    let store = log::store(&world);
    let october = Timestamp { unix_ms: NOW.unix_ms - 30 * 86_400_000 };
    log::call(&store, october, "spawn-1/sg-1/1", "coder", 2.0, End::Reported(1.5));
    log::call(&store, NOW, "spawn-2/sg-1/1", "coder", 2.0, End::Reported(1.25));
    log::call(&store, NOW, "spawn-2/sg-2/1", "writer", 0.5, End::Unknown);
    log::call(&store, NOW, "spawn-3/sg-1/1", "coder", 0.25, End::Open);
    log::call(&store, NOW, "spawn-3/sg-2/1", "writer", 0.25, End::NotMade);
    world.write("repo/.aurora/policies.yaml", "budget:\n  monthly_limit_usd: 4\n");
    world
}

/// POL-6: limit, spent, reserved, left; what is estimated is told apart from what was reported.
#[test]
fn the_budget_of_a_month_is_shown_by_agent_and_by_run() {
    let world = spent();
    assert_snapshot!(world.run(&["budget", "show", "--month", "2026-11"]).shown(), @r"
    exit: 0
    ----- stdout -----
    2026-11  [###############...............] 50%
      limit     $4.00  (.aurora/policies.yaml:2:22)
      spent     $1.75  (2 calls; $1.25 reported, $0.50 estimated)
      reserved  $0.25  (1 call under way, or never told to be over)
      left      $2.00
      at 80% a warning appears; at the limit further calls are rejected
    by agent
      coder                     $1.25  2 calls, $0.25 reserved
      writer                    $0.50  1 call
    by run
      spawn-2                   $1.75  2 calls
      spawn-3                   $0.00  1 call, $0.25 reserved
    ");
    let json = world.run(&["budget", "show", "--month", "2026-11", "--json"]).json();
    assert_eq!(json["spent_usd"], 1.75);
    assert_eq!(json["estimated_usd"], 0.5);
    assert_eq!(json["reserved_usd"], 0.25);
    assert_eq!(json["left_usd"], 2.0);
    assert_eq!(json["by_agent"]["writer"]["calls"], 1);
    assert_eq!(json["hard_limit_action"], "reject");
    // Whoever stands in another worktree of the repository sees the same ledger.
    world.git(&["worktree", "add", "--quiet", "../other"]);
    let other = world.at("other");
    let seen = other.run(&["budget", "show", "--month", "2026-11", "--json"]).json();
    assert_eq!(seen["spent_usd"], 1.75);
}

/// POL-6: every month, and every call of one.
#[test]
fn the_history_tells_months_and_calls() {
    let world = spent();
    assert_snapshot!(world.run(&["budget", "history"]).shown(), @r"
    exit: 0
    ----- stdout -----
    2026-11      $1.75  2 calls, $0.50 of it estimated, $0.25 reserved
    2026-10      $1.50  1 call
    ");
    assert_snapshot!(world.run(&["budget", "history", "--month", "2026-11"]).shown(), @r"
    exit: 0
    ----- stdout -----
    2026-11-18 00:00 UTC      $1.25  spawn-2/sg-1/1  coder  reported, tokens: 1200 in, 340 out, m-1
    2026-11-18 00:00 UTC      $0.50  spawn-2/sg-2/1  writer  estimated, m-1
    2026-11-18 00:00 UTC      $0.25  spawn-3/sg-1/1  coder  reserved
    2026-11-18 00:00 UTC      $0.00  spawn-3/sg-2/1  writer  not made: the agent could not be started
    ");
    assert_snapshot!(world.run(&["budget", "history", "--month", "november"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: `november` is no month
    hint: write a month like 2026-11
    ");
}

/// POL-6: looking makes no log.
#[test]
fn a_budget_without_a_log_is_shown_and_makes_none() {
    let world = World::with_commit();
    assert_snapshot!(world.run(&["budget", "show", "--month", "2026-11"]).shown(), @r"
    exit: 0
    ----- stdout -----
    2026-11  [..............................] 0%
      limit     $100.00  (built-in defaults)
      spent     $0.00
      reserved  $0.00
      left      $100.00
      at 80% a warning appears; at the limit further calls are rejected
    ");
    assert_eq!(world.run(&["budget", "history"]).stdout, "nothing was spent yet\n");
    assert!(!world.path("repo/.aurora").exists());
}

/// POL-6: one value is written, every other byte stays.
#[test]
fn setting_the_budget_changes_nothing_else_in_the_file() {
    let world = World::with_commit();
    assert_snapshot!(world.run(&["budget", "set", "50"]).shown(), @r"
    exit: 0
    ----- stdout -----
    $50.00 a month, a warning at 80%, then reject: [DIR]/repo/.aurora/policies.yaml
    ");
    assert_eq!(world.read("repo/.aurora/policies.yaml"), "budget:\n  monthly_limit_usd: 50\n");
    world.write(
        "repo/.aurora/policies.yaml",
        "# ours\nsafety:   {auto_branch: false}  # for now\nbudget:\n    monthly_limit_usd: 9 # €\n",
    );
    let set = world.run(&["budget", "set", "12.5", "--warn-at", "70", "--on-limit", "warn"]);
    assert_eq!(set.code, Some(0), "{set:?}");
    assert_eq!(
        world.read("repo/.aurora/policies.yaml"),
        "# ours\nsafety:   {auto_branch: false}  # for now\nbudget:\n    warn_at_percent: 70\n    \
         hard_limit_action: warn\n    monthly_limit_usd: 12.5 # €\n"
    );
}

/// POL-6: what must not or cannot be changed is left as it was, and the reason is told.
#[test]
fn setting_the_budget_is_refused_below_a_lock_and_in_a_broken_file() {
    let world = World::with_commit();
    world.write("home/.aurora/policies.yaml", "budget:\n  locked: true\n  monthly_limit_usd: 5\n");
    assert_snapshot!(world.run(&["budget", "set", "50"]).shown(), @r"
    exit: 2
    ----- stderr -----
    error: cannot set the budget: .aurora/policies.yaml:2:22: budget.monthly_limit_usd: is locked by ~/.aurora/policies.yaml:2:3 at 5.0: 50.0 would loosen it
      hint: a layer below a lock may tighten a value, not loosen it
    hint: nothing was changed
    ");
    assert!(!world.path("repo/.aurora/policies.yaml").exists());
    assert_eq!(world.run(&["budget", "set", "4"]).code, Some(0));
    world.write("repo/.aurora/policies.yaml", "budget: [\n");
    assert_eq!(world.run(&["budget", "set", "3"]).code, Some(2));
    assert_eq!(world.read("repo/.aurora/policies.yaml"), "budget: [\n");
    assert_eq!(world.run(&["budget", "set", "--", "-3"]).code, Some(2));
    assert_eq!(world.run(&["budget", "set", "NaN"]).code, Some(2));
}

/// POL-7: an old budget moves once, with copies of both files, and everything else stays.
#[test]
fn an_old_budget_moves_to_the_policy_once() {
    let world = World::with_commit();
    let old = "editor: vi # mine\nbudget:\n  monthly_limit_usd: 25\n  currency: USD\nlist:\n- a\n";
    world.write("repo/.aurora/config.yaml", old);
    world.write("repo/.aurora/policies.yaml", "# ours\nbudget:\n  warn_at_percent: 50\n");
    let first = world.run(&["budget", "show", "--month", "2026-11"]);
    assert_snapshot!(first.stderr, @r"
    warning: `budget` in .aurora/config.yaml is deprecated and was moved to .aurora/policies.yaml (budget.monthly_limit_usd: 25); not known and left out: budget.currency; copies as they were: config.yaml.bak, policies.yaml.bak
    ");
    assert!(first.stdout.contains("limit     $25.00"), "{first:?}");
    assert_eq!(
        world.read("repo/.aurora/policies.yaml"),
        "# ours\nbudget:\n  monthly_limit_usd: 25\n  warn_at_percent: 50\n"
    );
    assert_eq!(
        world.read("repo/.aurora/config.yaml"),
        "editor: vi # mine\n# `budget` is in policies.yaml now\nlist:\n- a\n"
    );
    assert_eq!(world.read("repo/.aurora/config.yaml.bak"), old);
    assert_eq!(
        world.list("repo/.aurora"),
        ["config.yaml", "config.yaml.bak", "policies.yaml", "policies.yaml.bak"]
    );
    let second = world.run(&["budget", "show", "--month", "2026-11"]);
    assert_eq!((second.stderr.as_str(), second.stdout), ("", first.stdout));
    // Somebody puts it back: the new file wins, and older copies stay.
    world.write("repo/.aurora/config.yaml", "budget: {monthly_limit_usd: 99}\n");
    let third = world.run(&["budget", "set", "--warn-at", "60"]);
    assert_snapshot!(third.stderr, @r"
    warning: `budget` in .aurora/config.yaml is deprecated and was moved to .aurora/policies.yaml; budget.monthly_limit_usd stays 25, .aurora/config.yaml said 99; copies as they were: config.yaml.bak.1
    ");
    assert!(world.read("repo/.aurora/policies.yaml").contains("monthly_limit_usd: 25\n"));
    assert_eq!(world.read("repo/.aurora/config.yaml.bak"), old);
    assert_eq!(world.read("repo/.aurora/config.yaml.bak.1"), "budget: {monthly_limit_usd: 99}\n");
}

/// POL-7: what cannot be read, or would make no policy, is told, and nothing is changed.
#[test]
fn an_old_budget_that_cannot_be_moved_is_left_alone() {
    let world = World::with_commit();
    for old in ["budget: [\n", "budget:\n  monthly_limit_usd: lots\n"] {
        world.write("repo/.aurora/config.yaml", old);
        let run = world.run(&["budget", "show"]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.starts_with("error: cannot move `budget` from"), "{run:?}");
        assert_eq!(world.read("repo/.aurora/config.yaml"), old);
        assert_eq!(world.list("repo/.aurora"), ["config.yaml"]);
    }
    // A file that has nothing to do with it may look as it likes.
    world.write("repo/.aurora/config.yaml", "x: [\n");
    assert_eq!(world.run(&["budget", "show"]).code, Some(0));
}

/// POL-6: what happens near the limit and at it is set without saying the limit again.
#[test]
fn the_warning_and_the_action_are_set_without_the_limit() {
    let world = World::with_commit();
    for args in [&["--warn-at", "70"][..], &["--on-limit", "warn"]] {
        let set = world.run(&[&["budget", "set"], args].concat());
        assert_eq!(set.code, Some(0), "{set:?}");
    }
    let shown = world.run(&["budget", "show", "--json"]).json();
    assert_eq!(
        (&shown["warn_at_percent"], &shown["hard_limit_action"]),
        (&70.into(), &"warn".into())
    );
    assert_eq!(shown["limit_usd"], 100.0);
    let nothing = world.run(&["budget", "set"]);
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
}

/// POL-6: amounts are written with the same digits, and add up.
#[test]
fn amounts_have_the_same_digits_and_add_up() {
    let world = World::with_commit();
    let store = log::store(&world);
    log::call(&store, NOW, "spawn-2/sg-1/1", "coder", 2.0, End::Reported(0.000_64));
    let shown = world.run(&["budget", "show", "--month", "2026-11"]);
    for part in
        ["limit     $100.0000", "spent     $0.0006", "reserved  $0.0000", "left      $99.9994"]
    {
        assert!(shown.stdout.contains(part), "{part}: {shown:?}");
    }
}
