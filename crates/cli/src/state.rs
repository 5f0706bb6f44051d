//! Where fathom keeps its own files: the journals of what it made and turned, and the store. Nothing of them is used that anybody else than
//! this user and root can change.

use crate::exit::Usage;
use crate::{console, sweeper};
use anyhow::Context as _;
use fathom_engine::Ledger;
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
    if let Err(error) = can_be_written(directory) {
        console::note(&format!("{error}: if this run is killed, its files stay"));
        return Ledger::nowhere();
    }
    sweeper::sweep(directory);
    Ledger::new(directory)
}

/// Containers have homes that nobody can write to. What else is wrong with a state directory is an error when something is noted there.
fn can_be_written(directory: &Path) -> Result<(), Untrusted> {
    match Directory::make(directory) {
        Err(error @ Untrusted::Io { .. }) => return Err(error),
        Err(_) => return Ok(()),
        Ok(_) => {}
    }
    match rustix::fs::access(directory, rustix::fs::Access::WRITE_OK) {
        Err(error) => Err(Untrusted::Io { path: directory.into(), error: error.into() }),
        Ok(()) => Ok(()),
    }
}

/// Whether the user said which store: on the command line, or in the environment.
pub fn store_is_named(named: Option<&Path>) -> bool {
    named.is_some() || std::env::var_os("FATHOM_STORE").is_some_and(|path| !path.is_empty())
}

/// Opens the store to look at what it holds, which makes no file: where there is no store yet, the usual one holds no run, and one that
/// the command line names is an error.
pub fn kept(named: Option<&Path>) -> anyhow::Result<Store> {
    let path = named.map_or_else(Store::default_path, |path| Ok(path.to_owned()))?;
    // If it cannot be looked at, opening it gives the error.
    if std::fs::exists(&path).unwrap_or(true) {
        return store(named);
    }
    if named.is_some() {
        let path = path.display();
        return Err(Usage(format!(
            "there is no store {path}; --store names one that is there, or that a measurement makes"
        ))
        .into());
    }
    Ok(Store::not_yet(path)?)
}

/// Opens the store for reading and writing.
pub fn store(named: Option<&Path>) -> anyhow::Result<Store> {
    let path = named.map_or_else(Store::default_path, |path| Ok(path.to_owned()))?;
    // A store that an ordinary user names may be shared with others; with whom is their choice.
    if !store_is_named(named) || trust::user() == 0 {
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
    let whole = std::path::absolute(path).with_context(unused)?;
    let above = whole.parent().unwrap_or(Path::new("/")).to_path_buf();
    let directory = Directory::make(&above).with_context(unused)?;
    for beside in BESIDE {
        let _ = directory.file(&format!("{name}{beside}")).with_context(unused)?;
    }
    if directory.file(name).with_context(unused)?.is_none() {
        let made = directory.create(name);
        // Another fathom may have made it meanwhile; whoever did, it is looked at.
        if directory.file(name).with_context(unused)?.is_none() {
            let _ = made.with_context(unused)?;
        }
    }
    Ok(())
}
