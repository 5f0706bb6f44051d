//! Engines whose operations move no data: file calls (falloc, ftruncate, e4defrag, filecreate, filestat, filedelete), directory
//! calls (dircreate, dirstat, dirdelete), computing (cpuio), and writing until the device is full.

use super::super::general::General;
use super::super::settings::Settings;
use super::super::{FoundPath, UsageError, World};
use super::direction::Rw;
use super::job_files::Make;
use super::{FilePart, donor};
use fathom_workload::{Amount, Backend, Beside, Bytes, Compute, Duration, FileCall, StatCall, Stream, Think};
use std::path::{Path, PathBuf};

/// The back-end of such an engine.
pub(super) fn backend(s: &Settings, engine: &str, rw: Rw) -> Result<Backend, UsageError> {
    if engine != "falloc" && s.word("rw").is_some_and(|word| word.contains("trim")) {
        return Err(s
            .wrong("rw", format!("{engine} gives nothing back: it counts reads or writes"))
            .hint("rw=read, or rw=write"));
    }
    let call = match engine {
        "falloc" => FileCall::Allocate,
        "ftruncate" if rw.reads() => {
            return Err(s
                .wrong("ioengine", "ftruncate sets the end of a file to the offset of each write, and fails reads, as in fio")
                .hint("rw=write, or rw=randwrite"));
        }
        "ftruncate" => FileCall::Truncate,
        "e4defrag" => donor::call(s, rw)?,
        "filecreate" => FileCall::Create,
        "filestat" | "dirstat" => FileCall::Stat(match s.word("stat_type") {
            Some("lstat") => StatCall::Lstat,
            Some("statx") => StatCall::Statx,
            _ => StatCall::Stat,
        }),
        "filedelete" => FileCall::Remove,
        "dircreate" => FileCall::MakeDirectory,
        "dirdelete" => FileCall::RemoveDirectory,
        _ => return compute(s),
    };
    let backend = Backend::Calls(call);
    let syncs = ["fsync", "fdatasync", "sync_file_range", "end_fsync", "end_syncfs", "fsync_on_close"];
    if let Some(name) = syncs.into_iter().find(|name| backend.is_by_name() && s.asks(name)) {
        return Err(s
            .wrong(name, format!("{engine} opens no file that could be synced"))
            .hint("leave it out of this job"));
    }
    Ok(backend)
}

/// Alternates between busy and sleep times that result in the load.
fn compute(s: &Settings) -> Result<Backend, UsageError> {
    /// fio's default, in microseconds.
    const CHUNK: u64 = 50_000;
    if load(s)? == 0 {
        return Err(s
            .wrong("ioengine", "cpuio needs to know how much of a CPU it takes")
            .fio("fio: cpu thread needs rate (cpuload=)\nfio: io engine cpuio init failed.\n".to_owned())
            .hint("cpuload=50, for example"));
    }
    if s.time("runtime")? == 0 && !s.on("exit_on_io_done", false) {
        return Err(s
            .wrong("ioengine", "cpuio never ends by itself")
            .hint("give it a runtime, or exit_on_io_done=1"));
    }
    let chunk = s.number("cpuchunks")?.filter(|us| *us > 0).unwrap_or(CHUNK);
    let Some(ns) = chunk.checked_mul(1000).filter(|ns| *ns <= LONGEST_NS) else {
        return Err(s.wrong("cpuchunks", format!("cpuchunks={chunk}: at most a minute is expected")));
    };
    Ok(Backend::Compute(Compute { time: Duration(ns), sort: s.word("cpumode") == Some("qsort") }))
}

/// A stop waits for the end of an operation, so operations must be short.
const LONGEST_NS: u64 = 60_000_000_000;

/// The external program to run, which is ended with the job.
pub(super) fn beside(s: &Settings) -> Result<Beside, UsageError> {
    let (program, arguments) = (s.text("program"), s.text("arguments").unwrap_or_default());
    let (grace, redirect) = (s.number("grace_time")?.unwrap_or(1), s.on("std_redirect", true));
    let Some(program) = program else {
        return Err(s
            .wrong("ioengine", "exec needs a program that it runs")
            .fio("fio: no program is defined, it is mandatory to define one\nfio: io engine exec init failed.\n".to_owned())
            .hint("program=/bin/sleep, for example"));
    };
    let runtime = s.time("runtime")?;
    if runtime == 0 {
        return Err(s
            .wrong("ioengine", "exec ends its program when the time is over, and none is given")
            .hint("give it a runtime"));
    }
    // As in fio: %r is the runtime in seconds, %n the job name, and quotes have no special meaning.
    let seconds = runtime / 1_000_000_000;
    let arguments = arguments.replace("%r", &seconds.to_string()).replace("%n", &s.job);
    Ok(Beside {
        program: program.to_owned(),
        arguments: arguments.split_whitespace().map(str::to_owned).collect(),
        grace: Duration(grace.saturating_mul(1_000_000_000)),
        output: redirect.then(|| PathBuf::from(&s.job)),
    })
}

