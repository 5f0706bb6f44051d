//! The seed documents: e-mails and reports that are not ours to ship. They lie beside the project, in `shared/seeds` of a folder above it
//! or where `FATHOM_SEEDS` says; tests that read them skip where they are absent.

use crate::skip;
use std::path::PathBuf;

/// The text of the seed document whose file name begins like this; records a skip of `test` if it is not there.
#[must_use]
pub fn seed(test: &str, begins: &str) -> Option<String> {
    let found = folders().into_iter().find_map(|folder| {
        let entries = std::fs::read_dir(folder).ok()?.flatten();
        entries
            .map(|e| e.path())
            .find(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(begins)))
    });
    let text = found.and_then(|path| std::fs::read_to_string(path).ok());
    if text.is_none() {
        skip(test, "the seed documents are not here (FATHOM_SEEDS names their folder)");
    }
    text
}

fn folders() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os("FATHOM_SEEDS") {
        return vec![named.into()];
    }
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().map(|a| a.join("shared/seeds")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_above_are_looked_into() {
        assert!(
            folders().iter().all(|f| f.ends_with("shared/seeds"))
                || std::env::var_os("FATHOM_SEEDS").is_some()
        );
        assert_eq!(seed("folders_above_are_looked_into (no such seed)", "no such seed"), None);
    }
}
