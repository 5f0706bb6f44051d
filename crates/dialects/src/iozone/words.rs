//! Splits a command line as getopt does: letters may be combined, an argument is the rest of the word or the
//! next word, other words are ignored, `--` ends the options. Also parses numbers and sizes.

pub(super) struct IozoneWords<'a> {
    words: &'a [String],
    /// Index of the next whole word.
    at: usize,
    /// Rest of a word of combined letters.
    rest: &'a str,
    /// Ignored words that are not options.
    pub(super) passed_over: Vec<&'a str>,
}

impl<'a> IozoneWords<'a> {
    pub(super) fn new(words: &'a [String]) -> Self {
        Self { words, at: 0, rest: "", passed_over: Vec::new() }
    }

    pub(super) fn letter(&mut self) -> Option<char> {
        while self.rest.is_empty() {
            let word = self.words.get(self.at)?;
            self.at += 1;
            if word == "--" {
                self.at = self.words.len();
                return None;
            }
            if word.len() > 1
                && let Some(letters) = word.strip_prefix('-')
            {
                self.rest = letters;
            } else {
                self.passed_over.push(word);
            }
        }
        let mut letters = self.rest.chars();
        let letter = letters.next();
        self.rest = letters.as_str();
        letter
    }

    /// The argument of the letter just read: the rest of its word, or the next word.
    pub(super) fn argument(&mut self) -> Option<&'a str> {
        if !self.rest.is_empty() {
            return Some(std::mem::take(&mut self.rest));
        }
        self.next_word()
    }

    pub(super) fn next_word(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    /// The next whole word unless it looks like an option.
    pub(super) fn next_plain_word(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at)?;
        if word.starts_with('-') && word.len() > 1 {
            return None;
        }
        self.next_word()
    }
}

/// The number at the start of a word, ignoring the rest, like atoi. `None` if there is no number.
pub(super) fn number(word: &str) -> Option<i64> {
    let word = word.trim_start();
    let (negative, digits) = match word.as_bytes().first()? {
        b'-' => (true, &word[1..]),
        b'+' => (false, &word[1..]),
        _ => (false, word),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 {
        return None;
    }
    let value = digits[..end].parse().unwrap_or(i64::MAX);
    Some(if negative { -value } else { value })
}

/// A size in kB: an integer and the last letter of the word, k, m or g; `-s 1.5m` is 1 MiB. Negative sizes are 0.
pub(super) fn size_kb(word: &str) -> Option<u64> {
    let value = u64::try_from(number(word)?).unwrap_or(0);
    let factor = match word.chars().next_back() {
        Some('m' | 'M') => 1 << 10,
        Some('g' | 'G') => 1 << 20,
        _ => 1,
    };
    Some(value.saturating_mul(factor))
}

/// Whether there is more than a number and a unit letter: "512b", "1.5m".
pub(super) fn has_more(word: &str) -> bool {
    let behind =
        word.trim_start().trim_start_matches(['-', '+']).trim_start_matches(|c: char| c.is_ascii_digit());
    !matches!(behind, "" | "k" | "K" | "m" | "M" | "g" | "G")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|&w| w.to_owned()).collect()
    }

    #[test]
    fn letters_may_be_glued_and_words_are_passed_over() {
        let words = strings(&["foo", "-Rab", "out.wks", "-", "-s1m", "--", "-z"]);
        let mut w = IozoneWords::new(&words);
        assert_eq!((w.letter(), w.letter(), w.letter()), (Some('R'), Some('a'), Some('b')));
        assert_eq!(w.argument(), Some("out.wks"));
        assert_eq!(w.letter(), Some('s'));
        assert_eq!(w.argument(), Some("1m"));
        assert_eq!(w.letter(), None);
    }

    #[test]
    fn sizes_look_at_the_last_letter_only() {
        assert_eq!(size_kb("1.5m"), Some(1024));
        assert_eq!(size_kb("64"), Some(64));
        assert_eq!(size_kb("64k"), Some(64));
        assert_eq!(size_kb("2G"), Some(2 << 20));
        assert_eq!(size_kb("4q"), Some(4));
        assert_eq!(size_kb("-5"), Some(0));
        assert_eq!(size_kb("m"), None);
        assert_eq!(size_kb("99999999999999999999g"), Some(u64::MAX));
    }
}
