//! `cargo xtask bench filebench`: the same script to `fathom filebench` and to Filebench, interleaved. The figure is the ops/s of the IO
//! Summary. Scripts are the ones in `bench/filebench`, and Filebench's own if `FATHOM_FILEBENCH_WORKLOADS` names their directory.

use super::{Case, Contest, Done, child, chosen, close, heading, script, shipped, table};
use crate::bench::cases::{Column, Unit};
use crate::bench::files::{self, Mapping};
use crate::bench::machine::Machine;
use crate::bench::options::Options;
use crate::bench::sample::Sample;
use crate::bench::{floor, interrupt, peers, pin};
use anyhow::{Context as _, Result, ensure};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const ROUNDS: usize = 5;
const SECONDS: f64 = 3.0;
/// The directory of Filebench's own workload files.
const WORKLOADS_ENV: &str = "FATHOM_FILEBENCH_WORKLOADS";
/// In memory, where an fsync costs nothing.
const MEMORY_DIR: &str = "/dev/shm";
/// Slower than Filebench by more than this is a fault.
const NOT_SLOWER: f64 = 0.95;

/// What happens to the tree before a measurement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tree {
    /// Made once, kept (`reuse`), put into the page cache and locked there.
    Cached,
    /// Gone; the script creates it again.
    Anew,
}

/// One script with the values it is run with.
struct Work {
    name: String,
    text: String,
    /// Given to fathom by `--set`, to Filebench in the text.
    values: Vec<(String, String)>,
    tree: Tree,
    threads: usize,
    in_memory: bool,
    bound: Option<f64>,
    /// Beside it stands the floor of a 4 KiB read.
    floor: bool,
    /// Nothing runs: the whole command is timed.
    preallocation: bool,
}

impl Work {
    fn own(name: &str, text: &str, values: &[(&str, &str)]) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            values: values.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect(),
            tree: Tree::Anew,
            threads: 0,
            in_memory: false,
            bound: Some(NOT_SLOWER),
            floor: false,
            preallocation: false,
        }
    }

    fn cached(self) -> Self {
        Self { tree: Tree::Cached, ..self }
    }

    fn bound(self, times: f64) -> Self {
        Self { bound: Some(times), ..self }
    }

    fn case(&self, peer: bool) -> Case {
        let contenders = [(Column::Floor, self.floor), (Column::Fathom, true), (Column::Filebench, peer)];
        let columns: Vec<Column> =
            contenders.into_iter().filter(|(_, there)| *there).map(|(c, _)| c).collect();
        let case = Case::of(self.name.clone(), &columns);
        let case = if self.preallocation { case.of_commands() } else { case };
        match self.bound {
            Some(times) => case.at_least(times, Column::Filebench),
            None => case,
        }
    }

    /// The script with its directory and time in it. fathom gets the rest by `--set`.
    fn script(&self, dir: &Path, seconds: u64, all_values: bool) -> String {
        let dir = dir.display().to_string();
        let mut values = vec![("dir", dir.as_str()), ("path", dir.as_str())];
        if all_values {
            values.extend(self.values.iter().map(|(n, v)| (n.as_str(), v.as_str())));
        }
        let text = script::with_values(&self.text, &values);
        if self.preallocation { text } else { script::with_run(&text, seconds) }
    }
}

