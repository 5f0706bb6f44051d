//! Generated jobs, run through fio and the built program side by side. Both must do the same: bytes, operations, syncs,
//! files, exit codes, keys. What fathom rejects must be listed in `refusals`. The suite runs a hundred jobs; `cargo
//! xtask bench fio-differential` runs any number, with any seed, against any fio.

mod compare;
mod jobs;
mod program;
mod refusals;

use self::compare::differences;
use self::program::{Came, Program};
use crate::fio::support::{DEBIANS, FIO, fio_is_here};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Concurrent jobs: most of the time they sleep.
const AT_ONCE: usize = 4;

/// A number from an environment variable.
fn asked(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Result of a job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// fio does not run it.
    FioFails,
    Same,
    /// fathom does not run it, for a known reason or not.
    Refused(Option<&'static str>),
    Different,
}

#[test]
fn generated_jobs_do_what_they_do_in_fio() {
    let peer = std::env::var("FATHOM_DIFFERENTIAL_FIO").unwrap_or_else(|_| FIO.to_owned());
    if peer == FIO && !fio_is_here("generated_jobs_do_what_they_do_in_fio") {
        return;
    }
    let (seed, jobs) = (asked("FATHOM_DIFFERENTIAL_SEED", 1), asked("FATHOM_DIFFERENTIAL_JOBS", 100));
    let only = std::env::var("FATHOM_DIFFERENTIAL_JOB").ok().and_then(|text| text.parse().ok());
    let theirs = Program::fio(&peer);
    let version = theirs.version();
    let ours = Program::fathom(env!("CARGO_BIN_EXE_fathom"), &version);
    let (next, found) = (AtomicU64::new(0), Mutex::new(BTreeMap::<Outcome, u64>::new()));
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = only.unwrap_or_else(|| next.fetch_add(1, Ordering::Relaxed));
                    if number >= jobs && only.is_none()
                        || only.is_some() && next.fetch_add(1, Ordering::Relaxed) > 0
                    {
                        return;
                    }
                    let line = jobs::job(seed, number);
                    let (outcome, said) = run(&line, &theirs, &ours, version == DEBIANS);
                    *found.lock().unwrap().entry(outcome.clone()).or_default() += 1;
                    let told = format!("#{number}: fio {line}\n    {}", said.join("\n    "));
                    match outcome {
                        Outcome::Different | Outcome::Refused(None) => failures.lock().unwrap().push(told),
                        Outcome::Refused(_) if only.is_some() => println!("{told}"),
                        _ => {}
                    }
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    let count = |of: &dyn Fn(&Outcome) -> bool| found.iter().filter(|f| of(f.0)).map(|f| f.1).sum::<u64>();
    println!(
        "fio-differential: fio {version}, seed {seed}: {} jobs, {} run in fio, {} the same, {} refused, {} different",
        count(&|_| true),
        count(&|o| *o != Outcome::FioFails),
        count(&|o| *o == Outcome::Same),
        count(&|o| matches!(o, Outcome::Refused(_))),
        count(&|o| *o == Outcome::Different),
    );
    for (outcome, times) in &found {
        if let Outcome::Refused(Some(why)) = outcome {
            println!("fio-differential: refused {times} times: {why}");
        }
    }
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "seed {seed}:\n{}", failures.join("\n"));
}

/// Runs a job in both, and compares.
fn run(line: &str, theirs: &Program, ours: &Program, older: bool) -> (Outcome, Vec<String>) {
    let fio = theirs.run(line);
    // With its LFSR it may do nothing of small files, and end with 0; and where a job of it crashes, the program ends with 0, too.
    let failed = ["failed initializing LFSR", "got signal="].iter().any(|words| fio.stderr.contains(words));
    // A normal distribution ends a job where it draws what is left behind the last block.
    let uneven = line.contains("=normal") && (line.contains("--bs=3k") || line.contains("--size=100k"));
    let gave_up = failed || uneven && line.contains("--verify");
    if fio.code != Some(0) || gave_up {
        return (Outcome::FioFails, Vec::new());
    }
    let fathom: Came = ours.run(line);
    if fathom.code != Some(0) {
        let said: Vec<String> = fathom.stderr.lines().take(4).map(str::to_owned).collect();
        return (Outcome::Refused(refusals::reason(&fathom.stderr)), said);
    }
    let found = differences(line, &fio, &fathom, older);
    (if found.is_empty() { Outcome::Same } else { Outcome::Different }, found)
}
