//! Jobs that write down what they do (`write_iolog`): which they are.

use super::Job;

const LOG: &str = "write_iolog";

impl Job {
    /// The log of its operations, if it writes one. Replays do not, as in fio.
    #[must_use]
    pub fn iolog(&self) -> Option<&str> {
        self.settings.text(LOG).filter(|_| self.settings.last("read_iolog").is_none())
    }
}
