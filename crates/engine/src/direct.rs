//! O_DIRECT requires offsets, lengths and memory aligned as the file system and the device demand. The demands are queried from
//! the kernel (statx with STATX_DIOALIGN, Linux 6.1), so that a workload that violates them is refused with a message before the
//! start, instead of by a bare EINVAL at its first operation. Where the kernel does not report them, the logical block size of
//! the device is used; where that is unknown too, nothing is checked.
//!
//! Not part of [`Engine::check`]: an emulated program finds out by itself, and its users expect its own failure.

use crate::action::Sets;
use crate::error::unsupported;
use crate::layout::instances;
use crate::{Engine, EngineError};
use fathom_workload::{
    Access, Backend, Bytes, Direction, Flow, Phase, Program, Record, Stream, Value, Workload,
};
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::fs::{Mode, OFlags};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Alignment of all our buffers.
const OURS: u64 = 4096;

impl Engine {
    /// Checks that every stream of a phase that opens its file with O_DIRECT meets the file's demands. Missing files are judged
    /// by an unnamed file in their directory, or by the device below it.
    ///
    /// # Errors
    /// The first stream that does not, with what to change.
    pub fn check_direct(&self, workload: &Workload, phase: &Phase) -> Result<(), EngineError> {
        let sets = self.sets(workload)?;
        let mut done: Vec<(&Stream, PathBuf)> = Vec::new();
        let mut index = 0;
        for group in &phase.groups {
            for (thread, _) in instances(group) {
                if let Program::Stream(stream) = &thread.program
                    && stream.open.direct
                    // Calls that move no data need no alignment.
                    && stream.backend.moves_data()
                    && !matches!(stream.backend, Backend::Mmap { .. })
                    && let Some(path) = sets.path_of(workload, stream, index)
                    // A thousand workers on one file need one check.
                    && !done.iter().any(|d| std::ptr::eq(d.0, &raw const **stream) && d.1 == path)
                {
                    if let Some(needed) = Alignment::of(&path, stream.direction == Direction::Read)
                        && let Some(sentence) = refusal(stream, &path, needed)
                    {
                        return Err(unsupported(
                            &format!("phase {}, group {}", phase.name, group.name),
                            &sentence,
                        ));
                    }
                    done.push((stream, path));
                }
                index += 1;
            }
        }
        for flow in fathom_workload::flow::flows(phase) {
            check_flow(workload, &sets, flow)
                .map_or(Ok(()), |said| Err(unsupported(&format!("phase {}", phase.name), &said)))?;
        }
        Ok(())
    }
}

/// Why a flow cannot use O_DIRECT where requested. The first file of each set represents all.
fn check_flow(workload: &Workload, sets: &Sets, flow: &Flow) -> Option<String> {
    let ops = fathom_workload::flow::every(&flow.ops);
    let opened: Vec<&str> =
        ops.iter().filter(|op| op.direct).filter_map(|op| op.fileset.as_deref()).collect();
    for op in &ops {
        let Some(name) = op.fileset.as_deref().filter(|name| opened.contains(name)) else { continue };
        let Some(path) = workload.fileset(name).and_then(|set| sets.path(set, 0)) else { continue };
        let Some(needed) = Alignment::of(&path, !op.act.changes()) else { continue };
        let size = match &op.size {
            Value::Number(n) => Some(u64::from(*n)),
            Value::Bytes(bytes) => Some(bytes.0),
            Value::Variable { .. } => None,
        };
        let fits = |n: &u64| n.is_multiple_of(needed.offset.max(1));
        let size = size.map(|n| ("the size", n));
        let numbers = size.into_iter().chain(op.positions.iter().map(|p| ("a position", p.0)));
        let mut odd = numbers.filter(|(_, n)| !fits(n)).map(|(what, n)| {
            (format!("{what} of operation {}", op.name), n, n.next_multiple_of(needed.offset.max(1)))
        });
        if let Some(said) = sentence(&path, needed, odd.next()) {
            return Some(said.replace("open = { direct = true }", "direct = true"));
        }
    }
    None
}

/// Alignment demanded by a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Alignment {
    /// For offsets and lengths; 0: O_DIRECT is not supported.
    offset: u64,
    /// For memory.
    memory: u64,
}

impl Alignment {
    fn of(path: &Path, only_reads: bool) -> Option<Self> {
        let fields = match path.symlink_metadata() {
            Ok(_) => Self::from_statx(path, only_reads),
            // Directories do not report it. An unnamed file created in it does, and leaves nothing behind.
            Err(_) => nameless_beside(path).and_then(|f| {
                Self::from_statx(Path::new(&format!("/proc/thread-self/fd/{}", f.as_raw_fd())), only_reads)
            }),
        };
        fields.or_else(|| Some(Self { offset: logical_block_bytes(path)?, memory: 1 }))
    }

