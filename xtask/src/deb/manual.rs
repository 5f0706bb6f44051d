//! A page of `docs/` as a manual page: what the four drop-ins do stands there, because their options are not clap's. Only what
//! those pages use is laid out; anything else is an error, so that no text is lost in silence.

use anyhow::{Result, bail};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::fmt::Write as _;

/// The page `name`(1) of Markdown text; `summary` is the line that `apropos` shows.
pub(super) fn page(name: &str, summary: &str, version: &str, markdown: &str) -> Result<String> {
    let mut page = Page::default();
    let _ = writeln!(page.text, ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '");
    let _ = writeln!(page.text, ".TH {} 1 \"\" \"fathom {version}\"", name.to_uppercase());
    let _ = writeln!(page.text, ".SH NAME\n{} \\- {}", escaped(name), escaped(summary));
    let command = name.strip_prefix("fathom-").unwrap_or(name);
    let _ = writeln!(
        page.text,
        ".SH SYNOPSIS\n\\fBfathom {command}\\fR \\fIARGUMENT\\fR...\n.br\n\\fB{command}\\fR \\fIARGUMENT\\fR... (by a link of that name)"
    );
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        page.take(event)?;
    }
    page.flush("");
    let _ = writeln!(
        page.text,
        ".SH \"SEE ALSO\"\n.BR fathom (1),\n.BR fathom\\-report (1),\n.BR fathom\\-compare (1);\n/usr/share/doc/fathom/GUIDE.md"
    );
    Ok(page.text)
}

#[derive(Debug, Default)]
struct Page {
    text: String,
    /// What the current paragraph, heading or cell has so far.
    line: String,
    /// The list items under way: the number of the next one, or none for bullets.
    lists: Vec<Option<u64>>,
    in_item: bool,
    in_code: bool,
    /// Names of the columns, and the cells of the row so far.
    header: Vec<String>,
    row: Vec<String>,
    in_header: bool,
}

impl Page {
    fn take(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Start(tag) => self.start(&tag)?,
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.text.push_str(&code(&text)),
            Event::Text(text) => self.line.push_str(&escaped(&text)),
            Event::Code(text) => {
                let _ = write!(self.line, "\\fB{}\\fR", escaped(&text));
            }
            Event::SoftBreak => self.line.push(' '),
            Event::HardBreak => self.line.push_str("\n.br\n"),
            // Marks that tests look for.
            Event::Html(_) | Event::InlineHtml(_) => {}
            Event::Rule => self.text.push_str(".PP\n"),
            other => bail!("a manual page cannot show {other:?}"),
        }
        Ok(())
    }

    fn start(&mut self, tag: &Tag) -> Result<()> {
        match tag {
            Tag::Heading { .. } => self.flush(""),
            Tag::Paragraph if !self.in_item => self.flush(".PP"),
            Tag::List(first) => {
                self.flush("");
                if !self.lists.is_empty() {
                    self.text.push_str(".RS\n");
                }
                self.lists.push(*first);
            }
            Tag::Item => {
                self.flush("");
                self.in_item = true;
                match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let _ = writeln!(self.text, ".IP {number}. 4");
                        *number += 1;
                    }
                    _ => self.text.push_str(".IP \\(bu 2\n"),
                }
            }
            Tag::CodeBlock(_) => {
                self.flush("");
                self.in_code = true;
                self.text.push_str(".PP\n.RS 4\n.nf\n");
            }
            Tag::Strong => self.line.push_str("\\fB"),
            Tag::Emphasis => self.line.push_str("\\fI"),
            Tag::TableHead => self.in_header = true,
            Tag::Table(_) => self.header.clear(),
            Tag::TableRow => self.row.clear(),
            Tag::TableCell | Tag::Link { .. } | Tag::HtmlBlock | Tag::Paragraph => {}
            other => bail!("a manual page cannot show {other:?}"),
        }
        Ok(())
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            // The title says what NAME has said.
            TagEnd::Heading(HeadingLevel::H1) => {
                self.line.clear();
                self.text.push_str(".SH DESCRIPTION\n");
            }
            TagEnd::Heading(level) => {
                let macro_name = if level == HeadingLevel::H2 { ".SH" } else { ".SS" };
                let title = std::mem::take(&mut self.line);
                let title = if level == HeadingLevel::H2 {
                    title.to_uppercase().replace("\\(AQ", "\\(aq")
                } else {
                    title
                };
                let _ =
                    writeln!(self.text, "{macro_name} \"{}\"", title.replace("\\FB", "").replace("\\FR", ""));
            }
            TagEnd::Paragraph => self.flush(""),
            TagEnd::Item => {
                self.flush("");
                self.in_item = false;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.text.push_str(if self.lists.is_empty() { ".PP\n" } else { ".RE\n" });
            }
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.text.push_str(".fi\n.RE\n");
            }
            TagEnd::Strong | TagEnd::Emphasis => self.line.push_str("\\fR"),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                if self.in_header { self.header.push(cell) } else { self.row.push(cell) }
            }
            TagEnd::TableHead => self.in_header = false,
            TagEnd::TableRow => self.end_row(),
            _ => {}
        }
    }

    /// A row as an entry of a list: its first cell is the name, the others follow with the names of their columns where there are more
    /// than two.
    fn end_row(&mut self) {
        let Some((name, cells)) = self.row.split_first() else { return };
        let entries: Vec<String> = cells
            .iter()
            .zip(self.header.iter().skip(1))
            .filter(|(cell, _)| !cell.is_empty())
            .map(|(cell, column)| match (cells.len(), column.is_empty()) {
                (1, _) | (_, true) => cell.clone(),
                // What an option does needs no heading before each, and that it is done is what everybody expects.
                _ if *column == self.header.get(1).cloned().unwrap_or_default() => cell.clone(),
                _ if column.eq_ignore_ascii_case("state") && cell.as_str() == "done" => String::new(),
                _ => format!("\\fI{}\\fR: {cell}", column.to_lowercase()),
            })
            .filter(|entry: &String| !entry.is_empty())
            .collect();
        let _ = writeln!(self.text, ".TP\n{}", guarded(name));
        let _ = writeln!(self.text, "{}", guarded(&entries.join("; ")));
    }

    /// Ends the paragraph under way and begins another by `macro_name`.
    fn flush(&mut self, macro_name: &str) {
        let line = std::mem::take(&mut self.line);
        if !line.trim().is_empty() {
            let _ = writeln!(self.text, "{}", guarded(line.trim()));
        }
        if !macro_name.is_empty() {
            let _ = writeln!(self.text, "{macro_name}");
        }
    }
}

