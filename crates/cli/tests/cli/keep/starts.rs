//! What a process gets, and what is said when it could not be started.

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

/// The files that whoever started this test left open for everybody below.
fn handed_on() -> Vec<String> {
    let open = std::fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    open.filter(|entry| {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        flags.is_some_and(|flags| !flags.trim().starts_with("02"))
    })
    .map(|entry| entry.file_name().into_string().unwrap())
    .collect()
}

// AGT-4
#[test]
fn a_process_gets_its_pipes_and_nothing_else_of_ours() {
    let script = "ls -l /proc/self/fd >&2; grep -E 'Sig(Blk|Ign)' /proc/self/status; \
                  ps -o tty= -p $$; (: < /dev/tty) 2>/dev/null || echo no terminal; env; pwd";
    // Something of ours that must not be handed on.
    let _secret = File::open("/etc/passwd").unwrap();
    let not_ours = handed_on();
    for containment in containments() {
        let mark = mark();
        let mut command = command(containment, &mark, &["sh", "-c", script]);
        command.cwd = PathBuf::from("/usr");
        let (stdout, files, ended) = said(process::start(&keeper(), &command).unwrap());
        assert_eq!(ended, Ended::Code(0));
        let files: Vec<(&str, &str)> = files
            .lines()
            .filter_map(|line| line.rsplit(' ').nth(2).zip(line.rsplit(' ').next()))
            .collect();
        let own = |number: &str| ["0", "1", "2"].contains(&number);
        let pipes = files.iter().filter(|(number, to)| own(number) && to.starts_with("pipe:"));
        assert_eq!(pipes.count(), 3, "{files:?}");
        let strange = |(number, to): &&(&str, &str)| {
            // `ls` itself looks at a folder.
            !(own(number) || to.starts_with("/proc/") || not_ours.iter().any(|one| one == number))
        };
        let strange: Vec<_> = files.iter().filter(strange).collect();
        assert!(strange.is_empty(), "{containment:?}: {strange:?}");
        // The C library ignores two signals of its own, above the first 31.
        let masks: Vec<u64> = stdout
            .lines()
            .filter_map(|line| line.strip_prefix("SigBlk:\t").or(line.strip_prefix("SigIgn:\t")))
            .map(|mask| u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff)
            .collect();
        assert_eq!(masks, [0, 0], "{stdout}");
        assert!(stdout.contains("\n?\n") && stdout.contains("\nno terminal\n"), "{stdout}");
        let env: Vec<&str> = stdout.lines().filter(|line| line.contains('=')).collect();
        let known = ["PATH=", "PWD=/usr", "AURORA_TEST_MARK=", "_=", "OLDPWD", "SHLVL="];
        let is_known = |line: &&&str| known.iter().any(|name| line.starts_with(name));
        assert_eq!(env.iter().filter(is_known).count(), env.len(), "{env:?}");
        assert!(stdout.ends_with("/usr\n"), "{stdout}");
    }
}

