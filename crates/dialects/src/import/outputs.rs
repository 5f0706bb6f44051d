//! Reads a text piece by piece, returning recognised outputs and remaining lines in order.

use super::columns::Columns;
use super::context::Context;
use super::cut::before_number;
use super::lines::{LONGEST_LINE, Lines, number};
use super::source::{ImportSource, LONGEST_PASSED, Next};
use super::{Block, Found, Kind, classify, found};
use std::collections::VecDeque;
use std::io::BufRead;

/// Lines before an output that are searched for its heading, unit and host.
const BEFORE: usize = 16;
/// Lines read at a time, if they are short.
const AT_ONCE: usize = 64;
/// Bytes read at a time.
const BYTES_AT_ONCE: usize = 64 << 10;

/// TABs of a sheet's row.
const FEWEST_TABS: usize = 2;

/// Limit on look-ahead without result, plus the same number for each line passed. Without it, a text in which every line might start an
/// output would take time quadratic in its length.
const MOST_IN_VAIN: usize = 20_000;
const IN_VAIN_A_LINE: usize = 20;

/// A piece of a text; line numbers from 1.
#[derive(Clone, Debug)]
pub enum TextPiece {
    /// A recognised output.
    Found(Found),
    /// A line of prose.
    Prose(u64),
    /// A line that looks like figures but was not understood, with its text.
    NotUnderstood(u64, String),
    /// A line of an output that was only partly understood, with its text.
    Partly(u64, String),
    /// The last line, with its text: it has no end, and the number there, which may be cut, was left out.
    Cut(u64, String),
    /// A line too long for any output.
    PassedOver {
        /// Line number.
        line: u64,
        /// Length of the line.
        bytes: u64,
    },
}

/// Why reading stopped.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Reading failed.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// A document is too long. Part of it might be mistaken for the whole.
    #[error(
        "line {line}: the JSON that begins here is longer than {limit}, and is not read; split it by jobs"
    )]
    TooLong {
        /// Number of its first line.
        line: u64,
        /// The exceeded limit, in words.
        limit: String,
    },
    /// A line does not end within the limit.
    #[error("line {line} is longer than {} GiB: this is no text; name the file that holds the output", LONGEST_PASSED >> 30)]
    NoText {
        /// Line number.
        line: u64,
    },
}

/// The outputs in a text, as an iterator that reads it incrementally.
pub struct Outputs<'i> {
    source: ImportSource<'i>,
    lines: Lines,
    context: Context,
    only: Option<Kind>,
    /// Number of the current line.
    at: usize,
    pieces: VecDeque<TextPiece>,
    /// Lines too long for text, among the lines held.
    too_long: VecDeque<TooLong>,
    /// Lines whose number in the file does not follow that of the line before, with it: lines of a mail were joined or decoded.
    numbers: VecDeque<(usize, u64)>,
    /// The last line of the text, or of a part of a mail, if its number may be cut, with its text.
    cut: VecDeque<(usize, String)>,
    /// Lines at which a part of a mail could not be read on, with their text.
    broken: VecDeque<(usize, String)>,
    /// TABs of the line read last, if there are only numbers between them.
    tabs: usize,
    /// Lines looked at ahead without finding an output.
    in_vain: usize,
    /// Whether an error ended it.
    failed: bool,
}

/// A line too long for text.
struct TooLong {
    line: usize,
    bytes: u64,
    /// It is too long for a document as well, and was dropped.
    is_dropped: bool,
}

impl<'i> Outputs<'i> {
    /// Reads text in any ASCII-compatible encoding or UTF-16, or an IOzone worksheet. `name` is the file name, which gives the content of an fio
    /// log; `only` restricts to one program; `columns` gives the meaning of table columns, if known.
    pub fn new(
        name: &str,
        input: impl BufRead + 'i,
        only: Option<Kind>,
        columns: Option<Columns>,
    ) -> std::io::Result<Self> {
        Ok(Self {
            source: ImportSource::new(input)?,
            lines: Lines::none(),
            context: Context::of(name, columns),
            only,
            at: 0,
            pieces: VecDeque::new(),
            too_long: VecDeque::new(),
            numbers: VecDeque::new(),
            cut: VecDeque::new(),
            broken: VecDeque::new(),
            tabs: 0,
            in_vain: 0,
            failed: false,
        })
    }

