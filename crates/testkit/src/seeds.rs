//! The seed documents: e-mails and reports that we may not ship. They are outside the repository, in `shared/seeds` of a parent
//! directory or where `FATHOM_SEEDS` says; tests that read them skip if they are absent.

use crate::skip;
use std::path::PathBuf;

/// The text of the seed document whose file name begins with `begins`; records a skip of `test` if there is none.
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
