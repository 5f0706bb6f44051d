//! Runs, or a comparison of sides (`compared`), as Markdown: `ticket` is the short form for an issue or a pull request, `document`
//! draws any document, and everything about runs is one. User strings are escaped so that they can neither break a table nor become
//! markup.

mod compared;
mod document;
mod ticket;

pub use compared::comparison;
pub use document::document;
pub use ticket::ticket;

use crate::{documents, printable::clean};
use fathom_record::Run;
use std::fmt::Write as _;

/// Everything about the runs; for exactly two, also the second relative to the first.
#[must_use]
pub fn summary(runs: &[&Run]) -> String {
    document(&documents::runs(runs))
}

/// A table with text in the first column and figures in the others.
fn table(out: &mut String, heads: &[&str], rows: &[Vec<String>]) {
    let _ = writeln!(out, "| {} |", heads.join(" | "));
    let _ = writeln!(out, "|---|{}", "---:|".repeat(heads.len() - 1));
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out.push('\n');
}

/// A table of words.
fn text_table(out: &mut String, heads: &[&str], rows: &[Vec<String>]) {
    let _ = writeln!(out, "| {} |", heads.join(" | "));
    let _ = writeln!(out, "|{}", "---|".repeat(heads.len()));
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out.push('\n');
}

/// Escapes text: HTML, table bars, code marks and emphasis lose their meaning.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '`' | '*' | '_' | '\\' | '[' | ']' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn tables_keep_their_columns_whatever_the_names() {
        let text = summary(&[&samples::hostile_run()]);
        assert!(!text.contains("<b>") && !text.contains("</script>"), "{text}");
        let mut columns = 0;
        for line in text.lines() {
            if !line.starts_with('|') {
                columns = 0;
                continue;
            }
            let bars = line.replace("\\|", "").matches('|').count();
            assert!(columns == 0 || bars == columns, "{line}");
            columns = bars;
        }
    }

    #[test]
    fn two_runs_are_divided() {
        let text = summary(&[&samples::auto_run(), &samples::auto_run_changed()]);
        assert!(text.contains("divided by"), "{text}");
        assert!(text.contains("page cache"));
    }
}
