//! Converts recorded names into valid directory entries. Plain names lose their version and perhaps their capitals, Joliet names become
//! UTF-8, characters that no file system can show are escaped, and names are made unique within a directory.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Longest name shown, in bytes: the limit of FUSE.
pub const LONGEST: usize = 1024;

/// A plain name split into its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versioned<'a> {
    /// Name without version and without the dot of an empty extension.
    pub base: &'a [u8],
    /// Number after the semicolon.
    pub version: Option<u32>,
}

/// Splits NAME.EXT;version. A semicolon without a number is part of the name.
#[must_use]
pub fn versioned(name: &[u8]) -> Versioned<'_> {
    let Some(semicolon) = name.iter().rposition(|&b| b == b';') else {
        return Versioned { base: without_dot(name), version: None };
    };
    let digits = &name[semicolon + 1..];
    let number = std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
    match number.and_then(|d| d.parse().ok()) {
        Some(version) => Versioned { base: without_dot(&name[..semicolon]), version: Some(version) },
        None => Versioned { base: without_dot(name), version: None },
    }
}

fn without_dot(name: &[u8]) -> &[u8] {
    match name {
        [rest @ .., b'.'] if !rest.is_empty() => rest,
        all => all,
    }
}

/// UCS-2 big-endian as UTF-8. Surrogate pairs are decoded as UTF-16; lone ones and an odd last byte become U+FFFD. The second value says
/// whether everything was valid.
#[must_use]
pub fn from_ucs2(name: &[u8]) -> (Vec<u8>, bool) {
    let (pairs, odd) = name.as_chunks::<2>();
    let units = pairs.iter().map(|&pair| u16::from_be_bytes(pair));
    let mut well = odd.is_empty();
    let mut text = String::with_capacity(name.len());
    for unit in char::decode_utf16(units) {
        text.push(unit.unwrap_or_else(|_| {
            well = false;
            char::REPLACEMENT_CHARACTER
        }));
    }
    if !odd.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    (text.into_bytes(), well)
}

/// A Joliet name as UTF-8, without its version. A name that had a version may also end in the dot of an empty extension.
#[must_use]
pub fn from_joliet(name: &[u8]) -> (Vec<u8>, Option<u32>, bool) {
    let (text, well) = from_ucs2(name);
    let cut = versioned(&text);
    match cut.version {
        Some(version) => (cut.base.to_vec(), Some(version), well),
        None => (text, None, well),
    }
}

/// A displayable name, borrowed if unchanged. "/" and NUL become %2F and %00, the dots of "." and ".." %2E, an empty name "%"; names
/// longer than [`LONGEST`] are cut.
#[must_use]
pub fn escape(name: &[u8]) -> Cow<'_, [u8]> {
    if name.is_empty() {
        return Cow::Borrowed(b"%");
    }
    if name == b"." || name == b".." {
        return Cow::Owned(b"%2E".repeat(name.len()));
    }
    if name.len() <= LONGEST && !name.iter().any(|b| matches!(b, 0 | b'/')) {
        return Cow::Borrowed(name);
    }
    let mut escaped = Vec::with_capacity(name.len().min(LONGEST) + 8);
    for &byte in name {
        let shown: &[u8] = match byte {
            0 => b"%00",
            b'/' => b"%2F",
            _ => &[byte],
        };
        if escaped.len() + shown.len() > LONGEST {
            break;
        }
        escaped.extend(shown);
    }
    Cow::Owned(escaped)
}

/// Whether plain names may be shown in lower case: only if none has lower-case letters. Then no two names differ only in case, so
/// lowering cannot make them equal.
#[must_use]
pub fn may_lower<'a>(mut names: impl Iterator<Item = &'a [u8]>) -> bool {
    !names.any(|name| name.iter().any(u8::is_ascii_lowercase))
}

/// Makes the names of a directory's entries unique.
#[derive(Debug, Default)]
pub struct Unique {
    taken: HashSet<Vec<u8>>,
    /// How often a name was repeated, so that a hundred thousand equal names do not take quadratic time.
    again: HashMap<Vec<u8>, u32>,
}

