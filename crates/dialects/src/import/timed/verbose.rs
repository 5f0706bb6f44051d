//! GNU `time -v`: one figure per line, "Maximum resident set size (kbytes): 2984".

use super::super::cell::{add, figure};
use super::super::lines::leading_decimal;
use super::{named, seconds};
use fathom_record::Phase;
use fathom_record::imported::units::{BYTES, COUNT, NS, PERCENT};

/// Prefixes of lines with counts or sizes, which keep their names.
const OTHERS: [&str; 18] = [
    "Percent of CPU this job got",
    "Average shared text size",
    "Average unshared data size",
    "Average stack size",
    "Average total size",
    "Maximum resident set size",
    "Average resident set size",
    "Major (requiring I/O) page faults",
    "Minor (reclaiming a frame) page faults",
    "Voluntary context switches",
    "Involuntary context switches",
    "Swaps",
    "File system inputs",
    "File system outputs",
    "Socket messages sent",
    "Socket messages received",
    "Signals delivered",
    "Page size",
];

/// How GNU `time` says that the command failed, with or without `-v`.
pub(super) fn failure(line: &str) -> Option<String> {
    let begins = [
        "Command exited with non-zero status ",
        "Command terminated by signal ",
        "Command stopped by signal ",
    ];
    let says = begins.iter().any(|words| line.starts_with(words));
    let has_status = line.strip_prefix("Exit status: ").is_some_and(|status| status != "0");
    (says || has_status).then(|| line.into())
}

/// Reads a line. Returns whether it was understood.
pub(super) fn takes(phase: &mut Phase, line: &str, n: usize) -> bool {
    if let Some(command) = line.strip_prefix("Command being timed: ") {
        named(phase, command.trim_matches('"'));
        return true;
    }
    if failure(line).is_some() {
        return true;
    }
    let Some((key, text)) = line.rsplit_once(": ") else { return false };
    let of_time = match key {
        "User time (seconds)" => Some("user CPU time"),
        "System time (seconds)" => Some("system CPU time"),
        "Elapsed (wall clock) time (h:mm:ss or m:ss)" => Some("real time"),
        _ => None,
    };
    if let (Some(name), Some(value)) = (of_time, seconds(text)) {
        add(phase, figure(name, value * 1e9, NS, text.into(), n));
        return true;
    }
    if key == "Exit status" {
        return true;
    }
    let Some((value, _, _)) = leading_decimal(text).filter(|_| OTHERS.iter().any(|o| key.starts_with(o)))
    else {
        return false;
    };
    let (unit, factor) = match key.rsplit_once('(').map(|(_, unit)| unit) {
        Some("kbytes)") => (BYTES, 1024.0),
        Some("bytes)") => (BYTES, 1.0),
        _ if text.ends_with('%') => (PERCENT, 1.0),
        _ => (COUNT, 1.0),
    };
    let name = key.trim_end_matches(" (kbytes)").trim_end_matches(" (bytes)");
    add(phase, figure(name, value * factor, unit, text.into(), n));
    true
}
