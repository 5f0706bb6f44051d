//! Masks the numbers in output, so that two runs of different speed compare equal but a shifted column does not.
//!
//! A number is `12`, `1,234`, `0.5`, `1.5e-3`. Digits after a letter or an underscore belong to a name (`ext4`, `sda1`) and stay,
//! as does a sign. The two masks treat the width differently:
//!
//! * [`mask_keep_width`] is for right-aligned tables: a number and the blanks before it become one `#` at the position of its
//!   last character, so the column's right edge is compared and the magnitude is not.
//! * [`mask_squeeze`] is for sentences and left-aligned columns: the number becomes `#` and every run of blanks beside a masked
//!   number becomes one blank.

/// A number found in a text, for the closure of [`mask_numbers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a> {
    /// Its line, without the line end.
    pub line: &'a str,
    /// Its index among the numbers of its line, from 0.
    pub nth: usize,
    /// Its text.
    pub text: &'a str,
}

/// How to treat the blanks around a masked number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// The right edge stays where it is.
    Keep,
    /// Runs of blanks beside it become one blank.
    Squeeze,
}

/// Masks every number and keeps the right edges of columns. See the module text.
#[must_use]
pub fn mask_keep_width(text: &str) -> String {
    mask_numbers(text, Width::Keep, |_| false)
}

/// Masks every number and the width it takes. See the module text.
#[must_use]
pub fn mask_squeeze(text: &str) -> String {
    mask_numbers(text, Width::Squeeze, |_| false)
}

/// Masks the numbers for which `keep` is false: `|n| n.nth < 2` keeps the file and record size that open an IOzone row.
#[must_use]
pub fn mask_numbers(text: &str, width: Width, keep: impl Fn(Number<'_>) -> bool) -> String {
    text.split_inclusive('\n')
        .map(|line| {
            let body = line.strip_suffix('\n').unwrap_or(line);
            mask_line(body, width, &keep) + &line[body.len()..]
        })
        .collect()
}

fn mask_line(line: &str, width: Width, keep: &impl Fn(Number<'_>) -> bool) -> String {
    let mut masked = String::with_capacity(line.len());
    let mut rest = line;
    let mut nth = 0;
    let mut before = None; // the character before `rest`
    while let Some(c) = rest.chars().next() {
        let in_name = before.is_some_and(|b: char| b.is_alphabetic() || b == '_');
        let length = if in_name { 0 } else { number_length(rest) };
        if length == 0 {
            // Copies a name with its digits, so that their tail is not mistaken for a number.
            let word = if in_name { digits(rest).max(c.len_utf8()) } else { c.len_utf8() };
            masked.push_str(&rest[..word]);
            before = rest[..word].chars().last();
            rest = &rest[word..];
            continue;
        }
        let (number, tail) = rest.split_at(length);
        rest = tail;
        before = number.chars().last();
        if keep(Number { line, nth, text: number }) {
            masked.push_str(number);
        } else {
            rest = push_mask(&mut masked, number, rest, width);
        }
        nth += 1;
    }
    masked
}

/// Writes `#` for a number and returns the rest of the line.
fn push_mask<'a>(masked: &mut String, number: &str, rest: &'a str, width: Width) -> &'a str {
    match width {
        Width::Keep => {
            let blank_before = masked.is_empty() || masked.ends_with(' ');
            if blank_before {
                masked.extend(std::iter::repeat_n(' ', number.len() - 1));
            }
            masked.push('#');
            rest
        }
        Width::Squeeze => {
            let kept = masked.trim_end_matches([' ', '\t']).len();
            if kept < masked.len() {
                masked.truncate(kept);
                if kept > 0 {
                    masked.push(' ');
                }
            }
            masked.push('#');
            let after = rest.trim_start_matches([' ', '\t']);
            // Keep one blank unless the line ends here.
            if after.len() == rest.len() {
                rest
            } else if after.is_empty() {
                ""
            } else {
                masked.push(' ');
                after
            }
        }
    }
}

/// Length in bytes of the number at the start of `text`; 0 if there is none.
fn number_length(text: &str) -> usize {
    let mut length = digits(text);
    if length == 0 {
        return 0;
    }
    while text[length..].starts_with(',') && digits(&text[length + 1..]) == 3 {
        length += 4;
    }
    length += fraction(&text[length..]);
    length + exponent(&text[length..])
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn fraction(text: &str) -> usize {
    let after = text.strip_prefix('.').map_or(0, digits);
    if after == 0 { 0 } else { after + 1 }
}

/// `e+06`, `E-3`; not the `e` of "12 e" or "3rd".
fn exponent(text: &str) -> usize {
    let Some(tail) = text.strip_prefix(['e', 'E']) else { return 0 };
    let sign = usize::from(tail.starts_with(['+', '-']));
    let after = digits(&tail[sign..]);
    if after == 0 { 0 } else { 1 + sign + after }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitudes_compare_equal_in_a_table() {
        let fast = mask_keep_width("            1024       4  1234567   890123\n");
        let slow = mask_keep_width("            1024       4    34567       12\n");
        assert_eq!(fast, slow);
        assert_eq!(fast, "               #       #        #        #\n");
    }

    #[test]
    fn a_shifted_column_does_not_compare_equal() {
        assert_ne!(mask_keep_width("  1024       4"), mask_keep_width("  1024        4"));
    }

    #[test]
    fn sentences_are_squeezed() {
        let fast = mask_squeeze("\tMin throughput per process \t\t\t=  1234567.25 kB/sec ");
        let slow = mask_squeeze("\tMin throughput per process \t\t\t=     12.50 kB/sec ");
        assert_eq!(fast, slow);
        assert_eq!(fast, "\tMin throughput per process \t\t\t= # kB/sec ");
    }

    #[test]
    fn names_keep_their_digits() {
        assert_eq!(mask_squeeze("ext4 on sda12 took 3 s (X1, op_7)"), "ext4 on sda12 took # s (X1, op_7)");
    }

    #[test]
    fn all_forms_of_numbers_are_masked() {
        assert_eq!(mask_squeeze("1,234,567.8|0.5|1.5e-3|7E+09|-4|3.|(12)"), "#|#|#|#|-#|#.|(#)");
        assert_eq!(mask_squeeze("4,16,64"), "#,#,#");
        assert_eq!(mask_squeeze("3rd 12 e"), "#rd # e");
    }

    #[test]
    fn chosen_numbers_stay() {
        let kept = mask_numbers("  1024  4  77.5 88", Width::Keep, |n| n.nth < 2);
        assert_eq!(kept, "  1024  4     #  #");
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(mask_keep_width("a 1\n\n22\nb"), "a #\n\n #\nb");
        assert_eq!(mask_squeeze("a   1   \n  22\n"), "a #\n#\n");
    }

    #[test]
    fn other_alphabets_survive() {
        assert_eq!(mask_squeeze("größe 12 µs"), "größe # µs");
    }
}
