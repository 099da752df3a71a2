//! Which of our tools an agent is given, as `agents.yaml` says it.

use aurora_agents::talk::Tools;
use aurora_engine::world::tools::names;
use aurora_gate::settings::{Node, Problems, Shape};

/// `true` for all of them, or the names of some; `false` for none.
pub fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Tools> {
    if !matches!(node.shape, Shape::List(_)) {
        return problems.flag(node, path)?.then_some(Tools::All);
    }
    let some = problems.one_or_more(node, path)?;
    let read = some.iter().filter_map(|one| problems.choice(one, path, &names()));
    Some(Tools::Named(read.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // AGT-1
    #[test]
    fn tools_are_all_none_or_those_that_are_named() {
        let check = |text: &str, expected: Option<Tools>, sound: bool| {
            let mut problems = Problems::new("agents.yaml");
            let node = aurora_gate::settings::read(text, &mut problems).unwrap();
            assert_eq!(read(&node, "tools", &mut problems), expected, "{text}");
            assert_eq!(problems.finish().is_empty(), sound, "{text}");
        };
        check("true", Some(Tools::All), true);
        check("false", None, true);
        let two = vec!["repo.list".to_owned(), "run_command".to_owned()];
        check("[repo.list, run_command]", Some(Tools::Named(two)), true);
        check("[repo.lits]", Some(Tools::Named(Vec::new())), false);
        check("some", None, false);
    }
}
