//! What the text around an output says of it: the heading it stands under ("randomread8k", ruled off), the variant ("## BASELINE ##"),
//! the parameters of a workload told before, and what is known of the host it ran on.

use super::Block;
use super::columns::Columns;
use super::lines::Lines;
use serde_json::{Value, json};

/// The headings that hold at a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Heading {
    /// The last heading with a rule below it.
    pub(super) section: Option<String>,
    /// The last "## WORD ##" below that.
    pub(super) variant: Option<String>,
}

impl Heading {
    /// Both in one line.
    pub(super) fn label(&self) -> Option<String> {
        let words: Vec<&str> =
            [&self.section, &self.variant].into_iter().flatten().map(String::as_str).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// What a table told of a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) memory_bytes: Option<u64>,
    pub(super) cache_bytes: Option<u64>,
    pub(super) filesystem: Option<String>,
}

impl Host {
    /// The part of an environment document that it fills.
    pub(super) fn environment(&self) -> Value {
        let mut doc = json!({ "host": self.name });
        if let Some(bytes) = self.memory_bytes {
            doc["memory"] = json!({ "total_bytes": bytes });
        }
        if let Some(bytes) = self.cache_bytes {
            // Which level it is was not told; the figures only ask for the last one.
            doc["cpu"] = json!({ "caches": [{ "level": 2, "kind": "unified", "size_bytes": bytes }] });
        }
        if let Some(name) = &self.filesystem {
            doc["filesystem"] = json!(name);
        }
        doc
    }
}

/// All of it.
pub(super) struct Context {
    /// The file's name.
    pub(super) file: String,
    /// The headings that hold at the line that was passed last.
    heading: Heading,
    /// (name, value), as told so far.
    pub(super) parameters: Vec<(String, String)>,
    hosts: Vec<Host>,
    /// What the columns of tables are, where that was told.
    pub(super) columns: Option<Columns>,
    /// Where a log of fio was cut.
    pub(super) cut_log: Option<super::fio::Cut>,
}

impl Context {
    pub(super) fn of(file: &str, columns: Option<Columns>) -> Self {
        Self {
            file: file.into(),
            heading: Heading::default(),
            parameters: Vec::new(),
            hosts: Vec::new(),
            columns,
            cut_log: None,
        }
    }

    /// Takes the next line.
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

    /// The headings that hold at the line that was passed last.
    pub(super) fn heading(&self) -> &Heading {
        &self.heading
    }

    /// Takes what a block tells for those after it.
    pub(super) fn learn(&mut self, block: &Block) {
        self.parameters.extend(block.parameters.iter().cloned());
        self.hosts.extend(block.hosts.iter().cloned());
        self.cut_log = block.cut_log;
    }

    /// What is known of a host, if anything was told.
    pub(super) fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.iter().rev().find(|h| h.name.eq_ignore_ascii_case(name))
    }

    /// A parameter whose name contains all these words.
    pub(super) fn parameter(&self, words: &[&str]) -> Option<&str> {
        let fits = |name: &str| words.iter().all(|w| name.to_ascii_lowercase().contains(w));
        self.parameters.iter().rev().find(|(name, _)| fits(name)).map(|(_, value)| value.as_str())
    }
}

/// A line of one character again and again.
pub(super) fn is_rule(line: &str) -> bool {
    let first = line.chars().next();
    line.len() >= 3 && first.is_some_and(|c| "-=#*~_".contains(c)) && line.chars().all(|c| Some(c) == first)
}

/// The paragraph that ends just above a rule, if it is short enough to be a heading.
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
