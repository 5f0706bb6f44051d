//! The jobs of `bench fio`: text that `fathom fio` and fio read alike, what must hold of the file before each sample, and what is claimed
//! of the figures. Pure: nothing is run here.

use crate::bench::cases::Column;
use crate::bench::claims::{Bound, Claim, Measure};
use crate::bench::dropin::Case;
use crate::bench::files::Kind;

/// Which figure a sample gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Time for each operation of a job that runs for the bench's seconds.
    Timed,
    /// The same of a job that goes through its file once.
    Pass,
    /// Time of the whole command.
    Command,
}

/// The file that a job works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    None,
    /// One of the bench's, which both programs read.
    Common(Kind),
    /// Each program writes and reads its own file.
    Own,
}

/// What the page cache is to hold of it before each sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    AsItIs,
    All,
    Nothing,
}

/// One case.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub name: &'static str,
    /// Lines of the job.
    pub lines: &'static str,
    pub jobs: usize,
    pub figure: Figure,
    pub file: File,
    pub cache: Cache,
    /// How many times as fast as fio it is to be.
    pub times: Option<f64>,
}

/// The whole command of a job that does one operation may take so long.
const START_AND_EXIT_NS: f64 = 30e6;

const fn null(name: &'static str, lines: &'static str, jobs: usize, times: f64) -> Work {
    let (figure, file, cache) = (Figure::Timed, File::None, Cache::AsItIs);
    Work { name, lines, jobs, figure, file, cache, times: Some(times) }
}

const fn cached(name: &'static str, lines: &'static str, jobs: usize, times: f64) -> Work {
    let (figure, file, cache) = (Figure::Timed, File::Common(Kind::Data), Cache::All);
    Work { name, lines, jobs, figure, file, cache, times: Some(times) }
}

const fn device(name: &'static str, lines: &'static str, figure: Figure) -> Work {
    // The device limits both programs, so fathom must be as fast as fio, less 10 % for the device's noise.
    let (file, cache) = (File::Common(Kind::Data), Cache::Nothing);
    Work { name, lines, jobs: 1, figure, file, cache, times: Some(0.9) }
}

const fn verify(name: &'static str, lines: &'static str) -> Work {
    Work { name, lines, jobs: 1, figure: Figure::Pass, file: File::Own, cache: Cache::All, times: Some(1.0) }
}

/// All of them.
pub const WORKS: &[Work] = &[
    null("null", "ioengine=null\nrw=randread\nnorandommap=1\nbs=4k", 1, 3.0),
    null("null, each block once", "ioengine=null\nrw=randread\nbs=4k\nsize=4g", 1, 3.0),
    null("null, 8 jobs", "ioengine=null\nrw=randread\nnorandommap=1\nbs=4k\nnumjobs=8", 8, 3.0),
    cached("psync, cached, random", "ioengine=psync\nrw=randread\nnorandommap=1\nbs=4k", 1, 1.1),
    cached("psync, cached, sequential", "ioengine=psync\nrw=read\nbs=4k", 1, 1.1),
    cached("psync, cached, 8 jobs", "ioengine=psync\nrw=randread\nnorandommap=1\nbs=4k\nnumjobs=8", 8, 1.0),
    cached(
        "io_uring, cached, 32 in flight",
        "ioengine=io_uring\niodepth=32\nrw=randread\nnorandommap=1\nbs=4k",
        1,
        1.1,
    ),
    cached("mmap, cached", "ioengine=mmap\nrw=randread\nnorandommap=1\nbs=4k", 1, 1.1),
    Work {
        name: "psync, cached, write",
        lines: "ioengine=psync\nrw=randwrite\nnorandommap=1\nbs=4k\noverwrite=1",
        jobs: 1,
        figure: Figure::Timed,
        file: File::Own,
        cache: Cache::All,
        times: Some(1.0),
    },
    Work {
        file: File::Common(Kind::Unwritten),
        ..cached(
            "io_uring, direct, no device, 32 in flight",
            "ioengine=io_uring\niodepth=32\ndirect=1\nrw=randread\nnorandommap=1\nbs=4k",
            1,
            1.25,
        )
    },
    device(
        "io_uring, direct, 32 in flight",
        "ioengine=io_uring\niodepth=32\ndirect=1\nrw=randread\nnorandommap=1\nbs=4k",
        Figure::Timed,
    ),
    device("psync, direct", "ioengine=psync\ndirect=1\nrw=randread\nnorandommap=1\nbs=4k", Figure::Timed),
    device("psync, cold, random", "ioengine=psync\nrw=randread\nbs=4k", Figure::Timed),
    device("psync, cold, sequential 128 KiB", "ioengine=psync\nrw=read\nbs=128k", Figure::Pass),
    device("mmap, cold, sequential 128 KiB", "ioengine=mmap\nrw=read\nbs=128k", Figure::Pass),
    verify(
        "verify crc32c, write 4 KiB",
        "ioengine=psync\nrw=write\nbs=4k\nverify=crc32c\ndo_verify=0\noverwrite=1",
    ),
    verify("verify crc32c, read 4 KiB", "ioengine=psync\nrw=read\nbs=4k\nverify=crc32c"),
    verify(
        "verify crc32c, write 128 KiB",
        "ioengine=psync\nrw=write\nbs=128k\nverify=crc32c\ndo_verify=0\noverwrite=1",
    ),
    verify("verify crc32c, read 128 KiB", "ioengine=psync\nrw=read\nbs=128k\nverify=crc32c"),
    Work {
        name: "start and exit: null, one operation",
        lines: "ioengine=null\nrw=read\nbs=4k\nsize=4k",
        jobs: 1,
        figure: Figure::Command,
        file: File::None,
        cache: Cache::AsItIs,
        times: None,
    },
];

