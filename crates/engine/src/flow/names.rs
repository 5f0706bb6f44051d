//! Operations on names: open, create, close, remove, stat, directories.

use super::io::descriptor;
use super::sets::SetPlace;
use super::spot::{Parent, Spot};
use super::worker::{Break, FlowWorker};
use crate::fault::{FailedCall, Fault};
use fathom_workload::flow::{Deletion, FlatOp, Wanted};
use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// Bytes counted for a directory entry, besides its name.
const NAME_EXTRA: u64 = 279;

impl FlowWorker<'_> {
    pub(super) fn open_existing(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.thread.closed_slot(op)?;
        let from = self.clock.now();
        let counts = self.open_into(op, slot)?;
        if counts { self.done(op, from, 0) } else { Ok(()) }
    }

    pub(super) fn create(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.thread.closed_slot(op)?;
        let from = self.clock.now();
        let pick = self.thread.file(op, Wanted::Missing)?;
        let (set, entry) = (pick.set, self.pick(&pick)?);
        let setting = self.setting;
        let files = &setting.sets[set].files;
        let place = &setting.set_places[set];
        let spot = &place.entries[entry].spot;
        let new = OFlags::CREATE | OFlags::EXCL;
        let mut made = self.open_file(op, set, spot, new);
        if matches!(made, Err(Errno::NOENT)) && place.tree && place.bases.make_parents(spot).is_ok() {
            made = self.open_file(op, set, spot, new);
        }
        let made = made.map_err(|e| self.fault(FailedCall::Create, e, (set, entry)));
        if let Ok(file) = made {
            files.set_exists(entry, true);
            self.thread.opened(slot, file, (set, entry));
            files.release(entry);
            return self.done(op, from, 0);
        }
        files.release(entry);
        made.map(drop)
    }

    pub(super) fn close(&mut self, op: &FlatOp) -> Result<(), Break> {
        let file = self.thread.close(op)?;
        let from = self.clock.now();
        crate::files::close(file)?;
        self.done(op, from, 0)
    }

    pub(super) fn delete(&mut self, op: &FlatOp) -> Result<(), Break> {
        let setting = self.setting;
        let from = self.clock.now();
        let (set, entry, own, open) = match self.thread.deletion(op)? {
            Deletion::Own { set, file, open } => {
                while !setting.sets[set].files.claim(file) {
                    self.give_way()?;
                }
                (set, file, true, open)
            }
            Deletion::Any(pick) => (pick.set, self.pick(&pick)?, false, false),
        };
        let files = &setting.sets[set].files;
        if !self.thread.may_delete((set, entry), open) {
            files.release(entry);
            return self.wait_until(0);
        }
        let place = &setting.set_places[set];
        let spot = &place.entries[entry].spot;
        let (result, from, _parent) = self.in_parent(place, spot, from, |directory, name| {
            rustix::fs::unlinkat(directory, name, AtFlags::empty())
        });
        if result.is_ok() {
            files.set_exists(entry, false);
        }
        files.release(entry);
        result.map_err(|e| self.fault(FailedCall::Remove, e, (set, entry)))?;
        self.thread.deleted(op, own);
        self.done(op, from, 0)
    }

    pub(super) fn stat(&mut self, op: &FlatOp) -> Result<(), Break> {
        let setting = self.setting;
        if let Some(slot) = op.slot
            && let Some(file) = descriptor(self.thread.slots.get(slot))
        {
            let from = self.clock.now();
            rustix::fs::fstat(file).map_err(|e| Fault::of(FailedCall::Stat, e, 0))?;
            return self.done(op, from, 0);
        }
        let from = self.clock.now();
        let pick = self.thread.file(op, Wanted::Existing)?;
        let (set, entry) = (pick.set, self.pick(&pick)?);
        let result = rustix::fs::stat(setting.set_places[set].entries[entry].spot.path());
        setting.sets[set].files.release(entry);
        result.map_err(|e| self.fault(FailedCall::Stat, e, (set, entry)))?;
        self.done(op, from, 0)
    }

    pub(super) fn make_directory(&mut self, op: &FlatOp) -> Result<(), Break> {
        let setting = self.setting;
        let from = self.clock.now();
        let pick = self.thread.leaf(op, Wanted::Missing)?;
        let (set, leaf) = (pick.set, self.pick(&pick)?);
        let place = &setting.set_places[set];
        let (result, from, _parent) = self.in_parent(place, &place.leaves[leaf], from, |directory, name| {
            rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(0o755))
        });
        if result.is_ok() {
            setting.sets[set].leaves.set_exists(leaf, true);
        }
        setting.sets[set].leaves.release(leaf);
        result.map_err(|e| Fault::of(FailedCall::Create, e, 0))?;
        self.done(op, from, 0)
    }

    pub(super) fn remove_directory(&mut self, op: &FlatOp) -> Result<(), Break> {
        let setting = self.setting;
        let from = self.clock.now();
        let pick = self.thread.leaf(op, Wanted::Existing)?;
        let (set, leaf) = (pick.set, self.pick(&pick)?);
        let place = &setting.set_places[set];
        let (result, from, _parent) = self.in_parent(place, &place.leaves[leaf], from, |directory, name| {
            rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)
        });
        if result.is_ok() {
            setting.sets[set].leaves.set_exists(leaf, false);
        }
        setting.sets[set].leaves.release(leaf);
        result.map_err(|e| Fault::of(FailedCall::Remove, e, 0))?;
        self.done(op, from, 0)
    }

    /// Creates or removes a name in its parent directory. Finding that directory is not part of the operation: the start tick is
    /// moved by that time, and the caller closes the directory later.
    fn in_parent<'p>(
        &self,
        place: &'p SetPlace,
        spot: &'p Spot,
        from: u64,
        call: impl FnOnce(BorrowedFd<'_>, &CStr) -> Result<(), Errno>,
    ) -> (Result<(), Errno>, u64, Option<Parent<'p>>) {
        let began = self.clock.now();
        let parent = match place.bases.parent(spot) {
            Ok(parent) => parent,
            Err(e) => return (Err(e), from, None),
        };
        let found = self.clock.now();
        (call(parent.directory(), parent.name), from + found.saturating_sub(began), Some(parent))
    }

    /// Reads the next directory of the set completely. Counts the memory size of its entries.
    pub(super) fn list_directory(&mut self, op: &FlatOp) -> Result<(), Break> {
        let (set, setting) = (self.thread.set_of(op)?, self.setting);
        let turn = setting.sets[set].next_directory();
        let Some(directory) = turn.and_then(|at| setting.set_places[set].directories.get(at)) else {
            return Err(Break::Exhausted);
        };
        let from = self.clock.now();
        let bytes = list(directory).map_err(|e| Fault::of(FailedCall::List, e, 0))?;
        self.done(op, from, bytes)
    }
}

fn list(directory: &std::ffi::CStr) -> Result<u64, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory, flags, Mode::empty())?;
    let mut buffer = [const { MaybeUninit::<u8>::uninit() }; 32 << 10];
    let mut entries = RawDir::new(&file, &mut buffer);
    let mut bytes = 0;
    while let Some(entry) = entries.next() {
        bytes += entry?.file_name().to_bytes().len() as u64 + NAME_EXTRA;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn a_directory_counts_its_names() {
        let dir = fathom_testkit::TestDir::new();
        std::fs::write(dir.path().join("abc"), "").unwrap();
        let path = std::ffi::CString::new(dir.path().as_os_str().as_bytes()).unwrap();
        assert_eq!(list(&path), Ok(1 + 2 + 3 + 3 * NAME_EXTRA));
    }
}
