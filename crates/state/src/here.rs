//! The working directory of this process. Its name may lead elsewhere at any time: the owner of the directory above can rename it
//! and put a link in its place. Therefore paths below it are opened relative to the working directory, however they are named.

use rustix::fd::BorrowedFd;
use std::io::Result;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// Its name when first requested, or when last changed.
static NAME: RwLock<Option<PathBuf>> = RwLock::new(None);

/// Calls `make` with its name, if it has one.
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

/// Changes to another directory.
///
/// # Errors
/// If the kernel refuses.
pub fn go(to: &Path) -> Result<()> {
    let mut known = NAME.write().unwrap_or_else(PoisonError::into_inner);
    std::env::set_current_dir(to)?;
    *known = std::env::current_dir().ok();
    Ok(())
}

/// Changes to an open directory, wherever it is by now.
///
/// # Errors
/// If the kernel refuses.
pub fn enter(directory: BorrowedFd<'_>) -> Result<()> {
    let mut known = NAME.write().unwrap_or_else(PoisonError::into_inner);
    rustix::process::fchdir(directory)?;
    *known = std::env::current_dir().ok();
    Ok(())
}

/// The absolute form of a path: for messages, journals and comparisons. To open the file, pass it to [`here`].
#[must_use]
pub fn absolute(path: &Path) -> PathBuf {
    let whole = with_name(|name| name.map_or_else(|| path.to_path_buf(), |name| name.join(path)));
    std::path::absolute(&whole).unwrap_or(whole)
}

/// A path relative to the working directory, if it lies in it. The directory is changed only by [`go`] and [`enter`].
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
