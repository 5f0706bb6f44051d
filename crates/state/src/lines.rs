//! A text of facts: the first line holds kind and version, then one fact per line, each ended by its checksum (CRC-32, eight
//! hexadecimal digits). A truncated or changed line is skipped. Words are separated by one blank, so words with arbitrary content
//! are percent-encoded; an empty word is `%`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// A fact with its checksum and line end.
#[must_use]
pub fn sealed(fact: &str) -> String {
    debug_assert!(!fact.contains('\n'), "a fact is one line: {fact}");
    format!("{fact} {:08x}\n", crc32fast::hash(fact.as_bytes()))
}

/// The facts of a text; `None` if its first line is not `first`.
pub fn facts<'t>(text: &'t str, first: &str) -> Option<impl Iterator<Item = &'t str>> {
    let mut lines = text.lines();
    if lines.next() != Some(first) {
        return None;
    }
    Some(lines.filter_map(unsealed))
}

fn unsealed(line: &str) -> Option<&str> {
    let (fact, sum) = line.rsplit_once(' ')?;
    let sum = (sum.len() == 8).then(|| u32::from_str_radix(sum, 16).ok())??;
    (crc32fast::hash(fact.as_bytes()) == sum).then_some(fact)
}

/// Encodes bytes as a word.
#[must_use]
pub fn coded(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "%".into();
    }
    let plain = |b: u8| b.is_ascii_graphic() && b != b'%';
    bytes.iter().map(|&b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02x}") }).collect()
}

/// Encodes a path as a word.
#[must_use]
pub fn coded_path(path: &Path) -> String {
    coded(path.as_os_str().as_bytes())
}

/// Decodes a word.
#[must_use]
pub fn decoded(word: &str) -> Vec<u8> {
    if word == "%" {
        return Vec::new();
    }
    let bytes = word.as_bytes();
    let (mut out, mut i) = (Vec::with_capacity(bytes.len()), 0);
    while i < bytes.len() {
        let hex = word.get(i + 1..i + 3).and_then(|h| u8::from_str_radix(h, 16).ok());
        match (bytes[i], hex) {
            (b'%', Some(b)) => {
                out.push(b);
                i += 3;
            }
            (b, _) => {
                out.push(b);
                i += 1;
            }
        }
    }
    out
}

/// Decodes a word to a path.
#[must_use]
pub fn decoded_path(word: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(decoded(word)))
}

/// Decodes a word to text.
#[must_use]
pub fn decoded_text(word: &str) -> String {
    String::from_utf8_lossy(&decoded(word)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_changed_or_cut_short_is_passed_over() {
        let good = sealed("made 1 2 /a");
        let text = format!("kind 1\n{good}{}{good}made", good.replace("/a", "/b"));
        assert_eq!(facts(&text, "kind 1").map(Iterator::collect), Some(vec!["made 1 2 /a"; 2]));
        assert!(facts(&text, "kind 2").is_none() && facts("", "kind 1").is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_survive(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let word = coded(&bytes);
            prop_assert!(!word.is_empty() && word.bytes().all(|b| b.is_ascii_graphic()));
            prop_assert_eq!(decoded(&word), bytes);
        }

        #[test]
        fn any_facts_survive(said in prop::collection::vec("[^\n\r]{0,40}", 0..8)) {
            let text = said.iter().fold("kind 1\n".to_string(), |text, fact| text + &sealed(fact));
            let found: Vec<&str> = facts(&text, "kind 1").expect("of this kind").collect();
            prop_assert_eq!(found, said);
        }

        #[test]
        fn any_text_is_no_panic(text in ".{0,80}") {
            let _ = facts(&format!("kind 1\n{text}"), "kind 1").map(Iterator::count);
            let _ = decoded_text(&text);
        }
    }
}