/// Checks that a program with a path exists, unless jobs are only parsed.
pub(super) fn program_is_there(
    s: &Settings,
    stream: &Stream,
    general: &General,
    world: &World<'_>,
) -> Result<(), UsageError> {
    let Some(beside) = &stream.beside else { return Ok(()) };
    if general.is_only_read()
        || !beside.program.contains('/')
        || (world.find)(Path::new(&beside.program)).is_some()
    {
        return Ok(());
    }
    Err(s.wrong("program", format!("program={}: there is no such program", beside.program)))
}

/// Load in percent of a CPU, capped at 100.
fn load(s: &Settings) -> Result<u64, UsageError> {
    Ok(s.number("cpuload")?.unwrap_or(0).min(100))
}

/// Sets the pause of a computing stream.
pub(super) fn pause(s: &Settings, stream: &mut Stream) -> Result<(), UsageError> {
    let Backend::Compute(compute) = stream.backend else { return Ok(()) };
    if stream.pace.think.is_some() || stream.pace.rate.is_some() {
        return Err(s
            .wrong(
                "ioengine",
                "cpuload already sets how often cpuio computes, so thinktime and rate are not supported with it",
            )
            .hint("leave them out of this job"));
    }
    let load = load(s)?.max(1);
    let time = compute.time.0.saturating_mul(100 - load) / load;
    if time > 0 {
        stream.pace.think =
            Some(Think { time: Duration(time), counted: true, asleep: true, ..Think::default() });
    }
    Ok(())
}

/// The part of a stream without files.
pub(super) fn no_part(stream: &Stream) -> FilePart {
    let bytes = stream.record.largest().0;
    FilePart { start: 0, length: bytes, file: bytes, real: bytes, size: bytes, amount: Amount::Endless }
}

/// The share of a pass over `files` files for an amount, with one operation per file.
pub(super) fn one_each(
    s: &Settings,
    stream: &Stream,
    files: usize,
    amount: Amount,
) -> Result<Amount, UsageError> {
    let files = files as u64;
    let amount = match amount {
        Amount::Bytes(Bytes(bytes)) => {
            Amount::Operations(bytes.div_ceil(stream.record.largest().0.max(1)).clamp(1, files.max(1)))
        }
        Amount::Operations(n) if n > files => Amount::Pass,
        amount => amount,
    };
    let again = match amount {
        Amount::Endless => "time_based",
        Amount::Passes(2..) => "loops",
        _ if s.time("ramp_time")? > 0 => "ramp_time",
        _ if s.text("ramp_size").is_some() => "ramp_size",
        _ => return Ok(amount),
    };
    let once = match stream.backend {
        Backend::Calls(FileCall::Remove) => {
            "filedelete removes each file once, and then there is nothing left"
        }
        Backend::Calls(FileCall::RemoveDirectory) => {
            "dirdelete removes each directory once, and then there is nothing left"
        }
        Backend::Calls(FileCall::MakeDirectory) => {
            "dircreate makes each directory once, and then none is left to make"
        }
        _ => return Ok(amount),
    };
    Err(s.wrong(again, format!("{again}: {once}")).hint("leave it out, or give more names with nrfiles"))
}

/// Refuses devices: their names must not be changed.
pub(super) fn no_device(
    s: &Settings,
    stream: &Stream,
    path: &Path,
    found: Option<FoundPath>,
) -> Result<(), UsageError> {
    if !stream.backend.is_by_name() || !found.is_some_and(|f| f.device || f.bottomless) {
        return Ok(());
    }
    let name = path.display();
    Err(s.wrong("filename", format!("{name} is a device, which is neither made, looked up nor removed")))
}

/// Whether the file names of a job are directories.
pub(super) fn names_directories(s: &Settings) -> bool {
    matches!(s.word("ioengine"), Some("dircreate" | "dirstat" | "dirdelete"))
}

