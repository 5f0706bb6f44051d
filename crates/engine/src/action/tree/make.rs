//! Creating or checking a tree: directories first, one by one, then files by several threads, a directory at a time, then leaf
//! directories. Every name is created in an open directory, so a link put there is never followed.

use super::super::progress::{Prepared, Step};
use super::super::writing::Writer;
use super::super::{CHUNK, Laying, OFTEN};
use super::files;
use super::job::{Common, Manner, TreeJob, name_of};
use crate::ledger::tree as ours;
use crate::{EngineError, Ledger, interrupted_by};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode};
use rustix::io::Errno;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};

/// Maximum number of threads that create files. More of them contend for the file system's journal.
const MOST_THREADS: usize = 8;

type UnitOutcome = Result<Vec<(usize, Prepared)>, EngineError>;

impl TreeJob<'_> {
    pub fn run(self, laying: &mut Laying<'_>) -> Result<(), EngineError> {
        self.directories(laying)?;
        let bytes = self.files(laying)?;
        self.leaf_directories(laying)?;
        if bytes > 0 && !self.set.leave_dirty && interrupted_by().is_none() {
            let files = self.layout.files.len() as u64;
            laying.report(Step::WritingBack, 0, files, bytes, true);
            // One sync for all: an fsync for each of thousands of small files would take longer than writing them.
            rustix::fs::syncfs(&self.root_fd).map_err(|e| EngineError::file("write back", self.root, e))?;
            laying.report(Step::WritingBack, files, files, bytes, true);
        }
        Ok(())
    }

    fn directories(&self, laying: &mut Laying<'_>) -> Result<(), EngineError> {
        if self.manner == Manner::ReuseForeign {
            return Ok(());
        }
        let all = &self.layout.directories;
        laying.report(Step::Directories, 1, all.len() as u64, 0, true);
        // The path down to the current directory. Parents precede their children, each filled before the next, so it is enough to
        // go up.
        let mut way: Vec<(u32, OwnedFd)> = Vec::new();
        for (index, directory) in all.iter().enumerate().skip(1) {
            if interrupted_by().is_some() {
                return Ok(());
            }
            while way.last().is_some_and(|(at, _)| *at != directory.parent) {
                way.pop();
            }
            let parent = way.last().map_or(self.root_fd.as_fd(), |(_, fd)| fd.as_fd());
            let path = || self.root.join(self.layout.directory_path(index));
            let name = name_of(directory.number);
            self.make_directory(laying.ledger, parent, &name, &path)?;
            // Descend only into directories that are parents themselves.
            if all.get(index + 1).is_some_and(|next| next.parent as usize == index) {
                let fd =
                    ours::open_directory(parent, &name).map_err(|e| EngineError::file("open", path(), e))?;
                way.push((index as u32, fd));
            }
            laying.report(Step::Directories, index as u64 + 1, all.len() as u64, 0, false);
        }
        laying.report(Step::Directories, all.len() as u64, all.len() as u64, 0, true);
        Ok(())
    }

    /// Creates a directory, which may exist already if the tree did.
    fn make_directory(
        &self,
        ledger: &mut Ledger,
        parent: BorrowedFd<'_>,
        name: &str,
        path: &dyn Fn() -> PathBuf,
    ) -> Result<(), EngineError> {
        let failed = |e: Errno| EngineError::file("create", path(), e);
        if self.manner == Manner::ReuseGiven
            && rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).err() == Some(Errno::NOENT)
        {
            return ledger.create_directory(&path());
        }
        match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o755)) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) if !matches!(self.manner, Manner::Fresh { .. }) => {
                let about = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
                if FileType::from_raw_mode(about.st_mode) == FileType::Directory {
                    Ok(())
                } else {
                    Err(failed(Errno::EXIST))
                }
            }
            Err(e) => Err(failed(e)),
        }
    }

    fn leaf_directories(&self, laying: &mut Laying<'_>) -> Result<(), EngineError> {
        let all = &self.layout.leaf_directories;
        let total = all.len() as u64;
        for (index, leaf) in all.iter().enumerate().filter(|(_, l)| l.exists) {
            if interrupted_by().is_some() {
                return Ok(());
            }
            let path = || self.root.join(self.layout.leaf_directory_path(index));
            if self.manner == Manner::ReuseForeign {
                if !path().is_dir() {
                    return Err(EngineError::WouldChange { path: path(), what: "does not exist".into() });
                }
                continue;
            }
            let parent = self.open_directory(leaf.directory)?;
            self.make_directory(laying.ledger, parent.as_fd(), &name_of(leaf.number), &path)?;
            laying.report(Step::Directories, index as u64 + 1, total, 0, false);
        }
        if total > 0 {
            laying.report(Step::Directories, total, total, 0, true);
        }
        Ok(())
    }

    pub fn open_directory(&self, index: u32) -> Result<OwnedFd, EngineError> {
        let path = self.layout.directory_path(index as usize);
        ours::open_directory(self.root_fd.as_fd(), &path).map_err(|e| {
            let path = self.root.join(path);
            match e {
                Errno::NOENT if !self.may_change() => {
                    EngineError::WouldChange { path, what: "does not exist".into() }
                }
                Errno::NOTDIR if !self.may_change() => {
                    EngineError::WouldChange { path, what: "is not the directory it should be".into() }
                }
                e => EngineError::file("open", path, e),
            }
        })
    }

    /// Creates the files that must exist. Returns the bytes written.
    fn files(&self, laying: &mut Laying<'_>) -> Result<u64, EngineError> {
        let files = &self.layout.files;
        let total = files.len() as u64;
        // Files of one directory are consecutive.
        let mut units: Vec<Range<usize>> = Vec::new();
        for (index, file) in files.iter().enumerate() {
            match units.last_mut() {
                Some(unit) if files[unit.start].directory == file.directory => unit.end = index + 1,
                _ => units.push(index..index + 1),
            }
        }
        let threads = self.threads(units.len());
        let Laying { ledger, listener, last_report, report, .. } = laying;
        let common = Common {
            job: self,
            ledger: Mutex::new(ledger),
            units,
            next: AtomicUsize::new(0),
            done: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        };
        let mut progress = |at_once: bool| {
            if let Some(listener) = listener
                && (at_once || last_report.elapsed() >= OFTEN)
            {
                let (done, bytes) = (common.done.load(Relaxed), common.bytes.load(Relaxed));
                listener(&super::super::Progress {
                    set: &self.set.name,
                    step: Step::Files,
                    done,
                    total,
                    bytes,
                });
                *last_report = std::time::Instant::now();
            }
        };
        progress(true);
        let mut failed = None;
        std::thread::scope(|scope| -> Result<(), EngineError> {
            let (sender, outcomes) = channel();
            for _ in 0..threads {
                let (common, sender) = (&common, sender.clone());
                let started = std::thread::Builder::new().spawn_scoped(scope, move || common.work(&sender));
                if let Err(e) = started {
                    common.stop.store(true, Relaxed);
                    return Err(EngineError::system("start a thread", e));
                }
            }
            drop(sender);
            loop {
                match outcomes.recv_timeout(OFTEN) {
                    Ok(Ok(prepared)) => {
                        for (index, outcome) in prepared {
                            report(&self.root.join(self.layout.file_path(index)), outcome);
                        }
                    }
                    Ok(Err(e)) => {
                        common.stop.store(true, Relaxed);
                        failed.get_or_insert(e);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
                progress(false);
            }
        })?;
        progress(true);
        failed.map_or_else(|| Ok(common.bytes.load(Relaxed)), Err)
    }

    /// Small files are created by several threads: most of the work is the kernel's, with names and inodes. Large ones are
    /// written one by one, because files written concurrently are interleaved on the disk.
    fn threads(&self, units: usize) -> usize {
        let small = self.layout.total_bytes() / (self.layout.files.len() as u64).max(1) <= CHUNK as u64;
        if !small || self.manner == Manner::ReuseGiven {
            return 1;
        }
        std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(units.max(1))
    }
}

impl Common<'_, '_> {
    /// Body of one thread.
    fn work(&self, outcomes: &Sender<UnitOutcome>) {
        crate::interrupt::leave_signals_to_the_parent(false);
        let mut writer = None;
        while !self.stop.load(Relaxed) && interrupted_by().is_none() {
            let Some(unit) = self.units.get(self.next.fetch_add(1, Relaxed)) else { return };
            let outcome = self.unit(unit.clone(), &mut writer);
            // The receiver waits until all senders are dropped.
            let _ = outcomes.send(outcome);
        }
    }

    /// The files of one directory.
    fn unit(&self, unit: Range<usize>, writer: &mut Option<Writer>) -> UnitOutcome {
        let job = self.job;
        let files = &job.layout.files;
        let mut prepared = Vec::new();
        if !files[unit.clone()].iter().any(|f| f.exists) {
            self.done.fetch_add(unit.len() as u64, Relaxed);
            return Ok(prepared);
        }
        let directory = job.open_directory(files[unit.start].directory)?;
        for index in unit {
            if self.stop.load(Relaxed) || interrupted_by().is_some() {
                break;
            }
            if files[index].exists {
                if writer.is_none() {
                    *writer = Some(Writer::new(job.workload, job.set, job.set.data.clone())?);
                }
                let Some(writer) = writer else { continue };
                prepared.push((index, files::prepare(self, directory.as_fd(), index, writer)?));
            }
            self.done.fetch_add(1, Relaxed);
        }
        Ok(prepared)
    }
}
