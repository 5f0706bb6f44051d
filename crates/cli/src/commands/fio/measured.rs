//! Jobs measured repeatedly or simulated, without fio's output: the same plan as `fathom fio`.

use super::world;
use crate::run_loop::Head;
use fathom_dialects::fio::{self, FoundPath, General, Invocation, Plan, UsageError, World};
use fathom_workload::Workload;
use std::path::Path;

/// Page size of a simulated host, in bytes.
const PAGE: u64 = 4096;

/// Where jobs run: decides the values of keywords such as `$mb_memory`, and whether existing files determine sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobHost {
    /// On this machine.
    Here,
    /// In virtual time, on a host with this memory and these CPUs. No file exists at its start.
    Simulated { memory_mib: u64, cpus: u64 },
}

pub struct MeasuredFio {
    plan: Plan,
    argv: Vec<String>,
}

impl MeasuredFio {
    /// Parses it. Job files are relative to `here`, since each run may use another directory. `seed` applies if each
    /// run draws its own (`randrepeat=0`).
    pub fn read(
        args: &[String],
        argv: Vec<String>,
        here: &Path,
        place: JobHost,
        seed: u64,
    ) -> Result<Self, String> {
        let mut plan = match planned(args, here, place, seed, &|path| there(place, path)) {
            Ok(plan) => plan,
            Err(wrong) => return Err(words(&wrong, fails_for_files(args, here, place, seed, &wrong))),
        };
        refuse_printing(&plan.general)?;
        let logs = |job: &&fio::Job| job.report.logs.any() || job.iolog().is_some();
        let logs = plan.jobs.iter().find(logs).map(|job| job.name.clone());
        plan.notes
            .extend(logs.map(|job| format!("job {job}: logs are files of fathom fio; none is written here")));
        if plan.general.warnings_fatal && !plan.notes.is_empty() {
            return Err(format!("fio: --warnings-fatal: {}", plan.notes.join("; ")));
        }
        Ok(Self { plan, argv })
    }

    /// The scheduler that a job wants on its devices.
    pub fn scheduler(&self) -> Option<&str> {
        let with_files = self.plan.jobs.iter().filter(|job| job.stream.backend.has_files());
        with_files.filter_map(|job| job.settings.text("ioscheduler")).next()
    }

    pub fn workload(&self) -> &Workload {
        &self.plan.workload
    }

    /// Deviations from fio, and options accepted without effect.
    pub fn notes(&self) -> &[String] {
        &self.plan.notes
    }

    pub fn head(&self) -> Head {
        super::head(&self.plan, self.argv.clone())
    }
}

fn there(place: JobHost, path: &Path) -> Option<FoundPath> {
    match place {
        JobHost::Here => world::find(path),
        JobHost::Simulated { .. } => None,
    }
}

fn planned(
    args: &[String],
    here: &Path,
    place: JobHost,
    seed: u64,
    find: &dyn Fn(&Path) -> Option<FoundPath>,
) -> Result<Plan, UsageError> {
    let read = |path: &Path| match path.to_str() {
        Some("-") => Err("it is read more than once; a job file of a name is expected".to_owned()),
        // The properties of this machine do not matter to a simulated one.
        _ if place != JobHost::Here && path.starts_with("/sys") => {
            Err("a simulation has no such file".to_owned())
        }
        _ => world::read(&here.join(path)),
    };
    let trace = |path: &Path| match path.to_str() {
        Some("-") => Err("it is read more than once; a trace of a name is expected".to_owned()),
        _ => world::trace(&here.join(path)),
    };
    let machine = world::world();
    let (page_bytes, memory_mib, cpus) = match place {
        JobHost::Here => (machine.page_bytes, machine.memory_mib, machine.cpus),
        JobHost::Simulated { memory_mib, cpus } => (PAGE, memory_mib, cpus),
    };
    let list = |directory: &Path| match place {
        JobHost::Here => world::list(directory),
        JobHost::Simulated { .. } => Err("a simulation begins without files, and looks for none".to_owned()),
    };
    let device = |major: u32, minor: u32| match place {
        JobHost::Here => (machine.device)(major, minor),
        JobHost::Simulated { .. } => None,
    };
    let world = World {
        read: &read,
        trace: &trace,
        find,
        device: &device,
        list: &list,
        page_bytes,
        memory_mib,
        cpus,
        clock_seed: seed,
        ..machine
    };
    match fio::plan(args, &world)? {
        Invocation::Jobs(plan) => Ok(*plan),
        Invocation::Inflate(_) => Err(UsageError::nowhere("--inflate-log prints a log and measures nothing")),
        Invocation::Nothing(_) => Err(UsageError::nowhere("there is no job, and nothing is measured")),
        Invocation::Help(_) => {
            Err(UsageError::nowhere("help and versions measure nothing; a job is expected"))
        }
    }
}

/// Whether it fails only because a simulation has no files.
fn fails_for_files(args: &[String], here: &Path, place: JobHost, seed: u64, wrong: &UsageError) -> bool {
    let large = |_: &Path| Some(FoundPath { bytes: 1 << 50, device: false, bottomless: false });
    place != JobHost::Here && planned(args, here, place, seed, &large).err().as_ref() != Some(wrong)
}

/// The error in our words: fio's are for scripts that parse its output.
fn words(wrong: &UsageError, for_files: bool) -> String {
    let ours = UsageError { fio_says: String::new(), ..wrong.clone() }.to_string();
    let why = if for_files { "\na simulation begins without files, and looks for none" } else { "" };
    format!("{}{why}", ours.trim_end())
}

/// Rejects options about fio's output, or to run nothing: no fio output is printed here.
fn refuse_printing(general: &General) -> Result<(), String> {
    let refused = [
        ("--check", general.check),
        ("--explain", general.explain),
        ("--showcmd", general.show_command),
        ("--parse-only", general.parse_only),
        ("--output", general.output.is_some()),
        ("--output-format, --minimal and --append-terse", !general.formats.is_empty()),
        ("--terse-version", general.terse_version.is_some()),
        ("--eta", general.eta.is_some()),
        ("--status-interval", general.status_interval_ns.is_some()),
        ("--bandwidth-log", general.bandwidth_log),
    ];
    match refused.iter().find(|r| r.1) {
        None => Ok(()),
        Some((name, _)) => Err(format!(
            "fio: {name}: nothing is printed here as fio prints it; leave it out, or run fathom fio by itself"
        )),
    }
}
