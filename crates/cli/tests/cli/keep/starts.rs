//! What a process gets, and what is said when it could not be started.

use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn ended(command: &Command) -> Ended {
    process::start(&keeper(), command).unwrap().split().1.wait()
}

fn why(command: &Command) -> String {
    let running = process::start(&keeper(), command).unwrap();
    assert_eq!(running.pid, None);
    match said(running) {
        (stdout, _, Ended::NotStarted { why }) if stdout.is_empty() => why,
        other => panic!("{command:?}: {other:?}"),
    }
}

// AGT-4
#[test]
fn every_exit_code_and_signal_is_told_as_it_was() {
    for containment in containments() {
        let codes: Vec<i32> = (0..=255).collect();
        for code in codes.into_iter().filter(|code| code % 15 == 0 || *code < 4) {
            let script = format!("exit {code}");
            let ended = shell(containment, &mark(), &script).split().1.wait();
            assert_eq!(ended, Ended::Code(code), "{containment:?}");
        }
        for signal in [1, 2, 6, 9, 11, 13, 15] {
            let script = format!("kill -{signal} $$");
            let ended = shell(containment, &mark(), &script).split().1.wait();
            assert_eq!(ended, Ended::Signal(signal), "{containment:?}");
        }
    }
}

// AGT-4
#[test]
fn a_process_gets_its_pipes_and_nothing_else_of_ours() {
    // Something of ours that must not be handed on.
    let secret = File::open("/etc/passwd").unwrap();
    for containment in containments() {
        let mark = mark();
        let script = "ls -l /proc/self/fd | grep -c -- '->'; ls -l /proc/self/fd >&2; \
                      grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; \
                      ps -o tty= -p $$; (: < /dev/tty) 2>/dev/null || echo no terminal; env; pwd";
        let mut command = command(containment, &mark, &["sh", "-c", script]);
        command.cwd = PathBuf::from("/usr");
        let (stdout, files, ended) = said(process::start(&keeper(), &command).unwrap());
        assert_eq!(ended, Ended::Code(0));
        // Its three, and the folder that `ls` itself looks at.
        assert!(stdout.starts_with("4\n"), "{containment:?}: {stdout}\n{files}");
        assert!(!files.contains("socket:") && !files.contains("passwd"), "{files}");
        for name in ["SigBlk", "SigIgn"] {
            assert!(stdout.contains(&format!("{name}:\t0000000000000000\n")), "{stdout}");
        }
        assert!(stdout.contains("\n?\n") && stdout.contains("\nno terminal\n"), "{stdout}");
        let env: Vec<&str> = stdout.lines().filter(|line| line.contains('=')).collect();
        let known = ["PATH=", "PWD=/usr", "AURORA_TEST_MARK=", "_=", "OLDPWD", "SHLVL="];
        let strange: Vec<_> =
            env.iter().filter(|line| !known.iter().any(|name| line.starts_with(name))).collect();
        assert!(strange.is_empty(), "{strange:?}");
        assert!(stdout.ends_with("/usr\n"), "{stdout}");
    }
    assert!(secret.as_raw_fd() > 2);
}

// AGT-4
#[test]
fn a_namespace_shows_a_process_only_what_is_in_it() {
    if !containments().contains(&Containment::PidNamespace) {
        return;
    }
    let mark = mark();
    let running = shell(Containment::PidNamespace, &mark, "echo $$; ps -e | wc -l; cat");
    let pid = running.pid.unwrap();
    let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    assert!(String::from_utf8_lossy(&environ).contains(&mark), "the number is seen from outside");
    let (stdout, _, ended) = said(running);
    let numbers: Vec<u32> = stdout.lines().map(|line| line.trim().parse().unwrap()).collect();
    // A heading, the init, the shell, `ps` and `wc`.
    assert!(numbers[0] < 10 && numbers[1] <= 5, "{stdout}");
    assert_eq!(ended, Ended::Code(0));
}

