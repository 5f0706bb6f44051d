//! A text as lines, ready to be looked at: without the marks of a quoted mail ("> "), without what a terminal wrote over (CR), and the
//! small questions that every parser asks: is this word a number, what stands behind it.

use std::cell::Cell;
use std::collections::VecDeque;

/// Longer lines are of no program whose output is read as text.
pub(super) const LONGEST_LINE: usize = 1 << 20;
/// An output of text is read to here; what is longer is read in parts.
const MOST_TEXT: Span = Span { bytes: 16 << 20, lines: 1 << 20 };
/// Or to here, where much was looked at in vain.
const FEW_LINES: usize = 100;
/// A document of JSON may be so long.
pub(super) const MOST_DOCUMENT: Span = Span { bytes: 64 << 20, lines: 4 << 20 };

/// So many bytes and lines at most.
pub(super) struct Span {
    pub(super) bytes: usize,
    pub(super) lines: usize,
}

/// The lines of a text that are held: some before the one that is looked at, and those behind it that have been read so far. Who asks for
/// one that was not read yet is given an empty one, and `missed` says so: more is read then, and the question is asked again.
pub(super) struct Lines {
    text: String,
    /// Where each line begins and ends in `text`, from `dropped` on.
    places: VecDeque<(usize, usize)>,
    /// Bytes that are no longer at the beginning of `text`.
    dropped: usize,
    /// Number of the first line that is held.
    first: usize,
    /// Whether there are no more.
    pub(super) whole: bool,
    missed: Cell<bool>,
    /// The furthest line that was asked for.
    furthest: Cell<usize>,
    /// Lines that an output of text may have.
    most_lines: usize,
    /// Where an output that begins at the line which is looked at is cut, if that was read.
    text_end: Option<usize>,
    document_end: Option<usize>,
}

impl Lines {
    /// No lines yet.
    pub(super) fn none() -> Self {
        Self {
            text: String::new(),
            places: VecDeque::new(),
            dropped: 0,
            first: 0,
            whole: false,
            missed: Cell::new(false),
            furthest: Cell::new(0),
            most_lines: MOST_TEXT.lines,
            text_end: None,
            document_end: None,
        }
    }

    #[cfg(test)]
    pub(super) fn new(text: &str) -> Self {
        let mut lines = Self::none();
        text.lines().for_each(|line| lines.push(line));
        lines.whole = true;
        lines
    }

    /// Adds a line.
    pub(super) fn push(&mut self, line: &str) {
        let start = self.dropped + self.text.len();
        self.text.push_str(plain(line));
        self.places.push_back((start, self.dropped + self.text.len()));
    }

    /// Lets go of the lines before this one.
    pub(super) fn drop_before(&mut self, n: usize) {
        while self.first < n && self.places.pop_front().is_some() {
            self.first += 1;
        }
        let start = self.places.front().map_or(self.dropped + self.text.len(), |p| p.0);
        let unused = start - self.dropped;
        // Not for every line: what follows is moved.
        if unused > 4096 && unused >= self.text.len() / 2 {
            self.text.drain(..unused);
            self.dropped = start;
            if self.text.capacity() > 4 * (self.text.len() + LONGEST_LINE) {
                self.text.shrink_to_fit();
                self.places.shrink_to_fit();
            }
        }
    }

    /// Number of the first line that is not held.
    pub(super) fn end(&self) -> usize {
        self.first + self.places.len()
    }

    /// What is held from this line on.
    pub(super) fn ahead(&self, n: usize) -> Span {
        let start = self.place(n).map_or(self.dropped + self.text.len(), |p| p.0);
        Span { bytes: self.dropped + self.text.len() - start, lines: self.end().saturating_sub(n) }
    }

    /// An output may begin at this line: says whether something that was asked for is missing.
    pub(super) fn look_at(&mut self, n: usize) {
        self.missed.set(false);
        self.furthest.set(n);
        self.text_end = self.cut(n, &Span { lines: self.most_lines, ..MOST_TEXT });
        self.document_end = self.cut(n, &MOST_DOCUMENT);
    }

    /// Where what begins at this line is longer than that, if so much was read.
    fn cut(&self, n: usize, most: &Span) -> Option<usize> {
        let start = self.place(n)?.0;
        let by_bytes = self.first + self.places.partition_point(|p| p.1 <= start + most.bytes);
        Some(by_bytes.max(n + 1).min(n + most.lines)).filter(|end| *end < self.end())
    }

