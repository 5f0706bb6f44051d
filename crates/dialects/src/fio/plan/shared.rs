//! Blocks written by several clones or jobs at the same time. Reading back after each pass could find a block that another job is
//! writing and report an error, as fio 3.42 does. Here such jobs read back after all writes.

use super::super::UsageError;
use super::{Job, read_back};
use fathom_workload::{Amount, Direction, Mix, Verify};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Makes jobs without a pass count read back at their end if they share blocks.
pub(super) fn read_back_at_the_end(jobs: &mut [Job]) -> Result<(), UsageError> {
    for number in sharing(jobs) {
        let job = &mut jobs[number];
        let stream = &mut job.stream;
        let goes_round = stream.amount == Amount::Endless || stream.access.draws_each();
        if !(goes_round && stream.keep_written.is_some_and(|kept| kept.each_pass)) {
            continue;
        }
        let kept = read_back::kept(&job.settings, stream)?;
        stream.keep_written = Some(kept);
        job.reads_back = true;
        if kept.after == 0 {
            job.backlog = false;
            stream.verify = Verify::No;
            if stream.direction == Direction::Mix(Mix::ReadPercent(0)) && !job.rw.mixed {
                stream.direction = Direction::Write;
            }
        }
    }
    Ok(())
}

/// A range of a file and its writer.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Written {
    step: u32,
    /// Normalized, so that different spellings name one file.
    path: PathBuf,
    start: u64,
    end: u64,
    job: usize,
}

/// Jobs that write the same range as another clone or a concurrent job.
fn sharing(jobs: &[Job]) -> BTreeSet<usize> {
    let mut all: Vec<Written> = Vec::new();
    for (number, job) in jobs.iter().enumerate().filter(|(_, job)| job.rw.writes() && !job.only_reads_back) {
        for (clone, (files, part)) in job.files.iter().zip(&job.parts).enumerate() {
            let sizes = job.sizes.get(clone);
            all.extend(files.iter().enumerate().map(|(file, path)| {
                let end = sizes.and_then(|sizes| sizes.get(file)).copied();
                let end = end.unwrap_or(part.start.saturating_add(part.length));
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                Written { step: job.step, path, start: part.start, end, job: number }
            }));
        }
    }
    all.sort_unstable();
    let mut found = BTreeSet::new();
    // The range that ends furthest so far.
    let mut farthest: Option<&Written> = None;
    for one in &all {
        let before = farthest.filter(|f| (f.step, &f.path) == (one.step, &one.path));
        if let Some(before) = before.filter(|before| one.start < before.end) {
            found.extend([before.job, one.job]);
        }
        if before.is_none_or(|before| before.end < one.end) {
            farthest = Some(one);
        }
    }
    found
}
