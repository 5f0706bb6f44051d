//! Repeated documents about one run (--status-interval). Each covers everything since the start.

use super::super::json_leaves::scan;
use super::super::lines::Lines;

/// Identity and time of a status document.
#[derive(Default)]
struct StatusIdentity {
    /// Names and, in newer releases, start times of the jobs.
    jobs: Vec<String>,
    has_starts: bool,
    /// Seconds since 1970.
    timestamp: i64,
    /// Seconds since the start of the first job.
    elapsed: i64,
    version: String,
}

impl StatusIdentity {
    fn of(lines: &Lines, at: usize) -> Option<Self> {
        let mut state = Self::default();
        scan(lines.document(at), |leaf| {
            let path: Vec<&str> = leaf.path.iter().map(String::as_str).collect();
            match path.as_slice() {
                ["fio version"] => state.version.clone_from(&leaf.text),
                ["timestamp"] => state.timestamp = leaf.text.parse().unwrap_or(0),
                ["jobs", _, "jobname"] => state.jobs.push(leaf.text),
                ["jobs", _, "job_start"] => {
                    state.has_starts = true;
                    state.jobs.push(leaf.text);
                }
                ["jobs", _, "elapsed"] => {
                    state.elapsed = state.elapsed.max(leaf.text.parse().unwrap_or(0));
                }
                _ => {}
            }
        });
        (!state.version.is_empty() && !state.jobs.is_empty()).then_some(state)
    }

    /// Whether `later` is a later state of the same run.
    fn goes_on(&self, later: &Self) -> bool {
        if self.jobs != later.jobs || self.version != later.version {
            return false;
        }
        if self.has_starts {
            return true;
        }
        // Both times are rounded to seconds.
        let apart = ((later.timestamp - later.elapsed) - (self.timestamp - self.elapsed)).abs();
        apart == 0 || (apart == 1 && later.elapsed > self.elapsed)
    }
}

/// Start of the next document after `at..=last`, if it is a later state of the same run.
pub(super) fn next(lines: &Lines, at: usize, last: usize) -> Option<usize> {
    let blank = lines.document(last + 1).take_while(|line| line.trim().is_empty()).count();
    let next = last + 1 + blank;
    if !lines.document(next).next()?.trim_start().starts_with('{') {
        return None;
    }
    StatusIdentity::of(lines, at)?.goes_on(&StatusIdentity::of(lines, next)?).then_some(next)
}