    /// Advances by one line, or to the end of the output that starts here. Returns false at the end of the text.
    fn step(&mut self) -> Result<bool, ImportError> {
        let at = self.at;
        let first = at.saturating_sub(BEFORE);
        self.lines.drop_before(first);
        // No piece is waiting for those before.
        while self.numbers.get(1).is_some_and(|(n, _)| *n <= first) {
            self.numbers.pop_front();
        }
        if self.lines.ahead(at).lines < BEFORE {
            self.read(AT_ONCE, BYTES_AT_ONCE)?;
        }
        if at >= self.lines.end() {
            return Ok(false);
        }
        self.context.pass(&self.lines, at);
        let block = self.block()?;
        let Some(mut block) = block else {
            self.left(at);
            self.at += 1;
            self.tell_not_read();
            return Ok(true);
        };
        if block.too_long {
            let (line, limit) = (self.of_file(at as u64 + 1), self.lines.document_limit(at));
            return Err(ImportError::TooLong { line, limit });
        }
        if let Some(log) = block.goes_on.take() {
            block = self.read_to_its_end(log, block.last)?;
        }
        self.context.learn(at, &block);
        let mut partly = std::mem::take(&mut block.partly);
        partly.dedup();
        let mut left = std::mem::take(&mut block.left);
        left.sort_unstable();
        left.dedup();
        let last = block.last;
        let has_own_rules = block.has_own_rules;
        if block.is_document {
            self.too_long.retain(|long| long.is_dropped || long.line > last);
        }
        let found = found(&self.lines, at, block, &left, &self.context);
        self.pieces.push_back(TextPiece::Found(found));
        left.into_iter().for_each(|n| self.left(n));
        while let Some((n, words)) = self.cut_up_to(last) {
            partly.retain(|&of| of != n);
            self.pieces.push_back(TextPiece::Cut(n as u64 + 1, words));
        }
        for n in partly {
            self.pieces.push_back(TextPiece::Partly(n as u64 + 1, self.lines.trimmed(n).to_string()));
        }
        for n in (at + 1..=last).filter(|_| !has_own_rules) {
            self.context.pass(&self.lines, n);
        }
        self.at = last + 1;
        self.tell_not_read();
        Ok(true)
    }

    /// The output that starts here, reading as much text as needed to recognise it.
    fn block(&mut self) -> Result<Option<Block>, ImportError> {
        loop {
            self.lines.look_at(self.at);
            // No output starts with a blank line; this keeps texts of blank lines fast.
            if self.lines.is_blank(self.at) {
                return Ok(None);
            }
            let kinds = Kind::ALL.into_iter().filter(|k| self.only.is_none_or(|o| o == *k));
            let mut parsers = kinds.map(Kind::parser);
            let block = parsers
                .find_map(|parse| parse(&self.lines, self.at, &self.context).filter(|b| b.last >= self.at));
            if !self.lines.missed() {
                if block.is_none() {
                    self.in_vain += self.lines.looked_at(self.at);
                }
                if self.in_vain > MOST_IN_VAIN + IN_VAIN_A_LINE * self.at {
                    self.lines.look_less_far();
                }
                return Ok(block);
            }
            // Double the text each time, so that all attempts together cost at most twice the last one.
            let ahead = self.lines.ahead(self.at);
            self.read(ahead.lines.max(AT_ONCE), ahead.bytes.max(BYTES_AT_ONCE))?;
        }
    }

    /// Reads on, by this many lines or bytes.
    fn read(&mut self, lines: usize, bytes: usize) -> Result<(), ImportError> {
        let mut read = 0;
        for _ in 0..lines {
            if read > bytes || self.lines.whole {
                break;
            }
            match self.source.next()? {
                Next::Line { text, line: number, is_ended } => {
                    let (line, bytes) = (self.lines.end(), text.len());
                    read += bytes;
                    self.number(number);
                    // The last row of a sheet that was saved as text may have no line break.
                    let tabs = tabs_of_numbers(&text);
                    let is_row = std::mem::replace(&mut self.tabs, tabs) == tabs && tabs >= FEWEST_TABS;
                    match before_number(&text).filter(|_| !is_ended && !is_row) {
                        Some(before) => {
                            self.lines.push(before);
                            self.cut.push_back((line, text.trim().to_owned()));
                        }
                        None => self.lines.push(&text),
                    }
                    if bytes > LONGEST_LINE {
                        self.too_long.push_back(TooLong { line, bytes: bytes as u64, is_dropped: false });
                    }
                }
                Next::Broken { line, text } => {
                    self.number(line);
                    self.broken.push_back((self.lines.end(), text));
                    self.lines.push("");
                }
                Next::Endless { line } => return Err(ImportError::NoText { line }),
                Next::TooLong { line, bytes } => {
                    self.number(line);
                    self.too_long.push_back(TooLong { line: self.lines.end(), bytes, is_dropped: true });
                    self.lines.push("");
                }
                Next::End => self.lines.whole = true,
            }
        }
        Ok(())
    }

    /// Continues a log whose lines need not be held.
    fn read_to_its_end(
        &mut self,
        mut log: super::fio::ImportedLog,
        mut last: usize,
    ) -> Result<Block, ImportError> {
        loop {
            let n = last + 1;
            self.lines.drop_before(n.saturating_sub(BEFORE));
            if n >= self.lines.end() {
                self.read(AT_ONCE, BYTES_AT_ONCE)?;
            }
            self.lines.look_at(n);
            if n >= self.lines.end() || !log.takes(self.lines.trimmed(n)) {
                return Ok(log.block(last));
            }
            last = n;
        }
    }

