//! Placeholder.
#![allow(missing_docs, reason = "stand-in")]
pub struct PatchAnalysis {
    pub files: Vec<PatchFile>,
    pub refusal: Option<Refusal>,
}
pub struct PatchFile {
    pub added_lines: u64,
    pub removed_lines: u64,
}
pub struct Refusal {
    pub why: String,
    pub line: usize,
}
pub fn analyse(_p: &[u8]) -> PatchAnalysis {
    PatchAnalysis { files: vec![], refusal: None }
}
pub fn effects(_p: &PatchAnalysis) -> Vec<aurora_model::Effect> {
    vec![]
}
