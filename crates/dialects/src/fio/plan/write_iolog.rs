//! Which jobs log their operations (`write_iolog`).

use super::Job;

const LOG: &str = "write_iolog";

impl Job {
    /// The iolog that the job writes, if any. Replays write none, as in fio.
    #[must_use]
    pub fn iolog(&self) -> Option<&str> {
        self.settings.text(LOG).filter(|_| self.settings.last("read_iolog").is_none())
    }
}
