//! A text as lines, ready to be looked at: without the marks of a quoted mail ("> "), without what a terminal wrote over (CR), and the
//! small questions that every parser asks: is this word a number, what stands behind it.

/// The lines of a text.
pub(super) struct Lines<'t> {
    lines: Vec<&'t str>,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { lines: text.lines().map(plain).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// A line; behind the end there are empty ones.
    pub(super) fn at(&self, n: usize) -> &'t str {
        self.lines.get(n).copied().unwrap_or("")
    }

    /// A line without the blanks around it.
    pub(super) fn trimmed(&self, n: usize) -> &'t str {
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
