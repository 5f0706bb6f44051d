//! Parses a native workload file; errors suggest the word that was probably meant. The commands supply the text and use
//! the workload.

use crate::exit::Usage;
use fathom_dialects::filebench::nearest;
use fathom_workload::{Diagnostic, Workload};

/// Parses the text of the file `name`.
pub fn read(name: &str, text: &str) -> Result<Workload, Usage> {
    if text.trim().is_empty() {
        return Err(Usage(format!(
            "{name} is empty; a workload is expected, as docs/formats/workload.md describes it"
        )));
    }
    Workload::from_toml(text).map_err(|wrong| {
        Usage(if text.starts_with("#!") {
            format!("{name} is a script for an interpreter (#!), and no workload in TOML")
        } else {
            with_hint(wrong).render(name, text)
        })
    })
}

/// The TOML parser's error if `[a.b]` is used without `[[a]]`, which begins each element of a list.
const NO_ELEMENT: &str = "invalid type: map, expected a sequence";

/// Its error for a duplicate key, and for `[[a]]` after `[a.b]` under a misspelt `[[a]]`.
const TWICE: &str = "duplicate key";

/// The TOML parser names the unknown word first and then the valid ones, each between backticks.
fn with_hint(mut wrong: Diagnostic) -> Diagnostic {
    let mut words = wrong.message.split('`').skip(1).step_by(2);
    if wrong.message.starts_with("unknown ")
        && let Some(word) = words.next()
        && let Some(near) = nearest(word, words)
    {
        let help = wrong.help.map_or_else(String::new, |help| format!("; {help}"));
        wrong.help = Some(format!("did you mean `{near}`?{help}"));
    } else if wrong.message == NO_ELEMENT {
        wrong.help = Some(
            "a section in double brackets is missing before it or is misspelt, as [[phase.group]] before [[phase.group.thread]]"
                .into(),
        );
    } else if wrong.message == TWICE {
        wrong.help = Some(
            "this name stands above, too; if it is a section in double brackets, one above it is misspelt and [phase...] below that began a \
             table instead"
                .into(),
        );
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_misspelt_word_is_told_with_the_one_that_was_meant() {
        let said = |text: &str| read("w.toml", text).expect_err("wrong").0;
        for (text, meant) in [
            ("nmae = \"x\"\n", "did you mean `name`?"),
            ("name = \"x\"\n[[filset]]\nname = \"a\"\n", "did you mean `fileset`?"),
            ("name = \"x\"\n[[phase]]\nname = \"a\"\ncahce = \"cold\"\n", "did you mean `cache`?"),
            ("name = \"x\"\n[[phase]]\nname = \"a\"\ncache = \"clod\"\n", "did you mean `cold`?"),
        ] {
            assert!(said(text).contains(meant), "{}", said(text));
        }
        let bare = said("name = \"x\"\n[[phase]]\nname = \"a\"\nstop = { time = \"2\" }\n");
        assert!(
            bare.contains("w.toml:4:17: \"2\" is a time without a unit: write \"2s\" for seconds"),
            "{bare}"
        );
        assert!(bare.contains("  stop = { time = \"2\" }"), "the key: {bare}");
        let orphan = said("name = \"x\"\n[[phase]]\nname = \"a\"\n[[phase.grup]]\n[[phase.group.thread]]\n");
        assert!(orphan.contains("a section in double brackets is missing before it"), "{orphan}");
        let strange = said("name = \"x\"\nquite_another_word = 1\n");
        assert!(strange.contains("unknown field") && !strange.contains("did you mean"), "{strange}");
        assert!(said("#!/bin/sh\n").starts_with("w.toml is a script for an interpreter"));
        assert!(said(" \n").starts_with("w.toml is empty; a workload is expected"), "{}", said(" \n"));
    }
}