/// Our own scripts.
fn own_works() -> Vec<Work> {
    const RANDOM_READ: &str = include_str!("../../../../bench/filebench/random-read.f");
    const STREAM: &str = include_str!("../../../../bench/filebench/single-stream-read.f");
    const FILE_SERVER: &str = include_str!("../../../../bench/filebench/file-server.f");
    const MAIL: &str = include_str!("../../../../bench/filebench/mail-server.f");
    const WEB: &str = include_str!("../../../../bench/filebench/web-server.f");
    const DATABASE: &str = include_str!("../../../../bench/filebench/database.f");
    const PREALLOCATION: &str = include_str!("../../../../bench/filebench/preallocation.f");
    let four_kib = |name, threads: &str, bound| Work {
        threads: threads.parse().unwrap_or(0),
        floor: true,
        ..Work::own(name, RANDOM_READ, &[("iosize", "4k"), ("nthreads", threads)]).cached().bound(bound)
    };
    vec![
        four_kib("random read 4 KiB, 1 thread", "1", 1.2),
        four_kib("random read 4 KiB, 2 threads", "2", 2.0),
        Work { threads: 1, ..Work::own("random-read", RANDOM_READ, &[]).cached() },
        Work { threads: 1, ..Work::own("single-stream-read", STREAM, &[]).cached() },
        Work::own("file-server", FILE_SERVER, &[]),
        Work::own("mail-server", MAIL, &[]),
        Work { in_memory: true, ..Work::own("mail-server, tmpfs", MAIL, &[]) },
        Work::own("web-server", WEB, &[]),
        Work::own("database", DATABASE, &[]),
        Work { preallocation: true, ..Work::own("preallocation 10,000 x 16 KiB", PREALLOCATION, &[]) },
    ]
}

/// Filebench's own scripts, those its version 1.5 runs to figures.
fn shipped_works(dir: &Path) -> Result<Vec<Work>> {
    let mut works = Vec::new();
    for known in shipped::comparable() {
        let path = dir.join(known.file);
        if path.is_file() {
            let text = std::fs::read_to_string(&path)?;
            let values = [known.values, known.compared].concat();
            works.push(Work::own(&format!("shipped {}", known.file), &text, &values));
        }
    }
    ensure!(
        !works.is_empty(),
        "${WORKLOADS_ENV} names {}, which has none of Filebench's workloads",
        dir.display()
    );
    Ok(works)
}

/// Runs the bench; false if a bound was missed and `--gate` given.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    options.refuse("filebench", &["--file-mib"])?;
    interrupt::note();
    let peer = peers::find("filebench");
    if peer.is_none() {
        eprintln!(
            "filebench was not found; its column stays empty. Build it from the repository filebench/filebench and \
             name its directory in $FATHOM_PEERS"
        );
    }
    let mut works = own_works();
    match std::env::var_os(WORKLOADS_ENV) {
        Some(dir) => works.extend(shipped_works(Path::new(&dir))?),
        None => eprintln!("note: ${WORKLOADS_ENV} is not set; Filebench's own workloads are not run"),
    }
    let cases = chosen(works.iter().map(|w| w.case(peer.is_some())).collect(), options)?;
    works.retain(|w| cases.iter().any(|c| c.name == w.name));
    let (rounds, seconds) = (options.rounds.unwrap_or(ROUNDS), options.seconds.unwrap_or(SECONDS).ceil());
    let fathom = crate::bench::built(root)?;
    let machine = Machine::seen(root);
    let version = peer.as_deref().map_or_else(|| "absent".to_owned(), |p| peers::version(p, "-h"));
    let about = format!("filebench {version}, without address randomisation; the same script to both");
    print!("{}", heading(&machine, &about, rounds, seconds));
    if let Some(warning) = machine.warning() {
        eprintln!("{warning}");
    }
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    let memory = tempfile::Builder::new().prefix("fathom-bench-").tempdir_in(MEMORY_DIR).ok();
    let bench = Bench {
        fathom,
        peer,
        dir: dir.path().to_owned(),
        memory: memory.as_ref().map(|m| m.path().to_owned()),
        seconds: seconds as u64,
    };
    let done = bench.all(&works, rounds)?;
    let (runs, rates): (Vec<&Done>, Vec<&Done>) = done.iter().partition(|d| d.case.unit == Unit::Run);
    if !rates.is_empty() {
        let columns = [Column::Floor, Column::Fathom, Column::Filebench];
        print!("{}", table::of("IO Summary", &rates, &columns, Column::Filebench));
    }
    if !runs.is_empty() {
        let columns = [Column::Fathom, Column::Filebench];
        print!("{}", table::of("The whole command", &runs, &columns, Column::Filebench));
    }
    close("fathom-bench-filebench/1", &machine, &about, (rounds, seconds), &done, options)
}

/// What stays the same over all cases.
struct Bench {
    fathom: PathBuf,
    peer: Option<PathBuf>,
    dir: PathBuf,
    memory: Option<PathBuf>,
    seconds: u64,
}

