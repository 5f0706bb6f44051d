//! What the back-ends can do on this machine, found by trying: every answer comes from a real call, on an unnamed file that
//! disappears with its descriptor. The full table is for users (`fathom backends`). The checks for one workload run before it, so
//! that it is refused with a message instead of failing midway. The probes themselves are in the back-ends' files.

use super::capability::{Capability, ProbeFile, State, no_polled_queues, polled_queues, text};
use super::{aio, mmap, nvme, psync, pvsync2, stdio, uring};
use crate::action::Sets;
use fathom_workload::{Backend, FileSet, Files, Pvsync2, Stream, Uring};
use rustix::fs::FileType;
use std::path::{Path, PathBuf};

type Probe = fn(&ProbeFile) -> Vec<Capability>;

/// Back-ends that are tried on a file of a directory.
const PROBES: [(&str, Probe); 6] = [
    ("psync", psync::probe),
    ("pvsync2", pvsync2::probe),
    ("stdio", stdio::probe),
    ("mmap", mmap::probe),
    ("aio", aio::probe),
    ("uring", uring::probe),
];

/// What all back-ends can do with files in the temporary directory. File systems differ: call [`capabilities_in`] for the
/// directory to be measured.
#[must_use]
pub fn capabilities() -> Vec<Capability> {
    capabilities_in(&std::env::temp_dir())
}

/// What all back-ends can do with files in a directory. The directory is not changed: the probe uses an unnamed file. Where that
/// is not supported, a file in memory is used instead, and the sentences say so. Takes some milliseconds, and some tens more
/// where the kernel is slow to destroy an aio queue.
#[must_use]
pub fn capabilities_in(directory: &Path) -> Vec<Capability> {
    let own = match ProbeFile::new(directory) {
        Ok(probe_file) => PROBES.iter().flat_map(|(_, probe)| probe(&probe_file)).collect(),
        Err(e) => {
            let sentence =
                format!("no test file can be created in {} or in memory: {}", directory.display(), text(e));
            let unknown = |&(backend, _): &(&'static str, Probe)| Capability {
                backend,
                feature: "calls",
                state: State::Unknown,
                sentence: sentence.clone(),
            };
            PROBES.iter().map(unknown).collect::<Vec<_>>()
        }
    };
    own.into_iter().chain(nvme::probe()).collect()
}

/// The checks for the streams of one workload, each made once.
#[derive(Default)]
pub(crate) struct Tried {
    rings: Vec<uring::RingFlags>,
    aio_operations: u64,
}

/// Properties of a stream that the checks need.
pub(crate) struct StreamRequest<'a> {
    pub stream: &'a Stream,
    pub set: Option<&'a FileSet>,
    /// Number of workers that execute the stream concurrently.
    pub workers: u64,
    /// Minimum buffer bytes of each worker.
    pub buffer_bytes: u64,
    /// Bytes of its largest record.
    pub largest: u64,
    pub sets: &'a Sets,
}

impl Tried {
    /// Why this machine cannot execute the stream with its back-end. Streams without special requests cost nothing.
    pub fn refusal(&mut self, asked: &StreamRequest) -> Option<String> {
        match asked.stream.backend {
            Backend::Null
            | Backend::Psync(_)
            | Backend::Posix
            | Backend::Splice
            | Backend::Calls(_)
            | Backend::Compute(_)
            | Backend::Beside
            | Backend::Stdio { .. }
            | Backend::Mmap { huge_pages: false, advice: None, .. } => None,
            Backend::Mmap { huge_pages, advice, .. } => [huge_pages.then_some(mmap::HUGE_PAGES), advice]
                .into_iter()
                .flatten()
                .find_map(|number| mmap::refusal(number, crate::files::writes(asked.stream))),
            Backend::Pvsync2(options) => flags_refusal(&options, asked),
            Backend::Aio { atomic, .. } => {
                if let Some(sentence) = atomic_refusal(atomic, asked) {
                    return Some(sentence);
                }
                let operations = u64::from(asked.stream.queue_depth).saturating_mul(asked.workers);
                if operations <= self.aio_operations {
                    return None;
                }
                self.aio_operations = operations;
                aio::refusal(operations)
            }
            Backend::Uring(options) => atomic_refusal(options.atomic, asked)
                .or_else(|| self.ring_refusal(&options))
                .or_else(|| buffers_refusal(&options, asked))
                .or_else(|| {
                    let polls = options.completion_polling;
                    polls.then(|| polling_refusal(asked.set, "completion_polling")).flatten()
                }),
            Backend::Nvme(options) => self
                .ring_refusal(&options)
                .or_else(|| {
                    let paths = asked.set.into_iter().flat_map(|set| asked.sets.paths(set));
                    nvme::refusal(paths, asked.stream, asked.largest)
                })
                .or_else(|| buffers_refusal(&options, asked))
                .or_else(|| {
                    let polls = options.completion_polling;
                    polls.then(|| polling_refusal(asked.set, "completion_polling")).flatten()
                }),
        }
    }

    /// Why the kernel refuses such a ring, tried once.
    fn ring_refusal(&mut self, options: &Uring) -> Option<String> {
        let flags = uring::RingFlags::of(options);
        if !self.rings.contains(&flags) {
            if let Some(sentence) = uring::refusal(flags) {
                return Some(sentence);
            }
            self.rings.push(flags);
        }
        None
    }
}

