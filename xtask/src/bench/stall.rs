//! The experiment of a process that is stopped for a second while it should do 1,000 operations a second. A tool that times operations
//! from when it issues them shows nothing of it; response times, from when they were due, must show about a thousand late ones.

use super::histogram::Histogram;
use super::peers::{Site, fathom};
use super::rate;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::time::Duration;

const RUN_SECONDS: f64 = 5.0;
/// The stop begins well after the start of the process and ends well before the end of the run.
const BEFORE: Duration = Duration::from_secs(2);
const STOPPED: Duration = Duration::from_secs(1);
const LATE_NS: u64 = 1_000_000;
/// About a thousand; about none.
const RESPONSES: std::ops::RangeInclusive<u64> = 950..=1050;
const SERVICES: std::ops::RangeInclusive<u64> = 0..=10;

/// What the record says of it.
pub struct Stalled {
    ops: u64,
    late_responses: u64,
    late_services: u64,
}

/// Runs, stops, continues, reads the record.
pub fn run(site: &Site<'_>) -> Result<Stalled> {
    let site = Site { seconds: RUN_SECONDS, ..*site };
    let workload = site.dir.join("stall.toml");
    let pace = "pace = { rate = { operations_per_s = 1_000 } }";
    std::fs::write(&workload, rate::workload(&site, "backend = { psync = \"pread\" }", pace))?;
    // Into a file: nobody empties a pipe meanwhile.
    let record = site.dir.join("stall.json");
    let mut child = fathom::command(site.fathom, &workload)
        .stdout(File::create(&record)?)
        .process_group(0)
        .spawn()
        .context("fathom could not be started")?;
    super::progress("a process is stopped for a second");
    std::thread::sleep(BEFORE);
    let group = -i32::try_from(child.id())?;
    let signal = |number| {
        // SAFETY: the group belongs to our own child, which has not been reaped, so no other group can have its number.
        let failed = unsafe { libc::kill(group, number) };
        ensure!(failed == 0, "a signal could not be sent: {}", std::io::Error::last_os_error());
        Ok(())
    };
    signal(libc::SIGSTOP)?;
    std::thread::sleep(STOPPED);
    signal(libc::SIGCONT)?;
    ensure!(child.wait()?.success(), "fathom did not end well after having been stopped");
    super::progress("");
    Stalled::of(&serde_json::from_reader(std::io::BufReader::new(File::open(&record)?))?)
}

impl Stalled {
    fn of(record: &Value) -> Result<Self> {
        let workers = &record["phases"][0]["repetitions"][0]["workers"];
        let (response, service) = (Histogram::of(workers, "response"), Histogram::of(workers, "read"));
        ensure!(
            response.count() > 0 && service.count() > 0,
            "the record has no response or no service times"
        );
        let late_services = service.above(LATE_NS);
        Ok(Self { ops: service.count(), late_responses: response.above(LATE_NS), late_services })
    }

    /// About as many late responses as a second has operations, and no such service times.
    pub fn holds(&self) -> bool {
        RESPONSES.contains(&self.late_responses) && SERVICES.contains(&self.late_services)
    }

    pub fn text(&self) -> String {
        format!(
            "\nstopped for {} s of {RUN_SECONDS} at 1000 op/s: {} operations; above 1 ms are {} response times (about 1000 \
             expected) and {} service times (about 0): {}\n",
            STOPPED.as_secs(),
            self.ops,
            self.late_responses,
            self.late_services,
            if self.holds() { "passed" } else { "MISSED" }
        )
    }

    pub fn json(&self) -> Value {
        json!({"ops": self.ops, "responses_above_1_ms": self.late_responses, "services_above_1_ms": self.late_services})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stalled(late_responses: u64, late_services: u64) -> Stalled {
        // Bucket 960 begins at 1,048,576 ns.
        let stat =
            |op: &str, late: u64| json!({"op": op, "latency": {"counts": [[30, 5000 - late], [960, late]]}});
        let workers = json!([{"stats": [stat("read", late_services), stat("response", late_responses)]}]);
        Stalled::of(&json!({"phases": [{"repetitions": [{"workers": workers}]}]})).unwrap()
    }

    #[test]
    fn the_stop_must_show_in_one_histogram_only() {
        assert!(stalled(1001, 1).holds());
        assert!(!stalled(1, 1).holds() && !stalled(1001, 1000).holds());
        assert!(stalled(1001, 1).text().contains("1001 response times"));
        assert!(Stalled::of(&json!({})).is_err());
    }
}
