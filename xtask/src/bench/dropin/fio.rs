//! `cargo xtask bench fio`: runs the same job file alternately with `fathom fio` and Debian's fio. The figure is operations a second as each
//! program's JSON says; beside it stands how long the whole command took. The jobs are in [`super::fio_jobs`].

use super::fio_jobs::{Cache, Figure, File, WORKS, Work};
use super::{Case, Contest, Done, child, chosen, close, heading, table};
use crate::bench::cases::Column;
use crate::bench::files::{self, Files, Mapping};
use crate::bench::machine::Machine;
use crate::bench::options::Options;
use crate::bench::sample::{Ended, Sample};
use crate::bench::{interrupt, peers, pin};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const ROUNDS: usize = 9;
const SECONDS: f64 = 1.0;
const COLUMNS: &[Column] = &[Column::Fathom, Column::Fio];
/// What a null job is said to be as large as: one pass takes longer than any measurement.
const NULL_BYTES: u64 = 1 << 40;
/// Beyond its own seconds a sample takes no longer than this: a cold pass, a file laid out.
const LIMIT_S: u64 = 300;

/// Runs the bench; false if a bound was missed and `--gate` given.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    interrupt::note();
    let peer = peers::find("fio");
    if peer.is_none() {
        eprintln!("fio was not found; its column stays empty. To have it: apt-get install fio");
    }
    let cases = chosen(WORKS.iter().map(|w| w.case(peer.is_some())).collect(), options)?;
    let works: Vec<&Work> = WORKS.iter().filter(|w| cases.iter().any(|c| c.name == w.name)).collect();
    let (rounds, seconds) = (options.rounds.unwrap_or(ROUNDS), options.seconds.unwrap_or(SECONDS));
    let fathom = crate::bench::built(root)?;
    let machine = Machine::seen(root);
    let version = peer.as_deref().map_or_else(|| "absent".to_owned(), |p| peers::version(p, "--version"));
    let about = format!(
        "fio {version}; one job file for both, {} MiB of random data; one job is tied to a CPU, 8 are not; cached files are locked into memory",
        options.file_mib
    );
    print!("{}", heading(&machine, &about, rounds, seconds));
    if let Some(warning) = machine.warning() {
        eprintln!("{warning}");
    }
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    let files = Files::new(dir.path(), options.file_mib, None);
    let bench = Bench { fathom, peer, dir: dir.path(), files, seconds, file_bytes: options.file_mib << 20 };
    let (mut done, mut whole) = (Vec::new(), Vec::new());
    for work in works {
        let (of_jobs, of_commands) = bench.rounds(work, rounds)?;
        done.push(of_jobs);
        whole.extend(of_commands);
    }
    let (starts, rates): (Vec<&Done>, Vec<&Done>) =
        done.iter().partition(|d| WORKS.iter().any(|w| w.name == d.case.name && w.figure == Figure::Command));
    if !rates.is_empty() {
        print!("{}", table::of("What the jobs did, by their own JSON", &rates, COLUMNS, Column::Fio));
    }
    let all: Vec<&Done> = whole.iter().chain(starts).collect();
    print!("{}", table::of("The whole command, from start to exit", &all, COLUMNS, Column::Fio));
    done.extend(whole);
    close("fathom-bench-fio/1", &machine, &about, (rounds, seconds), &done, options)
}

/// What stays the same over all cases.
struct Bench<'a> {
    fathom: PathBuf,
    peer: Option<PathBuf>,
    dir: &'a Path,
    files: Files,
    seconds: f64,
    file_bytes: u64,
}