    /// How many lines were looked at behind the one that an output might have begun at.
    pub(super) fn looked_at(&self, n: usize) -> usize {
        self.furthest.get().saturating_sub(n)
    }

    /// From now on outputs of text are short.
    pub(super) fn look_less_far(&mut self) {
        self.most_lines = FEW_LINES;
    }

    /// Whether a line was asked for that was not read yet.
    pub(super) fn missed(&self) -> bool {
        self.missed.get()
    }

    /// Where an output of text has to end; of lines that were not read yet there is one.
    pub(super) fn len(&self) -> usize {
        self.text_end.unwrap_or(self.end() + usize::from(!self.whole))
    }

    /// Whether an output that came to this line is cut there.
    pub(super) fn is_cut(&self, n: usize) -> bool {
        self.text_end == Some(n)
    }

    fn place(&self, n: usize) -> Option<(usize, usize)> {
        self.places.get(n.checked_sub(self.first)?).copied()
    }

    fn held(&self, n: usize) -> &str {
        if n >= self.end() && !self.whole {
            self.missed.set(true);
        }
        self.place(n).map_or("", |(start, end)| &self.text[start - self.dropped..end - self.dropped])
    }

    /// A line; behind the end there are empty ones.
    pub(super) fn at(&self, n: usize) -> &str {
        if self.text_end.is_some_and(|end| n >= end) {
            return "";
        }
        self.furthest.set(self.furthest.get().max(n.min(self.end())));
        Some(self.held(n)).filter(|line| line.len() <= LONGEST_LINE).unwrap_or("")
    }

    /// The lines of a document of JSON, which may be longer.
    pub(super) fn document(&self, from: usize) -> impl Iterator<Item = &str> {
        let end = self.document_end.unwrap_or(self.end() + usize::from(!self.whole));
        (from..end).map(|n| self.held(n))
    }

    /// Whether a document would have to be cut.
    pub(super) fn document_is_cut(&self) -> bool {
        self.document_end.is_some()
    }

    /// The limit that cuts a document which begins at this line, in words. Blank lines count no bytes, but take room.
    pub(super) fn document_limit(&self, n: usize) -> String {
        if self.document_end == Some(n + MOST_DOCUMENT.lines) {
            format!("{} lines", MOST_DOCUMENT.lines)
        } else {
            format!("{} MiB", MOST_DOCUMENT.bytes >> 20)
        }
    }

    /// A line without the blanks around it.
    pub(super) fn trimmed(&self, n: usize) -> &str {
        self.at(n).trim()
    }

    pub(super) fn is_blank(&self, n: usize) -> bool {
        self.trimmed(n).is_empty()
    }

    /// The first of the next `most` lines that satisfies a condition.
    pub(super) fn find(&self, from: usize, most: usize, wanted: impl Fn(&str) -> bool) -> Option<usize> {
        (from..self.len().min(from.saturating_add(most))).find(|&n| wanted(self.trimmed(n)))
    }
}

/// Without quotation marks of a mail and without what was written over.
fn plain(line: &str) -> &str {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let mut line = line.rsplit('\r').next().unwrap_or(line);
    while let Some(rest) = line.strip_prefix('>') {
        line = rest.strip_prefix(' ').unwrap_or(rest);
    }
    line
}

/// A decimal number, also with groups of three ("6,165,744"). No exponents, no infinities: no program prints those.
pub(super) fn number(word: &str) -> Option<f64> {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let all = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let grouped =
        all(first) && groups.all(|g| g.len() == 3 && all(g)) && (!whole.contains(',') || first.len() <= 3);
    let bare = whole.is_empty() && digits.len() > 1;
    // Longer ones are no figures, and a float would be infinite at last.
    if !(grouped || bare) || !all(part) || word.len() > 40 {
        return None;
    }
    word.replace(',', "").parse().ok()
}

/// A number at the beginning of a text, the text of it, and what follows.
pub(super) fn leading(text: &str) -> Option<(f64, &str, &str)> {
    let text = text.trim_start();
    let signed = usize::from(text.starts_with(['-', '+']));
    let length = text[signed..]
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
        .unwrap_or(text.len() - signed);
    let mut word = &text[..signed + length];
    while let Some(shorter) = word.strip_suffix([',', '.']) {
        word = shorter;
    }
    number(word).map(|value| (value, word, &text[word.len()..]))
}