// AGT-4
#[test]
fn what_cannot_be_started_is_told_with_its_cause() {
    let dir = crate::harness::World::new();
    let script = |name: &str, text: &str, mode: u32| {
        dir.write(name, text);
        let path = dir.path(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let closed = script("closed", "#!/bin/sh\n", 0o644);
    let orphan = script("orphan", "#!/no/such/interpreter -x\n", 0o755);
    let data = script("data", "just text\n", 0o755);
    for containment in containments() {
        let why_of = |argv: &[&str]| why(&command(containment, &mark(), argv));
        assert!(why_of(&["no-such-program-at-all"]).contains("there is no program `no-such"));
        assert_eq!(why_of(&["/no/such/file"]), "there is no program /no/such/file");
        assert_eq!(why_of(&[&closed]), format!("{closed} is not executable"));
        assert!(why_of(&[&orphan]).contains("an interpreter `/no/such/interpreter`"));
        assert!(
            why_of(&[&data]).contains("is no program for this machine"),
            "{}",
            why_of(&[&data])
        );
        assert_eq!(why_of(&["/usr"]), "/usr is a folder, not a program");
        assert_eq!(why_of(&[]), "there is no command");
        assert_eq!(why_of(&[""]), "the program has no name");
        assert!(why_of(&["sh", "a\0b"]).contains("a zero byte"));
        let mut elsewhere = command(containment, &mark(), &["sh"]);
        elsewhere.cwd = PathBuf::from("/no/such/folder");
        assert_eq!(why(&elsewhere), "the folder /no/such/folder does not exist");
        elsewhere.cwd = PathBuf::from("/etc/passwd");
        assert_eq!(why(&elsewhere), "/etc/passwd is no folder");
    }
    let absent = Keeper { program: "/no/such/aur".into(), args: Vec::new() };
    let error = process::start(&absent, &command(Containment::Subreaper, "m", &["sh"]));
    assert!(error.unwrap_err().to_string().contains("/no/such/aur"));
    let silent = Keeper { program: "/bin/true".into(), args: Vec::new() };
    let error = process::start(&silent, &command(Containment::Subreaper, "m", &["sh"]));
    assert!(error.unwrap_err().to_string().contains("the keeper ended early"));
}

// AGT-4
#[test]
fn any_bytes_and_long_arguments_arrive_or_are_refused_clearly() {
    for containment in containments() {
        let mut odd =
            command(containment, &mark(), &["sh", "-c", "printf '%s|%s' \"$1\" \"$V\"", "-"]);
        let bytes = OsString::from_vec((1..=255).collect());
        odd.argv.push(bytes.clone());
        odd.env.insert("V".into(), bytes.clone());
        let (pipes, handle) = process::start(&keeper(), &odd).unwrap().split();
        let mut seen = Vec::new();
        File::from(pipes.stdout).read_to_end(&mut seen).unwrap();
        let all: Vec<u8> = (1..=255).collect();
        assert_eq!(seen, [&all[..], b"|", &all[..]].concat());
        assert_eq!(handle.wait(), Ended::Code(0));

        // A mebibyte in pieces that the kernel takes, and in one that it does not.
        let mut long = command(containment, &mark(), &["true"]);
        long.argv.extend((0..10).map(|_| OsString::from("x".repeat(100 << 10))));
        assert_eq!(ended(&long), Ended::Code(0));
        let mut huge = command(containment, &mark(), &["true"]);
        huge.argv.push("x".repeat(1 << 20).into());
        assert!(why(&huge).contains("argument 1 has 1048576 bytes"), "{}", why(&huge));
        let mut many = command(containment, &mark(), &["true"]);
        many.argv.extend((0..100).map(|_| OsString::from("x".repeat(100 << 10))));
        assert!(why(&many).contains("more than the kernel takes"), "{}", why(&many));
    }
}

// AGT-4
#[test]
fn the_end_of_input_is_seen_and_output_flows_at_full_speed() {
    for containment in containments() {
        let running = shell(containment, &mark(), "cat; echo end >&2");
        assert_eq!(said(running), (String::new(), "end\n".to_owned(), Ended::Code(0)));

        let before = resident();
        let begun = Instant::now();
        let (pipes, handle) = shell(containment, &mark(), "head -c 1073741824 /dev/zero").split();
        let mut stdout = File::from(pipes.stdout);
        let (mut buffer, mut sum) = (vec![0; 1 << 16], 0);
        loop {
            match stdout.read(&mut buffer).unwrap() {
                0 => break,
                count => sum += count,
            }
        }
        assert_eq!((sum, handle.wait()), (1 << 30, Ended::Code(0)));
        assert!(resident() < before + (16 << 10), "memory grew by a flood");
        eprintln!("{containment:?}: a gibibyte in {:?}", begun.elapsed());
    }
}

/// What this process holds in memory, in kibibytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

// AGT-4
#[test]
fn many_starts_leave_no_files_and_no_processes() {
    let files = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    for containment in containments() {
        let mark = mark();
        shell(containment, &mark, ":").split().1.wait();
        let before = files();
        for _ in 0..10 {
            let running: Vec<Running> =
                (0..20).map(|_| shell(containment, &mark, "sleep 600 & echo x")).collect();
            for one in running {
                assert_eq!(said(one), ("x\n".to_owned(), String::new(), Ended::Code(0)));
            }
        }
        assert_eq!(files(), before, "{containment:?}");
        assert_eq!(marked(&mark), Vec::<u32>::new());
        assert!(children(std::process::id()).is_empty(), "a keeper was not waited for");
    }
}
