//! Where fathom keeps its own files: the ledger of files it made, and the store.

use crate::console;
use fathom_engine::Ledger;
use fathom_record::Store;
use std::path::{Path, PathBuf};

/// `$XDG_STATE_HOME/fathom`, else `~/.local/state/fathom`, else below the temporary directory.
pub fn directory() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("XDG_STATE_HOME")
        .or_else(|| set("HOME").map(|h| h.join(".local/state")))
        .unwrap_or_else(std::env::temp_dir)
        .join("fathom")
}

/// A ledger; what killed runs left behind is removed first, and said.
pub fn ledger() -> Ledger {
    let directory = directory();
    for swept in Ledger::sweep(&directory) {
        let path = swept.path.display();
        if swept.removed {
            console::note(&format!("removed {path}, left behind by a run that was killed"));
        } else {
            console::warning(&format!(
                "{path} was left behind by a run that was killed and could not be removed (replaced meanwhile, or no permission)"
            ));
        }
    }
    Ledger::new(&directory)
}

/// Opens the store for reading and writing.
pub fn store(path: Option<&Path>) -> anyhow::Result<Store> {
    let path = match path {
        Some(path) => path.to_owned(),
        None => Store::default_path()?,
    };
    Ok(Store::open(path)?)
}