    /// The values from statx.
    fn from_statx(path: &Path, only_reads: bool) -> Option<Self> {
        const DIOALIGN: u32 = 0x2000;
        /// In later kernels reads may have a smaller alignment than writes.
        const DIO_READ_ALIGN: u32 = 0x2_0000;
        // Indices in the kernel's structure, in units of 4 bytes: libc does not have all of them.
        const MASK: usize = 0;
        const MEMORY: usize = 0x98 / 4;
        const OFFSET: usize = 0x9c / 4;
        const READ_OFFSET: usize = 0xb4 / 4;
        let path = CString::new(path.as_os_str().as_bytes()).ok()?;
        let mut fields = [0u32; 64];
        // SAFETY: the path is a C string, and the kernel's structure has 256 bytes.
        let refused = unsafe {
            libc::syscall(
                libc::SYS_statx,
                libc::AT_FDCWD,
                path.as_ptr(),
                libc::AT_NO_AUTOMOUNT,
                DIOALIGN | DIO_READ_ALIGN,
                fields.as_mut_ptr(),
            )
        };
        if refused != 0 || fields[MASK] & DIOALIGN == 0 {
            return None;
        }
        let finer = only_reads && fields[MASK] & DIO_READ_ALIGN != 0 && fields[READ_OFFSET] > 0;
        let offset = if finer { fields[READ_OFFSET] } else { fields[OFFSET] };
        Some(Self { offset: offset.into(), memory: fields[MEMORY].into() })
    }
}

fn nameless_beside(path: &Path) -> Option<OwnedFd> {
    let absolute = std::path::absolute(path).ok()?;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::open(absolute.parent()?, flags, Mode::RUSR | Mode::WUSR).ok()
}

/// The logical block size of the device below a file, or below its future directory.
fn logical_block_bytes(path: &Path) -> Option<u64> {
    let absolute = std::path::absolute(path).ok()?;
    let about = absolute.ancestors().find_map(|p| p.metadata().ok())?;
    let device = if about.file_type().is_block_device() { about.rdev() } else { about.dev() };
    let entry = format!("/sys/dev/block/{}:{}", libc::major(device), libc::minor(device));
    // A partition uses the queue of its disk.
    let of = |queue: &str| std::fs::read_to_string(format!("{entry}/{queue}/logical_block_size")).ok();
    of("queue").or_else(|| of("../queue"))?.trim().parse().ok()
}

/// Why a stream cannot use O_DIRECT on a file; `None` if it can.
fn refusal(stream: &Stream, path: &Path, needed: Alignment) -> Option<String> {
    sentence(path, needed, odd_one(stream, needed.offset.max(1)))
}

/// Why the file does not support it, or the first unaligned number, with its name and an aligned one.
fn sentence(path: &Path, needed: Alignment, odd: Option<(String, u64, u64)>) -> Option<String> {
    let path = path.display();
    if needed.offset == 0 {
        return Some(format!(
            "{path} cannot be opened with O_DIRECT: its file system does not support that for this file (perhaps because of encryption, verity, compression or a data journal); choose another directory, or leave open = {{ direct = true }} out"
        ));
    }
    if needed.memory > OURS {
        return Some(format!(
            "O_DIRECT on {path} needs memory aligned to {}, and fathom aligns to {}; leave open = {{ direct = true }} out",
            Bytes(needed.memory),
            Bytes(OURS)
        ));
    }
    let (what, bytes, better) = odd?;
    Some(format!(
        "O_DIRECT on {path} needs offsets and lengths that are multiples of {}, and {what} is {}; choose {}, or leave open = {{ direct = true }} out",
        Bytes(needed.offset),
        Bytes(bytes),
        Bytes(better)
    ))
}

/// The record sizes that must be multiples, with their names.
fn sizes(record: &Record, put: &mut impl FnMut(&str, u64)) {
    match record {
        Record::Fixed(bytes) => put("the record size", bytes.0),
        // All sizes are multiples of the smallest.
        Record::Between { min, .. } => put("the least record size", min.0),
        Record::Split(sizes) => sizes.iter().for_each(|s| put("a record size of the split", s.0.0)),
        Record::ByKind { read, write } => {
            // Kinds are not nested, which is checked before.
            for own in [read, write] {
                if !matches!(**own, Record::ByKind { .. }) {
                    sizes(own, put);
                }
            }
        }
    }
}