impl Unique {
    /// The name itself if it is free, else "name;version", else "name%1", "name%2" and so on. The second value says whether it differs
    /// from `wanted`.
    pub fn name(&mut self, wanted: &[u8], version: Option<u32>) -> (Vec<u8>, bool) {
        if self.taken.insert(wanted.to_vec()) {
            return (wanted.to_vec(), false);
        }
        if let Some(version) = version {
            let with = suffixed(wanted, &format!(";{version}"));
            if self.taken.insert(with.clone()) {
                return (with, true);
            }
        }
        let mut n = self.again.get(wanted).copied().unwrap_or(0);
        loop {
            n = n.saturating_add(1);
            let numbered = suffixed(wanted, &format!("%{n}"));
            if self.taken.insert(numbered.clone()) {
                self.again.insert(wanted.to_vec(), n);
                return (numbered, true);
            }
        }
    }
}

/// `name` plus a suffix, at most [`LONGEST`] bytes.
fn suffixed(name: &[u8], suffix: &str) -> Vec<u8> {
    let room = LONGEST.saturating_sub(suffix.len()).min(name.len());
    [&name[..room], suffix.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_empty_extensions_go() {
        let cut = |name: &'static [u8]| versioned(name);
        assert_eq!(cut(b"README.TXT;1"), Versioned { base: b"README.TXT", version: Some(1) });
        assert_eq!(cut(b"README.;12").base, b"README");
        assert_eq!(cut(b"A;B"), Versioned { base: b"A;B", version: None });
        assert_eq!(cut(b".").base, b".");
        assert_eq!(cut(b"A;99999999999"), Versioned { base: b"A;99999999999", version: None });
    }

    #[test]
    fn ucs2_is_utf8_or_a_mark() {
        assert_eq!(from_ucs2(b"\0a\x01\0"), ("a\u{100}".into(), true));
        assert_eq!(from_ucs2(b"\xd8\x3d\xde\0"), ("\u{1F600}".into(), true));
        assert_eq!(from_ucs2(b"\xd8\0\0x"), ("\u{FFFD}x".into(), false));
        assert_eq!(from_ucs2(b"\0a\0"), ("a\u{FFFD}".into(), false));
        assert_eq!(from_joliet(b"\0a\0.\0;\x001"), (b"a".to_vec(), Some(1), true));
        assert_eq!(from_joliet(b"\0a\0."), (b"a.".to_vec(), None, true));
    }

    #[test]
    fn nothing_unsafe_is_shown() {
        let shown = |name: &[u8]| String::from_utf8(escape(name).into_owned()).unwrap();
        assert_eq!(shown(b".."), "%2E%2E");
        assert_eq!(shown(b"../../x"), "..%2F..%2Fx");
        assert_eq!(shown(b"a\0b"), "a%00b");
        assert_eq!(shown(b""), "%");
        assert!(matches!(escape(b"ordinary%2F"), Cow::Borrowed(_)));
        assert_eq!(escape(&[b'x'; 25_500]).len(), LONGEST);
        assert!(escape(&[b'/'; 25_500]).len() <= LONGEST);
    }

    #[test]
    fn names_of_a_directory_are_its_entries_own() {
        let mut unique = Unique::default();
        let mut give = |name: &[u8], v| String::from_utf8(unique.name(name, v).0).unwrap();
        assert_eq!(give(b"a", Some(2)), "a");
        assert_eq!(give(b"a", Some(1)), "a;1");
        assert_eq!(give(b"a", Some(1)), "a%1");
        assert_eq!(give(b"a%2", None), "a%2");
        assert_eq!(give(b"a", None), "a%3");
        let long = [b'x'; LONGEST];
        assert_eq!(give(&long, None).len(), LONGEST);
        assert!(give(&long, None).ends_with("%1"));
    }

    #[test]
    fn capitals_are_kept_where_case_says_something() {
        let names = |list: &[&'static str]| may_lower(list.iter().map(|n| n.as_bytes()));
        assert!(names(&["A", "B", "A"]));
        assert!(!names(&["A", "b"]));
    }
}
