//! Distinguishes prose from figures that were not understood, which deserve a warning, among lines that no parser took. Prose has
//! more words than numbers; versions, dates and addresses do not count as numbers.

use super::lines::{leading, number};
use super::units::{Prefix, unit};
use fathom_record::imported::units::{BYTES_PER_S, NS, OPS_PER_S};

/// Counts of a line's elements.
#[derive(Default)]
struct Counts {
    numbers: usize,
    /// Numbers with decimals.
    decimals: usize,
    /// Rates: a number with a unit per second.
    rates: usize,
    /// Times or rates directly after "=" or ":".
    keyed: usize,
    words: usize,
    /// Numbers directly after ":" with too many decimals for a version.
    precise: usize,
    /// Numbers with two decimals or more directly before a word that is no unit: "0.00user". Versions have fewer.
    named: usize,
}

/// Decimals that no version number has.
const MORE_THAN_A_VERSION: usize = 3;

pub(super) fn looks_like_figures(line: &str) -> bool {
    let c = count(line);
    if c.decimals == 0 && c.rates == 0 && names_a_month(line) {
        return false;
    }
    (c.numbers >= 2 && c.numbers > c.words)
        || (c.rates >= 1 && c.words <= 3 * c.numbers)
        || (c.keyed >= 1 && c.words <= 4 * c.numbers)
        || (c.decimals >= 1 && c.words == 0)
        || (c.precise >= 1 && c.words <= 1)
        || c.named >= 2
        || cells_of_figures(line) >= 2
}

/// Cells of a table that are a figure and nothing else. Its other cells may have many words.
fn cells_of_figures(line: &str) -> usize {
    let separator = if line.contains(' ') { '|' } else { ',' };
    let is_figure =
        |cell: &&str| leading(cell).is_some_and(|(.., rest)| unit(rest.trim(), Prefix::Binary).is_some());
    // "1,234,567" is one number.
    if separator == ',' && !line.starts_with(char::is_alphabetic) {
        return 0;
    }
    line.split(separator).filter(is_figure).count()
}

/// "March 10, 2005" is a date.
fn names_a_month(line: &str) -> bool {
    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let is_month = |w: &str| {
        months.iter().any(|m| w.len() >= 3 && w.is_char_boundary(3) && w[..3].eq_ignore_ascii_case(m))
    };
    line.split(|c: char| !c.is_alphabetic()).any(is_month)
}

fn count(line: &str) -> Counts {
    let mut counts = Counts::default();
    let mut after_number = None;
    let mut after_key = false;
    // Commas without blanks separate fields, unless they group digits.
    let is_of_fields = line.matches(',').count() >= 3 && !line.contains(", ");
    let separates = |c: char| matches!(c, ' ' | '\t' | '|' | ';') || is_of_fields && c == ',';
    for raw in line.split(separates).filter(|w| !w.is_empty()) {
        let word = raw.trim_end_matches('.').trim_matches(['(', ')', '[', ']', ',', '"', '~']);
        let key_follows = after_key;
        after_key = raw.ends_with(['=', ':']);
        let word = word.rsplit('=').next().unwrap_or(word).trim_end_matches(':');
        if let Some((_, text, rest)) = leading(word)
            && (rest.is_empty() || unit(rest, Prefix::Binary).is_some())
        {
            counts.numbers += 1;
            let decimals = text.split_once('.').map_or(0, |(_, part)| part.len());
            counts.decimals += usize::from(decimals > 0);
            counts.precise += usize::from(key_follows && rest.is_empty() && decimals >= MORE_THAN_A_VERSION);
            let keyed = key_follows || raw.contains('=');
            after_number = Some(keyed && (text.contains('.') || !rest.is_empty()));
            judge_unit(&mut counts, rest, after_number);
        } else if let Some(keyed) = after_number.take()
            && unit(word, Prefix::Binary).is_some_and(|u| !u.base.is_empty())
        {
            judge_unit(&mut counts, word, Some(keyed));
        } else if word.chars().any(char::is_alphabetic)
            || number(word).is_none() && word.chars().any(char::is_numeric)
        {
            counts.words += 1;
            counts.named += usize::from(leading(word).is_some_and(|(_, text, rest)| {
                let decimals = text.split_once('.').map_or(0, |(_, part)| part.len());
                decimals >= 2 && rest.len() > 1 && rest.chars().all(char::is_alphabetic)
            }));
        }
    }
    counts
}

fn judge_unit(counts: &mut Counts, word: &str, keyed: Option<bool>) {
    let base = unit(word, Prefix::Binary).filter(|_| !word.is_empty()).map(|u| u.base);
    counts.rates += usize::from(matches!(base, Some(BYTES_PER_S | OPS_PER_S)));
    counts.keyed += usize::from(keyed == Some(true) && matches!(base, Some(NS | BYTES_PER_S | OPS_PER_S)));
}

#[cfg(test)]
mod tests {
    use super::looks_like_figures;

    #[test]
    fn figures() {
        for line in [
            "  1024  64  123456  234567",
            "total time:    1.0047s",
            "write: 55.3 MB/s",
            "iops=1200 bw=4800KB/s",
            "rc9  12.5  13.5",
            "42.17",
            "seq 1 2 3",
            "33554432 bytes written in 0.04 seconds (785.16 MiB/sec).",
            "user-time: 0.439595",
            "sleep 0.1,0.100996,0.0011,0.0217,0,0.000263,0.021",
            "| sequential write of the old array | 12 | n/a | 2.5 ms |",
            "read,100,5",
        ] {
            assert!(looks_like_figures(line), "{line}");
        }
    }

    #[test]
    fn prose() {
        for line in [
            "read is a meagre 3.4 MB/s.",
            "I think after switching to RAID 1+0 I'm now getting around 50-70 MB/s,",
            "> @@ -847,8 +847,19 @@",
            "2008-01-23 14:47:00",
            "Related Bugs 6621609 , 6627899",
            "+0000",
            "HP DL385 G5, 2x2.6GHz/4GB/4x72GB in RAID1+0 512MB BBWC, kernel 2.6.22",
            "cciss-rc8-bad.log (9.97 kB)",
            "Bug ID 6588256",
            "Kernel: 6.12",
            "It was version 2.6.",
            "March 10, 2005",
            "A test DVD with 3 1GB files were used.",
            "",
        ] {
            assert!(!looks_like_figures(line), "{line}");
        }
    }
}