    /// Handles a line that belongs to no output.
    fn left(&mut self, n: usize) {
        let number = n as u64 + 1;
        let cut = self.cut.iter().position(|(of, _)| *of == n).and_then(|at| self.cut.remove(at));
        let piece = match cut {
            Some((_, words))
                if classify::looks_like_figures(&words) || self.lines.trimmed(n).ends_with(['=', ':']) =>
            {
                TextPiece::Cut(number, words)
            }
            Some(_) => TextPiece::Prose(number),
            None if self.lines.is_blank(n) => return,
            None if classify::looks_like_figures(self.lines.at(n)) => {
                TextPiece::NotUnderstood(number, self.lines.trimmed(n).to_string())
            }
            None => TextPiece::Prose(number),
        };
        self.pieces.push_back(piece);
    }

    /// What was cut in a line up to this one.
    fn cut_up_to(&mut self, last: usize) -> Option<(usize, String)> {
        let is_there = self.cut.front().is_some_and(|(n, _)| *n <= last);
        if is_there { self.cut.pop_front() } else { None }
    }

    /// Keeps the number in the file of the line that is pushed next.
    fn number(&mut self, of_file: u64) {
        let line = self.lines.end();
        if self.of_file(line as u64 + 1) != of_file {
            self.numbers.push_back((line, of_file));
        }
    }

    /// The number of a line in the file.
    fn of_file(&self, line: u64) -> u64 {
        let before = self.numbers.partition_point(|&(n, _)| (n as u64) < line);
        before.checked_sub(1).map_or(line, |at| {
            let (n, of_file) = self.numbers[at];
            of_file + (line - 1 - n as u64)
        })
    }

    /// Numbers lines as in the file.
    fn renumber(&self, piece: &mut TextPiece) {
        if self.numbers.is_empty() {
            return;
        }
        let renumber = |line: &mut u64| *line = self.of_file(*line);
        match piece {
            TextPiece::Found(found) => {
                renumber(&mut found.first_line);
                renumber(&mut found.last_line);
                for run in &mut found.runs {
                    if let Some(source) = &mut run.source {
                        renumber(&mut source.first_line);
                        renumber(&mut source.last_line);
                        source.not_understood.iter_mut().for_each(renumber);
                    }
                    let repetitions = run.phases.iter_mut().flat_map(|p| &mut p.repetitions);
                    repetitions.flat_map(|r| &mut r.figures).for_each(|f| renumber(&mut f.line));
                }
            }
            TextPiece::Prose(line)
            | TextPiece::NotUnderstood(line, _)
            | TextPiece::Partly(line, _)
            | TextPiece::Cut(line, _)
            | TextPiece::PassedOver { line, .. } => renumber(line),
        }
    }

    fn tell_not_read(&mut self) {
        while let Some(long) = self.too_long.front().filter(|long| long.line < self.at) {
            self.pieces.push_back(TextPiece::PassedOver { line: long.line as u64 + 1, bytes: long.bytes });
            self.too_long.pop_front();
        }
        while let Some((n, words)) = self.broken.front().filter(|(n, _)| *n < self.at) {
            self.pieces.push_back(TextPiece::Partly(*n as u64 + 1, words.trim().to_owned()));
            self.broken.pop_front();
        }
    }
}

impl Iterator for Outputs<'_> {
    type Item = Result<TextPiece, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(mut piece) = self.pieces.pop_front() {
                self.renumber(&mut piece);
                return Some(Ok(piece));
            }
            if self.failed {
                return None;
            }
            match self.step() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(e) => {
                    self.failed = true;
                    return Some(Err(e));
                }
            }
        }
    }
}

fn tabs_of_numbers(line: &str) -> usize {
    let is_of_numbers = line.split('\t').all(|field| field.is_empty() || number(field).is_some());
    if is_of_numbers { line.matches('\t').count() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_output_is_looked_for_behind_a_blank_line() {
        let text = "\n".repeat(100_000);
        let mut outputs = Outputs::new("blank", text.as_bytes(), None, None).expect("a text");
        assert!(outputs.next().is_none());
        assert_eq!((outputs.at, outputs.in_vain), (100_000, 0));
    }

    #[test]
    fn numbers_of_lines_that_were_passed_are_not_kept() {
        let text = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, "\n".repeat(100_000));
        let mail = format!("Content-Transfer-Encoding: base64\n\n{text}\n");
        let mut outputs = Outputs::new("-", mail.as_bytes(), None, None).expect("a text");
        while outputs.step().expect("a line") {
            assert!(outputs.numbers.len() <= BEFORE + 2 * AT_ONCE, "{}", outputs.numbers.len());
            outputs.pieces.clear();
        }
        assert!(outputs.at >= 100_000);
    }
}
