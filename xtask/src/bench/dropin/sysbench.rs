//! `cargo xtask bench sysbench`: the same command line to `fathom sysbench` and to Debian's SysBench, interleaved, each on the files
//! that its own `prepare` left in the page cache. The figure is (reads + writes) a second as each program prints it; beside random reads stands the floor.

use super::sysbench_sets::{FILES, Set};
use super::{Case, Contest, Done, child, chosen, close, heading, table};
use crate::bench::cases::{Column, Unit};
use crate::bench::machine::Machine;
use crate::bench::options::Options;
use crate::bench::sample::{self, Sample};
use crate::bench::{floor, interrupt, peers, pin};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const ROUNDS: usize = 9;
const SECONDS: f64 = 2.0;
/// Rounds of the table with SysBench's own fsyncs: the device decides there, nothing is claimed, and it takes long.
const SYNCING_ROUNDS: usize = 3;
const MODES: [&str; 6] = ["seqrd", "seqwr", "seqrewr", "rndrd", "rndwr", "rndrw"];
const THREADS: [usize; 2] = [1, 16];
/// Cached random reads must be faster, the others as fast.
const FASTER: f64 = 1.3;

/// The three tables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// No fsync at all: the programs decide.
    Cached,
    /// SysBench's defaults: an fsync of every file each 100 requests, and by every thread at the end.
    Syncing,
    /// Whole commands that do one event.
    Commands,
}

/// What one case does.
struct Work {
    part: Part,
    mode: &'static str,
    threads: usize,
    block_kib: usize,
}

impl Work {
    fn name(&self) -> String {
        let threads = if self.threads == 1 { "1 thread".into() } else { format!("{} threads", self.threads) };
        let name = format!("{} {} KiB, {threads}", self.mode, self.block_kib);
        match self.part {
            Part::Cached => name,
            Part::Syncing => name + ", fsync",
            Part::Commands => name + ", 1 event",
        }
    }

    fn reads_only(&self) -> bool {
        matches!(self.mode, "seqrd" | "rndrd")
    }

    fn case(&self, peer: bool) -> Case {
        let all: &[Column] = match self.part {
            Part::Commands => &[Column::Fathom, Column::Variant, Column::Sysbench],
            Part::Cached if self.mode == "rndrd" => &[Column::Floor, Column::Fathom, Column::Sysbench],
            _ => &[Column::Fathom, Column::Sysbench],
        };
        let columns: Vec<Column> = all.iter().copied().filter(|c| peer || *c != Column::Sysbench).collect();
        let case = Case::of(self.name(), &columns);
        match self.part {
            Part::Cached => case.at_least(if self.mode == "rndrd" { FASTER } else { 1.0 }, Column::Sysbench),
            Part::Syncing => case,
            Part::Commands => case.of_commands(),
        }
    }

    /// What follows the program's name.
    fn words(&self, total_bytes: u64, seconds: u64) -> Vec<String> {
        let mut words = vec![
            "fileio".to_owned(),
            format!("--file-total-size={total_bytes}"),
            format!("--file-block-size={}", self.block_kib << 10),
            format!("--file-test-mode={}", self.mode),
            format!("--threads={}", self.threads),
        ];
        match self.part {
            Part::Commands => words.push("--events=1".into()),
            Part::Cached | Part::Syncing => words.push(format!("--time={seconds}")),
        }
        if self.part != Part::Syncing {
            words.extend(["--file-fsync-freq=0".to_owned(), "--file-fsync-end=off".to_owned()]);
        }
        words.push("run".into());
        words
    }
}

fn works() -> Vec<Work> {
    let mut works = Vec::new();
    for mode in MODES {
        works.extend(THREADS.map(|threads| Work { part: Part::Cached, mode, threads, block_kib: 16 }));
    }
    works.extend(THREADS.map(|threads| Work { part: Part::Cached, mode: "rndrd", threads, block_kib: 4 }));
    // Without writes there is nothing to fsync.
    for mode in ["seqwr", "seqrewr", "rndwr", "rndrw"] {
        works.extend(THREADS.map(|threads| Work { part: Part::Syncing, mode, threads, block_kib: 16 }));
    }
    works.extend(THREADS.map(|threads| Work { part: Part::Commands, mode: "rndrd", threads, block_kib: 16 }));
    works
}