impl Bench {
    fn all(&self, works: &[Work], rounds: usize) -> Result<Vec<Done>> {
        let mut done = Vec::new();
        for work in works {
            let base = if work.in_memory { self.memory.as_ref() } else { Some(&self.dir) };
            let Some(base) = base else {
                eprintln!("{}: skipped, there is no {MEMORY_DIR}", work.name);
                continue;
            };
            // Trees of one work are gone before the next.
            let base = tempfile::Builder::new().prefix("work-").tempdir_in(base)?;
            let case = work.case(self.peer.is_some());
            let held = match work.tree {
                Tree::Cached => self.cached(work, base.path(), &case.columns)?,
                Tree::Anew => Vec::new(),
            };
            done.push(Contest::new(rounds).run(case, |column| self.measure(work, base.path(), column))?);
            drop(held);
        }
        Ok(done)
    }

    /// Has every contender make its tree, and brings all of them into the page cache by the same reads.
    fn cached(&self, work: &Work, base: &Path, columns: &[Column]) -> Result<Vec<Mapping>> {
        let mut held = Vec::new();
        for column in columns {
            let dir = base.join(column.label());
            std::fs::create_dir_all(&dir)?;
            if *column == Column::Floor {
                files::random(&dir.join("data"), 256 << 20)?;
            } else if let Err(error) = self.invoke(work, base, *column, 1) {
                // It will say so again in its turn, and be left out.
                eprintln!("{}, {}: {error:#}", work.name, column.label());
                continue;
            }
            for path in files_below(&dir)? {
                files::evict(&path)?;
                files::warm(&path)?;
                let mapping = Mapping::of(&path)?;
                if !mapping.lock() {
                    eprintln!("note: {} cannot be locked in memory", path.display());
                }
                held.push(mapping);
            }
        }
        Ok(held)
    }

    fn measure(&self, work: &Work, base: &Path, column: Column) -> Result<Sample> {
        let dir = base.join(column.label());
        if work.tree == Tree::Anew && dir.exists() {
            std::fs::remove_dir_all(&dir)?;
        }
        std::fs::create_dir_all(&dir)?;
        settle(base)?;
        if work.tree == Tree::Cached {
            for path in files_below(&dir)? {
                files::warm(&path)?;
            }
        }
        if column == Column::Floor {
            let path = dir.join("data");
            let file_bytes = path.metadata()?.len();
            let target = floor::Target { path, file_bytes, seconds: self.seconds as f64 };
            return floor::measure(floor::sync::pread, &target, work.threads);
        }
        self.invoke(work, base, column, self.seconds)
    }

    /// Runs the script once.
    fn invoke(&self, work: &Work, base: &Path, column: Column, seconds: u64) -> Result<Sample> {
        let dir = base.join(column.label());
        let file = self.dir.join(format!("{}.f", column.label()));
        let mut command = if column == Column::Filebench {
            std::fs::write(&file, work.script(&dir, seconds, true))?;
            let program = self.peer.as_deref().context("Filebench is absent")?;
            // Its processes share memory at one address, so addresses must not be random.
            let mut command = Command::new("setarch");
            command.arg("-R").arg(program).arg("-f").arg(&file);
            command
        } else {
            std::fs::write(&file, work.script(&dir, seconds, false))?;
            let mut command = fathom(&self.fathom, &self.dir, &file);
            for (name, value) in &work.values {
                command.arg("--set").arg(format!("{name}={value}"));
            }
            command
        };
        if work.threads == 1 {
            pin::command(&mut command, pin::cpu());
        }
        let ended = child::run(command.current_dir(base), Duration::from_secs(seconds + 120));
        if ended.is_err() && column == Column::Filebench {
            remove_shared_memory();
        }
        let ended = ended?;
        let text = child::printed(&ended);
        if work.preallocation {
            let made =
                files_below(&dir)?.iter().filter(|p| p.metadata().is_ok_and(|m| m.len() == 16 << 10)).count();
            ensure!(made == 10_000, "{made} of 10,000 files were made: {text}");
            return Ok(Sample { wall_ns: ended.wall_ns, cpu_ns: Some(ended.cpu_ns) });
        }
        let (ops, rate) =
            peers::filebench::summary(&text).with_context(|| format!("no IO Summary in: {text}"))?;
        // Filebench idles at its start, and both make trees: only where there is a tree is CPU time that of the operations.
        let cpu_ns = (work.tree == Tree::Cached).then_some(ended.cpu_ns / ops);
        Ok(Sample { wall_ns: 1e9 / rate, cpu_ns })
    }
}

