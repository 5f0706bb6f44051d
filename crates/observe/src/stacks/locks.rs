//! Waits of the measured threads for locks, by the program that held them: what `sleeps.bpf.c` counted, read after a phase.

use super::Inodes;
use crate::block::WatchError;
use aya::Ebpf;
use aya::maps::{HashMap, MapData};
use fathom_record::{LockHolder, LockWaits};
use std::path::PathBuf;

/// As the programs have them: name in two words, number of the process, waits and their time, and whether it is a kernel thread.
type RawHolder = [u64; 6];

/// Keys of holders that are no process.
const UNKNOWN: u64 = 0;
const OURSELVES: u64 = u64::MAX;
const FREEZER: u64 = u64::MAX - 1;
/// Holders whose open files are looked at: each takes a system call per file.
const MOST_LOOKED_AT: usize = 4;

/// The programs' table.
pub(super) struct Locks {
    holders: HashMap<MapData, u64, RawHolder>,
}

impl Locks {
    pub(super) fn take(ebpf: &mut Ebpf) -> Result<Self, WatchError> {
        let map = ebpf
            .take_map("holders")
            .ok_or_else(|| WatchError::Programs("the programs have no table `holders`".into()))?;
        Ok(Self {
            holders: map.try_into().map_err(|e: aya::maps::MapError| WatchError::Programs(e.to_string()))?,
        })
    }

    /// Forgets what was counted.
    pub(super) fn forget(&mut self) {
        super::empty(&mut self.holders);
    }

    /// What was counted, without the holders' open files.
    pub(super) fn read(&self) -> LockWaits {
        waits(self.holders.iter().filter_map(Result::ok))
    }
}

fn waits(raw: impl Iterator<Item = (u64, RawHolder)>) -> LockWaits {
    let mut all = LockWaits::default();
    for (key, holder) in raw.filter(|(_, holder)| holder[3] > 0) {
        all.waits += holder[3];
        match key {
            UNKNOWN => all.unknown_ns += holder[4],
            OURSELVES => all.own_ns += holder[4],
            FREEZER => all.frozen_ns += holder[4],
            _ if holder[5] != 0 => all.kernel_ns += holder[4],
            _ => all.holders.push(LockHolder {
                name: super::name_of([holder[0], holder[1]]),
                process: holder[2] as u32,
                waited_ns: holder[4],
                has_file: false,
            }),
        }
    }
    all.holders.sort_by_key(|holder| std::cmp::Reverse(holder.waited_ns));
    all
}

/// Marks the holders that have one of these files open.
pub fn with_files(mut waits: LockWaits, inodes: &Inodes) -> LockWaits {
    for holder in waits.holders.iter_mut().filter(|h| h.process != 0).take(MOST_LOOKED_AT) {
        let open = std::fs::read_dir(format!("/proc/{}/fd", holder.process));
        let files: Vec<PathBuf> = open.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        holder.has_file = files.iter().any(|path| inodes.has(path));
    }
    waits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_told_apart_by_holder() {
        let named = |name: &[u8; 16]| {
            let (halves, _) = name.as_chunks::<8>();
            [u64::from_ne_bytes(halves[0]), u64::from_ne_bytes(halves[1])]
        };
        let [a, b] = named(b"python3\0\0\0\0\0\0\0\0\0");
        let all = waits(
            [
                (UNKNOWN, [0, 0, 0, 1, 10, 0]),
                (OURSELVES, [0, 0, 0, 2, 20, 0]),
                (77, [a, b, 7, 3, 30, 0]),
                (78, [a, b, 8, 1, 40, 0]),
                (79, [a, b, 9, 0, 0, 0]),
                (80, [a, b, 10, 1, 50, 1]),
                (FREEZER, [0, 0, 0, 1, 60, 0]),
            ]
            .into_iter(),
        );
        assert_eq!((all.waits, all.own_ns, all.unknown_ns), (9, 20, 10));
        assert_eq!((all.kernel_ns, all.frozen_ns), (50, 60));
        assert_eq!(all.others_ns(), 70);
        let held: Vec<(&str, u32)> = all.holders.iter().map(|h| (h.name.as_str(), h.process)).collect();
        assert_eq!(
            held,
            [("python3", 8), ("python3", 7)],
            "79 held a lock, but was not waited for to the end"
        );
    }

    #[test]
    fn a_holder_with_the_file_open_is_marked() {
        let dir = fathom_testkit::TestDir::new();
        let path = dir.path().join("f");
        let _open = std::fs::File::create(&path).expect("a file");
        let closed = dir.path().join("g");
        std::fs::write(&closed, "").expect("a file");
        let holder = LockHolder { process: std::process::id(), ..LockHolder::default() };
        let waits = LockWaits { holders: vec![holder], ..LockWaits::default() };
        assert!(with_files(waits.clone(), &Inodes::of(&[path], None)).holders[0].has_file);
        assert!(!with_files(waits, &Inodes::of(&[closed], None)).holders[0].has_file);
    }
}
