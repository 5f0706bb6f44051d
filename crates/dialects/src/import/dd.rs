//! The lines of dd: records in and out, and what GNU's and BSD's add about bytes and time.

use super::cell::{add, converted, figure};
use super::lines::{leading, unit as word_of};
use super::units::{Prefix, unit};
use fathom_record::Phase;
use fathom_record::imported::names::{THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS};

/// What dd said.
#[derive(Default)]
pub(super) struct Said {
    /// Its figures.
    pub(super) any: bool,
    /// Why it ended early.
    pub(super) error: Option<String>,
}

/// Takes a line; whether it is one of dd's.
pub(super) fn takes(phase: &mut Phase, said: &mut Said, line: &str, n: usize) -> bool {
    if let Some(error) = line.strip_prefix("dd:") {
        said.error = Some(format!("dd: {}", error.trim()));
        return true;
    }
    let taken = records(phase, line, n) || copied(phase, line, n);
    said.any |= taken;
    taken
}

/// "8192+0 records in".
fn records(phase: &mut Phase, line: &str, n: usize) -> bool {
    let mut words = line.split_whitespace();
    let (Some(count), Some("records" | "record"), Some(way @ ("in" | "out")), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    let Some((whole, part)) = count.split_once('+') else { return false };
    let (Ok(whole), Ok(_)) = (whole.parse::<u64>(), part.parse::<u64>()) else { return false };
    add(phase, figure(&format!("records {way}"), whole as f64, COUNT, count.into(), n));
    true
}

/// "8589934592 bytes (8.6 GB) copied, 120.797 seconds, 71.1 MB/s", "... (8.6 GB, 8.0 GiB) copied, 120.8 s, 71.1 MB/s", "8589934592
/// bytes transferred in 120.797 secs (71111111 bytes/sec)".
fn copied(phase: &mut Phase, line: &str, n: usize) -> bool {
    let Some((bytes, word, rest)) = leading(line) else { return false };
    let Some(rest) = rest.trim_start().strip_prefix("bytes") else { return false };
    let behind = |key: &str| rest.find(key).map(|at| &rest[at + key.len()..]);
    let Some(rest) = behind("copied,").or_else(|| behind("transferred in")) else { return false };
    add(phase, figure("bytes copied", bytes, BYTES, format!("{word} bytes"), n));
    let Some((seconds, word, rest)) = leading(rest) else { return true };
    let name = word_of(rest);
    add(phase, figure(TIME, seconds * 1e9, NS, format!("{word} {name}"), n));
    let rest =
        rest.trim_start().trim_start_matches(|c: char| c.is_alphabetic()).trim_start_matches([',', ' ', '(']);
    if let Some((rate, word, rest)) = leading(rest)
        && let Some(unit) = unit(word_of(rest), Prefix::Decimal).filter(|u| u.base == BYTES_PER_S)
    {
        add(phase, converted(THROUGHPUT, rate, unit, format!("{word} {}", word_of(rest)), n));
    }
    true
}
