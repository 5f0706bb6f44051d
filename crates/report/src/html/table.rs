//! Tables of the page: a caption, column heads, row heads, and a frame that scrolls sideways on its own, so that the page
//! itself never does on a narrow screen.

use crate::svg::escape;
use std::fmt::Write as _;

/// A table under construction. Cells are HTML, and the caller escapes user strings in them; heads are escaped here.
pub(super) struct HtmlTable {
    html: String,
    caption: String,
}

impl HtmlTable {
    /// Begins it. Heads of columns of words are read from the left; `last` is the head of one more column.
    pub(super) fn new(caption: &str, heads: &[String], words: &[bool], last: Option<&str>) -> Self {
        let mut html = format!("<table><caption>{}</caption><thead><tr>", escape(caption));
        let all =
            heads.iter().map(String::as_str).zip(words.iter().copied()).chain(last.map(|head| (head, false)));
        for (n, (head, words)) in all.enumerate() {
            let class = if words && n > 0 { " class=\"words\"" } else { "" };
            let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escape(head));
        }
        html.push_str("</tr></thead><tbody>\n");
        Self { html, caption: caption.to_string() }
    }

    /// Begins a row; the head is escaped.
    pub(super) fn begin(&mut self, head: &str) {
        let _ = write!(self.html, "<tr><th scope=\"row\">{}</th>", escape(head));
    }

    /// Adds a cell to the row; attributes and contents are HTML.
    pub(super) fn cell(&mut self, attributes: &str, html: &str) {
        let _ = write!(self.html, "<td{attributes}>{html}</td>");
    }

    /// Ends the row.
    pub(super) fn end(&mut self) {
        self.html.push_str("</tr>\n");
    }

    /// The finished table in its frame. The frame is focusable, so that it can be scrolled with the keyboard.
    pub(super) fn finish(self) -> String {
        format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</tbody></table></div>\n",
            escape(&self.caption),
            self.html
        )
    }
}

/// Monospaced text in a scrollable frame that is focusable and labelled for screen readers. `html` must be escaped.
pub(super) fn preformatted(name: &str, html: &str) -> String {
    format!("<pre tabindex=\"0\" role=\"region\" aria-label=\"{}\">{html}</pre>\n", escape(name))
}

/// A collapsed section.
pub(super) fn folded(summary: &str, html: &str) -> String {
    format!("<details><summary>{}</summary>\n{html}</details>\n", escape(summary))
}
