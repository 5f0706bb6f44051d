//! Reads input line by line, holding one line, or one part of a mail in base64. Lines that are not UTF-8 and those of mails are decoded.

use super::context::is_rule;
use super::encoding::{self, Form, Mail};
use super::lines::{LONGEST_LINE, MOST_DOCUMENT};
use std::collections::VecDeque;
use std::io::{BufRead, Cursor, Read as _, Result};

pub(super) enum Next {
    Line {
        text: String,
        /// The number of its first line in the file, from 1.
        line: u64,
        /// Whether a line break follows it.
        is_ended: bool,
    },
    /// A line that is too long, with its number and length.
    TooLong {
        line: u64,
        bytes: u64,
    },
    /// The line at which a part in base64 could not be read on.
    Broken {
        line: u64,
        text: String,
    },
    /// A line longer than [`LONGEST_PASSED`]; it was not read to its end.
    Endless {
        line: u64,
    },
    End,
}

pub(super) struct ImportSource<'i> {
    input: Box<dyn BufRead + 'i>,
    mail: Mail,
    /// Lines read so far.
    line: u64,
    /// What was read ahead, and does not belong to what was before it.
    held: VecDeque<Next>,
    /// The part in base64 that is being read.
    part: Option<Part>,
}

/// A file in a mail.
struct Part {
    source: Box<ImportSource<'static>>,
    /// Its lines that begin in another line of the mail than those before them, with the number of that line.
    lines: Vec<(u64, u64)>,
    /// Whether its end is not cut.
    is_whole: bool,
}

impl<'i> ImportSource<'i> {
    /// An IOzone worksheet is converted to the text it would be saved as.
    pub(super) fn new(mut input: impl BufRead + 'i) -> Result<Self> {
        let mut source =
            Self { input: Box::new(&[][..]), mail: Mail::No, line: 0, held: VecDeque::new(), part: None };
        if !input.fill_buf()?.starts_with(&crate::iozone::worksheet::BEGINNING) {
            // The decoder gives the first bytes alone.
            source.mail = Mail::of(input.fill_buf()?);
            source.input = encoding::decoded(input);
            return Ok(source);
        }
        let mut bytes = Vec::new();
        input.by_ref().take(MOST_DOCUMENT.bytes as u64).read_to_end(&mut bytes)?;
        source.input = match crate::iozone::worksheet::read(&bytes) {
            Ok(sheet) => Box::new(Cursor::new(super::iozone::sheet_as_text(&sheet).into_bytes())),
            Err(_) => Box::new(Cursor::new(bytes).chain(input)),
        };
        Ok(source)
    }

    /// The next line; in a mail, as it was written.
    pub(super) fn next(&mut self) -> Result<Next> {
        if let Some(part) = &mut self.part {
            match part.next()? {
                Next::End => self.part = None,
                line => return Ok(line),
            }
        }
        if self.held.is_empty() && self.mail == Mail::In(Form::Base64) {
            self.mail = Mail::No;
            self.part = self.part()?;
            return self.next();
        }
        let next = self.held_or_read()?;
        let Next::Line { mut text, line, mut is_ended } = next else { return Ok(next) };
        self.mail = self.mail.behind(&text);
        if self.mail != Mail::In(Form::Quoted) {
            return Ok(Next::Line { text, line, is_ended });
        }
        while encoding::is_broken(&text) && text.len() < LONGEST_LINE {
            match self.held_or_read()? {
                Next::Line { text: more, is_ended: end, .. } => {
                    text.push('\n');
                    text.push_str(&more);
                    is_ended = end;
                }
                other => {
                    self.held.push_front(other);
                    break;
                }
            }
        }
        Ok(Next::Line { text: encoding::unquoted(&text), line, is_ended })
    }

    /// Reads the lines of a part in base64. What is no text stays as it is.
    fn part(&mut self) -> Result<Option<Part>> {
        let (mut lines, mut base64) = (Vec::new(), String::new());
        let (mut is_ended, mut length) = (true, 0);
        let mut behind = loop {
            let next = self.held_or_read()?;
            let before = lines.last().map(|&(at, _): &(usize, u64)| (&base64[at..], length));
            match next {
                Next::Line { text, line, is_ended: end }
                    if encoding::is_base64(text.trim_end(), before)
                        && base64.len() < MOST_DOCUMENT.bytes
                        && lines.len() < MOST_DOCUMENT.lines =>
                {
                    if lines.is_empty() {
                        length = text.trim_end().len();
                    }
                    lines.push((base64.len(), line));
                    base64.push_str(text.trim_end());
                    is_ended = end;
                }
                Next::Line { text, .. } if lines.is_empty() && text.trim().is_empty() => {}
                other => break vec![other],
            }
        };
        let text_of = |next: &Next| match next {
            Next::Line { text, .. } => Some(text.trim_end().to_owned()),
            _ => None,
        };
        let is_blank = |next: &Next| text_of(next).is_some_and(|text| text.is_empty());
        if is_blank(&behind[0]) {
            behind.push(self.held_or_read()?);
        }
        let bytes = encoding::bytes_of(&base64).filter(|bytes| !bytes.is_empty());
        let is_read = bytes.is_some();
        let Some(bytes) = bytes.filter(|bytes| encoding::is_text(bytes)) else {
            behind.into_iter().rev().for_each(|next| self.held.push_front(next));
            for (n, &(at, line)) in lines.iter().enumerate().rev() {
                let end = lines.get(n + 1).map_or(base64.len(), |next| next.0);
                let text = base64[at..end].to_owned();
                let is_ended = is_ended || n + 1 < lines.len();
                self.held.push_front(Next::Line { text, line, is_ended });
            }
            if let (Some(&(_, line)), false) = (lines.first(), is_read) {
                self.held.push_front(Next::Broken { line, text: base64[..length].to_owned() });
            }
            return Ok(None);
        };
        let is_boundary = |text: &str| text.is_empty() || text.starts_with("--") || is_rule(text);
        let goes_on = |next: &Next| text_of(next).is_some_and(|text| encoding::is_base64(&text, None));
        let ends = text_of(&behind[0]).is_some_and(|text| is_boundary(&text));
        let last = lines.last().map_or(0, |last| last.0);
        let is_short = is_ended && base64.len() - last < length;
        let is_whole = base64.len() % 4 == 0
            && !behind.iter().any(goes_on)
            && (ends || is_short || base64.ends_with('='));
        if !is_whole {
            // What is behind would pass for prose.
            let broken = behind.iter().position(goes_on).or((!ends).then_some(0));
            match broken.map(|at| &mut behind[at]) {
                Some(next) => {
                    if let Next::Line { text, line, .. } = next {
                        *next = Next::Broken { line: *line, text: std::mem::take(text) };
                    }
                }
                None => behind.insert(
                    0,
                    Next::Broken {
                        line: lines.last().map_or(self.line, |last| last.1),
                        text: base64[last..].to_owned(),
                    },
                ),
            }
        }
        // In front of what was read ahead before.
        behind.into_iter().rev().for_each(|next| self.held.push_front(next));
        let lines = begins(&bytes, &lines);
        let source = Box::new(ImportSource::new(Cursor::new(bytes))?);
        Ok(Some(Part { source, lines, is_whole }))
    }

