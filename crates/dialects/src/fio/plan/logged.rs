//! Jobs that write down what they do (`write_iolog`): what they must not have for that, and which they are.

use super::super::Wrong;
use super::super::settings::Settings;
use super::Job;
use super::files::Laid;

const LOG: &str = "write_iolog";

/// Whether a job that is to write a log can do so.
pub fn check(s: &Settings, clones: u32, laid: &Laid) -> Result<(), Wrong> {
    let Some(name) = s.text(LOG) else { return Ok(()) };
    let refuse = |what: &str, instead: &str| Err(s.wrong(LOG, format!("{LOG}={name}: {what}")).hint(instead));
    if clones > 1 {
        return refuse(
            "clones would write over each other's log, as they do in fio",
            "a job for each, with a log each",
        );
    }
    if laid.several {
        return refuse("a log of several files is not supported", "one file, or a job for each");
    }
    Ok(())
}

impl Job {
    /// The log of its operations, if it writes one. Replays do not, as in fio.
    #[must_use]
    pub fn iolog(&self) -> Option<&str> {
        self.settings.text(LOG).filter(|_| self.settings.last("read_iolog").is_none())
    }
}
