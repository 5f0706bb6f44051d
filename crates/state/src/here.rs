//! The working directory, as this process stands in it. Its name may lead elsewhere in the next moment: whoever owns the directory above can rename
//! it, and put a link in its place. Therefore what lies below it is reached from where we stand, however it is named.

use rustix::fd::BorrowedFd;
use std::io::Result;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// What it was called when it was first asked for, or when we went there.
static NAME: RwLock<Option<PathBuf>> = RwLock::new(None);

/// What is made of its name, if it has one.
fn with_name<T>(make: impl FnOnce(Option<&Path>) -> T) -> T {
    let known = NAME.read().unwrap_or_else(PoisonError::into_inner);
    if known.is_some() {
        return make(known.as_deref());
    }
    drop(known);
    let mut known = NAME.write().unwrap_or_else(PoisonError::into_inner);
    if known.is_none() {
        *known = std::env::current_dir().ok();
    }
    make(known.as_deref())
}

/// Goes to another directory.
///
/// # Errors
/// If that cannot be.
pub fn go(to: &Path) -> Result<()> {
    let mut known = NAME.write().unwrap_or_else(PoisonError::into_inner);
    std::env::set_current_dir(to)?;
    *known = std::env::current_dir().ok();
    Ok(())
}

/// Goes to a directory that is open, wherever it is by now.
///
/// # Errors
/// If that cannot be.
pub fn enter(directory: BorrowedFd<'_>) -> Result<()> {
    let mut known = NAME.write().unwrap_or_else(PoisonError::into_inner);
    rustix::process::fchdir(directory)?;
    *known = std::env::current_dir().ok();
    Ok(())
}

/// The full name of a path: for messages, for journals, and to compare. Open [`here`] of it.
#[must_use]
pub fn absolute(path: &Path) -> PathBuf {
    let whole = with_name(|name| name.map_or_else(|| path.to_path_buf(), |name| name.join(path)));
    std::path::absolute(&whole).unwrap_or(whole)
}

/// A path seen from the working directory, if it lies in it. The directory is changed by [`go`] and [`enter`] alone.
#[must_use]
pub fn here(path: &Path) -> &Path {
    match with_name(|name| path.strip_prefix(name?).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => Path::new("."),
        Some(rest) => rest,
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_is_reached_from_where_we_stand() {
        let whole = absolute(Path::new("a/./b"));
        assert!(whole.is_absolute() && whole.ends_with("a/b"));
        assert_eq!(here(&whole), Path::new("a/b"));
        assert_eq!(here(&absolute(Path::new("."))), Path::new("."));
        for other in ["/", "/nowhere/at/all", "x"] {
            assert_eq!(here(Path::new(other)), Path::new(other));
        }
    }
}
