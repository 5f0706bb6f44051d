//! `fathom power-cut write`: a thread for each file writes, syncs, and prints that the sync has returned.

use super::DIRECTORY;
use super::journal::{Acknowledged, head};
use super::options::{Pattern, Sync, WriteFiles};
use super::plan::Plan;
use super::sector::fill;
use crate::console;
use crate::exit::{FAILED, Usage, of_signal};
use anyhow::Context as _;
use fathom_engine::interrupted_by;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Writes before each sync unless given.
const EVERY: u64 = 8;

pub fn run(options: &WriteFiles) -> anyhow::Result<ExitCode> {
    let plan = planned(options)?;
    let head = head(&plan).map_err(|_| {
        Usage(format!("the name of {} is not UTF-8, so the journal cannot hold it", plan.dir.display()))
    })?;
    make(&plan.dir)?;
    fathom_engine::watch_signals();
    let writing = Writing {
        plan: &plan,
        begun: Instant::now(),
        time: options.time.map(|time| Duration::from_nanos(time.0)),
        journal: Mutex::new(()),
        stop: AtomicBool::new(false),
        syncs: AtomicU64::new(0),
    };
    console::line(&head).context("the journal cannot be printed")?;
    explain(&plan);
    let failed = std::thread::scope(|scope| {
        let writing = &writing;
        let threads: Vec<_> = (0..plan.files).map(|file| scope.spawn(move || writing.write(file))).collect();
        let ends = threads.into_iter().map(|thread| match thread.join() {
            Ok(end) => end,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ends.fold(None, |first: Option<anyhow::Error>, end| first.or(end.err()))
    });
    let syncs = writing.syncs.load(Ordering::Relaxed);
    let (syncs, dir) = (console::counted(syncs, "acknowledgement"), plan.dir.display());
    console::note(&format!("{syncs} printed; the files stay in {dir}"));
    if let Some(error) = failed {
        console::error(&format!("{error:#}"));
        return Ok(ExitCode::from(FAILED));
    }
    Ok(interrupted_by().map_or(ExitCode::SUCCESS, |signal| ExitCode::from(of_signal(signal))))
}

fn planned(options: &WriteFiles) -> Result<Plan, Usage> {
    if !options.dir.is_dir() {
        return Err(Usage(format!("{} is not a directory", options.dir.display())));
    }
    if options.every.is_some() && (options.pattern == Pattern::Replace || options.sync == Sync::Dsync) {
        return Err(Usage(
            "--every: with --pattern replace and --sync dsync every write is durable by itself; leave it out"
                .into(),
        ));
    }
    let dir = options.dir.canonicalize().map_err(|e| Usage(format!("{}: {e}", options.dir.display())))?;
    let plan = Plan {
        dir: dir.join(DIRECTORY),
        pattern: options.pattern,
        sync: options.sync,
        every: options.every.unwrap_or(EVERY),
        block: options.block.0,
        size: options.size.0,
        files: options.files,
        direct: options.direct,
        seed: options.seed.unwrap_or_else(new_number),
        run: new_number(),
        boot: boot_id(),
    };
    plan.error().map_or(Ok(plan), |why| Err(Usage(why)))
}

/// Differs from run to run.
fn new_number() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
    SplitMix64::seed_from_u64(now ^ u64::from(std::process::id())).next_u64()
}

/// The kernel's identifier of this boot; empty if it does not say.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

fn make(dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir(dir).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => Usage(format!(
            "{} is there already, from an earlier run: check it, and remove it (`fathom power-cut check --remove`, or rm -r)",
            dir.display()
        ))
        .into(),
        _ => anyhow::Error::new(e).context(format!("cannot make {}", dir.display())),
    })?;
    let parent = dir.parent().unwrap_or(dir);
    sync_directory(parent).map_err(|e| {
        // The next try would take it for that of an earlier run.
        let _ = std::fs::remove_dir(dir);
        anyhow::Error::new(e).context(format!("cannot sync {}", parent.display()))
    })
}

fn sync_directory(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// What the user of a terminal, or of a journal on this machine, needs to know.
fn explain(plan: &Plan) {
    let ours = rustix::fs::fstat(io::stdout()).is_ok_and(|about| {
        rustix::fs::FileType::from_raw_mode(about.st_mode) == rustix::fs::FileType::RegularFile
            && rustix::fs::stat(&plan.dir).is_ok_and(|dir| dir.st_dev == about.st_dev)
    });
    if ours {
        console::warning(
            "the journal is on the storage whose power is cut, and loses its last lines with it; keep it on another machine: ssh HOST fathom power-cut write DIR > journal",
        );
    }
    console::note("cut the power when it suits you; Ctrl-C ends it");
}

/// What all threads share.
struct Writing<'a> {
    plan: &'a Plan,
    begun: Instant,
    time: Option<Duration>,
    /// One line at a time.
    journal: Mutex<()>,
    stop: AtomicBool,
    syncs: AtomicU64,
}

