//! Progress of a simulation on a terminal.

use crate::console;
use indicatif::ProgressBar;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A shorter simulation needs no progress line.
const SOON: Duration = Duration::from_secs(1);

static BEGUN: OnceLock<Instant> = OnceLock::new();
static LINE: OnceLock<ProgressBar> = OnceLock::new();

/// Shows the virtual time; returns whether to stop.
pub fn tell(at_ns: u64) -> bool {
    if BEGUN.get_or_init(Instant::now).elapsed() > SOON {
        let virtual_time = console::duration(Duration::from_nanos(at_ns));
        LINE.get_or_init(console::spinner).set_message(format!("simulating: {virtual_time} of virtual time"));
    }
    fathom_engine::interrupted_by().is_some()
}

pub fn clear() {
    if let Some(line) = LINE.get() {
        line.finish_and_clear();
    }
}
