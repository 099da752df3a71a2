//! Who may decide what, until when: the settings of this place.

use aurora_gate::Policy;
use aurora_gate::approval::Rules;
use aurora_model::Digest;

use crate::exit::Failure;
use crate::wiring::layers;
use crate::wiring::place::Place;

/// Where the settings live below a home folder or a project's root.
pub const FILE: &str = ".aurora/approvals.yaml";

/// The settings that hold at a place. A file that cannot be read or understood is an error.
pub fn rules(place: &Place) -> anyhow::Result<Rules> {
    let found = layers::found(place, FILE, "approvals settings")?;
    let layers: Vec<(String, String)> =
        found.into_iter().map(|(_, layer)| (layer.name, layer.text)).collect();
    Rules::read(&layers).map_err(|errors| {
        Failure::usage(errors.to_string())
            .hint("nobody decides by settings that cannot be read; correct the file")
            .into()
    })
}

/// What a decision says which policy was in force.
#[must_use]
pub fn policy_digest(policy: &Policy) -> Digest {
    aurora_store::chain::digest(policy.digest_text().as_bytes())
}
