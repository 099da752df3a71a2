//! What is left when those die who keep processes: nothing.

use super::*;

const TREE: &str = "setsid sh -c 'trap \"\" TERM; setsid sleep 600 & sleep 600; sleep 600' & \
                    setsid sleep 600 & sleep 600";

/// The keeper of something that was started by this process.
fn keepers() -> Vec<u32> {
    children(std::process::id())
}

/// Plays the one who starts something and then is killed; a part that only other tests ask for.
#[test]
fn plays_a_starter_when_asked() {
    let Some(containment) = std::env::var_os("AURORA_TEST_STARTER") else { return };
    let containment = Containment::ALL.into_iter().find(|one| containment == one.name()).unwrap();
    let mark = std::env::var("AURORA_TEST_STARTER_MARK").unwrap();
    // One after the other, so that a moment of any kind may be the last.
    let all: Vec<Running> = (0..4).map(|_| shell(containment, &mark, TREE)).collect();
    let ended: Vec<Ended> = all.into_iter().map(|running| running.split().1.wait()).collect();
    panic!("it outlived its test: {ended:?}");
}

/// Starts that part in a process of its own. Its keepers, too, are found by the mark: it is in the
/// path of their program.
fn starter(containment: Containment, mark: &str, aur: &Path) -> std::process::Child {
    let part: [(&str, &Path); 3] = [
        ("AURORA_TEST_STARTER", Path::new(containment.name())),
        ("AURORA_TEST_STARTER_MARK", Path::new(mark)),
        ("AURORA_TEST_AUR", aur),
    ];
    again("keep::survives::plays_a_starter_when_asked", &part)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The program under another path, which names the mark.
struct Named(PathBuf);

impl Named {
    fn new(mark: &str) -> Self {
        let path = keeper().program.with_file_name(format!("aur-{mark}"));
        let hard = std::fs::hard_link(keeper().program, &path);
        // A user who may not write there has another place.
        let path =
            hard.map_or_else(|_| std::env::temp_dir().join(format!("aur-{mark}")), |()| path);
        if !path.exists() {
            std::fs::copy(keeper().program, &path).unwrap();
        }
        Self(path)
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

// AGT-4
#[test]
fn killing_the_one_who_starts_at_any_moment_leaves_nothing() {
    let mut moments = 0x2545_f491_4f6c_dd1d_u64;
    for containment in containments() {
        for _ in 0..20 {
            moments = moments.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mark = mark();
            let aur = Named::new(&mark);
            let mut starter = starter(containment, &mark, &aur.0);
            let moment = Duration::from_micros((moments >> 33) % 80_000);
            until("the moment", {
                let begun = Instant::now();
                move || begun.elapsed() >= moment
            });
            starter.kill().unwrap();
            starter.wait().unwrap();
            until("nothing left", || marked(&mark).is_empty());
        }
    }
}

// AGT-4
#[test]
fn killing_the_one_who_started_it_leaves_nothing() {
    for containment in containments() {
        let mark = mark();
        let aur = Named::new(&mark);
        let mut starter = starter(containment, &mark, &aur.0);
        // The starter itself carries the mark, too.
        until_marked(&mark, 1 + 4 * (2 + 6));
        starter.kill().unwrap();
        starter.wait().unwrap();
        until("nothing left", || marked(&mark).is_empty());
    }
}

// AGT-4
#[test]
fn killing_the_keeper_or_its_init_leaves_nothing() {
    for containment in containments() {
        for victim in ["keeper", "init"] {
            let mark = mark();
            let running = shell(containment, &mark, TREE);
            until_marked(&mark, 6);
            let keeper = keepers()[0];
            let pid = if victim == "keeper" { keeper } else { children(keeper)[0] };
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
            let (_pipes, handle) = running.split();
            assert_eq!(handle.wait(), Ended::Lost);
            assert_eq!(marked(&mark), Vec::<u32>::new(), "{containment:?} without its {victim}");
        }
    }
}

// AGT-4
#[test]
fn a_process_cannot_end_its_keeper_in_a_namespace() {
    if !containments().contains(&Containment::PidNamespace) {
        return;
    }
    let mark = mark();
    let script = "trap '' TERM; setsid sleep 600 & kill -TERM -1; kill -9 1; sleep 600 & echo $(kill -0 1 && echo still)";
    let (stdout, _, ended) = said(shell(Containment::PidNamespace, &mark, script));
    assert_eq!((stdout.as_str(), ended), ("still\n", Ended::Code(0)));
    assert_eq!(marked(&mark), Vec::<u32>::new());
}

// AGT-4
#[test]
fn a_user_without_privileges_is_held_as_well() {
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let able = std::process::Command::new("setpriv").args(nobody).arg("true").output();
    if !able.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: setpriv cannot become another user here");
        return;
    }
    // Both programs may lie where another user cannot reach them.
    let world = crate::harness::World::new();
    let (test, aur) = (world.path("test"), world.path("aur"));
    std::fs::copy(std::env::current_exe().unwrap(), &test).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_aur"), &aur).unwrap();
    let tests = [
        "keep::starts::a_process_gets_its_pipes_and_nothing_else_of_ours",
        "keep::starts::a_namespace_shows_a_process_only_what_is_in_it",
        "keep::ends::what_the_main_process_left_behind_is_gone_before_its_end_is_told",
        "keep::ends::a_tree_of_sleepers_in_sessions_of_their_own_is_ended",
        "keep::ends::a_storm_of_forks_is_ended_while_it_rages",
        "keep::ends::a_frozen_tree_stands_still_goes_on_and_can_be_ended",
        "keep::survives::killing_the_one_who_started_it_leaves_nothing",
        "keep::survives::killing_the_keeper_or_its_init_leaves_nothing",
        "keep::survives::a_process_cannot_end_its_keeper_in_a_namespace",
        "keep::survives::plays_somebody_without_privileges_when_asked",
    ];
    let output = std::process::Command::new("setpriv")
        .args(nobody)
        .arg(&test)
        .args(["--exact", "--test-threads=1", "--nocapture"])
        .args(tests)
        .current_dir("/")
        .env("AURORA_TEST_AUR", &aur)
        .env("AURORA_TEST_NOBODY", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    eprintln!("{stderr}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains(&format!("test result: ok. {} passed", tests.len())), "{stdout}");
}

/// Is who it was, and has no rights that it had not; a part that only another test asks for.
#[test]
fn plays_somebody_without_privileges_when_asked() {
    if std::env::var_os("AURORA_TEST_NOBODY").is_none() {
        return;
    }
    for containment in containments() {
        let script = "id -u; id -g; grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status";
        let (stdout, _, ended) = said(shell(containment, &mark(), script));
        let none = "0000000000000000";
        let expected =
            ["CapInh", "CapPrm", "CapEff", "CapAmb"].map(|name| format!("{name}:\t{none}\n"));
        assert_eq!(stdout, format!("65534\n65534\n{}", expected.concat()), "{containment:?}");
        assert_eq!(ended, Ended::Code(0));
    }
}
