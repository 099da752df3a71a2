//! How processes that do not want to end are ended.

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::*;

// AGT-4
#[test]
fn what_the_main_process_left_behind_is_gone_before_its_end_is_told() {
    let scripts = [
        // Away: a session of its own, no files of ours, and its parent gone.
        "setsid sh -c 'setsid sleep 600 </dev/null >/dev/null 2>&1 &' & sleep 0.2; exit 7",
        // It holds the output open.
        "(trap '' TERM HUP; sleep 600) & exit 7",
        // Nobody but its parent knows it.
        "sh -c 'sh -c \"sleep 600 & sleep 600\" & sleep 600' & exit 7",
    ];
    for containment in containments() {
        for script in scripts {
            let mark = mark();
            let (_, _, ended) = said(shell(containment, &mark, script));
            assert_eq!(ended, Ended::Code(7), "{script}");
            assert_eq!(marked(&mark), Vec::<u32>::new(), "{containment:?}: {script}");
        }
    }
}

// AGT-4
#[test]
fn a_tree_of_sleepers_in_sessions_of_their_own_is_ended() {
    let script = "for i in 1 2 3 4 5; do setsid sh -c 'trap \"\" TERM INT HUP QUIT; \
                  for j in 1 2 3; do setsid sleep 600 & done; wait' & done; wait";
    for containment in containments() {
        let mark = mark();
        let (pipes, handle) = shell(containment, &mark, script).split();
        until_marked(&mark, 21);
        assert_eq!(kill_and_look(&handle, &mark), Ended::Signal(9));
        // All who could have written are gone.
        let mut rest = Vec::new();
        File::from(pipes.stdout).read_to_end(&mut rest).unwrap();
        File::from(pipes.stderr).read_to_end(&mut rest).unwrap();
        // Said again, it is the same.
        handle.kill();
        handle.terminate();
        assert_eq!(handle.wait(), Ended::Signal(9));
    }
}

// AGT-4
#[test]
fn a_storm_of_forks_is_ended_while_it_rages() {
    let storms = [
        // Each starts the next and ends: a moving target.
        "f() { (f) & }; chain() { while :; do (sleep 0.01 & (true &) ) & wait; done; }; \
         chain & chain & chain & chain",
        // Each sheds children in new sessions as fast as it can.
        "while :; do setsid sleep 5 & setsid sh -c 'sleep 5 & sleep 5' & \
         [ $(ls -d /proc/[0-9]* | wc -l) -gt 400 ] && wait; done",
    ];
    for containment in containments() {
        for script in storms {
            let mark = mark();
            let (_pipes, handle) = shell(containment, &mark, script).split();
            until_marked(&mark, 5);
            assert_eq!(
                kill_and_look(&handle, &mark),
                Ended::Signal(9),
                "{containment:?}: {script}"
            );
        }
    }
}

// AGT-4
#[test]
fn a_chain_that_moves_on_by_forking_is_caught() {
    let program = "import os\n\
                   os.setsid()\n\
                   while True:\n    if os.fork(): os._exit(0)\n";
    if !std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|o| o.status.success())
    {
        eprintln!("SKIPPED: no python3 to fork as fast as the kernel allows");
        return;
    }
    for containment in containments() {
        let mark = mark();
        // The one that starts it stays, so that the chain is what must be caught.
        let script =
            format!("setsid python3 -c '{program}' & setsid python3 -c '{program}' & sleep 600");
        let (_pipes, handle) = shell(containment, &mark, &script).split();
        until_marked(&mark, 4);
        let first = marked(&mark);
        until("the chain moves on", || {
            marked(&mark).iter().filter(|pid| !first.contains(pid)).count() >= 2
        });
        let begun = Instant::now();
        assert_eq!(kill_and_look(&handle, &mark), Ended::Signal(9));
        eprintln!("{containment:?}: caught after {:?}", begun.elapsed());
    }
}

// AGT-4
#[test]
fn a_process_is_asked_to_end_and_may_say_how() {
    for containment in containments() {
        let mark = mark();
        let script = "trap 'echo bye; exit 3' TERM; setsid sleep 600 & echo ready; while :; do sleep 0.01; done";
        let (pipes, handle) = shell(containment, &mark, script).split();
        let mut stdout = File::from(pipes.stdout);
        let mut ready = [0; 6];
        stdout.read_exact(&mut ready).unwrap();
        let is_over = || {
            let mut fds = [PollFd::from_borrowed_fd(handle.fd(), PollFlags::IN)];
            poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() == 1
        };
        assert!(!is_over());
        // One thread waits while another asks.
        let ended = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| handle.wait());
            handle.terminate();
            waiting.join().unwrap()
        });
        assert_eq!(ended, Ended::Code(3));
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "bye\n");
        assert_eq!(marked(&mark), Vec::<u32>::new());
    }
}

/// The state letter of a process.
fn state(pid: u32) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(") ")?.1.chars().next()
}

// AGT-4
#[test]
fn a_frozen_tree_stands_still_goes_on_and_can_be_ended() {
    for containment in containments() {
        let mark = mark();
        let script = "setsid sh -c 'while :; do :; done' & while :; do :; done";
        let (_pipes, handle) = shell(containment, &mark, script).split();
        until_marked(&mark, 2);
        let all_are = |wanted: fn(char) -> bool| {
            marked(&mark).into_iter().all(|pid| state(pid).is_none_or(wanted))
        };
        handle.freeze();
        until("all stopped", || all_are(|state| state == 'T'));
        handle.thaw();
        until("all running", || all_are(|state| state == 'R' || state == 'S'));
        handle.freeze();
        until("all stopped again", || all_are(|state| state == 'T'));
        assert_eq!(kill_and_look(&handle, &mark), Ended::Signal(9));
    }
}

// AGT-4
#[test]
fn forgetting_a_process_ends_it() {
    for containment in containments() {
        let mark = mark();
        let running = shell(containment, &mark, "setsid sleep 600 & sleep 600");
        until_marked(&mark, 3);
        let (_pipes, handle) = running.split();
        drop(handle);
        until("nothing left", || marked(&mark).is_empty());
    }
}
