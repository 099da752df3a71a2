//! The contract, held to by each implementation: one test per promise.

use super::Subject;
use crate::memory::MemoryStore;
use crate::sqlite::{Settings, SqliteStore};
use crate::store::Store;

impl Subject for MemoryStore {
    fn open(&self) -> Box<dyn Store> {
        Box::new(self.clone())
    }
}

/// A real file, opened anew each time.
struct OnDisk {
    folder: tempfile::TempDir,
}

impl Subject for OnDisk {
    fn open(&self) -> Box<dyn Store> {
        let settings = Settings::within(&self.folder.path().join(".aurora"));
        Box::new(SqliteStore::open(settings).unwrap())
    }
}

macro_rules! as_tests {
    ($($room:ident :: $promise:ident),* $(,)?) => {
        mod memory {
            $(
                #[test]
                fn $promise() {
                    crate::contract::$room::$promise(&crate::memory::MemoryStore::new());
                }
            )*
        }

        mod sqlite {
            $(
                #[test]
                fn $promise() {
                    let folder = tempfile::tempdir().unwrap();
                    crate::contract::$room::$promise(&super::OnDisk { folder });
                }
            )*
        }
    };
}

with_promises!(as_tests);
