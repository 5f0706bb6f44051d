//! Whether two runs did the same work, regardless of the names of runs and directories.

use std::path::Path;

/// The last component of an absolute path; any other word unchanged.
#[must_use]
pub fn base(word: &str) -> &str {
    if !word.starts_with('/') {
        return word;
    }
    Path::new(word).file_name().and_then(|n| n.to_str()).unwrap_or(word)
}

/// The workload without anything that does not affect the work: seed, name and note of the whole, seeds of streams, directories
/// of absolute paths. The root of a tree is removed entirely, since it is often the directory of that one run.
#[must_use]
pub fn work_only(model: &str) -> String {
    let mut text = String::new();
    let (mut head, mut of_stream) = (true, false);
    for line in model.lines() {
        if line.starts_with('[') {
            (head, of_stream) = (false, line.ends_with(".stream]"));
        }
        let is = |key: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(" = "));
        if head && ["seed", "name", "note"].into_iter().any(is) || of_stream && is("seed") {
            continue;
        }
        if line.contains('\\') {
            text += line;
        } else {
            without_directories(&mut text, line);
        }
        text.push('\n');
    }
    text
}

/// Every second part of a line split at quotes is a string (a line with an escape is left as it is).
fn without_directories(text: &mut String, line: &str) {
    let mut before = "";
    for (i, part) in line.split('"').enumerate() {
        if i > 0 {
            text.push('"');
        }
        *text += match i % 2 == 1 {
            true if part.starts_with('/') && before.ends_with("root = ") => "/",
            true => base(part),
            false => part,
        };
        before = part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_of_streams_say_nothing_and_those_of_variables_do() {
        let model = "seed = \"0x1\"\n[variables.x]\nseed = 7\n[phase.group.thread.program.stream]\nseed = \"0x5\"\nstart = 4\n";
        let wanted = "[variables.x]\nseed = 7\n[phase.group.thread.program.stream]\nstart = 4\n";
        assert_eq!(work_only(model), wanted);
    }
}
