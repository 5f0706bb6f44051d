//! dd's output: records in and out, and the line of GNU and BSD about bytes and time.

use super::cell::{add, converted, figure};
use super::lines::{leading_decimal, unit as word_of};
use super::units::{Prefix, unit};
use fathom_record::Phase;
use fathom_record::imported::names::{THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS};

/// State of dd's output.
#[derive(Default)]
pub(super) struct Said {
    /// Whether there were any figures.
    pub(super) any: bool,
    /// The error that ended it.
    pub(super) error: Option<String>,
}

/// Reads a line. Returns whether it is dd's.
pub(super) fn takes(phase: &mut Phase, said: &mut Said, line: &str, n: usize) -> bool {
    if let Some(error) = line.strip_prefix("dd:") {
        said.error = Some(format!("dd: {}", error.trim()));
        return true;
    }
    let taken = records(phase, line, n) || copied(phase, line, n);
    said.any |= taken;
    taken
}

/// Whether a line is the first of another dd.
pub(super) fn is_of_next(phase: &Phase, line: &str) -> bool {
    has(phase, RECORDS_OUT) && count_of_records(line).is_some()
}

const RECORDS_IN: &str = "records in";
const RECORDS_OUT: &str = "records out";
const COPIED: &str = "bytes copied";

fn has(phase: &Phase, name: &str) -> bool {
    phase.repetitions.last().is_some_and(|r| r.figure(name).is_some())
}

/// The number of full records in "8192+0 records in", "8192+0 registros leidos". French uses a non-breaking space.
fn count_of_records(line: &str) -> Option<(u64, &str)> {
    let (count, words) = line.split_once(char::is_whitespace)?;
    let (whole, part) = count.split_once('+')?;
    let _: u64 = part.parse().ok()?;
    let are_words = words.split_whitespace().count() <= 3 && !words.contains(|c: char| c.is_ascii_digit());
    Some((whole.parse().ok()?, count)).filter(|_| are_words)
}

/// In any language, records read are printed first.
fn records(phase: &mut Phase, line: &str, n: usize) -> bool {
    let Some((whole, count)) = count_of_records(line) else { return false };
    let is_out = line.ends_with(" out") || has(phase, RECORDS_IN);
    let name = if is_out { RECORDS_OUT } else { RECORDS_IN };
    add(phase, figure(name, whole as f64, COUNT, count.into(), n));
    true
}

/// "8589934592 bytes (8.6 GB) copied, 120.797 seconds, 71.1 MB/s", in any language: "1073741824 Bytes (1,1 GB, 1,0 GiB) kopiert, 2,17486 s,
/// 494 MB/s"; "8589934592 bytes transferred in 120.797 secs (71111111 bytes/sec)".
fn copied(phase: &mut Phase, line: &str, n: usize) -> bool {
    let Some((bytes, word, rest)) = leading_decimal(line) else { return false };
    // The number of bytes is followed by the word for bytes.
    if word.contains([',', '.']) || !rest.trim_start().starts_with(char::is_alphabetic) {
        return false;
    }
    let Some((seconds, rate)) = halves(rest) else { return false };
    let Some((value, of_time, behind)) = leading_decimal(seconds) else { return false };
    let name = word_of(behind);
    let Some(time) = unit(name, Prefix::Decimal).filter(|u| u.base == NS) else { return false };
    forget_progress(phase);
    add(phase, figure(COPIED, bytes, BYTES, format!("{word} bytes"), n));
    add(phase, converted(TIME, value, time, format!("{of_time} {name}"), n));
    if let Some((value, word, behind)) = leading_decimal(rate) {
        // GNU dd has a blank before the unit; BusyBox has none, and uses powers of two.
        let prefix = if behind.starts_with(' ') { Prefix::Decimal } else { Prefix::Binary };
        let blank = if behind.starts_with(' ') { " " } else { "" };
        let name = word_of(behind);
        if let Some(unit) = unit(name, prefix).filter(|u| u.base == BYTES_PER_S) {
            add(phase, converted(THROUGHPUT, value, unit, format!("{word}{blank}{name}"), n));
        }
    }
    true
}

/// The time and the rate, each with the rest of its text.
fn halves(rest: &str) -> Option<(&str, &str)> {
    if let Some((_, behind)) = rest.split_once("transferred in ") {
        return Some(behind.split_once('(').unwrap_or((behind, "")));
    }
    // A decimal comma has no blank after it; Chinese has a separator that needs none.
    let separator = if rest.contains('\u{ff0c}') { "\u{ff0c}" } else { ", " };
    // The rate may be cut off.
    if let Some(before) = rest.strip_suffix(separator.trim_end()) {
        return before.rsplit_once(separator).map(|(_, seconds)| (seconds, ""));
    }
    let mut parts = rest.rsplitn(3, separator);
    let (rate, seconds, _) = (parts.next()?, parts.next()?, parts.next()?);
    Some((seconds, rate))
}

/// Drops figures of status=progress, which the final ones include.
fn forget_progress(phase: &mut Phase) {
    if let Some(r) = phase.repetitions.last_mut() {
        r.figures.retain(|f| ![COPIED, TIME, THROUGHPUT].contains(&f.name.as_str()));
    }
}