// AGT-4
#[test]
fn a_signal_that_our_caller_ignores_is_not_ignored_by_what_is_kept() {
    // The shell ignores three signals and hands that on, as `nohup` does.
    let script = "trap '' HUP INT CHLD; exec \"$0\" \"$@\"";
    let test = "keep::starts::a_process_gets_its_pipes_and_nothing_else_of_ours";
    let output = std::process::Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

// AGT-4
#[test]
fn the_terminal_of_our_caller_is_not_the_terminal_of_what_is_kept() {
    let test = "keep::starts::a_process_gets_its_pipes_and_nothing_else_of_ours";
    let line = format!(
        "(: < /dev/tty) && '{}' --exact {test}",
        std::env::current_exe().unwrap().display()
    );
    let output = std::process::Command::new("script").args(["-qec", &line, "/dev/null"]).output();
    match output {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => eprintln!("SKIPPED: no `script` to make a terminal: {error}"),
    }
}

// AGT-4
#[test]
fn what_is_kept_may_keep_others() {
    for containment in containments() {
        let program = std::env::current_exe().unwrap();
        let test = "keep::starts::the_best_way_is_taken_where_nothing_is_said";
        let argv = [program.to_str().unwrap(), "--exact", test];
        let (stdout, stderr, ended) =
            said(process::start(&keeper(), &command(containment, &mark(), &argv)).unwrap());
        assert!(stdout.contains("1 passed"), "{containment:?}: {stdout}{stderr}");
        assert_eq!(ended, Ended::Code(0));
    }
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
    // A process that is just becoming another program shows no environment for a moment.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        if String::from_utf8_lossy(&environ).contains(&mark) {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "the number is seen from outside");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let (stdout, _, ended) = said(running);
    let numbers: Vec<u32> = stdout.lines().map(|line| line.trim().parse().unwrap()).collect();
    // A heading, the init, the shell, `ps` and `wc`.
    assert!(numbers[0] < 10 && numbers[1] <= 5, "{stdout}");
    assert_eq!(ended, Ended::Code(0));
}

// AGT-4: whoever is inside may look at the files of the first process there, and finds no way out.
#[test]
fn the_first_process_of_a_namespace_has_nothing_open_that_leads_outside() {
    if !containments().contains(&Containment::PidNamespace) {
        return;
    }
    // From the first moment on, and later.
    let script = "look() { for file in /proc/1/fd/*; do readlink \"$file\"; \
                  [ -d \"$file/\" ] && echo \"folder $file\"; done; echo; }; \
                  look; sleep 0.2; look; umount /proc 2>/dev/null && ls /proc/1";
    let not_ours = handed_on();
    let (stdout, stderr, _) = said(shell(Containment::PidNamespace, &mark(), script));
    let looks: Vec<&str> = stdout.split("\n\n").collect();
    assert!(looks.len() >= 2, "{stdout}{stderr}");
    let harmless = |to: &&str| {
        let fresh = to.starts_with("/proc/") && to.contains("/fdinfo/");
        ["pipe:", "socket:", "anon_inode:"].iter().any(|kind| to.starts_with(kind))
            || *to == "/dev/null"
            || fresh
    };
    for (number, look) in looks.iter().take(2).enumerate() {
        assert!(!look.contains("folder "), "{look}");
        let strange: Vec<&str> = look.lines().filter(|to| !harmless(to)).collect();
        assert!(strange.len() <= not_ours.len(), "{number}: {strange:?}");
    }
    assert!(!looks[1].contains("fdinfo"), "the look outside is over: {}", looks[1]);
    let below = looks.get(2).copied().unwrap_or_default();
    assert!(below.trim().is_empty(), "below our /proc is another one: {below}");
}

/// Starts something in the best way that there is; a part that only another test asks for.
#[test]
fn plays_somebody_without_a_choice_when_asked() {
    if std::env::var_os("AURORA_TEST_NO_CHOICE").is_none() {
        return;
    }
    let mut command = command(Containment::Subreaper, &mark(), &["sh", "-c", "echo ran"]);
    command.containment = None;
    let running = process::start(&keeper(), &command).unwrap();
    assert_eq!(running.containment, Containment::Subreaper);
    println!("because: {}", running.why_not_better.clone().unwrap());
    assert_eq!(said(running), ("ran\n".to_owned(), String::new(), Ended::Code(0)));
    command.containment = Some(Containment::PidNamespace);
    assert!(matches!(process::start(&keeper(), &command), Err(Error::Unsupported { .. })));
    assert_eq!(containments(), [Containment::Subreaper]);
}

// AGT-4
#[test]
fn where_a_namespace_is_refused_a_subreaper_holds_and_the_cause_is_told() {
    if !containments().contains(&Containment::PidNamespace) {
        return;
    }
    let cases = [
        // No more namespaces, as administrators have it.
        ("echo 0 > /proc/sys/user/max_pid_namespaces", "the kernel gave no"),
        // A part of /proc is covered, as containers have it: no whole one may be mounted then.
        ("mount -t tmpfs none /proc/sys", "let no /proc be mounted"),
    ];
    for (before, because) in cases {
        // What is prepared in one user namespace cannot be undone in the next.
        let script = format!("set -e; {before}; exec unshare -r -m \"$0\" \"$@\"");
        let output = std::process::Command::new("unshare")
            .args(["-r", "-m", "sh", "-c", &script])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "keep::starts::plays_somebody_without_a_choice_when_asked"])
            .arg("--nocapture")
            .env("AURORA_TEST_NO_CHOICE", "1")
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && stdout.contains(because), "{before}: {output:?}");
    }
}

// AGT-4
#[test]
fn the_best_way_is_taken_where_nothing_is_said() {
    let mut command = command(Containment::Subreaper, &mark(), &["true"]);
    command.containment = None;
    let running = process::start(&keeper(), &command).unwrap();
    assert_eq!(running.containment, containments()[0]);
    assert_eq!(said(running).2, Ended::Code(0));
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
        many.argv.extend((0..30).map(|_| OsString::from("x".repeat(100 << 10))));
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
