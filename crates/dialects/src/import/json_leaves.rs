//! Reads JSON as a sequence of values, each with path and line. Unlike a tree parser it keeps line numbers, and it returns what
//! precedes the end of a truncated document.

/// A value that is neither object nor array.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Leaf {
    /// Keys and indices from the top: "jobs", "0", "read", "bw".
    pub(super) path: Vec<String>,
    /// The string without quotes, or the number as printed.
    pub(super) text: String,
    /// Whether it is a number.
    pub(super) number: bool,
    /// Line, counted from 0 at the start of the document.
    pub(super) line: usize,
}

/// Result of a scan.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Line of the last character understood.
    pub(super) last: usize,
    /// Whether the document is complete.
    pub(super) whole: bool,
    /// Whether it contains invalid JSON.
    pub(super) broken: bool,
}

/// Nesting limit, above that of any known output.
const DEEPEST: usize = 32;

/// An open object or array with the current key or index.
enum Open {
    Object(Option<String>),
    Array(usize),
}

/// Scans from the line with the opening bracket to the matching one and passes on each value. Values are not kept, as they need more
/// memory than the results.
pub(super) fn scan<'t>(lines: impl Iterator<Item = &'t str>, mut see: impl FnMut(Leaf)) -> Scan {
    let mut scan = Scan::default();
    let mut open: Vec<Open> = Vec::new();
    for (n, line) in lines.enumerate() {
        let mut rest = line.trim();
        while !rest.is_empty() {
            let Some(used) = token(&mut see, &mut open, rest, n) else {
                scan.broken = true;
                return scan;
            };
            scan.last = n;
            if open.is_empty() {
                scan.whole = true;
                return scan;
            }
            rest = rest[used..].trim_start();
        }
    }
    scan
}

/// Reads one token. Returns its length, or `None` if it is invalid.
fn token(see: &mut impl FnMut(Leaf), open: &mut Vec<Open>, text: &str, line: usize) -> Option<usize> {
    let first = text.chars().next()?;
    match first {
        '{' | '[' => {
            if open.len() >= DEEPEST {
                return None;
            }
            open.push(if first == '{' { Open::Object(None) } else { Open::Array(0) });
            Some(1)
        }
        '}' | ']' => {
            let matches = matches!((open.pop()?, first), (Open::Object(_), '}') | (Open::Array(_), ']'));
            if let Some(Open::Object(key)) = open.last_mut() {
                *key = None;
            }
            matches.then_some(1)
        }
        ',' => {
            match open.last_mut()? {
                Open::Array(n) => *n += 1,
                Open::Object(key) => *key = None,
            }
            Some(1)
        }
        ':' => matches!(open.last()?, Open::Object(Some(_))).then_some(1),
        '"' => {
            let length = string(text)?;
            let inner = unescaped(&text[1..length - 1]);
            match open.last_mut()? {
                Open::Object(key @ None) => *key = Some(inner),
                _ => leaf(see, open, inner, false, line),
            }
            Some(length)
        }
        _ => {
            let length = text.find([',', '}', ']', ' ', '\t']).unwrap_or(text.len());
            let word = &text[..length];
            if matches!(open.last()?, Open::Object(None)) {
                return None;
            }
            let number = word.parse::<f64>().is_ok_and(f64::is_finite);
            if !number && !matches!(word, "true" | "false" | "null") {
                return None;
            }
            leaf(see, open, word.into(), number, line);
            Some(length)
        }
    }
}

fn leaf(see: &mut impl FnMut(Leaf), open: &[Open], text: String, number: bool, line: usize) {
    let path = open.iter().map(|o| match o {
        Open::Object(key) => key.clone().unwrap_or_default(),
        Open::Array(n) => n.to_string(),
    });
    see(Leaf { path: path.collect(), text, number, line });
}

/// Length of a string including quotes; JSON strings end on their line.
fn string(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn unescaped(text: &str) -> String {
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(text: &str) -> Vec<(String, String, usize)> {
        let mut all = Vec::new();
        scan(text.lines(), |l| all.push((l.path.join("."), l.text, l.line)));
        all
    }

    #[test]
    fn values_have_paths_and_lines() {
        let text = "{\n  \"a\" : \"x\\\"y\",\n  \"jobs\" : [\n {\"bw\" : 12, \"l\" : {\"min\" : 1.5}},\n {\"bw\" : 13}\n ]\n}\nbehind";
        let found = leaves(text);
        assert_eq!(found[0], ("a".into(), "x\"y".into(), 1));
        assert_eq!(found[1], ("jobs.0.bw".into(), "12".into(), 3));
        assert_eq!(found[2], ("jobs.0.l.min".into(), "1.5".into(), 3));
        assert_eq!(found[3], ("jobs.1.bw".into(), "13".into(), 4));
        let scan = scan(text.lines(), |_| ());
        assert!(scan.whole);
        assert_eq!(scan.last, 6);
    }

    #[test]
    fn a_cut_leaves_what_came_before() {
        let text = "{\"a\" : 1,\n\"b\" : {\"c\" : 2,\n\"d\" :";
        assert_eq!(leaves(text).len(), 2);
        assert!(!scan(text.lines(), |_| ()).whole);
        assert!(leaves("{ int x = 1; }").is_empty());
    }
}
