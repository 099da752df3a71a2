//! Programs that destroy infrastructure: clouds, clusters, stacks, volumes.

mod cloud;
mod container;
mod table;

use aurora_model::EffectKind;

use super::Model;
use super::rule;
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

/// Models that need more than the rules of the table, by program, sorted.
pub static MODELS: &[(&str, Model)] = &[
    ("aws", cloud::aws),
    ("awslocal", cloud::aws),
    ("az", cloud::az),
    ("docker", container::docker),
    ("docker-compose", container::docker),
    ("gcloud", cloud::gcloud),
    ("gh", cloud::gh),
    ("gsutil", cloud::gsutil),
    ("kubecolor", container::kubectl),
    ("kubectl", container::kubectl),
    ("nerdctl", container::docker),
    ("oc", container::kubectl),
    ("podman", container::docker),
    ("podman-compose", container::docker),
    ("terraform", cloud::terraform),
    ("terragrunt", cloud::terraform),
    ("tofu", cloud::terraform),
];

/// The model of a program that manages infrastructure.
#[must_use]
pub fn model_of(name: &str) -> Option<Model> {
    if let Ok(at) = MODELS.binary_search_by(|(own, _)| (*own).cmp(name)) {
        return MODELS.get(at).map(|(_, model)| *model);
    }
    table::RULES.iter().any(|rule| rule.names.contains(&name)).then_some(by_rules as Model)
}

fn by_rules(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    rule::apply(table::RULES, &table::SPEC, machine, call);
    Stream::Output(call.name.to_owned())
}

/// Records that the whole command destroys something.
fn destroy(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let words: Vec<String> = call.args.iter().map(Field::display).collect();
    let what = format!("{} {}", call.name, words.join(" "));
    machine.emit(EffectKind::DestroyInfra { what }, call.span);
    Stream::Output(call.name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_sorted_and_tables_found() {
        assert!(MODELS.is_sorted_by(|a, b| a.0 < b.0));
        for name in ["pulumi", "helm", "kubectl", "vagrant", "fly"] {
            assert!(model_of(name).is_some(), "{name}");
        }
    }
}
