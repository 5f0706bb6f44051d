//! fathom as a contender: a native workload with one stream, run by the release build without a store. Figures are read from the
//! record it prints: operations and elapsed time of the workers, and their own CPU time.

use super::{Site, printed};
use crate::bench::sample::{self, Sample};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// One stream in one phase.
#[derive(Clone, Copy)]
pub struct Job {
    /// Keys of the stream.
    pub stream: &'static str,
    /// Keys of the phase; the bench adds its own stop rule.
    pub phase: &'static str,
    pub threads: usize,
    /// Whether it writes into the file.
    pub writes: bool,
}

/// Runs the job for the time of the site.
pub fn measure(site: &Site<'_>, job: &Job) -> Result<Sample> {
    let phase = format!("stop = {{ time = \"{}ms\" }}\n{}", (site.seconds * 1e3).round(), job.phase);
    let record = run(site, &workload(site, &phase, &format!("{}\namount = \"endless\"", job.stream), job))?;
    figures(&record["phases"][0]["repetitions"][0]["workers"])
}

/// The whole life of a run that does one operation per thread, from the start of the process to its exit.
pub fn start_and_exit(site: &Site<'_>, threads: usize, stored: bool) -> Result<Sample> {
    let stream = "direction = \"read\"\nrecord = { fixed = \"4KiB\" }\nbackend = \"null\"\namount = { operations = 1 }";
    let job = Job { stream, phase: "", threads, writes: false };
    let file = site.dir.join("start.toml");
    std::fs::write(&file, workload(site, "", stream, &job))?;
    let mut command = Command::new(site.fathom);
    command.current_dir(site.dir).env("FATHOM_STORE", site.dir.join("store.db"));
    if !stored {
        command.arg("--no-store");
    }
    let ended = sample::run(command.arg("run").arg(&file))?;
    ensure!(ended.output.status.success(), "fathom: {}", printed(&ended.output));
    Ok(Sample { wall_ns: ended.wall_ns, cpu_ns: Some(ended.cpu_ns) })
}

/// The workload with one group and one kind of thread.
pub fn workload(site: &Site<'_>, phase: &str, stream: &str, job: &Job) -> String {
    // The file is the bench's own: it may be written into and must stay.
    let existing = if job.writes { "existing = \"replace\"\nkeep = true" } else { "existing = \"reuse\"" };
    // Several threads take the CPUs from the first one on.
    let first_cpu = if job.threads == 1 { crate::bench::pin::cpu() } else { 0 };
    format!(
        "name = \"bench\"\n\
         [[fileset]]\nname = \"f\"\nfiles = {{ list = [{path:?}] }}\nsize = {{ fixed = {bytes} }}\n{existing}\n\
         [[phase]]\nname = \"p\"\n{phase}\n\
         [[phase.group]]\nname = \"g\"\npinning = {{ from = {first_cpu} }}\n\
         [[phase.group.thread]]\ninstances = {threads}\n\
         [phase.group.thread.program.stream]\nfileset = \"f\"\npick = {{ one = 0 }}\n{stream}\n",
        path = site.path,
        bytes = site.file_bytes,
        threads = job.threads,
    )
}

/// Runs a workload and gives its record.
pub fn run(site: &Site<'_>, workload: &str) -> Result<Value> {
    let file = site.dir.join("bench.toml");
    std::fs::write(&file, workload)?;
    let output = command(site.fathom, &file).output().context("fathom could not be started")?;
    ensure!(output.status.success(), "fathom ended with {}: {}", output.status, printed(&output));
    serde_json::from_slice(&output.stdout).with_context(|| format!("no record: {}", printed(&output)))
}

/// `fathom run` of a workload file, its record on stdout.
pub fn command(fathom: &Path, workload: &Path) -> Command {
    let mut command = Command::new(fathom);
    command.args(["--no-store", "run", "--json"]).arg(workload).stdin(std::process::Stdio::null());
    command
}

/// All workers together: their operations in the time of the longest.
pub fn figures(workers: &Value) -> Result<Sample> {
    let workers = workers.as_array().context("the record has no workers")?;
    let values = |key: &'static str| workers.iter().filter_map(move |w| w[key].as_f64());
    let ops: f64 = values("ops").sum();
    ensure!(ops > 0.0, "the record counts no operations");
    let longest = values("elapsed_ns").fold(0.0, f64::max);
    let cpu: f64 = values("cpu_user_ns").chain(values("cpu_system_ns")).sum();
    Ok(Sample { wall_ns: longest / ops, cpu_ns: Some(cpu / ops) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn workers_count_together() {
        let one = json!({"ops": 100, "elapsed_ns": 5000, "cpu_user_ns": 1000, "cpu_system_ns": 2000});
        let two = json!({"ops": 100, "elapsed_ns": 6000, "cpu_user_ns": 1000, "cpu_system_ns": 2000});
        assert_eq!(figures(&json!([one])).unwrap(), Sample { wall_ns: 50.0, cpu_ns: Some(30.0) });
        assert_eq!(figures(&json!([one, two])).unwrap(), Sample { wall_ns: 30.0, cpu_ns: Some(30.0) });
        assert!(figures(&json!([])).is_err() && figures(&Value::Null).is_err());
    }

    #[test]
    fn the_workload_is_toml() {
        let path = Path::new("/dir/a \"file\"");
        let site = Site { dir: path, fathom: path, path, file_bytes: 4096, seconds: 1.0 };
        let job = Job { stream: "direction = \"write\"", phase: "", threads: 2, writes: true };
        let text = workload(&site, "interval = \"1s\"", job.stream, &job);
        let value: toml::Value = toml::from_str(&text).unwrap();
        assert_eq!(value["fileset"][0]["files"]["list"][0].as_str(), path.to_str());
        assert_eq!(value["phase"][0]["group"][0]["thread"][0]["instances"].as_integer(), Some(2));
    }
}
