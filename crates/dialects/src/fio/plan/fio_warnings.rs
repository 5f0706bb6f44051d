//! fio's own warnings, in its words: `--warnings-fatal` turns these, and no others, into errors.

use super::{Job, Plan, verify_options};

const OVERWRITTEN: &str =
    "multiple writers may overwrite blocks that belong to other jobs. This can cause verification failures.";
const LIMITED: &str = "norandommap given for variable block sizes, verify limited";
const ENDLESS: &str = "time_based requires a runtime/timeout setting";

impl Plan {
    /// fio's first warning about the job.
    #[must_use]
    pub fn warning(&self) -> Option<&'static str> {
        self.jobs.iter().find_map(warning)
    }
}

fn warning(job: &Job) -> Option<&'static str> {
    let s = &job.settings;
    let verifies = verify_options::family(s) != "0";
    let shared = job.clones > 1 && job.files.windows(2).any(|two| two[0] == two[1]);
    let ranges = ["bsrange", "bssplit", "bs_unaligned"].iter().any(|name| s.text(name).is_some());
    if s.on("time_based", false) && s.text("runtime").is_none() {
        Some(ENDLESS)
    } else if verifies && job.rw.writes() && shared {
        Some(OVERWRITTEN)
    } else if verifies && job.rw.random && s.on("norandommap", false) && ranges {
        Some(LIMITED)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::*;

    #[test]
    fn fio_warnings_differ_from_our_notes() {
        let of = |line: &str| planned(line).warning();
        assert_eq!(of("--name=a --size=1m --rw=write --iodepth=16"), None);
        assert_eq!(of("--name=a --size=1m --time_based"), Some(ENDLESS));
        assert_eq!(
            of("--name=a --size=1m --rw=randwrite --verify=md5 --filename=x --numjobs=2"),
            Some(OVERWRITTEN)
        );
        assert_eq!(
            of("--name=a --size=1m --rw=randwrite --verify=md5 --norandommap --bsrange=4k-8k"),
            Some(LIMITED)
        );
    }

    #[test]
    fn a_device_is_written_if_that_is_allowed_or_nothing_is_lost() {
        assert!(refused("--name=a --rw=write --filename=/dev/disk").contains("--allow-write=/dev/disk"));
        let _ = planned("--name=a --rw=write --filename=/dev/blank");
        let _ = planned("--name=a --rw=write --filename=/dev/disk --allow-write=/dev/disk");
    }
}
