//! Where fathom keeps its own files: the journals of what it made and turned, and the store. Nothing of them is used that anybody else than
//! this user and root can change.

use crate::console;
use anyhow::Context as _;
use fathom_engine::{Fate, Ledger, Swept};
use fathom_observe::knobs;
use fathom_record::Store;
use fathom_state::{Directory, Untrusted, place, trust};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The state directory, if there is one that can be used, and why the configured one cannot.
struct Found {
    directory: Option<PathBuf>,
    refused: Option<String>,
}

fn found() -> &'static Found {
    static FOUND: OnceLock<Found> = OnceLock::new();
    FOUND.get_or_init(|| {
        let configured = place::configured(|name| std::env::var_os(name));
        let mut refused = None;
        for path in configured.into_iter().chain(place::instead(trust::user())) {
            match Directory::open(&path) {
                // What is only in the way or cannot be read is said when something is to be written there.
                Ok(_) | Err(Untrusted::Kind { .. } | Untrusted::Io { .. }) => {
                    return Found { directory: Some(path), refused };
                }
                Err(error) => refused = refused.or(Some(format!("{} is not used: {error}", path.display()))),
            }
        }
        Found { directory: None, refused }
    })
}

/// The state directory; it may not be there yet. `None` if there is none that is this user's alone.
pub fn directory() -> Option<PathBuf> {
    found().directory.clone()
}

/// The same, for what cannot be done without.
pub fn needed_directory() -> anyhow::Result<PathBuf> {
    directory().with_context(|| match &found().refused {
        Some(why) => format!("there is no place for the journal of what is changed: {why}. Let XDG_STATE_HOME name a directory that only you can write to"),
        None => "there is no place for the journal of what is changed: neither HOME nor XDG_STATE_HOME names a directory".to_string(),
    })
}

/// A ledger for looking at files: nothing is swept, nothing said.
pub fn quiet_ledger() -> Ledger {
    directory().map_or_else(Ledger::nowhere, |directory| Ledger::new(&directory))
}

/// A ledger; what killed runs left behind is removed first, and said.
pub fn ledger() -> Ledger {
    let Found { directory, refused } = found();
    if let Some(why) = refused {
        console::note(why);
    }
    let Some(directory) = directory else {
        console::note("nothing is noted for the next run: if this one is killed, its files stay");
        return Ledger::nowhere();
    };
    Ledger::sweep(directory).iter().for_each(tell);
    Ledger::new(directory)
}

fn tell(Swept { path, fate }: &Swept) {
    let path = path.display();
    let left = "left behind by a run that was killed";
    match fate {
        Fate::Removed => console::note(&format!("removed {path}, {left}")),
        Fate::Replaced => console::warning(&format!(
            "{path} was {left}, and something else lies there now; it is left alone"
        )),
        Fate::Unproven => console::warning(&format!(
            "{path} may have been {left}. Its file system keeps nothing that tells it from a file of somebody else, so it stays: remove it if it is not wanted"
        )),
        Fate::Stays(why) => console::warning(&format!("{path}, {left}, could not be removed: {why}")),
        Fate::NoJournal(why) => console::warning(&knobs::no_journal(why)),
        _ => console::warning(&format!("{path} was {left}")),
    }
}

/// Opens the store for reading and writing.
pub fn store(named: Option<&Path>) -> anyhow::Result<Store> {
    let path = named.map_or_else(Store::default_path, |path| Ok(path.to_owned()))?;
    // A store that an ordinary user names may be shared with others; whoever shares it is their choice.
    if named.is_none() || trust::user() == 0 {
        prepare(&path)?;
    }
    Ok(Store::open(path)?)
}

/// What SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Sees to it that nobody else can change the store or bend the way to it; if there is none, an empty file is made for this user alone.
fn prepare(path: &Path) -> anyhow::Result<()> {
    let unused = || {
        format!(
            "the store {} is not used; --store FILE names one in a directory that only you can write to",
            path.display()
        )
    };
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Ok(()) };
    let directory = Directory::make_for(path).with_context(unused)?;
    for beside in BESIDE {
        let _ = directory.file(&format!("{name}{beside}")).with_context(unused)?;
    }
    if directory.file(name).with_context(unused)?.is_none() {
        let _ = directory.create(name).with_context(unused)?;
    }
    Ok(())
}
