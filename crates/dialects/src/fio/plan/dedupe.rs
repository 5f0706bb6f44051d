//! Duplicate blocks: a few that repeat, or a working set, per job or shared by all jobs.

use super::super::UsageError;
use super::super::settings::Settings;
use super::Job;
use super::job_files::JobFiles;
use fathom_workload::{Data, Stream};

/// Checks that the options make sense.
pub fn check(s: &Settings, duplicate_percent: u8) -> Result<(), UsageError> {
    let working_set = is_working_set(s);
    let percent = s.number("dedupe_working_set_percentage")?.unwrap_or(DEFAULT_PERCENT);
    if percent > 100 {
        return Err(s.wrong(
            "dedupe_working_set_percentage",
            format!("dedupe_working_set_percentage={percent}: 0 to 100 is expected"),
        ));
    }
    if s.on("dedupe_global", false) && !working_set && duplicate_percent > 0 {
        return Err(s
            .wrong("dedupe_global", "dedupe_global shares a working set, and the blocks of this job repeat")
            .hint("instead: dedupe_mode=working_set"));
    }
    Ok(())
}

/// fio's default.
const DEFAULT_PERCENT: u64 = 5;

fn is_working_set(s: &Settings) -> bool {
    s.word("dedupe_mode") == Some("working_set")
}

/// Percent of the duplicates that repeat within a file, and the number of distinct ones (0: a few).
pub fn shared(
    s: &Settings,
    stream: &Stream,
    laid: &JobFiles,
    duplicate_percent: u8,
) -> Result<(u8, u32), UsageError> {
    if duplicate_percent == 0 || !is_working_set(s) {
        return Ok((100, 0));
    }
    let percent = s.number("dedupe_working_set_percentage")?.unwrap_or(DEFAULT_PERCENT);
    let bytes = laid.parts.iter().map(|part| part.length).max().unwrap_or(0);
    let blocks = bytes / stream.record.unit().0.max(1);
    let distinct = u128::from(blocks) * u128::from(percent) / 100;
    let distinct = u32::try_from(distinct).unwrap_or(u32::MAX).max(1);
    Ok((if s.on("dedupe_global", false) { 0 } else { 100 }, distinct))
}

/// Sizes a working set shared by several jobs as the sum of their sizes.
pub fn share(jobs: &mut [Job]) {
    let all = jobs.iter().filter(|job| is_global(job)).fold(0u32, |sum, job| match job.stream.data {
        Data::Reducible { distinct, .. } => sum.saturating_add(distinct.saturating_mul(job.clones)),
        _ => sum,
    });
    for job in jobs.iter_mut().filter(|job| is_global(job)) {
        if let Data::Reducible { distinct, .. } = &mut job.stream.data {
            *distinct = all;
        }
    }
}

fn is_global(job: &Job) -> bool {
    matches!(job.stream.data, Data::Reducible { within_percent: 0, distinct: 1.., .. })
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::*;

    fn data(line: &str) -> Vec<Data> {
        planned(line).jobs.iter().map(|job| job.stream.data.clone()).collect()
    }

    fn reducible(within_percent: u8, distinct: u32) -> Data {
        Data::Reducible {
            compressible_percent: 0,
            duplicate_percent: 50,
            within_percent,
            distinct,
            filler: Vec::new(),
        }
    }

    #[test]
    fn a_working_set_is_a_share_of_the_file_and_may_be_that_of_all_jobs() {
        let job = "--size=1m --rw=write --bs=4k --dedupe_percentage=50";
        assert_eq!(data(&format!("--name=a {job}")), [reducible(100, 0)]);
        assert_eq!(data(&format!("--name=a {job} --dedupe_mode=repeat")), [reducible(100, 0)]);
        let set = format!("{job} --dedupe_mode=working_set");
        assert_eq!(data(&format!("--name=a {set}")), [reducible(100, 12)]);
        let global = format!("{set} --dedupe_working_set_percentage=50 --dedupe_global=1");
        assert_eq!(
            data(&format!("--name=a {global} --name=b {global} --numjobs=2")),
            [reducible(0, 384), reducible(0, 384)]
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let job = "--name=a --size=1m --rw=write --dedupe_percentage=50";
        assert!(refused(&format!("{job} --dedupe_global=1")).contains("working_set"));
        assert!(refused(&format!("{job} --dedupe_working_set_percentage=101")).contains("0 to 100"));
    }
}
