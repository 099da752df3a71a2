//! Who sits here: the person by whose account this runs, as the system knows it and nobody can claim.

use std::process::{Command, Stdio};

use aurora_gate::approval::Rules;
use aurora_model::{Decider, DeciderKind, Surface};

use super::input;

const MAX_ACCOUNTS_BYTES: u64 = 16 * 1024 * 1024;

/// The person, with the roles that the settings give them.
#[must_use]
pub fn here(rules: &Rules, surface: Surface) -> Decider {
    let name = name_of(rules, &login());
    let roles = rules.roles_of(&name);
    Decider { name, kind: DeciderKind::Person, roles, surface }
}

/// The person with that account. An account that is called like a person who has another one is not
/// that person.
fn name_of(rules: &Rules, login: &str) -> String {
    match rules.person_of_login(login) {
        Some(name) => name.to_owned(),
        None if rules.people().any(|(name, _)| name == login) => format!("account-{login}"),
        None => login.to_owned(),
    }
}

/// The name of the account. The environment is not asked: whoever may set it could be anybody.
#[must_use]
pub fn login() -> String {
    let uid = rustix::process::getuid().as_raw();
    let accounts = input::small_text("/etc/passwd".as_ref(), MAX_ACCOUNTS_BYTES);
    let named = accounts.and_then(|text| name_in(&text, uid));
    named.or_else(from_elsewhere).unwrap_or_else(|| format!("uid-{uid}"))
}

fn name_in(accounts: &str, uid: u32) -> Option<String> {
    let is_it = |line: &&str| line.split(':').nth(2).and_then(|id| id.parse().ok()) == Some(uid);
    let line = accounts.lines().find(is_it)?;
    line.split(':').next().filter(|name| !name.is_empty()).map(ToOwned::to_owned)
}

/// Accounts that no file here has, as those of a directory service.
fn from_elsewhere() -> Option<String> {
    let told =
        Command::new("/usr/bin/id").arg("-un").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let told = told.ok().filter(|told| told.status.success())?;
    let name = String::from_utf8(told.stdout).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// APR-8: nobody is somebody else by the name of their account.
    #[test]
    fn a_person_is_known_by_their_account() {
        let file = "people:\n  ana: {login: adm, roles: [lead]}\n  bob: {roles: [dev]}\n";
        let rules = Rules::read(&[("approvals.yaml".to_owned(), file.to_owned())]).unwrap();
        assert_eq!(name_of(&rules, "adm"), "ana");
        assert_eq!(name_of(&rules, "bob"), "bob");
        assert_eq!(name_of(&rules, "eve"), "eve");
        assert_eq!(name_of(&rules, "ana"), "account-ana");
        assert!(rules.roles_of(&name_of(&rules, "ana")).is_empty());
    }

    #[test]
    fn an_account_is_found_by_its_number() {
        let accounts =
            "root:x:0:0:root:/root:/bin/sh\nana:x:1000:1000::/home/ana:/bin/sh\n:x:7::\n";
        assert_eq!(name_in(accounts, 1000).as_deref(), Some("ana"));
        assert_eq!(name_in(accounts, 10), None);
        assert_eq!(name_in(accounts, 7), None);
    }
}
