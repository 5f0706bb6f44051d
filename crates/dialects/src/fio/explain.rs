//! What every job will do, with the origin of each value and known pitfalls (`--explain`); the workload in the native format
//! (`--check`); the jobs as command lines (`--showcmd`).

use super::plan::{self, Job, Plan};
use super::settings::Level;
use super::table::FioSupport;
use fathom_workload::{Amount, Data, ErrorNumber};
use std::fmt::Write as _;

/// Options shown even when not given, with their defaults.
const DEFAULTS: [(&str, &str); 13] = [
    ("rw", "read"),
    ("bs", "4096"),
    ("size", "that of the files"),
    ("ioengine", "psync"),
    ("iodepth", "1"),
    ("direct", "0"),
    ("numjobs", "1"),
    ("runtime", "none"),
    ("ramp_time", "0"),
    ("invalidate", "1"),
    ("fallocate", "native"),
    ("verify", "0"),
    ("randrepeat", "1"),
];

/// The text of `--explain`.
#[must_use]
pub fn explain(plan: &Plan) -> String {
    let mut out = String::new();
    for job in &plan.jobs {
        let _ = writeln!(out, "{} ({})", job.name, job.settings.spot.place());
        let _ = writeln!(out, "  {}", sentence(job));
        let mut rows: Vec<[String; 3]> = Vec::new();
        for (name, default) in DEFAULTS {
            if job.settings.all().all(|(_, s)| s.row.name != name) {
                rows.push([name.into(), default.into(), "default".into()]);
            }
        }
        // A name given in a global section belongs to no job.
        let given = job.settings.all().filter(|(level, s)| s.row.name != "name" || *level == Level::Own);
        let mut given: Vec<&str> = given.map(|(_, s)| s.row.name).collect();
        given.sort_unstable();
        given.dedup();
        for name in given {
            let Some((level, setting)) = job.settings.all().filter(|(_, s)| s.row.name == name).last() else {
                continue;
            };
            let mut origin = plan::origin(*level, &setting.spot);
            if let FioSupport::Harmless(why) = setting.row.state {
                origin += &format!("; without effect: {why}");
            }
            rows.push([name.into(), setting.value.clone().unwrap_or_else(|| "1".into()), origin]);
        }
        rows.sort();
        let width = |column: usize| rows.iter().map(|r| r[column].chars().count()).max().unwrap_or(0);
        let (a, b) = (width(0), width(1));
        for [name, value, origin] in &rows {
            let _ = writeln!(out, "  {name:a$}  {value:b$}  {origin}");
        }
        for trap in traps(job) {
            let _ = writeln!(out, "  ! {trap}");
        }
        out.push('\n');
    }
    for note in plan.notes.iter().chain(&besides(plan)) {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

/// Effects of a run that a workload cannot express.
fn besides(plan: &Plan) -> Vec<String> {
    let mut besides: Vec<String> = Vec::new();
    let mut say = |sentence: String| {
        if !besides.contains(&sentence) {
            besides.push(sentence);
        }
    };
    for job in &plan.jobs {
        let s = &job.settings;
        if let Some(name) = s.text("ioscheduler").filter(|_| job.stream.backend.has_files()) {
            say(format!(
                "not in the workload: job {} sets the I/O scheduler of the block devices below its files to {name} before \
                 the run, and restores it afterwards",
                job.name
            ));
        }
        if let Some(name) = s.text("cgroup") {
            say(format!(
                "not in the workload: fathom runs in the control group {name}, which is made if it is missing{}",
                if s.on("cgroup_nodelete", false) { "" } else { ", and then removed at the end" }
            ));
        }
    }
    besides
}

/// What a job does, in a sentence.
fn sentence(job: &Job) -> String {
    let clones = if job.clones > 1 { format!("{} workers, each: ", job.clones) } else { String::new() };
    let files: Vec<String> =
        job.files.first().into_iter().flatten().map(|p| p.display().to_string()).collect();
    let mix = if job.rw.mixed { format!(" ({} % reads)", job.rw.read_percent) } else { String::new() };
    let amount = match job.stream.amount {
        Amount::Pass => "once over it".into(),
        Amount::Passes(n) => format!("{n} times over it"),
        Amount::Operations(n) => format!("{n} operations"),
        Amount::Bytes(bytes) => format!("{bytes}"),
        Amount::Endless => "until the time is over".into(),
    };
    let region = job.stream.length.map_or_else(String::new, |bytes| format!(", {bytes} of it"));
    let back = match (job.reads_back, job.backlog) {
        (true, false) => "; then everything is read back and compared",
        (true, true) => "; meanwhile it is read back and compared, and what is left of it at the end",
        (false, true) => "; meanwhile it is read back and compared",
        (false, false) => "",
    };
    let shown: Vec<String> = files.iter().take(3).cloned().collect();
    let more = if files.len() > 3 { format!(" and {} more", files.len() - 3) } else { String::new() };
    format!(
        "step {}, group {}: {clones}{}{mix} of {}{more}{region}: {amount}{back}{}",
        job.step + 1,
        job.group,
        job.rw.word(),
        shown.join(", "),
        passed_over(job)
    )
}

/// Errors that do not end the job.
fn passed_over(job: &Job) -> String {
    let passed = &job.stream.pass_over;
    let list = |errors: &[ErrorNumber]| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if job.rw.reads() && !passed.reads.is_empty() {
        parts.push(format!("{} of reads", list(&passed.reads)));
    }
    if job.rw.writes() && !passed.writes.is_empty() {
        parts.push(format!("{} of writes", list(&passed.writes)));
    }
    if job.verifies() && passed.wrong_data {
        parts.push("wrong data".into());
    }
    if parts.is_empty() { String::new() } else { format!("; it goes on after {}", parts.join(", ")) }
}

/// Known pitfalls of such a job in fio, and what fathom does instead.
fn traps(job: &Job) -> Vec<String> {
    use plan::{Make, Memory};
    let mut traps: Vec<String> = Vec::new();
    let mut say = |applies: bool, text: &str| {
        if applies {
            traps.push(text.into());
        }
    };
    let made = !matches!(job.ready.make, Make::Nothing | Make::Directories);
    let buffered = !job.stream.open.direct && made;
    say(
        buffered && job.ready.memory == Memory::Dropped,
        "invalidate=1: fio's does not drop pages that are dirty; here files are written back first, what is left in memory is counted, and the time this takes is outside of the clock",
    );
    say(
        buffered && job.rw.reads() && job.ready.memory == Memory::AsFound,
        "buffered reads with invalidate=0 may come from memory; the result says how much did",
    );
    say(
        matches!(job.ready.make, Make::Reserve | Make::ReserveBehind),
        "fallocate reserves space that is not written: the first write of a block differs from the second; overwrite=1 writes it before",
    );
    say(
        job.rw.reads() && made,
        "a file that is there is read as it is: holes and extents that were never written cost no device anything, and are reported",
    );
    say(
        matches!(job.stream.data, Data::Unique) && job.stream.direction.writes() && made,
        "written data cannot be compressed, also across blocks; fio's default data can (16 MiB written in 4 KiB blocks: to 7 %)",
    );
    say(
        job.stream.pace.rate.is_some(),
        "with a rate, a stall delays operations that are due; fio does not see that, here the response time from when they were due is kept beside the latency",
    );
    say(
        job.stream.direction.writes() && buffered && !job.stream.timed.fsync,
        "buffered writes without end_fsync end in memory; the result says how much reached the device in the time",
    );
    traps
}

/// The text of `--check`: the workload in the native format. Write permissions given on the command line are not part of it.
#[must_use]
pub fn check(plan: &Plan) -> String {
    let mut workload = plan.workload.clone();
    let mut left_out = String::new();
    for set in workload.filesets.iter_mut().filter(|set| set.may_modify) {
        set.may_modify = false;
        let _ = writeln!(
            left_out,
            "# --allow-write applies to one command line only. To run this workload, add foreign_writable = true to the file set {:?}.",
            set.name
        );
    }
    besides(plan).iter().for_each(|note| left_out += &format!("# {note}\n"));
    workload.to_toml().map_or_else(|e| format!("# {e}\n"), |text| left_out + &text)
}

/// The text of `--showcmd`: a command line equivalent to the jobs.
#[must_use]
pub fn command(plan: &Plan) -> String {
    let mut line = String::from("fio");
    for job in &plan.jobs {
        let _ = write!(line, " --name={}", quoted(&job.name));
        for (_, setting) in job.settings.all().filter(|(_, s)| s.row.name != "name") {
            match &setting.value {
                Some(value) => {
                    let _ = write!(line, " --{}={}", setting.printed_name, quoted(value));
                }
                None => {
                    let _ = write!(line, " --{}", setting.printed_name);
                }
            }
        }
        if job.settings.begins_file {
            line += " --stonewall";
        }
    }
    line + "\n"
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,%+=@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
