//! A text as lines, cleaned of mail quotes ("> ") and of text overwritten on a terminal (CR), and helpers for all
//! parsers: whether a word is a number, and what follows it.

use std::cell::Cell;
use std::collections::VecDeque;

/// No program whose output is read as text prints longer lines.
pub(super) const LONGEST_LINE: usize = 1 << 20;
/// Limit on a text output; longer ones are read in parts.
const MOST_TEXT: LineLimit = LineLimit { bytes: 16 << 20, lines: 1 << 20 };
/// Limit after much fruitless look-ahead.
const FEW_LINES: usize = 100;
/// Limit on a JSON document.
pub(super) const MOST_DOCUMENT: LineLimit = LineLimit { bytes: 64 << 20, lines: 4 << 20 };

/// A limit in bytes and lines.
pub(super) struct LineLimit {
    pub(super) bytes: usize,
    pub(super) lines: usize,
}

/// The lines held: some before the current one, and those after it that have been read. Accessing a line that has not been read
/// returns an empty one and sets `missed`; the caller then reads more and tries again.
pub(super) struct Lines {
    text: String,
    /// Start and end of each line in `text`, before subtracting `dropped`.
    places: VecDeque<(usize, usize)>,
    /// Bytes already removed from the start of `text`.
    dropped: usize,
    /// Number of the first line held.
    first: usize,
    /// Whether the whole input has been read.
    pub(super) whole: bool,
    missed: Cell<bool>,
    /// The furthest line accessed.
    furthest: Cell<usize>,
    /// Limit on the lines of a text output.
    most_lines: usize,
    /// Where an output starting at the current line is cut off, if that has been read.
    text_end: Option<usize>,
    document_end: Option<usize>,
}

impl Lines {
    /// An empty text.
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

    pub(super) fn push(&mut self, line: &str) {
        let start = self.dropped + self.text.len();
        self.text.push_str(plain(line));
        self.places.push_back((start, self.dropped + self.text.len()));
    }

    /// Drops the lines before this one.
    pub(super) fn drop_before(&mut self, n: usize) {
        while self.first < n && self.places.pop_front().is_some() {
            self.first += 1;
        }
        let start = self.places.front().map_or(self.dropped + self.text.len(), |p| p.0);
        let unused = start - self.dropped;
        // Not for every line, as the rest is moved.
        if unused > 4096 && unused >= self.text.len() / 2 {
            self.text.drain(..unused);
            self.dropped = start;
            if self.text.capacity() > 4 * (self.text.len() + LONGEST_LINE) {
                self.text.shrink_to_fit();
                self.places.shrink_to_fit();
            }
        }
    }

    /// Number of the first line not held.
    pub(super) fn end(&self) -> usize {
        self.first + self.places.len()
    }

    /// Bytes and lines held from this line on.
    pub(super) fn ahead(&self, n: usize) -> LineLimit {
        let start = self.place(n).map_or(self.dropped + self.text.len(), |p| p.0);
        LineLimit { bytes: self.dropped + self.text.len() - start, lines: self.end().saturating_sub(n) }
    }

    /// Starts looking at this line, which resets `missed`.
    pub(super) fn look_at(&mut self, n: usize) {
        self.missed.set(false);
        self.furthest.set(n);
        self.text_end = self.cut(n, &LineLimit { lines: self.most_lines, ..MOST_TEXT });
        self.document_end = self.cut(n, &MOST_DOCUMENT);
    }

    /// The line at which an output starting here exceeds the limit, if that much has been read.
    fn cut(&self, n: usize, most: &LineLimit) -> Option<usize> {
        let start = self.place(n)?.0;
        let by_bytes = self.first + self.places.partition_point(|p| p.1 <= start + most.bytes);
        Some(by_bytes.max(n + 1).min(n + most.lines)).filter(|end| *end < self.end())
    }

    /// Number of lines accessed after the current one.
    pub(super) fn looked_at(&self, n: usize) -> usize {
        self.furthest.get().saturating_sub(n)
    }

    /// Restricts text outputs to few lines from now on.
    pub(super) fn look_less_far(&mut self) {
        self.most_lines = FEW_LINES;
    }

    /// Whether a line was accessed that has not been read.
    pub(super) fn missed(&self) -> bool {
        self.missed.get()
    }

    /// Where a text output must end; unread lines count as one.
    pub(super) fn len(&self) -> usize {
        self.text_end.unwrap_or(self.end() + usize::from(!self.whole))
    }

    /// Whether an output that reached this line is cut there.
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

    /// A line; empty beyond the end.
    pub(super) fn at(&self, n: usize) -> &str {
        if self.text_end.is_some_and(|end| n >= end) {
            return "";
        }
        self.furthest.set(self.furthest.get().max(n.min(self.end())));
        Some(self.held(n)).filter(|line| line.len() <= LONGEST_LINE).unwrap_or("")
    }

