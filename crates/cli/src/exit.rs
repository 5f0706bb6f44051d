//! Exit codes of fathom itself; drop-ins use those of the imitated program. The table is in docs/safety.md.

/// Everything requested was done.
pub const DONE: u8 = 0;
/// A check failed.
pub const CHECK: u8 = 1;
/// The command line or an input file is wrong.
pub const USAGE: u8 = 2;
/// The run could not be completed; what was measured is stored.
pub const FAILED: u8 = 3;
/// A gate cannot decide: too little data.
pub const UNDECIDED: u8 = 3;

/// An error on the command line or in an input file.
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

/// The exit code after a signal, as shells report it.
pub fn of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(FAILED)
}