/// A number of a program that groups no digits: the locale decides whether a point or a comma stands before its decimals. With an
/// exponent, if it has one.
pub(super) fn decimal(word: &str) -> Option<f64> {
    let (mantissa, exponent) = word.split_once(['e', 'E']).unwrap_or((word, "0"));
    let digits = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
    let (whole, part) = digits.split_once(['.', ',']).unwrap_or((digits, "0"));
    let all = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let power: i32 = exponent.parse().ok()?;
    if !all(whole) || !all(part) || word.len() > 40 || power.abs() > 30 {
        return None;
    }
    word.replace(',', ".").parse().ok()
}

/// As `leading`, of a program that groups no digits.
pub(super) fn leading_decimal(text: &str) -> Option<(f64, &str, &str)> {
    let text = text.trim_start();
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+' | 'e' | 'E');
    let mut word = &text[..text.find(|c| !is_of_number(c)).unwrap_or(text.len())];
    // What follows may begin with an "E" or a comma.
    while !word.is_empty() {
        if let Some(value) = decimal(word) {
            return Some((value, word, &text[word.len()..]));
        }
        word = &word[..word.len() - 1];
    }
    None
}

/// What follows `key` and an optional "=" or ":" in a text, without blanks at its beginning.
pub(super) fn after<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let at = text.find(key)?;
    let rest = text[at + key.len()..].trim_start();
    Some(rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start())
}

/// Number and unit that follow a key: "Min xfer = 3072000.00 KB" gives 3072000, "3072000.00 KB", "KB".
pub(super) fn value_after<'t>(text: &'t str, key: &str) -> Option<(f64, String, &'t str)> {
    let (value, word, rest) = leading(after(text, key)?)?;
    let unit = unit(rest);
    let blank = if rest.starts_with(' ') && !unit.is_empty() { " " } else { "" };
    Some((value, format!("{word}{blank}{unit}"), unit))
}

/// The unit at the beginning of a text: letters, "%" and "/" up to something else.
pub(super) fn unit(text: &str) -> &str {
    let text = text.trim_start_matches([' ', '\t']);
    &text[..text.find(|c: char| !(c.is_alphabetic() || c == '/' || c == '%')).unwrap_or(text.len())]
}

/// The numbers of a line, if it holds nothing else.
pub(super) fn all_numbers(line: &str) -> Option<Vec<(f64, &str)>> {
    let numbers: Option<Vec<_>> = line.split_whitespace().map(|w| Some((number(w)?, w))).collect();
    numbers.filter(|n| !n.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_versions_and_dates() {
        assert_eq!(number("6,165,744"), Some(6_165_744.0));
        assert_eq!((number("-0.5"), number(".5"), number("12")), (Some(-0.5), Some(0.5), Some(12.0)));
        for no in ["2.6.24", "-847,8", "1,2", "inf", "NaN", "", "-", ".", "12s", "1e9", "5."] {
            assert_eq!(number(no), None, "{no}");
        }
    }

    #[test]
    fn a_comma_before_decimals_is_none_of_groups() {
        assert_eq!(
            (decimal("3,254"), decimal("77,2809"), decimal("3.9048e-05")),
            (Some(3.254), Some(77.2809), Some(3.9048e-5))
        );
        for no in ["1,073,741", "1e400", "inf", "", ",5", "12s"] {
            assert_eq!(decimal(no), None, "{no}");
        }
        assert_eq!(leading_decimal(" 3,254 s, 330"), Some((3.254, "3,254", " s, 330")));
        assert_eq!(leading_decimal("12, 3"), Some((12.0, "12", ", 3")));
    }

    #[test]
    fn a_key_gives_its_value() {
        let line = "Children see throughput for 2 initial writers \t= 9461.15 KB/sec";
        assert_eq!(value_after(line, "writers "), Some((9461.15, "9461.15 KB/sec".into(), "KB/sec")));
        assert_eq!(leading(" 113.756 seconds, 57"), Some((113.756, "113.756", " seconds, 57")));
        assert_eq!(leading("12, 3"), Some((12.0, "12", ", 3")));
    }

    #[test]
    fn quotes_and_overwritten_parts_go() {
        let lines = Lines::new("> > a 1\nold\rnew\r\nx\r\n");
        assert_eq!((lines.at(0), lines.at(1), lines.at(2), lines.at(99)), ("a 1", "new", "x", ""));
    }
}
