//! What the program takes from the world: environment, configuration layers, git's files, stdin.

pub mod agents;
pub mod approvals;
pub mod atomic;
pub mod fence;
pub mod gates;
pub mod git_config;
pub mod git_facts;
pub mod input;
pub mod judging;
pub mod layers;
pub mod lowered;
pub mod migration;
pub mod notify;
pub mod own_folder;
pub mod patience;
pub mod person;
pub mod place;
pub mod quantity;
pub mod question;
pub mod repo;
pub mod run;
pub mod serve;
pub mod settings_file;
pub mod store;
pub mod words;
pub mod workspace;