impl Work {
    /// The job file. `${BENCH_FILE}` is given by the environment, so that both programs read the same text.
    pub fn text(&self, file_bytes: u64, seconds: f64) -> String {
        let mut text = format!("[bench]\nthread=1\ngroup_reporting=1\nsize={file_bytes}\n");
        if self.file != File::None {
            // The bench has brought the page cache into its state.
            text += "filename=${BENCH_FILE}\ninvalidate=0\n";
        }
        if self.figure == Figure::Timed {
            text += &format!("runtime={}ms\ntime_based=1\n", (seconds * 1e3).round());
        }
        text + self.lines + "\n"
    }

    /// The job that writes what this one verifies, where it only reads.
    pub fn writer(&self) -> Option<String> {
        (self.lines.contains("verify=") && self.lines.contains("rw=read\n"))
            .then(|| self.lines.replace("rw=read\n", "rw=write\ndo_verify=0\noverwrite=1\n"))
    }

    /// What is measured and claimed.
    pub fn case(&self, peer: bool) -> Case {
        let columns: &[Column] = if peer { &[Column::Fathom, Column::Fio] } else { &[Column::Fathom] };
        let mut case = Case::of(self.name, columns);
        if let Some(times) = self.times {
            case = case.at_least(times, Column::Fio);
        }
        if self.figure == Figure::Command {
            case = case.of_commands();
            let claim = Claim::AtMost(START_AND_EXIT_NS);
            case.bounds.push(Bound::of(Column::Fathom, Measure::Wall, claim));
        }
        case
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases::Unit;

    #[test]
    fn names_choose_cases_and_each_has_a_bound() {
        let mut names: Vec<&str> = WORKS.iter().map(|w| w.name).collect();
        assert!(WORKS.iter().all(|w| w.case(true).bounds.len() == 1));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn a_job_is_text_for_both() {
        let of = |name: &str| WORKS.iter().find(|w| w.name == name).unwrap();
        assert_eq!(
            of("psync, cached, sequential").text(1 << 20, 0.5),
            "[bench]\nthread=1\ngroup_reporting=1\nsize=1048576\nfilename=${BENCH_FILE}\ninvalidate=0\n\
             runtime=500ms\ntime_based=1\nioengine=psync\nrw=read\nbs=4k\n"
        );
        let start = of("start and exit: null, one operation");
        assert!(start.text(1 << 20, 1.0).ends_with("size=4k\n") && !start.text(1, 1.0).contains("runtime"));
        assert!(start.case(true).unit == Unit::Run);
    }

    #[test]
    fn who_only_reads_has_a_writer() {
        for work in WORKS {
            let reads = work.name.starts_with("verify") && work.name.contains("read");
            assert_eq!(work.writer().is_some(), reads, "{}", work.name);
        }
        let read = WORKS.iter().find(|w| w.writer().is_some()).unwrap();
        assert!(read.writer().unwrap().contains("rw=write\ndo_verify=0"));
    }
}