/// Why the buffers of a stream's workers cannot be registered as it demands.
fn buffers_refusal(options: &Uring, asked: &StreamRequest) -> Option<String> {
    let registered = options.registered_buffers == Some(true);
    let buffers = registered.then(|| asked.buffer_bytes.saturating_mul(asked.workers));
    buffers.and_then(uring::locked_memory_refusal)
}

/// Why flags of single reads and writes are not supported.
fn flags_refusal(options: &Pvsync2, asked: &StreamRequest) -> Option<String> {
    pvsync2::refusal(options)
        .or_else(|| {
            (options.high_priority && options.high_priority_percent != Some(0))
                .then(|| polling_refusal(asked.set, "high_priority"))
                .flatten()
        })
        .or_else(|| {
            let moves = pvsync2::Moves {
                reads: crate::files::reads(asked.stream),
                writes: crate::files::writes(asked.stream),
            };
            let direct = asked.stream.open.direct;
            directories(asked.set).iter().find_map(|d| pvsync2::refusal_of_files(options, direct, moves, d))
        })
}

/// The same for back-ends with only this flag: the kernel supports it for all or for none.
fn atomic_refusal(atomic: bool, asked: &StreamRequest) -> Option<String> {
    atomic.then(|| flags_refusal(&Pvsync2 { atomic, ..Pvsync2::default() }, asked)).flatten()
}

/// The directories of a set's files; for a missing one, the directory it will be created in.
fn directories(set: Option<&FileSet>) -> Vec<PathBuf> {
    let paths = match set.map(|s| &s.files) {
        Some(Files::List(paths)) => paths.clone(),
        Some(Files::Numbered { prefix, .. }) => vec![prefix.clone()],
        _ => return Vec::new(),
    };
    let mut all: Vec<PathBuf> = Vec::new();
    // Its directory says nothing about a device.
    let device = |path: &Path| {
        rustix::fs::stat(path).is_ok_and(|s| FileType::from_raw_mode(s.st_mode).is_block_device())
    };
    for path in paths.iter().filter_map(|p| std::path::absolute(p).ok()).filter(|p| !device(p)) {
        // A prefix ending in "/" is itself the directory of the files.
        let inside = if path.as_os_str().as_encoded_bytes().ends_with(b"/") { 0 } else { 1 };
        let found = path.ancestors().skip(inside).find(|p| p.is_dir()).map(Path::to_path_buf);
        all.extend(found.filter(|f| !all.contains(f)));
    }
    all
}

/// Why a key that requests polling cannot be used on the device of a file set.
fn polling_refusal(set: Option<&FileSet>, key: &str) -> Option<String> {
    let path = match &set?.files {
        Files::List(paths) => paths.first()?.clone(),
        Files::Numbered { prefix, .. } => prefix.clone(),
        Files::Tree(_) => return None,
    };
    let path = std::path::absolute(path).ok()?;
    let status = path.ancestors().find_map(|p| rustix::fs::stat(p).ok())?;
    let is_device = FileType::from_raw_mode(status.st_mode).is_block_device();
    let (disk, polls) = polled_queues(if is_device { status.st_rdev } else { status.st_dev })?;
    (!polls).then(|| format!("{key} polls the device for completions, but {}", no_polled_queues(&disk)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_backend_answers_and_nothing_stays() {
        let dir = tempfile::tempdir().unwrap();
        let before = std::fs::read_dir("/proc/self/fd").unwrap().count();
        let all = capabilities_in(dir.path());
        let backends: BTreeSet<&str> = all.iter().map(|c| c.backend).collect();
        assert_eq!(backends.len(), 7, "{backends:?}; null makes no call, so there is nothing to try");
        let mut features: Vec<_> = all.iter().map(|c| (c.backend, c.feature)).collect();
        features.sort_unstable();
        features.dedup();
        assert_eq!(features.len(), all.len(), "each once");
        for c in &all {
            assert!(c.sentence.len() > 10 && !c.sentence.ends_with('.'), "{c:?}");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        // Other tests of this process open and close files concurrently; a leaking probe would leak one per try.
        let after = std::fs::read_dir("/proc/self/fd").unwrap().count();
        assert!(after < before + 10, "{before} descriptors before, {after} after");
    }

    #[test]
    fn a_directory_that_takes_no_file_is_stood_in_for_by_memory() {
        // No directory can exist below a file.
        let file = tempfile::NamedTempFile::new().unwrap();
        let all = capabilities_in(&file.path().join("no directory"));
        let calls = all.iter().find(|c| c.backend == "psync").unwrap();
        assert_eq!(calls.state, State::Works);
        assert!(calls.sentence.contains("a file in memory"), "{}", calls.sentence);
    }

    #[test]
    fn plain_streams_are_not_asked_about() {
        let stream = Stream::new("f", fathom_workload::Direction::Read, fathom_workload::Bytes(4096));
        let sets =
            crate::Engine::new(crate::Ledger::nowhere()).sets(&fathom_workload::Workload::default()).unwrap();
        let asked = StreamRequest {
            stream: &stream,
            set: None,
            workers: 1,
            buffer_bytes: u64::MAX,
            largest: 0,
            sets: &sets,
        };
        assert_eq!(Tried::default().refusal(&asked), None);
    }
}
