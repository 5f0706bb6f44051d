//! The log: lines prefixed with the seconds since the start, as in the imitated version; the script's `debug` hides or
//! numbers them.

use crate::console;
use fathom_dialects::filebench::output;
use fathom_dialects::filebench::plan::Format;
use std::time::Instant;

pub struct SessionLog {
    start: Instant,
    format: Format,
    debug: u64,
    /// Prints nothing: another command prints the results.
    quiet: bool,
}

impl SessionLog {
    pub fn new(format: Format, quiet: bool) -> Self {
        Self { start: Instant::now(), format, debug: 2, quiet }
    }

    pub fn set_debug(&mut self, level: u64) {
        self.debug = level;
    }

    fn shows(&self) -> bool {
        self.debug >= 2 && !self.quiet
    }

    pub fn line(&self, text: &str) {
        if self.shows() {
            console::out_raw(&format!("{}{text}\n", self.prefix()));
        }
    }

    pub fn plain(&self, text: &str) {
        if self.shows() {
            console::out_raw(text);
        }
    }

    /// Prints a line without a time. No `debug` level hides it.
    pub fn always(&self, text: &str) {
        if !self.quiet {
            console::out_raw(&format!("{text}\n"));
        }
    }

    /// Prints an error to stderr. No option hides it.
    pub fn error(&self, text: &str) {
        console::error_raw(&format!("{}{text}\n", self.prefix()));
    }

    fn prefix(&self) -> String {
        output::prefix(self.format, self.debug, std::process::id(), self.start.elapsed().as_secs_f64())
    }
}