/// How the files of such an engine are prepared; `None`: as for other engines.
pub(super) fn made(s: &Settings, backend: &Backend) -> Option<Make> {
    match backend {
        Backend::Calls(FileCall::Create | FileCall::MakeDirectory) => Some(Make::Nothing),
        Backend::Calls(FileCall::Stat(_) | FileCall::RemoveDirectory) if names_directories(s) => {
            Some(Make::Directories)
        }
        // Their contents are never read.
        Backend::Calls(FileCall::Stat(_) | FileCall::Remove) if !s.on("overwrite", false) => {
            Some(Make::Reserve)
        }
        _ => None,
    }
}

/// Whether the job writes until the device is full.
pub(super) fn until_full(s: &Settings, stream: &mut Stream, rw: Rw) -> Result<(), UsageError> {
    const WORD: &str = "fill_device";
    if !s.on(WORD, false) {
        return Ok(());
    }
    let refuse = |why: &str, instead: &str| Err(s.wrong(WORD, format!("{WORD}: {why}")).hint(instead));
    if rw.reads() || !stream.backend.moves_data() {
        return refuse("only jobs that write, and nothing else, come to the end of the space", "rw=write");
    }
    if matches!(stream.backend, Backend::Mmap { .. }) {
        return refuse("a mapped file ends its process where there is no space", "ioengine=psync");
    }
    if rw.random && s.last_of(&["size", "filesize"]).is_none() {
        return refuse("at random offsets it needs a size", "rw=write, or size");
    }
    stream.until_full = true;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::super::job_files::Make;
    use fathom_workload::{
        Amount, Backend, Bytes, Compute, Duration, FileCall, Pick, Program, StatCall, Stream, Think,
    };

    fn stream(args: &str) -> Stream {
        let plan = planned(&format!("--name=a {args}"));
        match &plan.workload.phases[0].groups[0].threads[0].program {
            Program::Stream(stream) => (**stream).clone(),
            Program::Flow(_) => panic!("a flow"),
        }
    }

    #[test]
    fn engines_of_calls_are_back_ends() {
        for (args, call) in [
            ("--ioengine=falloc --size=1m", FileCall::Allocate),
            ("--ioengine=ftruncate --size=1m --rw=write", FileCall::Truncate),
            ("--ioengine=filecreate --filesize=4k --create_on_open=1", FileCall::Create),
            ("--ioengine=filestat --filesize=4k", FileCall::Stat(StatCall::Stat)),
            ("--ioengine=filestat --filesize=4k --stat_type=lstat", FileCall::Stat(StatCall::Lstat)),
            ("--ioengine=filestat --filesize=4k --stat_type=statx", FileCall::Stat(StatCall::Statx)),
            ("--ioengine=filedelete --filesize=4k", FileCall::Remove),
            ("--ioengine=dircreate --filesize=4k", FileCall::MakeDirectory),
            ("--ioengine=dirstat --filesize=4k", FileCall::Stat(StatCall::Stat)),
            ("--ioengine=dirstat --filesize=4k --stat_type=statx", FileCall::Stat(StatCall::Statx)),
            ("--ioengine=dirdelete --filesize=4k", FileCall::RemoveDirectory),
        ] {
            assert_eq!(stream(args).backend, Backend::Calls(call), "{args}");
        }
        assert_eq!(stream("--ioengine=posixaio --size=1m --iodepth=16").queue_depth, 16);
        assert_eq!(stream("--ioengine=posixaio --size=1m").backend, Backend::Posix);
        assert_eq!(stream("--ioengine=splice --size=1m").backend, Backend::Splice);
    }

    #[test]
    fn each_file_is_one_operation() {
        let many = stream("--ioengine=filestat --nrfiles=8 --filesize=64k");
        assert_eq!((many.pick, many.length, many.amount), (Pick::All, Some(Bytes(4096)), Amount::Pass));
        let some = stream("--ioengine=filecreate --nrfiles=8 --filesize=64k --size=12k");
        assert_eq!(some.amount, Amount::Operations(3));
        let more = stream("--ioengine=filedelete --nrfiles=8 --filesize=64k --size=256k --bs=4k");
        assert_eq!(more.amount, Amount::Operations(8));
        assert_eq!(stream("--ioengine=filestat --filesize=64k --loops=3").amount, Amount::Passes(3));
        let made =
            |args: &str| planned(&format!("--name=a --nrfiles=2 --filesize=4k {args}")).jobs[0].ready.make;
        assert_eq!(made("--ioengine=filecreate"), Make::Nothing);
        assert_eq!(made("--ioengine=filestat"), Make::Reserve);
        assert_eq!(made("--ioengine=filedelete --overwrite=1"), Make::Write);
        assert_eq!(made("--ioengine=dircreate"), Make::Nothing);
        assert_eq!(made("--ioengine=dirstat --overwrite=1 --allow_file_create=0"), Make::Directories);
        assert_eq!(made("--ioengine=dirdelete"), Make::Directories);
    }

    #[test]
    fn a_load_is_computing_and_sleeping() {
        let busy = stream("--ioengine=cpuio --cpuload=20 --cpuchunks=1000 --cpumode=qsort --runtime=1");
        assert_eq!(busy.backend, Backend::Compute(Compute { time: Duration(1_000_000), sort: true }));
        let pause = Think { time: Duration(4_000_000), counted: true, asleep: true, ..Think::default() };
        assert_eq!((busy.pace.think, busy.amount), (Some(pause), Amount::Endless));
        assert_eq!(stream("--ioengine=cpuio --cpuload=100 --runtime=1 --time_based").pace.think, None);
    }

    #[test]
    fn until_there_is_no_space() {
        let full = stream("--rw=write --fill_device=1 --bs=64k");
        assert!(full.until_full);
        assert_eq!(full.length, Some(Bytes(super::super::parts::NO_END)));
        assert_eq!(stream("--rw=write --fill_fs=1 --size=1m").length, Some(Bytes(1 << 20)));
        let plan = planned("--name=a --rw=write --fill_device=1");
        assert_eq!(plan.jobs[0].ready.make, Make::Empty);
    }

    #[test]
    fn a_program_runs_beside() {
        let run = stream(
            "--ioengine=exec --program=/bin/sleep --arguments=%r_%n --grace_time=0 --std_redirect=0 --runtime=3 --parse-only",
        );
        let wanted = fathom_workload::Beside {
            program: "/bin/sleep".into(),
            arguments: vec!["3_a".into()],
            grace: Duration(0),
            output: None,
        };
        assert_eq!((run.backend, run.amount, run.beside), (Backend::Beside, Amount::Endless, Some(wanted)));
        let kept = stream("--ioengine=exec --program=echo --runtime=3").beside.unwrap();
        assert_eq!((kept.grace, kept.output), (Duration(1_000_000_000), Some("a".into())));
    }

    #[test]
    fn what_these_engines_cannot_have_is_refused() {
        for (args, what) in [
            ("--ioengine=ftruncate --size=1m", "fails reads"),
            ("--ioengine=cpuio --runtime=1", "how much of a CPU"),
            ("--ioengine=cpuio --cpuload=50", "never ends by itself"),
            (
                "--ioengine=cpuio --cpuload=50 --runtime=1 --thinktime=5",
                "thinktime and rate are not supported",
            ),
            ("--ioengine=filedelete --filesize=4k --loops=2", "nothing left"),
            ("--ioengine=filedelete --filesize=4k --time_based --runtime=1", "nothing left"),
            ("--ioengine=filedelete --filename=/dev/disk --rw=read", "a device"),
            ("--ioengine=filedelete --filesize=4k --readonly", "--readonly"),
            ("--ioengine=filecreate --filesize=4k --fsync=1 --rw=write", "opens no file"),
            ("--ioengine=falloc --size=1m --rw=write --verify=md5", "moves no data"),
            ("--ioengine=dircreate --filesize=4k --loops=2", "none is left to make"),
            ("--ioengine=dirdelete --filesize=4k --loops=2", "nothing left"),
            ("--ioengine=dirdelete --filename=/dev/disk", "a device"),
            ("--ioengine=dirstat --filesize=4k --rw=trim", "gives nothing back"),
            ("--ioengine=dircreate --filesize=4k --create_only=1", "lays nothing out"),
            ("--ioengine=exec --runtime=1", "no program is defined"),
            ("--ioengine=exec --program=echo", "none is given"),
            ("--ioengine=exec --program=/no/such --runtime=1", "there is no such program"),
            ("--rw=read --size=1m --fill_device=1", "only jobs that write"),
            ("--rw=randwrite --fill_device=1", "needs a size"),
            ("--rw=write --fill_device=1 --size=1m --verify=md5", "reading back"),
            ("--rw=read --size=1m --create_on_open=1", "create_on_open"),
        ] {
            let wrong = refused(&format!("--name=a {args}"));
            assert!(wrong.contains(what), "{args}: {wrong}");
        }
    }
}