impl Bench<'_> {
    /// All rounds of a case, and the times of its whole commands where they are not the case itself.
    fn rounds(&self, work: &Work, rounds: usize) -> Result<(Done, Option<Done>)> {
        let case = work.case(self.peer.is_some());
        for column in &case.columns {
            self.prepare(work, *column)?;
        }
        // Locked pages stay when a kernel evicts what nobody seems to use. What is written is used enough, and new pages replace none.
        let mut held = Vec::new();
        if let (Cache::All, File::Common(kind)) = (work.cache, work.file) {
            let (path, _) = self.files.get(kind)?;
            files::warm(&path)?;
            let mapping = Mapping::of(&path)?;
            mapping.lock();
            held.push(mapping);
        }
        let mut commands: Vec<(Column, Sample)> = Vec::new();
        let done = Contest::new(rounds).run(case, |column| {
            let ended = self.sample(work, column)?;
            let whole = Sample { wall_ns: ended.wall_ns, cpu_ns: Some(ended.cpu_ns) };
            if work.figure == Figure::Command {
                return Ok(whole);
            }
            commands.push((column, whole));
            peers::fio::figures(&ended.output.stdout)
                .with_context(|| format!("no figures in: {}", child::printed(&ended)))
        })?;
        drop(held);
        if commands.is_empty() {
            return Ok((done, None));
        }
        let case = Case::of(format!("{}, command", work.name), &done.case.columns).of_commands();
        let mut whole = Done { case, samples: std::collections::BTreeMap::new(), order: done.order.clone() };
        for (column, sample) in commands {
            whole.samples.entry(column).or_default().push(sample);
        }
        // Who failed in a round is left out of both.
        whole.samples.retain(|column, _| done.samples.contains_key(column));
        Ok((done, Some(whole)))
    }

    /// Lays out a program's own file by its own hand, as its user would.
    fn prepare(&self, work: &Work, column: Column) -> Result<()> {
        match work.file {
            File::None => {}
            File::Common(kind) => drop(self.files.get(kind)?),
            File::Own => {
                let path = self.path(work, column)?;
                if path.exists() {
                    std::fs::remove_file(&path)?;
                }
                let lines = work.writer().unwrap_or_else(|| work.lines.to_owned());
                let text = format!(
                    "[bench]\nthread=1\nfilename=${{BENCH_FILE}}\nsize={}\n{lines}\n",
                    self.bytes(work)
                );
                let ended = self.job(work, column, &text)?;
                ensure!(path.exists(), "it wrote no file: {}", child::printed(&ended));
                files::settle(&path)?;
            }
        }
        Ok(())
    }

    fn sample(&self, work: &Work, column: Column) -> Result<Ended> {
        if work.file != File::None {
            let path = self.path(work, column)?;
            match work.cache {
                Cache::AsItIs => {}
                Cache::Nothing => files::evict(&path)?,
                Cache::All => {
                    files::settle(&path)?;
                    files::warm(&path)?;
                }
            }
        }
        self.job(work, column, &work.text(self.bytes(work), self.seconds))
    }

    fn job(&self, work: &Work, column: Column, text: &str) -> Result<Ended> {
        // The job file is rewritten for each sample: both programs read the same text, and nothing is left of the previous case.
        let file = self.dir.join("bench.fio");
        std::fs::write(&file, text)?;
        let own = self.dir.join(column.label());
        std::fs::create_dir_all(&own)?;
        let mut command = self.program(column)?;
        command.arg("--output-format=json").arg(&file).current_dir(&own);
        command.env("BENCH_FILE", self.path(work, column)?);
        if work.jobs == 1 {
            pin::command(&mut command, pin::cpu());
        }
        let ended = child::run(&mut command, Duration::from_secs(self.seconds.ceil() as u64 + LIMIT_S))?;
        let text = child::printed(&ended);
        ensure!(ended.output.status.success(), "it ended with {}: {text}", ended.output.status);
        Ok(ended)
    }

    /// The file that a program works on; some name where there is none.
    fn path(&self, work: &Work, column: Column) -> Result<PathBuf> {
        Ok(match work.file {
            File::Common(kind) => self.files.get(kind)?.0,
            File::Own | File::None => self.dir.join(column.label()).join("own"),
        })
    }

    fn bytes(&self, work: &Work) -> u64 {
        match work.file {
            File::None => NULL_BYTES,
            File::Common(_) | File::Own => self.file_bytes,
        }
    }

    fn program(&self, column: Column) -> Result<Command> {
        if column == Column::Fio {
            return Ok(Command::new(self.peer.as_deref().context("fio is absent")?));
        }
        let mut command = Command::new(&self.fathom);
        command.arg("fio").env("FATHOM_STORE", self.dir.join("store.db"));
        Ok(command)
    }
}
