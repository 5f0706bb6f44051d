//! fio as a contender: one job by options, its JSON report. CPU time is the job's own usr and sys share of its run time.

use super::{Site, printed};
use crate::bench::pin;
use crate::bench::sample::{self, Sample};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What tuned means: registered file and buffers, and 16 submissions in one call.
pub const TUNED: &str = "--fixedbufs --registerfiles --iodepth_batch_submit=16 --iodepth_batch_complete_min=1 \
                         --iodepth_batch_complete_max=32";
/// The same for libaio, which has nothing to register.
pub const TUNED_AIO: &str =
    "--iodepth_batch_submit=16 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32";

/// Runs a job with these options for the time of the site.
pub fn measure(fio: &Path, site: &Site<'_>, options: &[&str], jobs: usize) -> Result<Sample> {
    let mut command = job(fio, site, options);
    command.args(["--time_based".to_owned(), format!("--runtime={}ms", (site.seconds * 1e3).round())]);
    if jobs == 1 {
        command.arg(format!("--cpus_allowed={}", pin::cpu()));
    } else {
        let last = pin::cpus().min(jobs) - 1;
        command.args([format!("--cpus_allowed=0-{last}"), "--cpus_allowed_policy=split".into()]);
        command.arg(format!("--numjobs={jobs}"));
    }
    let output = command.output()?;
    figures(&output.stdout).with_context(|| format!("fio: {}", printed(&output)))
}

/// The whole life of a run that does one operation per job.
pub fn start_and_exit(fio: &Path, site: &Site<'_>, jobs: usize) -> Result<Sample> {
    let mut command = job(fio, site, &["--ioengine=null --rw=randread --bs=4k --norandommap --number_ios=1"]);
    let ended = sample::run(command.arg(format!("--numjobs={jobs}")))?;
    ensure!(ended.output.status.success(), "fio: {}", printed(&ended.output));
    Ok(Sample { wall_ns: ended.wall_ns, cpu_ns: Some(ended.cpu_ns) })
}

/// The options every job has.
fn job(fio: &Path, site: &Site<'_>, options: &[&str]) -> Command {
    let mut command = Command::new(fio);
    command.args(["--name=bench", "--thread", "--output-format=json", "--allow_file_create=0"]);
    command.arg(format!("--size={}", site.file_bytes));
    let mut filename = std::ffi::OsString::from("--filename=");
    filename.push(site.path);
    command.arg(filename).current_dir(site.dir);
    command.args(options.iter().flat_map(|words| words.split_ascii_whitespace()));
    command
}

/// All jobs of a report together. Notes may stand before the report.
pub fn figures(stdout: &[u8]) -> Result<Sample> {
    let text = String::from_utf8_lossy(stdout);
    let report: Value = serde_json::from_str(text.get(text.find('{').unwrap_or(0)..).unwrap_or_default())?;
    let jobs = report["jobs"].as_array().context("the report has no jobs")?;
    let (mut iops, mut ops, mut cpu) = (0.0, 0.0, 0.0);
    for job in jobs {
        let sum = |key: &str| ["read", "write"].iter().filter_map(|d| job[*d][key].as_f64()).sum::<f64>();
        iops += sum("iops");
        ops += sum("total_ios");
        let share = (job["usr_cpu"].as_f64().unwrap_or(0.0) + job["sys_cpu"].as_f64().unwrap_or(0.0)) / 100.0;
        cpu += share * job["job_runtime"].as_f64().unwrap_or(0.0) * 1e6;
    }
    ensure!(iops > 0.0 && ops > 0.0, "the report counts no operations");
    Ok(Sample { wall_ns: 1e9 / iops, cpu_ns: Some(cpu / ops) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = r#"{"jobname": "bench", "job_runtime": 1000, "usr_cpu": 30.0, "sys_cpu": 70.0,
        "read": {"iops": 500000.0, "total_ios": 500000}, "write": {"iops": 0, "total_ios": 0}}"#;

    #[test]
    fn jobs_count_together() {
        let one = format!("note: something\n{{\"jobs\": [{JOB}]}}");
        assert_eq!(figures(one.as_bytes()).unwrap(), Sample { wall_ns: 2000.0, cpu_ns: Some(2000.0) });
        let two = format!("{{\"jobs\": [{JOB}, {JOB}]}}");
        assert_eq!(figures(two.as_bytes()).unwrap(), Sample { wall_ns: 1000.0, cpu_ns: Some(2000.0) });
    }

    #[test]
    fn a_report_without_operations_is_an_error() {
        assert!(figures(b"fio: no such engine").is_err());
        assert!(figures(br#"{"jobs": [{"read": {"iops": 0}}]}"#).is_err());
    }
}
