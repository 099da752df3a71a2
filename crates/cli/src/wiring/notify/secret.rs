//! Reads the secret of a channel: from a variable, or from a file that nobody else can read.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use aurora_engine::notify::Secret;
use aurora_gate::approval::rules::notify::SecretPlace;

/// A secret is not longer than this.
const MAX_BYTES: u64 = 8 * 1024;

/// The secret at a place, or why it cannot be had.
pub fn read(place: &SecretPlace, folder: Option<&Path>) -> Result<Secret, String> {
    let text = match place {
        SecretPlace::Variable(name) => {
            std::env::var(name).map_err(|_| format!("the variable {name} is not set"))?
        }
        SecretPlace::File(name) => {
            let folder = folder.ok_or("there is no home folder for ~/.aurora/secrets")?;
            file(&folder.join(name)).map_err(|why| format!("~/.aurora/secrets/{name}: {why}"))?
        }
    };
    if text.trim().is_empty() {
        return Err("its secret is empty".to_owned());
    }
    Ok(Secret::new(&text))
}

fn file(path: &Path) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let found = file.metadata().map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is no file".to_owned());
    }
    if found.mode() & 0o077 != 0 {
        return Err("others can read it: `chmod 600` it".to_owned());
    }
    let mut text = String::new();
    let read = file.take(MAX_BYTES + 1).read_to_string(&mut text);
    match read {
        Ok(bytes) if bytes as u64 > MAX_BYTES => Err("it is too long for a secret".to_owned()),
        Ok(_) => Ok(text),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// APR-9: a secret that others can read is none, and one that is not there is told by its name.
    #[test]
    fn a_secret_comes_from_a_file_that_only_its_owner_can_read() {
        let folder = std::env::temp_dir().join(format!("aurora-secret-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("hook");
        std::fs::write(&path, "whsec_abc\n").unwrap();
        let place = SecretPlace::File("hook".to_owned());
        let set =
            |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        set(0o644);
        assert!(read(&place, Some(&folder)).unwrap_err().contains("chmod 600"));
        set(0o600);
        assert_eq!(read(&place, Some(&folder)), Ok(Secret::new("whsec_abc")));
        let missing = SecretPlace::File("other".to_owned());
        assert!(read(&missing, Some(&folder)).unwrap_err().contains("~/.aurora/secrets/other"));
        assert!(read(&missing, None).is_err());
        let unset = SecretPlace::Variable("AURORA_NOT_SET_ANYWHERE".to_owned());
        assert!(read(&unset, None).unwrap_err().contains("AURORA_NOT_SET_ANYWHERE"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
