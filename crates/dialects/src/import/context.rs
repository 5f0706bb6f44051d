//! Information from the text around an output: the heading above it ("randomread8k", underlined), the variant ("## BASELINE ##"),
//! workload parameters given earlier, and facts about the host.

use super::Block;
use super::columns::Columns;
use super::lines::Lines;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Outputs of which it is known where they are.
const MOST_OUTPUTS: usize = 16;

/// The headings in effect at a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Heading {
    /// The last underlined heading.
    pub(super) section: Option<String>,
    /// The last "## WORD ##" below it.
    pub(super) variant: Option<String>,
}

impl Heading {
    /// Section and variant combined.
    pub(super) fn label(&self) -> Option<String> {
        let words: Vec<&str> =
            [&self.section, &self.variant].into_iter().flatten().map(String::as_str).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// Facts about a host from a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) memory_bytes: Option<u64>,
    pub(super) cache_bytes: Option<u64>,
    pub(super) filesystem: Option<String>,
}

impl Host {
    /// The host as a partial environment document.
    pub(super) fn environment(&self) -> Value {
        let mut doc = json!({ "host": self.name });
        if let Some(bytes) = self.memory_bytes {
            doc["memory"] = json!({ "total_bytes": bytes });
        }
        if let Some(bytes) = self.cache_bytes {
            // The cache level is unknown; the figures only use the last level.
            doc["cpu"] = json!({ "caches": [{ "level": 2, "kind": "unified", "size_bytes": bytes }] });
        }
        if let Some(name) = &self.filesystem {
            doc["filesystem"] = json!(name);
        }
        doc
    }
}

/// Accumulated context.
pub(super) struct Context {
    /// Name of the input file.
    pub(super) file: String,
    /// The headings in effect at the line passed last.
    heading: Heading,
    /// (name, value) of workload parameters seen so far.
    pub(super) parameters: Vec<(String, String)>,
    hosts: Vec<Host>,
    /// First and last lines of the last outputs.
    outputs: VecDeque<(usize, usize)>,
    /// Meaning of table columns, if specified.
    pub(super) columns: Option<Columns>,
    /// Position at which an fio log was cut.
    pub(super) cut_log: Option<super::fio::Cut>,
}

impl Context {
    pub(super) fn of(file: &str, columns: Option<Columns>) -> Self {
        Self {
            file: file.into(),
            heading: Heading::default(),
            parameters: Vec::new(),
            hosts: Vec::new(),
            outputs: VecDeque::new(),
            columns,
            cut_log: None,
        }
    }

    /// Processes the next line.
    pub(super) fn pass(&mut self, lines: &Lines, n: usize) {
        if let Some(heading) = self.changed(lines, n) {
            self.heading = heading;
        }
    }

    /// The headings after a line, if it changes them.
    fn changed(&self, lines: &Lines, n: usize) -> Option<Heading> {
        let line = lines.trimmed(n);
        if is_rule(line) {
            return Some(Heading { section: title_above(lines, n), variant: None });
        }
        let inner = line.strip_prefix("##").and_then(|l| l.strip_suffix("##"))?.trim_matches(['#', ' ']);
        (!inner.is_empty()).then(|| Heading { variant: Some(inner.into()), ..self.heading.clone() })
    }

    /// The headings in effect at the line passed last.
    pub(super) fn heading(&self) -> &Heading {
        &self.heading
    }

    /// Whether a line is one of the last outputs: what it says is not about the next.
    pub(super) fn is_of_output(&self, n: usize) -> bool {
        self.outputs.iter().any(|&(first, last)| (first..=last).contains(&n))
    }

    /// Keeps information from a block for later blocks.
    pub(super) fn learn(&mut self, at: usize, block: &Block) {
        if self.outputs.len() >= MOST_OUTPUTS {
            self.outputs.pop_front();
        }
        self.outputs.push_back((at, block.last));
        self.parameters.extend(block.parameters.iter().cloned());
        self.hosts.extend(block.hosts.iter().cloned());
        self.cut_log = block.cut_log;
    }

    /// Known facts about a host.
    pub(super) fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.iter().rev().find(|h| h.name.eq_ignore_ascii_case(name))
    }

    /// A parameter whose name contains all of these words.
    pub(super) fn parameter(&self, words: &[&str]) -> Option<&str> {
        let fits = |name: &str| words.iter().all(|w| name.to_ascii_lowercase().contains(w));
        self.parameters.iter().rev().find(|(name, _)| fits(name)).map(|(_, value)| value.as_str())
    }
}

/// Whether the line repeats a single character.
pub(super) fn is_rule(line: &str) -> bool {
    let first = line.chars().next();
    line.len() >= 3 && first.is_some_and(|c| "-=#*~_".contains(c)) && line.chars().all(|c| Some(c) == first)
}

/// The paragraph just above a rule, if it is short enough for a heading.
fn title_above(lines: &Lines, rule: usize) -> Option<String> {
    let is_text = |n: &usize| !lines.is_blank(*n) && !is_rule(lines.trimmed(*n));
    let mut words: Vec<&str> =
        (0..rule).rev().take_while(is_text).take(4).map(|n| lines.trimmed(n)).collect();
    words.reverse();
    let title = words.join(" ");
    let title = title.trim_matches(['#', ' ']);
    (words.len() <= 3 && !title.is_empty() && title.len() <= 160).then(|| title.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_ruled_off_and_variants_are_hashed() {
        let text =
            "a\n\n----\n read 8k \n----\n## BASELINE ##\nx\n## NEW ##\ny\n\n====\nz\nHost one,\n4 GB\n===\nw";
        let lines = Lines::new(text);
        let mut context = Context::of("-", None);
        let labels: Vec<Option<String>> = (0..lines.len())
            .map(|n| {
                context.pass(&lines, n);
                context.heading().label()
            })
            .collect();
        let label = |n: usize| labels[n].clone();
        assert_eq!(label(0), None);
        assert_eq!(label(6).as_deref(), Some("read 8k, BASELINE"));
        assert_eq!(label(8).as_deref(), Some("read 8k, NEW"));
        assert_eq!(label(11), None, "a rule without a title ends the section");
        assert_eq!(label(15).as_deref(), Some("z Host one, 4 GB"));
    }
}
