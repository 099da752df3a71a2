//! Which variables an agent gets: an allow-list, what its profile adds, and nothing else of ours.

use std::collections::BTreeMap;

use crate::agent::{Job, Launch};
use crate::template::run_of;

/// Variables of ours that every agent gets, where we have them.
const PASSED: [&str; 8] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR"];
/// The beginnings of names of such variables.
const PASSED_BEGINNINGS: [&str; 2] = ["LC_", "XDG_"];

/// The whole environment of a process that is an agent, made of ours and of what it asks for.
#[must_use]
pub fn environment(ours: &BTreeMap<String, String>, launch: &Launch) -> BTreeMap<String, String> {
    let passed = |name: &str| {
        PASSED.contains(&name)
            || PASSED_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
            || launch.pass_env.iter().any(|asked| asked == name)
    };
    let mut all: BTreeMap<String, String> =
        ours.iter().filter(|(name, _)| passed(name)).map(|(n, v)| (n.clone(), v.clone())).collect();
    // Nobody looks at the agent's own screen: colours and cursor movements would be noise.
    all.insert("TERM".to_owned(), "dumb".to_owned());
    all.extend(launch.env.iter().map(|(name, value)| (name.clone(), value.clone())));
    all
}

/// A launch for a job: an agent is told by variables which attempt it is.
pub(crate) fn launch(
    argv: Vec<String>,
    job: &Job,
    own: &BTreeMap<String, String>,
    pass_env: &[String],
) -> Launch {
    let mut env = own.clone();
    env.insert("AURORA_RUN".to_owned(), run_of(job).to_owned());
    env.insert("AURORA_TASK".to_owned(), job.task.clone());
    env.insert("AURORA_ATTEMPT".to_owned(), job.attempt.to_string());
    Launch { argv, env, pass_env: pass_env.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    // AGT-1: what an agent is handed is an allow-list.
    #[test]
    fn an_agent_gets_the_allow_list_and_what_its_profile_names_and_nothing_else() {
        let ours = map(&[
            ("PATH", "/bin"),
            ("HOME", "/home/a"),
            ("LC_ALL", "C.UTF-8"),
            ("XDG_CACHE_HOME", "/c"),
            ("TERM", "xterm-256color"),
            ("GIT_DIR", "/elsewhere"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("ANTHROPIC_API_KEY", "key"),
            ("AURORA_HOME", "/ours"),
            ("LD_PRELOAD", "evil.so"),
            ("PATHOLOGY", "x"),
        ]);
        let launch = Launch {
            argv: vec!["agent".to_owned()],
            env: map(&[("AURORA_RUN", "r"), ("PATH", "/opt/bin")]),
            pass_env: vec!["ANTHROPIC_API_KEY".to_owned(), "NOT_THERE".to_owned()],
        };
        let expected = map(&[
            ("ANTHROPIC_API_KEY", "key"),
            ("AURORA_RUN", "r"),
            ("HOME", "/home/a"),
            ("LC_ALL", "C.UTF-8"),
            ("PATH", "/opt/bin"),
            ("TERM", "dumb"),
            ("XDG_CACHE_HOME", "/c"),
        ]);
        assert_eq!(environment(&ours, &launch), expected);
    }
}
