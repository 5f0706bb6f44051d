//! What fathom is known to reject of what fio runs: words of the message, each with the reason. Any other rejection
//! fails the test, so that no new one goes unnoticed.

/// A piece of the message, and why.
const REFUSALS: &[(&str, &str)] = &[
    ("sync_file_range with ", "fio lets the other sync come first"),
    ("vsync gathers", "vsync gathers the blocks of a batch in sequence into one call"),
    ("bs_is_seq_rand", "block sizes by the order of single operations"),
    ("so buffer_pattern cannot be used", "verify together with buffers that compress to a pattern"),
    ("has nothing that could be read or written over", "create_on_open of a job that reads"),
    ("file_append is not supported with rw=...:N or zonemode", "writing past the end of a file in zones"),
    ("steadystate", "a steady state that cannot be judged in so short a time"),
    ("a rate for rw=trimwrite", "rates of trimwrite"),
    ("would hold for the reads that check", "the rate of a mix with verify_backlog"),
];

/// Why a job was refused, if that is known.
pub fn reason(stderr: &str) -> Option<&'static str> {
    REFUSALS.iter().find(|(words, _)| stderr.contains(words)).map(|(_, why)| *why)
}
