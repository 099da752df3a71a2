//! Who sits here: the person by whose account this runs, as the system knows it and nobody can claim.

use std::process::{Command, Stdio};

use aurora_gate::approval::Rules;
use aurora_model::{Decider, DeciderKind, Surface};

use super::input;

const MAX_ACCOUNTS_BYTES: u64 = 16 * 1024 * 1024;

/// The person, with the roles that the settings give them.
#[must_use]
pub fn here(rules: &Rules, surface: Surface) -> Decider {
    let login = login();
    let name = rules.person_of_login(&login).map_or_else(|| login.clone(), ToOwned::to_owned);
    let roles = rules.roles_of(&name);
    Decider { name, kind: DeciderKind::Person, roles, surface }
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

    #[test]
    fn an_account_is_found_by_its_number() {
        let accounts =
            "root:x:0:0:root:/root:/bin/sh\nana:x:1000:1000::/home/ana:/bin/sh\n:x:7::\n";
        assert_eq!(name_in(accounts, 1000).as_deref(), Some("ana"));
        assert_eq!(name_in(accounts, 10), None);
        assert_eq!(name_in(accounts, 7), None);
    }
}