/// Characters that roff reads as its own.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq")
}

/// A line that begins with a dot is no request.
fn guarded(line: &str) -> String {
    if line.starts_with('.') { format!("\\&{line}") } else { line.to_owned() }
}

fn code(block: &str) -> String {
    block.lines().fold(String::new(), |all, line| all + &guarded(&escaped(line)) + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_lists_code_and_tables_are_laid_out() {
        let text = "# For a user\n\nTakes `-R`.\n\n## What differs\n\n* one\n* two `x`\n\n```\n.hidden 'a'\n```\n\n\
            | Option | What | State |\n|---|---|---|\n| `-a` | all | done |\n";
        let page = page("fathom-x", "a summary", "0.1", text).unwrap();
        let expected = "\
.SH NAME
fathom\\-x \\- a summary
.SH SYNOPSIS
\\fBfathom x\\fR \\fIARGUMENT\\fR...
.br
\\fBx\\fR \\fIARGUMENT\\fR... (by a link of that name)
.SH DESCRIPTION
.PP
Takes \\fB\\-R\\fR.
.SH \"WHAT DIFFERS\"
.IP \\(bu 2
one
.IP \\(bu 2
two \\fBx\\fR
.PP
.PP
.RS 4
.nf
\\&.hidden \\(aqa\\(aq
.fi
.RE
.TP
\\fB\\-a\\fR
all
.SH \"SEE ALSO\"
.BR fathom (1),
.BR fathom\\-report (1),
.BR fathom\\-compare (1);
/usr/share/doc/fathom/GUIDE.md
";
        assert!(page.ends_with(expected), "{page}");
    }

    #[test]
    fn a_picture_is_refused() {
        assert!(page("x", "y", "0", "![p](q.svg)").is_err());
    }

    #[test]
    fn the_pages_of_the_drop_ins_can_be_laid_out() {
        for name in super::super::DROP_INS {
            let path = crate::root().join("docs").join(format!("{}.md", name.0));
            let text = std::fs::read_to_string(&path).unwrap();
            let page = page(&format!("fathom-{}", name.0), name.1, "0", &text).unwrap();
            assert!(page.lines().count() > 50, "{}", path.display());
        }
    }
}
