//! Which ignored files look like settings or secrets.

/// A larger file is no setting.
pub(crate) const MAX_SECRET_BYTES: u64 = 64 << 10;

/// Whether a file's name is one under which settings and secrets are kept.
pub(crate) fn is_secrets_like(name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let exact = [
        ".env",
        ".envrc",
        ".npmrc",
        ".yarnrc",
        ".netrc",
        "_netrc",
        ".pypirc",
        ".pgpass",
        ".my.cnf",
        ".htpasswd",
        ".dockercfg",
        ".git-credentials",
        ".boto",
        ".s3cfg",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "terraform.tfvars",
        "local.properties",
        "credentials",
        "serviceaccount.json",
    ];
    let starts = [".env.", "id_rsa", "secrets.", "secret.", ".secrets", "credentials."];
    let ends = [
        ".env",
        ".pem",
        ".key",
        ".p12",
        ".pfx",
        ".jks",
        ".keystore",
        ".kdbx",
        ".asc",
        ".tfvars",
        ".ppk",
        ".crt",
    ];
    exact.contains(&name.as_str())
        || starts.iter().any(|start| name.starts_with(start))
        || ends.iter().any(|end| name.ends_with(end))
        || (name.starts_with("credentials") && name.ends_with(".json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_hold_secrets_are_known_by_their_names() {
        // WSP-3
        for name in [".env", ".env.local", "prod.PEM", "id_rsa.pub", "credentials-a.json", ".npmrc"]
        {
            assert!(is_secrets_like(name.as_bytes()), "{name}");
        }
        for name in ["main.rs", "env", "keyboard.txt", "credential.rs", "a.json", "core.1234"] {
            assert!(!is_secrets_like(name.as_bytes()), "{name}");
        }
    }
}