    fn held_or_read(&mut self) -> Result<Next> {
        match self.held.pop_front() {
            Some(held) => Ok(held),
            None => self.read_line(),
        }
    }

    fn read_line(&mut self) -> Result<Next> {
        let mut line = Vec::new();
        let mut most = LONGEST_LINE;
        self.read_to(most, &mut line)?;
        if line.is_empty() {
            return Ok(Next::End);
        }
        self.line += 1;
        let ended = |line: &[u8]| line.last() == Some(&b'\n');
        if line.len() > most && !ended(&line) && is_document(&line) {
            most = MOST_DOCUMENT.bytes;
            self.read_to(most, &mut line)?;
        }
        let is_ended = ended(&line);
        if is_ended {
            line.pop();
        } else if line.len() > most {
            return self.pass_over(line.len());
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(Next::Line { text: encoding::text(line), line: self.line, is_ended })
    }

    /// Reads to the end of the line, or one byte beyond the limit.
    fn read_to(&mut self, most: usize, line: &mut Vec<u8>) -> Result<usize> {
        let room = most + 1 - line.len();
        (&mut self.input).take(room as u64).read_until(b'\n', line)
    }

    /// Skips the rest of a line, counting its length.
    fn pass_over(&mut self, before: usize) -> Result<Next> {
        let mut length = before as u64;
        let mut part = Vec::new();
        loop {
            part.clear();
            let read = self.read_to(AT_ONCE, &mut part)?;
            length += read as u64;
            if part.last() == Some(&b'\n') {
                return Ok(Next::TooLong { line: self.line, bytes: length - 1 });
            } else if read == 0 {
                return Ok(Next::TooLong { line: self.line, bytes: length });
            } else if length > LONGEST_PASSED {
                return Ok(Next::Endless { line: self.line });
            }
        }
    }
}

impl Part {
    /// The next line, with its number in the mail.
    fn next(&mut self) -> Result<Next> {
        let of_mail = |line: u64| {
            let n = self.lines.partition_point(|&(from, _)| from <= line);
            self.lines.get(n.saturating_sub(1)).map_or(line, |&(_, of_mail)| of_mail)
        };
        Ok(match self.source.next()? {
            Next::Line { text, line, is_ended } => {
                Next::Line { text, line: of_mail(line), is_ended: is_ended || self.is_whole }
            }
            Next::TooLong { line, bytes } => Next::TooLong { line: of_mail(line), bytes },
            Next::Broken { line, text } => Next::Broken { line: of_mail(line), text },
            Next::Endless { line } => Next::Endless { line: of_mail(line) },
            Next::End => Next::End,
        })
    }
}

/// The lines of a file that begin in another line of the mail than those before them, from the places at which those begin in its base64.
/// The text of a worksheet has no line breaks of the file.
fn begins(bytes: &[u8], lines: &[(usize, u64)]) -> Vec<(u64, u64)> {
    let of_mail =
        |at: usize| lines[lines.partition_point(|&(from, _)| from <= at / 3 * 4).saturating_sub(1)].1;
    let mut begins = vec![(1, of_mail(0))];
    if bytes.starts_with(&crate::iozone::worksheet::BEGINNING) {
        return begins;
    }
    let breaks = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| of_mail(at + 1));
    for (line, of_mail) in (2..).zip(breaks) {
        if begins.last().is_some_and(|&(_, before)| before != of_mail) {
            begins.push((line, of_mail));
        }
    }
    begins
}

/// Limit on skipped lines. A disk image, mostly holes, may have a line of terabytes.
pub(super) const LONGEST_PASSED: u64 = 1 << 30;

/// Bytes skipped at a time.
const AT_ONCE: usize = 64 << 10;

/// Whether a line starts like a JSON document, possibly quoted.
fn is_document(line: &[u8]) -> bool {
    line.iter().take(256).find(|b| !b" \t>".contains(b)) == Some(&b'{')
}
