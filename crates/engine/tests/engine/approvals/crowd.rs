//! A thousand who decide at once, from several threads, logs and processes, and the timer besides.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread;

use super::*;
use aurora_engine::approvals::Timekeeper;

/// Says to a child where the log is, and who it is.
const DECIDE: &str = "AURORA_ENGINE_DECIDE";

/// What one of the crowd was told: that they decided, or who or what did.
type Told = Vec<(String, Result<String, String>)>;

/// Many decide at once, half of them yes and half of them no.
async fn crowd(queue: &Queue, request: &Request, who: &str, size: usize) -> Told {
    let all: Vec<_> = (0..size)
        .map(|n| {
            let (queue, request) = (queue.clone(), request.clone());
            let name = format!("{who}-{n}");
            tokio::spawn(async move {
                let choice = if n % 2 == 0 { Choice::Allow } else { Choice::Deny };
                let told = queue.decide(&request.id, &saying(&request, choice, &name)).await;
                let told = match told {
                    Ok(standing) => Ok(Refused::closed(&standing).to_string()),
                    Err(Error::Request { refused, .. }) => Err(refused.to_string()),
                    Err(error) => panic!("{name}: {error}"),
                };
                (name, told)
            })
        })
        .collect();
    let mut told = Vec::new();
    for one in all {
        told.push(one.await.unwrap());
    }
    told
}

/// Exactly one outcome, and everybody was told the truth about it.
async fn is_true(queue: &Queue, request: &Request, told: &Told) -> ApprovalState {
    let standing = queue.load(&request.id).await.unwrap().unwrap();
    let truth = Refused::closed(&standing).to_string();
    let won: Vec<&String> =
        told.iter().filter(|(_, told)| told.is_ok()).map(|(name, _)| name).collect();
    let by = standing.decision.as_ref().map(|decision| &decision.by.name);
    assert_eq!(won, by.into_iter().collect::<Vec<_>>(), "who won is who is recorded");
    let mut said: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, told) in told {
        let (Ok(text) | Err(text)) = told;
        *said.entry(text).or_default() += 1;
    }
    assert_eq!(said, BTreeMap::from([(truth.as_str(), told.len())]));
    let ends = kinds(queue, request.id.as_str()).await;
    assert_eq!(ends.len(), 2, "{ends:?}");
    standing.state
}

/// A request that ends so many milliseconds from now.
fn ends_in(name: &str, ms: i64) -> Request {
    let asked_at = Timestamp { unix_ms: SystemClock.now().unix_ms - 3_600_000 + ms };
    asked(name, asked_at, rule("deny", json!({ "timeout_s": 3600 })))
}

// APR-2, APR-6: long before its end, in the midst of it, and when it is over.
#[test]
fn apr_2_a_thousand_deciders_and_the_timer_have_one_outcome_and_all_are_told_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    for (round, ms) in [("early", 3_000_000), ("midst", 150), ("midst-2", 60), ("over", 0)] {
        let request = ends_in(round, ms);
        let ours = file(folder.path());
        run(real_queue(ours).open(&request)).unwrap();
        // Each thread has a log and a runtime of its own, as a process would.
        let threads: Vec<_> = (0..4)
            .map(|n| {
                let (folder, request) = (folder.path().to_owned(), request.clone());
                thread::spawn(move || {
                    run(async {
                        let queue = real_queue(file(&folder));
                        let _keeper = Timekeeper::start(queue.clone());
                        crowd(&queue, &request, &format!("t{n}"), 250).await
                    })
                })
            })
            .collect();
        let told: Told = threads.into_iter().flat_map(|one| one.join().unwrap()).collect();
        assert_eq!(told.len(), 1000);
        let state = run(is_true(&real_queue(file(folder.path())), &request, &told));
        println!("{round}: {state:?}");
        match round {
            "early" => assert!(matches!(state, ApprovalState::Approved | ApprovalState::Denied)),
            "over" => assert_eq!(state, ApprovalState::TimedOut),
            _ => {}
        }
    }
}

