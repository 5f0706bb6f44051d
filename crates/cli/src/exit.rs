//! Exit codes of fathom itself; drop-ins use those of the program they stand in for. The table is in docs/safety.md.

/// Everything asked for was done.
pub const DONE: u8 = 0;
/// A check failed.
pub const CHECK: u8 = 1;
/// The command line or an input file is wrong.
pub const USAGE: u8 = 2;
/// The run could not be completed; what was measured is kept.
pub const FAILED: u8 = 3;
/// A gate cannot decide: there are not enough data.
pub const UNDECIDED: u8 = 3;

/// An error that is the user's to mend on the command line or in an input file.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The exit code of an error that ended a command.
pub fn of(error: &anyhow::Error) -> u8 {
    use fathom_record::StoreError;
    if error.is::<Usage>() || error.is::<StoreError>() { USAGE } else { FAILED }
}

/// The exit code after a signal: what shells report for a program that a signal ended.
pub fn of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(FAILED)
}
