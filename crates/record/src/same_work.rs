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

/// The workload without what says nothing of what is done: seed, name and note of the whole, seeds of streams, directories of absolute paths. Of the root of a
/// tree nothing is left: often it is the directory of the night itself.
#[must_use]
pub fn without_names(model: &str) -> String {
    let mut text = String::new();
    let (mut head, mut of_stream) = (true, false);
    for line in model.lines() {
        if line.starts_with('[') {
            (head, of_stream) = (false, line.ends_with(".stream]"));
        }
        let key = line.split_once(" = ").map_or("", |(key, _)| key);
        if head && ["seed", "name", "note"].contains(&key) || of_stream && key == "seed" {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_of_streams_say_nothing_and_those_of_variables_do() {
        let model = "seed = \"0x1\"\n[variables.x]\nseed = 7\n[phase.group.thread.program.stream]\nseed = \"0x5\"\nstart = 4\n";
        let wanted = "[variables.x]\nseed = 7\n[phase.group.thread.program.stream]\nstart = 4\n";
        assert_eq!(without_names(model), wanted);
    }
}
