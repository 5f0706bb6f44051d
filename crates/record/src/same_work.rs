//! Whether two runs did the same, whatever the night and its directories were called.

use std::path::Path;

/// The last part of an absolute path; other words as they are.
#[must_use]
pub fn base(word: &str) -> &str {
    if !word.starts_with('/') {
        return word;
    }
    Path::new(word).file_name().and_then(|n| n.to_str()).unwrap_or(word)
}

/// The workload without what says nothing of what is done: seed, name and note of the whole, directories of absolute paths. Of the root of a
/// tree nothing is left: often it is the directory of the night itself.
#[must_use]
pub fn without_names(model: &str) -> String {
    let mut text = String::new();
    let mut head = true;
    for line in model.lines() {
        head &= !line.starts_with('[');
        let key = line.split_once(" = ").map_or("", |(key, _)| key);
        if head && ["seed", "name", "note"].contains(&key) {
            continue;
        }
        // Every other part of a line in quotes is a string; one with an escape in it is left as it is.
        let parts: Vec<&str> = if line.contains('\\') { vec![line] } else { line.split('"').collect() };
        let stripped = parts.iter().enumerate().map(|(i, part)| match i % 2 == 1 {
            true if part.starts_with('/') && parts[i - 1].ends_with("root = ") => "/",
            true => base(part),
            false => part,
        });
        text += &stripped.collect::<Vec<_>>().join("\"");
        text.push('\n');
    }
    text
}
