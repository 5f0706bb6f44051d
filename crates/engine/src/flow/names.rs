//! Operations on names: opening, creating, closing, removing, asking, directories.

use super::hand::{Break, Hand};
use super::io::closed;
use super::pool::Wanted;
use super::program::Op;
use super::slots::Slot;
use crate::shared::Call;
use crate::worker::Fault;
use rustix::fs::{AtFlags, Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Bytes that a name of a directory counts for, beside its own.
const NAME_EXTRA: u64 = 279;

impl Hand<'_> {
    pub(super) fn open_existing(&mut self, op: &Op) -> Result<(), Break> {
        let slot = self.closed_slot(op)?;
        let from = self.clock.now();
        let counts = self.open_into(op, slot)?;
        if counts { self.done(op, from, 0) } else { Ok(()) }
    }

    /// The slot, which must be closed.
    fn closed_slot(&mut self, op: &Op) -> Result<usize, Break> {
        let slot = self.slot_of(op)?;
        if self.slots.is_open(slot) {
            self.at_file = self.slots.get(slot).of;
            return Err(Fault::short(Call::OpenSlot, 0, 0, slot as u64).into());
        }
        Ok(slot)
    }

    pub(super) fn create(&mut self, op: &Op) -> Result<(), Break> {
        let slot = self.closed_slot(op)?;
        let set = self.set_of(op)?;
        let from = self.clock.now();
        let entry = self.pick(op, set, true, Wanted::Missing)?;
        let setting = self.setting;
        let of = &setting.sets[set];
        let path = &of.entries[entry].path;
        let new = OFlags::CREATE | OFlags::EXCL;
        let mut made = self.open_file(op, set, path, new);
        if matches!(made, Err(Errno::NOENT))
            && let Some(parent) = Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())).parent()
            && std::fs::create_dir_all(parent).is_ok()
        {
            made = self.open_file(op, set, path, new);
        }
        if made.is_ok() {
            of.files.set_exists(entry, true);
            of.opens[entry].fetch_add(1, Ordering::AcqRel);
        }
        of.files.release(entry);
        let file = made.map_err(|e| self.fault(Call::Create, e, (set, entry)))?;
        let slot = self.slots.at(slot);
        *slot = Slot { file: Some(file), of: Some((set, entry)), deleted: false, position: 0 };
        self.done(op, from, 0)
    }

    pub(super) fn close(&mut self, op: &Op) -> Result<(), Break> {
        let slot = self.slot_of(op)?;
        self.at_file = self.slots.get(slot).of;
        let Some(file) = self.slots.at(slot).file.take() else { return Err(closed(slot)) };
        let from = self.clock.now();
        let result = crate::files::close(file);
        if let Some((set, entry)) = self.at_file {
            self.setting.sets[set].opens[entry].fetch_sub(1, Ordering::AcqRel);
        }
        result?;
        self.done(op, from, 0)
    }

    pub(super) fn delete(&mut self, op: &Op) -> Result<(), Break> {
        let setting = self.setting;
        let remembered =
            op.slot.and_then(|slot| self.slots.get(slot).of.filter(|_| !self.slots.get(slot).deleted));
        let from = self.clock.now();
        let (set, entry, own) = match remembered {
            Some((set, entry)) => {
                while !setting.sets[set].files.claim(entry) {
                    self.give_way()?;
                }
                (set, entry, op.slot.is_some_and(|slot| self.slots.is_open(slot)))
            }
            None => {
                let set = self.set_of(op)?;
                (set, self.pick(op, set, true, Wanted::Existing)?, false)
            }
        };
        let of = &setting.sets[set];
        let others = of.opens[entry].load(Ordering::Acquire) > u32::from(own);
        if others || !of.files.exists(entry) {
            // Somebody works with it, or has removed it: nothing is done, and nothing counts.
            of.files.release(entry);
            return self.wait_until(0);
        }
        let result = rustix::fs::unlinkat(rustix::fs::CWD, &*of.entries[entry].path, AtFlags::empty());
        if result.is_ok() {
            of.files.set_exists(entry, false);
        }
        of.files.release(entry);
        result.map_err(|e| self.fault(Call::Remove, e, (set, entry)))?;
        if let (Some(slot), Some(_)) = (op.slot, remembered) {
            self.slots.at(slot).deleted = true;
        }
        self.done(op, from, 0)
    }

    pub(super) fn stat(&mut self, op: &Op) -> Result<(), Break> {
        let setting = self.setting;
        if let Some(slot) = op.slot
            && let Some(file) = self.slots.get(slot).descriptor()
        {
            let from = self.clock.now();
            rustix::fs::fstat(file).map_err(|e| Fault::of(Call::Stat, e, 0))?;
            return self.done(op, from, 0);
        }
        let set = self.set_of(op)?;
        let from = self.clock.now();
        let entry = self.pick(op, set, true, Wanted::Existing)?;
        let of = &setting.sets[set];
        let result = rustix::fs::stat(&*of.entries[entry].path);
        of.files.release(entry);
        result.map_err(|e| self.fault(Call::Stat, e, (set, entry)))?;
        self.done(op, from, 0)
    }

    pub(super) fn make_directory(&mut self, op: &Op) -> Result<(), Break> {
        let (set, setting) = (self.set_of(op)?, self.setting);
        let from = self.clock.now();
        let leaf = self.pick(op, set, false, Wanted::Missing)?;
        let of = &setting.sets[set];
        let result = rustix::fs::mkdir(&*of.leaves[leaf], Mode::from_raw_mode(0o755));
        if result.is_ok() {
            of.leaf_pool.set_exists(leaf, true);
        }
        of.leaf_pool.release(leaf);
        result.map_err(|e| Fault::of(Call::Create, e, 0))?;
        self.done(op, from, 0)
    }

    pub(super) fn remove_directory(&mut self, op: &Op) -> Result<(), Break> {
        let (set, setting) = (self.set_of(op)?, self.setting);
        let from = self.clock.now();
        let leaf = self.pick(op, set, false, Wanted::Existing)?;
        let of = &setting.sets[set];
        let result = rustix::fs::unlinkat(rustix::fs::CWD, &*of.leaves[leaf], AtFlags::REMOVEDIR);
        if result.is_ok() {
            of.leaf_pool.set_exists(leaf, false);
        }
        of.leaf_pool.release(leaf);
        result.map_err(|e| Fault::of(Call::Remove, e, 0))?;
        self.done(op, from, 0)
    }

    /// Reads the next directory of the set to its end. It counts what its entries take in memory.
    pub(super) fn list_directory(&mut self, op: &Op) -> Result<(), Break> {
        let (set, setting) = (self.set_of(op)?, self.setting);
        let of = &setting.sets[set];
        let turn = of.listed[0].fetch_add(1, Ordering::Relaxed);
        let Some(directory) = of.directories.get((turn % of.directories.len().max(1) as u64) as usize) else {
            return Err(Break::Exhausted);
        };
        let from = self.clock.now();
        let bytes = list(directory).map_err(|e| Fault::of(Call::List, e, 0))?;
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

    #[test]
    fn a_directory_counts_its_names() {
        let dir = fathom_testkit::TestDir::new();
        std::fs::write(dir.path().join("abc"), "").unwrap();
        let path = std::ffi::CString::new(dir.path().as_os_str().as_bytes()).unwrap();
        assert_eq!(list(&path), Ok(1 + 2 + 3 + 3 * NAME_EXTRA));
    }
}
