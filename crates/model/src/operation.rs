//! The operations that a policy names: each effect belongs to exactly one.

use serde::{Deserialize, Serialize};

/// What kind of thing an effect is, in the policy's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Nothing that a policy asks about.
    None,
    /// History on a remote is rewritten or a remote ref is deleted.
    GitForcePush,
    /// A push whose destination is main or master.
    GitPushMain,
    /// Files are deleted.
    FileDelete,
    /// A table, schema or database is dropped.
    DropTable,
    /// A table is emptied.
    Truncate,
    /// A protected path is changed.
    ProtectedPath,
    /// Uncommitted or unmerged work in git is thrown away.
    GitDiscard,
    /// DELETE or UPDATE without WHERE.
    SqlDeleteAll,
    /// Code runs that cannot be seen beforehand.
    OpaqueExec,
    /// Infrastructure is destroyed.
    InfraDestroy,
    /// A disk or file system is overwritten.
    DiskWipe,
    /// A tool that Aurora has no model of.
    UnknownTool,
    /// A path outside the plan's allowed areas, or inside a forbidden or protected one.
    Area,
    /// A path that this role may not change.
    PathRule,
    /// A contract is changed without holding its lock.
    Contract,
    /// A tool that this role may not call.
    RoleTool,
    /// More files or lines change than the policy or the plan expects.
    Scope,
    /// A file type that the policy calls unexpected is changed.
    FileType,
    /// A rule that the user wrote.
    CustomRule,
}

impl Operation {
    /// Every operation, in the order in which they are documented.
    pub const ALL: [Self; 20] = [
        Self::None,
        Self::GitForcePush,
        Self::GitPushMain,
        Self::FileDelete,
        Self::DropTable,
        Self::Truncate,
        Self::ProtectedPath,
        Self::GitDiscard,
        Self::SqlDeleteAll,
        Self::OpaqueExec,
        Self::InfraDestroy,
        Self::DiskWipe,
        Self::UnknownTool,
        Self::Area,
        Self::PathRule,
        Self::Contract,
        Self::RoleTool,
        Self::Scope,
        Self::FileType,
        Self::CustomRule,
    ];

    /// The name used in policy files and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::GitForcePush => "git_force_push",
            Self::GitPushMain => "git_push_main",
            Self::FileDelete => "file_delete",
            Self::DropTable => "drop_table",
            Self::Truncate => "truncate",
            Self::ProtectedPath => "protected_path",
            Self::GitDiscard => "git_discard",
            Self::SqlDeleteAll => "sql_delete_all",
            Self::OpaqueExec => "opaque_exec",
            Self::InfraDestroy => "infra_destroy",
            Self::DiskWipe => "disk_wipe",
            Self::UnknownTool => "unknown_tool",
            Self::Area => "area",
            Self::PathRule => "path_rule",
            Self::Contract => "contract",
            Self::RoleTool => "role_tool",
            Self::Scope => "scope",
            Self::FileType => "file_type",
            Self::CustomRule => "custom_rule",
        }
    }

    /// The operation of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }
}
