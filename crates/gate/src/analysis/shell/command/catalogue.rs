//! Finds the model of a program that is neither a wrapper nor git.

use super::{Model, disk, files, framework, infra, interpreter, net, sql_client, text, writers};

fn sorted(rows: &'static [(&'static str, Model)], name: &str) -> Option<Model> {
    let at = rows.binary_search_by(|(own, _)| (*own).cmp(name)).ok()?;
    rows.get(at).map(|(_, model)| *model)
}

/// The model of a program, by its name without folder.
#[must_use]
pub fn find(name: &str) -> Option<Model> {
    sorted(files::MODELS, name)
        .or_else(|| sorted(text::MODELS, name))
        .or_else(|| interpreter::model_of(name))
        .or_else(|| sorted(net::MODELS, name))
        .or_else(|| sorted(disk::MODELS, name))
        .or_else(|| disk::makes_file_system(name).then_some(disk::make_file_system as Model))
        .or_else(|| sql_client::model_of(name))
        .or_else(|| framework::model_of(name))
        .or_else(|| infra::model_of(name))
        .or_else(|| writers::model_of(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_by_name() {
        let tables = [files::MODELS, text::MODELS, net::MODELS, disk::MODELS, sql_client::MODELS];
        for table in tables {
            for pair in table.windows(2) {
                assert!(pair[0].0 < pair[1].0, "{} {}", pair[0].0, pair[1].0);
            }
        }
    }

    #[test]
    fn programs_are_found_under_their_names() {
        for name in
            ["rm", "bash", "python3.11", "psql", "mkfs.ext4", "rake", "kubectl", "sort", "curl"]
        {
            assert!(find(name).is_some(), "{name}");
        }
        assert!(find("frobnicate").is_none());
    }
}
