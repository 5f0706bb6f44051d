//! The end of a text that was cut: a number before the cut may have had more digits, and its unit more letters.

use super::lines::number;
use super::units::{Prefix, unit};
use fathom_record::imported::units::BYTES;

/// A last line without a line break, up to the number that may be cut; `None` if it ends with something complete.
pub(super) fn before_number(line: &str) -> Option<&str> {
    // Commas without blanks separate fields, or group digits.
    let is_of_fields = line.matches(',').count() >= 3 && !line.contains(", ");
    let separates = |c: char| c.is_whitespace() || "=([|;:\">".contains(c) || is_of_fields && c == ',';
    let (before, word) = last_word(line, separates);
    if word.trim_start_matches(['-', '+', '.', '~']).starts_with(|c: char| c.is_ascii_digit()) {
        let end = word.trim_end_matches(|c: char| c.is_alphabetic() || "/%".contains(c));
        let suffix = &word[end.len()..];
        let is_complete =
            !suffix.is_empty() && unit(suffix, Prefix::Binary).is_some() && !begins_a_rate(suffix);
        return (!is_complete && !word.ends_with([',', ')', ']', '}', '\''])).then_some(before);
    }
    let (before, value) = last_word(before.trim_end(), separates);
    (begins_a_rate(word) && number(value).is_some()).then_some(before)
}

fn last_word(line: &str, separates: impl Fn(char) -> bool) -> (&str, &str) {
    line.split_at(line.char_indices().rfind(|(_, c)| separates(*c)).map_or(0, |(at, c)| at + c.len_utf8()))
}

/// Whether a unit may be the beginning of bytes per second: "M", "MiB", "MB/".
fn begins_a_rate(word: &str) -> bool {
    let amount = word.trim_end_matches('/');
    let is_of_bytes = |word: &str| unit(word, Prefix::Binary).is_some_and(|unit| unit.base == BYTES);
    !amount.is_empty() && (is_of_bytes(amount) || is_of_bytes(&format!("{amount}B")))
}

#[cfg(test)]
mod tests {
    use super::before_number;

    #[test]
    fn a_number_or_its_unit_may_be_cut() {
        for (line, before) in [
            ("read: IOPS=15.4", "read: IOPS="),
            ("read: IOPS=15.4k", "read: IOPS="),
            ("  BW=60.1MiB", "  BW="),
            ("BW=60.1MiB/s (63.0MB/s)(120MiB/2001mse", "BW=60.1MiB/s (63.0MB/s)("),
            ("run=2000-", "run="),
            ("copied, 2.5 s, 41.", "copied, 2.5 s, "),
            ("copied, 2.5 s, 41.9 M", "copied, 2.5 s, "),
            ("write: 41.9 MB/", "write: "),
            ("blocks 1,23", "blocks "),
            ("a,1,2.5,3", "a,1,2.5,"),
            ("real 0m12", "real "),
            ("0:01:0", "0:01:"),
            ("\"bw\":12", "\"bw\":"),
            ("<Value>5", "<Value>"),
            ("42", ""),
        ] {
            assert_eq!(before_number(line), Some(before), "{line}");
        }
        for line in
            ["12.5 MB/s", "12.5ms", "0m12.3s", "45%", "}", "sda1", "12 ", "fio-3.33", "(97.1k)", "a b", ""]
        {
            assert_eq!(before_number(line), None, "{line}");
        }
    }
}