/// `fathom filebench` with its own records and ledger.
pub fn fathom(program: &Path, dir: &Path, script: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("filebench").arg("-f").arg(script);
    command.env("FATHOM_STORE", dir.join("store.db")).env("XDG_STATE_HOME", dir.join("state"));
    command
}

/// Regular files of some size in a directory and below.
pub fn files_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            found.extend(files_below(&entry.path())?);
        } else if kind.is_file() && entry.metadata()?.len() > 0 {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Writes back what the file system holds, so that one contender's dirty pages do not burden the next.
pub fn settle(dir: &Path) -> Result<()> {
    let dir = std::fs::File::open(dir)?;
    // SAFETY: the descriptor is open; no memory is handed over.
    let failed = unsafe { libc::syncfs(dir.as_raw_fd()) };
    ensure!(failed == 0, "syncfs: {}", std::io::Error::last_os_error());
    Ok(())
}

/// A Filebench that was killed leaves its shared memory of 177 MB behind: files nobody has mapped are removed.
pub fn remove_shared_memory() {
    let mapped = |name: &str| {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .filter_map(|p| std::fs::read_to_string(p.path().join("maps")).ok())
            .any(|maps| maps.contains(name))
    };
    for entry in std::fs::read_dir("/tmp").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let recent = entry
            .metadata()
            .and_then(|m| m.modified())
            .is_ok_and(|t| t.elapsed().is_ok_and(|age| age < Duration::from_secs(600)));
        if name.starts_with("filebench-shm-") && recent && !mapped(&name) {
            // What cannot be removed stays, as it would without this.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_of_our_own_takes_its_values() {
        for work in own_works() {
            let text = work.script(Path::new("/d"), 2, true);
            let known = script::variables(&text);
            assert!(text.contains("set $dir=/d\n"), "{}", work.name);
            assert_eq!(script::has_run(&text), !work.preallocation, "{}", work.name);
            for (name, value) in &work.values {
                assert!(known.contains(&name.as_str()) && text.contains(&format!("set ${name}={value}\n")));
            }
            let ours = work.script(Path::new("/d"), 2, false);
            assert_eq!(ours == text, work.values.is_empty(), "{}: the rest comes by --set", work.name);
        }
    }

    #[test]
    fn names_are_different_and_bounds_are_the_specifications() {
        let works = own_works();
        let bounds: Vec<Option<f64>> = works.iter().map(|w| w.bound).collect();
        assert_eq!(bounds[..3], [Some(1.2), Some(2.0), Some(0.95)]);
        for (i, work) in works.iter().enumerate() {
            assert!(works[..i].iter().all(|w| w.name != work.name));
            assert_eq!(work.case(true).columns.contains(&Column::Floor), work.floor);
            assert!(!work.case(false).columns.contains(&Column::Filebench));
        }
    }

    #[test]
    fn shipped_files_are_found_in_their_directory() {
        let dir = tempfile::tempdir().unwrap();
        assert!(shipped_works(dir.path()).is_err());
        std::fs::write(dir.path().join("randomread.f"), "set $dir=/tmp\nset $filesize=5g\n").unwrap();
        let works = shipped_works(dir.path()).unwrap();
        assert_eq!(works.len(), 1);
        assert_eq!(works[0].script(Path::new("/d"), 3, true), "set $dir=/d\nset $filesize=256m\nrun 3\n");
    }

    #[test]
    fn files_are_found_below() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        std::fs::write(dir.path().join("a/b"), "x").unwrap();
        std::fs::write(dir.path().join("empty"), "").unwrap();
        assert_eq!(files_below(dir.path()).unwrap(), [dir.path().join("a/b")]);
    }
}