impl Writing<'_> {
    /// Lays out a file and writes it until everything ends.
    fn write(&self, file: u32) -> anyhow::Result<()> {
        let written = match self.plan.pattern {
            Pattern::Overwrite | Pattern::Append => self.blocks(file),
            Pattern::Replace => self.replace(file),
        };
        if written.is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
        written.with_context(|| format!("cannot write {}", self.plan.path(file).display()))
    }

    fn blocks(&self, file: u32) -> io::Result<()> {
        let plan = self.plan;
        let path = plan.path(file);
        let laid_out = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let mut memory = Memory::new(plan.block);
        if plan.pattern == Pattern::Overwrite {
            for block in 0..plan.blocks() {
                fill(memory.block(), plan.run, file, block, 0);
                laid_out.write_all_at(memory.block(), block * plan.block)?;
                if self.is_stopped() {
                    return Ok(());
                }
            }
        }
        // The layout is not what is tested: it is durable, whatever the writes are.
        laid_out.sync_all()?;
        drop(laid_out);
        sync_directory(&plan.dir)?;
        self.acknowledge(file, 0)?;
        let open = self.opening().open(&path)?;
        let mut write = 0;
        while !self.is_over(write) && plan.last().is_none_or(|last| write < last) {
            let until = write + plan.writes_per_sync();
            while write < plan.last().map_or(until, |last| until.min(last)) {
                write += 1;
                let block = plan.block_of(file, write);
                fill(memory.block(), plan.run, file, block, write);
                open.write_all_at(memory.block(), block * plan.block)?;
            }
            self.sync(&open)?;
            self.acknowledge(file, write)?;
        }
        Ok(())
    }

    fn replace(&self, file: u32) -> io::Result<()> {
        let plan = self.plan;
        let path = plan.path(file);
        let new = path.with_extension(format!("{file}.new"));
        let mut memory = Memory::new(plan.block);
        for write in 0.. {
            if write > 0 && self.is_over(write - 1) {
                break;
            }
            fill(memory.block(), plan.run, file, 0, write);
            let open = self.opening().create_new(true).open(&new)?;
            open.write_all_at(memory.block(), 0)?;
            match write {
                0 => open.sync_all()?,
                _ => self.sync(&open)?,
            }
            drop(open);
            std::fs::rename(&new, &path)?;
            if write == 0 || plan.sync != Sync::None {
                sync_directory(&plan.dir)?;
            }
            self.acknowledge(file, write)?;
        }
        Ok(())
    }

    /// How files are opened for the writes that are tested.
    fn opening(&self) -> OpenOptions {
        let direct = if self.plan.direct { libc::O_DIRECT } else { 0 };
        let durable = if self.plan.sync == Sync::Dsync { libc::O_DSYNC } else { 0 };
        let mut opening = OpenOptions::new();
        opening.write(true).custom_flags(direct | durable);
        opening
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        match self.plan.sync {
            Sync::Fsync => file.sync_all(),
            Sync::Fdatasync => file.sync_data(),
            Sync::Dsync | Sync::None => Ok(()),
        }
    }

    /// Prints that everything up to a write is durable, as far as the system says.
    fn acknowledge(&self, file: u32, write: u64) -> io::Result<()> {
        let ms = self.begun.elapsed().as_millis() as u64;
        let line = Acknowledged { file, write, ms }.line(self.plan);
        let _one = self.journal.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        console::line(&line)
            .map_err(|e| io::Error::new(e.kind(), format!("the journal cannot be printed: {e}")))?;
        self.syncs.fetch_add(u64::from(write > 0), Ordering::Relaxed);
        Ok(())
    }

    /// Whether writing ends after a write; each file has at least one.
    fn is_over(&self, write: u64) -> bool {
        let up = || self.time.is_some_and(|time| self.begun.elapsed() >= time);
        self.is_stopped() || write > 0 && up()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || interrupted_by().is_some()
    }
}

/// A block in memory, aligned for O_DIRECT.
struct Memory {
    bytes: Vec<u8>,
    from: usize,
    length: usize,
}

impl Memory {
    const ALIGNED: usize = 4096;

    fn new(length: u64) -> Self {
        let length = length as usize;
        let bytes = vec![0; length + Self::ALIGNED];
        let from = bytes.as_ptr().align_offset(Self::ALIGNED);
        Self { bytes, from, length }
    }

    fn block(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..self.from + self.length]
    }
}
