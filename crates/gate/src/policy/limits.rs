//! What the policy says about money, about agents that fail, and about branches, for whoever drives
//! a run.

use super::Policy;
use super::keys::Key;
use super::setting::Value;

/// What happens when an agent fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recovery {
    /// How long one attempt may take.
    pub timeout_seconds: u64,
    /// How many attempts there are in all before the fallback.
    pub max_attempts: u32,
    /// Whether the model is asked directly afterwards.
    pub fallback_to_llm: bool,
}

/// What may be spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BudgetPolicy {
    /// In a calendar month.
    pub monthly_limit_usd: f64,
    /// At how many percent of it somebody is warned.
    pub warn_at_percent: u64,
    /// Whether further calls are rejected at the limit; otherwise there is only a warning.
    pub rejects: bool,
}

/// On which branch work happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchPolicy {
    /// Whether it gets one of its own.
    pub auto_branch: bool,
    /// What the name of that one starts with.
    pub prefix: String,
}

impl Policy {
    /// What happens when an agent fails.
    #[must_use]
    pub fn recovery(&self) -> Recovery {
        Recovery {
            timeout_seconds: self.whole(Key::TimeoutSeconds),
            max_attempts: u32::try_from(self.whole(Key::MaxRetries)).unwrap_or(u32::MAX),
            fallback_to_llm: self.flag(Key::FallbackToLlm),
        }
    }

    /// What may be spent.
    #[must_use]
    pub fn budget(&self) -> BudgetPolicy {
        BudgetPolicy {
            monthly_limit_usd: self.amount(Key::MonthlyLimitUsd),
            warn_at_percent: self.whole(Key::WarnAtPercent),
            rejects: self.word(Key::HardLimitAction) != "warn",
        }
    }

    /// On which branch work happens.
    #[must_use]
    pub fn branches(&self) -> BranchPolicy {
        BranchPolicy {
            auto_branch: self.flag(Key::AutoBranch),
            prefix: self.word(Key::BranchPrefix).to_owned(),
        }
    }

    fn flag(&self, key: Key) -> bool {
        matches!(self.setting(key).map(|setting| &setting.value), Some(Value::Flag(true)))
    }

    fn word(&self, key: Key) -> &str {
        match self.setting(key).map(|setting| &setting.value) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{LayerKind, LayerSource};

    fn policy(text: &str) -> Policy {
        let (kind, name) = (LayerKind::Project, "p.yaml".to_owned());
        Policy::load(&[LayerSource { kind, name, text: text.to_owned() }]).unwrap()
    }

    #[test]
    fn runs_are_told_what_the_files_say_about_money_attempts_and_branches() {
        // POL-4, POL-6: the defaults of the PRD, and a file that says otherwise.
        let builtin = Policy::builtin();
        let recovery = Recovery { timeout_seconds: 120, max_attempts: 2, fallback_to_llm: true };
        assert_eq!(builtin.recovery(), recovery);
        let budget = BudgetPolicy { monthly_limit_usd: 100.0, warn_at_percent: 80, rejects: true };
        assert_eq!(builtin.budget(), budget);
        let branches = BranchPolicy { auto_branch: true, prefix: "aurora/".to_owned() };
        assert_eq!(builtin.branches(), branches);
        let other = policy(
            "budget: {monthly_limit_usd: 2.5, warn_at_percent: 50, hard_limit_action: warn}\n\
             agent_recovery: {timeout_seconds: 7, max_retries: 1, fallback_to_llm: false}\n\
             safety: {auto_branch: false, branch_prefix: bot/}\n",
        );
        let recovery = Recovery { timeout_seconds: 7, max_attempts: 1, fallback_to_llm: false };
        assert_eq!(other.recovery(), recovery);
        let budget = BudgetPolicy { monthly_limit_usd: 2.5, warn_at_percent: 50, rejects: false };
        assert_eq!(other.budget(), budget);
        let branches = BranchPolicy { auto_branch: false, prefix: "bot/".to_owned() };
        assert_eq!(other.branches(), branches);
    }
}