/// Runs the bench; false if a bound was missed and `--gate` given.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    interrupt::note();
    let peer = peers::find("sysbench");
    if peer.is_none() {
        eprintln!("sysbench was not found; its column stays empty. To have it: apt-get install sysbench");
    }
    let cases = chosen(works().iter().map(|w| w.case(peer.is_some())).collect(), options)?;
    let works: Vec<Work> = works().into_iter().filter(|w| cases.iter().any(|c| c.name == w.name())).collect();
    let (rounds, seconds) = (options.rounds.unwrap_or(ROUNDS), options.seconds.unwrap_or(SECONDS).ceil());
    let fathom = crate::bench::built(root)?;
    let machine = Machine::seen(root);
    let version = peer.as_deref().map_or_else(|| "absent".to_owned(), |p| peers::version(p, "--version"));
    let about = format!(
        "sysbench {version}; {FILES} files, {} MiB, in the page cache as each program's own prepare in the case's block size left them \
         (created again for each case, never evicted and read in); 16 threads are not tied to CPUs",
        options.file_mib
    );
    print!("{}", heading(&machine, &about, rounds, seconds));
    if let Some(warning) = machine.warning() {
        eprintln!("{warning}");
    }
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    let bench = Bench {
        fathom,
        peer,
        dir: dir.path().to_owned(),
        seconds: seconds as u64,
        total_bytes: options.file_mib << 20,
    };
    let done = bench.all(works, rounds)?;
    for (part, title) in TITLES {
        let of_part: Vec<&Done> = done.iter().filter(|(p, _)| *p == part).map(|(_, d)| d).collect();
        if !of_part.is_empty() {
            print!("{}", table::of(title, &of_part, columns(part), Column::Sysbench));
        }
    }
    let done: Vec<Done> = done.into_iter().map(|(_, d)| d).collect();
    close("fathom-bench-sysbench/1", &machine, &about, (rounds, seconds), &done, options)
}

const TITLES: [(Part, &str); 3] = [
    (Part::Cached, "Without fsync (--file-fsync-freq=0 --file-fsync-end=off)"),
    (Part::Syncing, "With SysBench's own fsyncs, for information: the device decides"),
    (Part::Commands, "The whole command with --events=1, for information"),
];

fn columns(part: Part) -> &'static [Column] {
    match part {
        Part::Cached => &[Column::Floor, Column::Fathom, Column::Sysbench],
        Part::Syncing => &[Column::Fathom, Column::Sysbench],
        Part::Commands => &[Column::Fathom, Column::Variant, Column::Sysbench],
    }
}

/// What stays the same over all cases.
struct Bench {
    fathom: PathBuf,
    peer: Option<PathBuf>,
    dir: PathBuf,
    seconds: u64,
    total_bytes: u64,
}

/// The set of each program.
type Sets = Vec<(Column, Set)>;

impl Bench {
    /// Each program prepares its own set, as its user would before this case.
    fn sets(&self, work: &Work) -> Result<Sets> {
        let there = |column: &Column| *column == Column::Fathom || self.peer.is_some();
        let columns = [Column::Fathom, Column::Sysbench].into_iter().filter(there);
        columns.map(|column| Ok((column, self.prepare(work, column)?))).collect()
    }

    fn prepare(&self, work: &Work, column: Column) -> Result<Set> {
        let dir = self.dir.join(column.label());
        Set::prepared(&dir, self.program(column)?, self.total_bytes, work.block_kib << 10)
    }

    fn all(&self, works: Vec<Work>, rounds: usize) -> Result<Vec<(Part, Done)>> {
        let mut done = Vec::new();
        for work in works {
            let sets = self.sets(&work)?;
            // Locked pages stay when a kernel evicts what nobody seems to use. Files that are written are used enough.
            let held = if work.reads_only() {
                sets.iter().map(|(_, set)| set.held()).collect::<Result<Vec<_>>>()?
            } else {
                Vec::new()
            };
            let rounds = if work.part == Part::Syncing { rounds.min(SYNCING_ROUNDS) } else { rounds };
            let mut contest = Contest::new(rounds);
            let case = work.case(self.peer.is_some());
            done.push((work.part, contest.run(case, |column| self.measure(&work, &sets, column))?));
            drop(held);
        }
        Ok(done)
    }