    /// The lines of a JSON document, which may be longer than a text.
    pub(super) fn document(&self, from: usize) -> impl Iterator<Item = &str> {
        let end = self.document_end.unwrap_or(self.end() + usize::from(!self.whole));
        (from..end).map(|n| self.held(n))
    }

    /// Whether a document would be cut.
    pub(super) fn document_is_cut(&self) -> bool {
        self.document_end.is_some()
    }

    /// The limit that a document starting at this line exceeds, in words. Blank lines have no bytes but need memory.
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

/// Removes mail quote marks and overwritten text.
fn plain(line: &str) -> &str {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let mut line = line.rsplit('\r').next().unwrap_or(line);
    while let Some(rest) = line.strip_prefix('>') {
        line = rest.strip_prefix(' ').unwrap_or(rest);
    }
    line
}

/// A decimal number, possibly with grouped digits ("6,165,744"). Exponents and infinities are not accepted, as no program prints them.
pub(super) fn number(word: &str) -> Option<f64> {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let all = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let grouped =
        all(first) && groups.all(|g| g.len() == 3 && all(g)) && (!whole.contains(',') || first.len() <= 3);
    let bare = whole.is_empty() && digits.len() > 1;
    // Longer words are not figures, and might overflow to infinity.
    if !(grouped || bare) || !all(part) || word.len() > 40 {
        return None;
    }
    word.replace(',', "").parse().ok()
}

/// A number at the start of a text, its digits, and the rest.
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

/// A number from a program that does not group digits: depending on the locale, a point or a comma precedes the decimals. It may have
/// an exponent.
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

/// Like `leading`, for programs that do not group digits.
pub(super) fn leading_decimal(text: &str) -> Option<(f64, &str, &str)> {
    let text = text.trim_start();
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+' | 'e' | 'E');
    let mut word = &text[..text.find(|c| !is_of_number(c)).unwrap_or(text.len())];
    // The following text may begin with an "E" or a comma.
    while !word.is_empty() {
        if let Some(value) = decimal(word) {
            return Some((value, word, &text[word.len()..]));
        }
        word = &word[..word.len() - 1];
    }
    None
}

/// The text after `key` and an optional "=" or ":", without leading blanks.
pub(super) fn after<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let at = text.find(key)?;
    let rest = text[at + key.len()..].trim_start();
    Some(rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start())
}

/// Number and unit after a key: for "Min xfer = 3072000.00 KB", 3072000, "3072000.00 KB", "KB".
pub(super) fn value_after<'t>(text: &'t str, key: &str) -> Option<(f64, String, &'t str)> {
    let (value, word, rest) = leading(after(text, key)?)?;
    let unit = unit(rest);
    let blank = if rest.starts_with(' ') && !unit.is_empty() { " " } else { "" };
    Some((value, format!("{word}{blank}{unit}"), unit))
}

/// The unit at the start of a text: letters, "%" and "/".
pub(super) fn unit(text: &str) -> &str {
    let text = text.trim_start_matches([' ', '\t']);
    &text[..text.find(|c: char| !(c.is_alphabetic() || c == '/' || c == '%')).unwrap_or(text.len())]
}

/// The numbers of a line that contains nothing else.
pub(super) fn all_numbers(line: &str) -> Option<Vec<(f64, &str)>> {
    let numbers: Option<Vec<_>> = line.split_whitespace().map(|w| Some((number(w)?, w))).collect();
    numbers.filter(|n| !n.is_empty())
}

/// Fields between commas or another separator, possibly quoted; in quotes, two quotes are one.
pub(super) fn fields(line: &str, separator: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => {
                fields.last_mut().into_iter().for_each(|f| f.push('"'));
            }
            '"' => quoted = !quoted,
            c if c == separator && !quoted => fields.push(String::new()),
            _ => fields.last_mut().into_iter().for_each(|f| f.push(c)),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_distinguished_from_versions_and_dates() {
        assert_eq!(number("6,165,744"), Some(6_165_744.0));
        assert_eq!((number("-0.5"), number(".5"), number("12")), (Some(-0.5), Some(0.5), Some(12.0)));
        for no in ["2.6.24", "-847,8", "1,2", "inf", "NaN", "", "-", ".", "12s", "1e9", "5."] {
            assert_eq!(number(no), None, "{no}");
        }
    }

    #[test]
    fn quotes_inside_a_field_are_doubled() {
        assert_eq!(fields(r#"a,"echo ""x"", y",,"""#, ','), ["a", r#"echo "x", y"#, "", ""]);
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
