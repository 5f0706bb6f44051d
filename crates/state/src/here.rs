//! The working directory, as this process stands in it. Its name may lead elsewhere in the next moment: whoever owns the directory above can rename
//! it, and put a link in its place. Therefore what lies below it is reached from where we stand, however it is named.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What it was called when it was first asked for.
fn start() -> Option<&'static Path> {
    static START: OnceLock<Option<PathBuf>> = OnceLock::new();
    START.get_or_init(|| std::env::current_dir().ok()).as_deref()
}

/// The full name of a path: for messages, for journals, and to compare. Open [`here`] of it.
#[must_use]
pub fn absolute(path: &Path) -> PathBuf {
    let whole = start().map_or(Cow::Borrowed(path), |start| Cow::Owned(start.join(path)));
    std::path::absolute(&whole).unwrap_or_else(|_| whole.into_owned())
}

/// A path seen from the working directory, if it lies in it. The process must not leave its directory.
#[must_use]
pub fn here(path: &Path) -> &Path {
    match start().and_then(|start| path.strip_prefix(start).ok()) {
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