/// The first number of a stream that is not a multiple, with its name and an aligned one.
pub(crate) fn odd_one(stream: &Stream, multiple: u64) -> Option<(String, u64, u64)> {
    let mut numbers: Vec<(String, u64)> = Vec::new();
    let mut put = |name: &str, bytes: u64| numbers.push((name.to_owned(), bytes));
    if let Access::Listed(list) = &stream.access {
        let odd = |n: u64| !n.is_multiple_of(multiple);
        let (i, op) = list.iter().enumerate().find(|(_, op)| odd(op.offset) || odd(op.bytes.into()))?;
        put(&format!("the offset of operation {i} of the list"), op.offset);
        put(&format!("the length of operation {i} of the list"), op.bytes.into());
    } else {
        sizes(&stream.record, &mut put);
        put("the start of the region", stream.start.0);
    }
    if let Backend::Stdio { buffer } = stream.backend {
        put("the buffer of the stream", buffer.0);
    }
    let (name, bytes) = numbers.into_iter().find(|(_, bytes)| !bytes.is_multiple_of(multiple))?;
    Some((name, bytes, bytes.next_multiple_of(multiple)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::ListedOp;

    const AT_4096: Alignment = Alignment { offset: 4096, memory: 512 };

    fn stream() -> Stream {
        Stream::new("f", Direction::Write, Bytes(8192))
    }

    #[track_caller]
    fn expect(stream: &Stream, words: &[&str]) {
        let said = refusal(stream, Path::new("/d/f"), AT_4096);
        let Some(said) = said else { return assert!(words.is_empty(), "not refused") };
        assert!(!words.is_empty() && words.iter().all(|w| said.contains(w)), "{said}");
    }

    #[test]
    fn aligned_streams_are_accepted() {
        expect(&stream(), &[]);
        expect(&Stream { start: Bytes(1 << 20), ..stream() }, &[]);
        let record = Record::Between { min: Bytes(4096), max: Bytes(65536) };
        expect(&Stream { record, ..stream() }, &[]);
        expect(&Stream { backend: Backend::Stdio { buffer: Bytes(0) }, ..stream() }, &[]);
    }

    #[test]
    fn unaligned_streams_are_refused_with_advice() {
        let record = |record| Stream { record, ..stream() };
        expect(
            &record(Record::Fixed(Bytes(512))),
            &["O_DIRECT on /d/f", "multiples of 4KiB", "the record size is 512B", "choose 4KiB"],
        );
        let sizes = vec![(Bytes(4096), 1.0), (Bytes(6144), 1.0)];
        expect(&record(Record::Split(sizes)), &["a record size of the split is 6KiB; choose 8KiB"]);
        let between = Record::Between { min: Bytes(1024), max: Bytes(8192) };
        expect(&record(between), &["the least record size is 1KiB"]);
        expect(&Stream { start: Bytes(100), ..stream() }, &["the start of the region is 100B; choose 4KiB"]);
        let op = |offset, bytes| ListedOp { offset, bytes, ..ListedOp::default() };
        let listed = |list| Stream { access: Access::Listed(list), ..stream() };
        expect(&listed(vec![op(0, 4096), op(512, 4096)]), &["the offset of operation 1 of the list is 512B"]);
        expect(&listed(vec![op(0, 4000)]), &["the length of operation 0 of the list is 4000B"]);
        expect(&listed(vec![op(0, 4096)]), &[]);
        expect(&Stream { backend: Backend::Stdio { buffer: Bytes(3000) }, ..stream() }, &["the buffer of"]);
    }

    #[test]
    fn files_without_it_and_strange_memory_are_refused() {
        let said = |needed| refusal(&stream(), Path::new("/d/f"), needed).unwrap();
        assert!(said(Alignment { offset: 0, memory: 0 }).contains("/d/f cannot be opened with O_DIRECT"));
        assert!(said(Alignment { offset: 512, memory: 65536 }).contains("memory aligned to 64KiB"));
    }

    #[test]
    fn this_machine_reports_plausible_alignment() {
        let dir = fathom_testkit::TestDir::new();
        let path = dir.path().join("f");
        let before = Alignment::of(&path, false);
        assert!(before.is_none_or(|n| n.offset == 0 || n.offset.is_power_of_two()), "{before:?}");
        std::fs::write(&path, "x").unwrap();
        let after = Alignment::of(&path, false);
        assert!(after.is_none_or(|n| n.offset == 0 || n.offset.is_power_of_two()), "{after:?}");
        if nameless_beside(&path).is_some() && Alignment::from_statx(&path, false).is_some() {
            assert_eq!(before, after, "a file tells the same before it is there");
        }
        let reads = Alignment::of(&path, true);
        if let (Some(reads), Some(writes)) = (reads, after) {
            assert!(reads.offset <= writes.offset, "reads are never coarser");
        }
    }
}