// APR-2: the same in memory, where nothing slows the crowd down.
#[test]
fn apr_2_a_thousand_deciders_in_one_process_have_one_outcome() {
    run(async {
        for round in 0..5 {
            let queue = real_queue(Arc::new(MemoryStore::new()));
            let request = ends_in("one", 40 * round);
            queue.open(&request).await.unwrap();
            let _keeper = Timekeeper::start(queue.clone());
            let told = crowd(&queue, &request, "m", 1000).await;
            is_true(&queue, &request, &told).await;
        }
    });
}

// APR-8: a crowd that must be three: three different people, and no more.
#[test]
fn apr_8_of_a_crowd_exactly_as_many_are_counted_as_must() {
    on_both(|store| async move {
        let queue = real_queue(store);
        let mut request = ends_in("one", 3_000_000);
        request.ruling.quorum = 3;
        queue.open(&request).await.unwrap();
        let all: Vec<_> = (0..120)
            .map(|n| {
                let (queue, request) = (queue.clone(), request.clone());
                // Everybody says it twice at once.
                let saying = saying(&request, Choice::Allow, &format!("p{}", n / 2));
                tokio::spawn(async move { queue.decide(&request.id, &saying).await.is_ok() })
            })
            .collect();
        let mut counted = 0;
        for one in all {
            counted += usize::from(one.await.unwrap());
        }
        assert_eq!(counted, 3);
        let history = kinds(&queue, "one").await;
        assert_eq!(history, ["requested", "voted", "voted", "decided"]);
        let standing = queue.load(&request.id).await.unwrap().unwrap();
        let mut names: Vec<&str> =
            standing.votes.iter().map(|vote| vote.by.name.as_str()).collect();
        names.push(standing.decision.as_ref().unwrap().by.name.as_str());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 3, "{names:?}");
    });
}

/// In a child: waits for the word, decides as a crowd, and says what each was told.
#[test]
fn a_process_of_the_crowd_decides_when_it_is_told_to() {
    let Ok(told) = std::env::var(DECIDE) else { return };
    let (who, folder) = told.split_once(' ').unwrap();
    run(async {
        let queue = real_queue(file(Path::new(folder)));
        let request = queue.load(&id("one")).await.unwrap().unwrap().request;
        println!("ready");
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
        for (name, told) in crowd(&queue, &request, who, 50).await {
            match told {
                Ok(text) => println!("won {name} {text}"),
                Err(text) => println!("told {name} {text}"),
            }
        }
    });
}

fn child(who: &str, folder: &Path) -> Child {
    let test = "approvals::crowd::a_process_of_the_crowd_decides_when_it_is_told_to";
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(DECIDE, format!("{who} {}", folder.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

// APR-2: the trap of the lock within one process: here are four, and the timer in a fifth.
#[test]
fn apr_2_processes_that_decide_at_once_have_one_outcome_and_are_told_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let request = ends_in("one", 3_000_000);
    run(real_queue(file(folder.path())).open(&request)).unwrap();
    let mut children: Vec<(Child, _)> = (0..4)
        .map(|n| {
            let mut child = child(&format!("c{n}"), folder.path());
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            while !lines.next().unwrap().unwrap().ends_with("ready") {}
            (child, lines)
        })
        .collect();
    let told: Told = run(async {
        let queue = real_queue(file(folder.path()));
        let _keeper = Timekeeper::start(queue);
        for (child, _) in &mut children {
            child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        }
        let mut told = Told::new();
        for (mut child, lines) in children {
            for line in lines {
                let line = line.unwrap();
                let mut words = line.splitn(3, ' ');
                let (what, name) = (words.next(), words.next().unwrap_or_default().to_owned());
                let text = words.next().unwrap_or_default().to_owned();
                match what {
                    Some("won") => told.push((name, Ok(text))),
                    Some("told") => told.push((name, Err(text))),
                    _ => {}
                }
            }
            assert!(child.wait().unwrap().success());
        }
        told
    });
    assert_eq!(told.len(), 200);
    run(is_true(&real_queue(file(folder.path())), &request, &told));
}
