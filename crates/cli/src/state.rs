//! fathom's own files: the journals of what it made and changed, and the store. None is used that any user other than
//! this one and root can change.

use crate::exit::Usage;
use crate::{console, sweeper};
use anyhow::Context as _;
use fathom_engine::Ledger;
use fathom_record::{Store, StoreError};
use fathom_state::{Directory, Untrusted, place, trust};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The state directory if usable, and why the configured one is not.
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
                // A path that is blocked or unreadable is reported on the first write.
                Ok(_) | Err(Untrusted::Kind { .. } | Untrusted::Io { .. }) => {
                    return Found { directory: Some(path), refused };
                }
                Err(error) => refused = refused.or(Some(format!("{} is not used: {error}", path.display()))),
            }
        }
        Found { directory: None, refused }
    })
}

/// The state directory, which may not exist yet. `None` if there is none that only this user can change.
pub fn directory() -> Option<PathBuf> {
    found().directory.clone()
}

/// The same, as an error if there is none.
pub fn needed_directory() -> anyhow::Result<PathBuf> {
    directory().with_context(|| match &found().refused {
        Some(why) => format!("there is no directory for the journal of changes: {why}. Set XDG_STATE_HOME to a directory that only you can write to"),
        None => "there is no directory for the journal of changes: neither HOME nor XDG_STATE_HOME names one".to_string(),
    })
}

/// A ledger for read-only use: sweeps and reports nothing.
pub fn quiet_ledger() -> Ledger {
    directory().map_or_else(Ledger::nowhere, |directory| Ledger::new(&directory))
}

/// A ledger; first removes what killed runs left behind, and reports it.
pub fn ledger() -> Ledger {
    let Found { directory, refused } = found();
    if let Some(why) = refused {
        console::note(why);
    }
    let Some(directory) = directory else {
        console::note("no journal for the next run: if this one is killed, its files stay");
        return Ledger::nowhere();
    };
    if let Err(error) = can_be_written(directory) {
        console::note(&format!("{error}: if this run is killed, its files stay"));
        return Ledger::nowhere();
    }
    sweeper::sweep(directory);
    Ledger::new(directory)
}

/// Homes in containers may not be writable. Other errors of a state directory are reported when something is noted
/// there.
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

/// Whether the command line or the environment names the store.
pub fn store_is_named(named: Option<&Path>) -> bool {
    named.is_some() || std::env::var_os("FATHOM_STORE").is_some_and(|path| !path.is_empty())
}

/// Opens the store for reading without creating a file: a missing default store holds no run, a missing named one is an
/// error.
pub fn kept(named: Option<&Path>) -> anyhow::Result<Store> {
    let path = named.map_or_else(Store::default_path, |path| Ok(path.to_owned()))?;
    // If this check fails, opening reports the error.
    if std::fs::exists(&path).unwrap_or(true) {
        return store(named);
    }
    if named.is_some() {
        let path = path.display();
        return Err(Usage(format!(
            "there is no store {path}; name an existing one, or create this one by a measurement with the same --store"
        ))
        .into());
    }
    Ok(Store::not_yet(path)?)
}

/// Checks that the store that --store names can be used, before anything is measured. Makes nothing.
pub fn check_store(path: &Path) -> Result<(), Usage> {
    let above = check_directory(path)?;
    let wrong = |why: String| Usage(format!("--store: {why}"));
    if std::fs::metadata(path).is_ok_and(|about| about.is_dir()) {
        return Err(wrong(format!("{} is a directory; name a file", path.display())));
    }
    if trust::user() == 0 {
        let _ = trusted(path).map_err(|e| wrong(format!("{e:#}")))?;
    }
    match std::fs::metadata(path) {
        Ok(_) => match Store::check(path) {
            // After a crash a store may need a writer before it can be read.
            Err(
                e @ (StoreError::NotADatabase { .. }
                | StoreError::Foreign { .. }
                | StoreError::Newer { .. }
                | StoreError::Older { .. }),
            ) => Err(wrong(e.to_string())),
            _ => Ok(()),
        },
        Err(_) => rustix::fs::access(above, rustix::fs::Access::WRITE_OK)
            .map_err(|e| wrong(format!("{} cannot be made: {}", path.display(), std::io::Error::from(e)))),
    }
}

/// The directory of a store that is named, which must exist.
fn check_directory(path: &Path) -> Result<&Path, Usage> {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let why = match std::fs::metadata(above) {
        Ok(about) if about.is_dir() => return Ok(above),
        Ok(_) => format!("{} is no directory", above.display()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            format!("there is no directory {}; make it first, or name another file", above.display())
        }
        Err(e) => format!("{}: {e}", above.display()),
    };
    Err(Usage(format!("--store: {why}")))
}

/// Opens the store for reading and writing.
pub fn store(named: Option<&Path>) -> anyhow::Result<Store> {
    if let Some(path) = named {
        check_directory(path)?;
    }
    let path = named.map_or_else(Store::default_path, |path| Ok(path.to_owned()))?;
    // A store that an ordinary user names may be shared; that is their choice.
    if !store_is_named(named) || trust::user() == 0 {
        prepare(&path)?;
    }
    Ok(Store::open(path)?)
}

/// Files that SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Ensures that no other user can change or redirect the store; creates an empty file for this user alone if missing.
fn prepare(path: &Path) -> anyhow::Result<()> {
    let unused = || not_used(path);
    let Some((directory, name, exists)) = trusted(path)? else { return Ok(()) };
    if !exists {
        let made = directory.create(&name);
        // Another fathom may have created it meanwhile; it is checked either way.
        if directory.file(&name).with_context(unused)?.is_none() {
            let _ = made.with_context(unused)?;
        }
    }
    Ok(())
}

/// The directory of a store, its name there, and whether it exists; an error if another user can change or redirect it.
fn trusted(path: &Path) -> anyhow::Result<Option<(Directory, String, bool)>> {
    let unused = || not_used(path);
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
    let whole = std::path::absolute(path).with_context(unused)?;
    let above = whole.parent().unwrap_or(Path::new("/")).to_path_buf();
    let directory = Directory::make(&above).with_context(unused)?;
    for beside in BESIDE {
        let _ = directory.file(&format!("{name}{beside}")).with_context(unused)?;
    }
    let exists = directory.file(name).with_context(unused)?.is_some();
    Ok(Some((directory, name.to_owned(), exists)))
}

fn not_used(path: &Path) -> String {
    format!(
        "the store {} is not used; --store FILE names one in a directory that only you can write to",
        path.display()
    )
}
