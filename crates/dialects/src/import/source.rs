//! Reads input line by line, never holding more than one line. Bytes that are not UTF-8 are replaced, and lines of mails decoded.

use super::encoding::{self, Mail};
use super::lines::{LONGEST_LINE, MOST_DOCUMENT};
use std::io::{BufRead, Read as _, Result};

pub(super) enum Next {
    Line {
        text: String,
        /// Lines of the file that were joined to it.
        joined: usize,
        /// Whether a line break follows it.
        is_ended: bool,
    },
    /// A line that is too long, with its length.
    TooLong(u64),
    /// A line longer than [`LONGEST_PASSED`]; it was not read to its end.
    Endless,
    End,
}

pub(super) struct Source<'i> {
    input: Box<dyn BufRead + 'i>,
    mail: Mail,
    /// What was read behind a line that it could not be joined to.
    held: Option<Next>,
}

impl<'i> Source<'i> {
    /// An IOzone worksheet is converted to the text it would be saved as.
    pub(super) fn new(mut input: impl BufRead + 'i) -> Result<Self> {
        if !input.fill_buf()?.starts_with(&crate::iozone::worksheet::BEGINNING) {
            let mut input = encoding::decoded(input)?;
            let mail = Mail::of(input.fill_buf()?);
            return Ok(Self { input, mail, held: None });
        }
        let mut bytes = Vec::new();
        input.by_ref().take(MOST_DOCUMENT.bytes as u64).read_to_end(&mut bytes)?;
        let input: Box<dyn BufRead> = match crate::iozone::worksheet::read(&bytes) {
            Ok(sheet) => Box::new(std::io::Cursor::new(super::iozone::sheet_as_text(&sheet).into_bytes())),
            Err(_) => Box::new(std::io::Cursor::new(bytes).chain(input)),
        };
        Ok(Self { input, mail: Mail::No, held: None })
    }

    /// The next line; in a mail, as it was written.
    pub(super) fn next(&mut self) -> Result<Next> {
        let next = match self.held.take() {
            Some(held) => held,
            None => self.line()?,
        };
        let Next::Line { mut text, mut joined, mut is_ended } = next else { return Ok(next) };
        self.mail = self.mail.behind(&text);
        if self.mail != Mail::Quoted {
            return Ok(Next::Line { text, joined, is_ended });
        }
        while let Some(length) = encoding::broken(&text).map(str::len).filter(|l| *l < LONGEST_LINE) {
            text.truncate(length);
            match self.line()? {
                Next::Line { text: more, is_ended: end, .. } => {
                    text.push_str(&more);
                    (joined, is_ended) = (joined + 1, end);
                }
                other => {
                    self.held = Some(other);
                    break;
                }
            }
        }
        Ok(Next::Line { text: encoding::unquoted(&text), joined, is_ended })
    }

    fn line(&mut self) -> Result<Next> {
        let mut line = Vec::new();
        let mut most = LONGEST_LINE;
        self.read_to(most, &mut line)?;
        if line.is_empty() {
            return Ok(Next::End);
        }
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
        let text =
            String::from_utf8(line).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        Ok(Next::Line { text, joined: 0, is_ended })
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
                return Ok(Next::TooLong(length - 1));
            } else if read == 0 {
                return Ok(Next::TooLong(length));
            } else if length > LONGEST_PASSED {
                return Ok(Next::Endless);
            }
        }
    }
}

/// Limit on skipped lines. A disk image, mostly holes, may have a line of terabytes.
pub(super) const LONGEST_PASSED: u64 = 1 << 30;

/// Bytes skipped at a time.
const AT_ONCE: usize = 64 << 10;

/// Whether a line starts like a JSON document, possibly quoted.
fn is_document(line: &[u8]) -> bool {
    line.iter().take(256).find(|b| !b" \t>".contains(b)) == Some(&b'{')
}