    fn measure(&self, work: &Work, sets: &Sets, column: Column) -> Result<Sample> {
        // The floor reads fathom's files.
        let whose = if column == Column::Sysbench { column } else { Column::Fathom };
        let (_, set) = sets.iter().find(|(c, _)| *c == whose).context("the contender has no files")?;
        let resident = set.resident_share()?;
        if resident < 1.0 {
            eprintln!(
                "note: {:.3} % of {}'s files had left the page cache; it prepared them again",
                (1.0 - resident) * 100.0,
                whose.label()
            );
            self.prepare(work, whose)?;
        }
        sets.iter().try_for_each(|(_, set)| set.settle())?;
        if column == Column::Floor {
            let paths: Vec<PathBuf> = set.paths().collect();
            let target = floor::set::Target {
                paths: &paths,
                file_bytes: set.file_bytes(),
                block_bytes: work.block_kib << 10,
                seconds: self.seconds as f64,
            };
            return floor::measure_with(|start| floor::set::pread(&target, start), work.threads);
        }
        // seqwr deletes the files and creates as many as it has time for: it gets a separate directory.
        let own = self.dir.join(format!("{}-seqwr", column.label()));
        let dir = if work.mode == "seqwr" { &own } else { &set.dir };
        std::fs::create_dir_all(dir)?;
        let mut command = self.program(column)?;
        command.args(work.words(set.total_bytes, self.seconds)).current_dir(dir);
        if work.threads == 1 {
            pin::command(&mut command, pin::cpu());
        }
        // The fsyncs of the end come after the time.
        let ended = child::run(&mut command, Duration::from_secs(self.seconds + 300))?;
        let text = child::printed(&ended);
        ensure!(ended.output.status.success(), "it ended with {}: {text}", ended.output.status);
        let sample = match work.case(true).unit {
            Unit::Run => Sample { wall_ns: ended.wall_ns, cpu_ns: Some(ended.cpu_ns) },
            Unit::Operation => {
                let wall_ns =
                    peers::sysbench::per_operation(&text).with_context(|| format!("no rates in: {text}"))?;
                sample::of_whole_life(&ended, wall_ns)
            }
        };
        if work.mode == "seqwr" {
            std::fs::remove_dir_all(own)?;
        }
        Ok(sample)
    }

    /// The program with the words that come before the test's.
    fn program(&self, column: Column) -> Result<Command> {
        if column == Column::Sysbench {
            return Ok(Command::new(self.peer.as_deref().context("sysbench is absent")?));
        }
        let mut command = Command::new(&self.fathom);
        if column == Column::Variant {
            command.arg("--no-store");
        }
        command.arg("sysbench").env("FATHOM_STORE", self.dir.join("store.db"));
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_claimed_for_1_and_16_threads() {
        let works = works();
        for mode in MODES {
            for threads in THREADS {
                let work = works
                    .iter()
                    .find(|w| (w.part, w.mode, w.threads, w.block_kib) == (Part::Cached, mode, threads, 16))
                    .unwrap();
                assert_eq!(work.case(true).bounds.len(), 1);
            }
        }
        let mut names: Vec<String> = works.iter().map(Work::name).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all, "a case is chosen by its name");
    }

    #[test]
    fn both_programs_get_the_same_words() {
        let work = Work { part: Part::Cached, mode: "rndrw", threads: 16, block_kib: 16 };
        assert_eq!(
            work.words(1 << 20, 2).join(" "),
            "fileio --file-total-size=1048576 --file-block-size=16384 --file-test-mode=rndrw --threads=16 --time=2 \
             --file-fsync-freq=0 --file-fsync-end=off run"
        );
        let one = Work { part: Part::Commands, mode: "rndrd", threads: 1, block_kib: 16 };
        assert!(one.words(1 << 20, 2).contains(&"--events=1".to_owned()));
        assert!(one.case(false).columns == [Column::Fathom, Column::Variant]);
    }
}
