//! The ring itself and the memory that is registered with it: everything unsafe about reading through it, and nothing else. A piece of the
//! memory is a [`Slot`], a value that cannot be copied: whoever has it may look at the bytes, and to give the kernel something
//! to do with them is to give it away until the kernel is done.

use crate::backend::ring_refusal;
use crate::buffer::Buffer;
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use rustix::fd::{AsRawFd as _, OwnedFd};
use std::io;
use std::ptr::NonNull;

/// A piece of the registered memory that the kernel has nothing to do with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Slot(u16);

impl Slot {
    /// Which one; completions carry it.
    pub(super) fn number(&self) -> u16 {
        self.0
    }
}

/// Where a slot is: with its holder, with the kernel, or come back from there with what the kernel said.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Held,
    InFlight(Slot),
    Back(Slot, i32),
}

/// The caller's side of the ring, for one thread at a time: it is behind a lock, and the parts of the ring that may not be used by two
/// threads at once take it as the proof that they are not.
#[derive(Debug)]
pub(super) struct Desk {
    places: Vec<Place>,
    in_flight: usize,
}

impl Desk {
    /// How many reads the kernel has.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// A slot that has come back, with the result: bytes, or a negative errno.
    pub(super) fn take(&mut self, number: u16) -> Option<(Slot, i32)> {
        let place = self.places.get_mut(usize::from(number))?;
        match std::mem::replace(place, Place::Held) {
            Place::Back(slot, result) => Some((slot, result)),
            other => {
                *place = other;
                None
            }
        }
    }

    /// The kernel is done with a slot.
    fn came_back(&mut self, number: u64, result: i32) {
        let place = usize::try_from(number).ok().and_then(|number| self.places.get_mut(number));
        let Some(place) = place else { return };
        match std::mem::replace(place, Place::Held) {
            Place::InFlight(slot) => {
                *place = Place::Back(slot, result);
                self.in_flight -= 1;
            }
            other => *place = other,
        }
    }
}

/// A ring over one file. Fields go in this order: the memory after the ring that knows it.
pub(super) struct Ring {
    ring: IoUring,
    file: OwnedFd,
    /// Where the memory begins.
    base: NonNull<u8>,
    slot_bytes: usize,
    _memory: Buffer,
}

// SAFETY: the memory that `base` points to belongs to the ring alone; a part of it is looked at through a `Slot`, of which there is one
// for each part, and written by the kernel only while its `Slot` is in the `Desk`. The file and the ring may be used by any thread.
unsafe impl Send for Ring {}
// SAFETY: as above; what of the ring is for one thread at a time takes `&mut Desk`, of which there is one.
unsafe impl Sync for Ring {}

impl Ring {
    /// A ring for `slots` reads at once of `slot_bytes` each, with its memory registered; or a sentence why there is none.
    pub(super) fn new(
        file: OwnedFd,
        slots: u16,
        slot_bytes: usize,
    ) -> Result<(Self, Desk, Vec<Slot>), String> {
        if let Some(why) = ring_refusal("read without it") {
            return Err(why);
        }
        let builder = IoUring::<squeue::Entry, cqueue::Entry>::builder();
        let ring = builder.build(u32::from(slots).next_power_of_two());
        let ring = ring.map_err(|e| format!("io_uring_setup fails: {e}"))?;
        let bytes = usize::from(slots) * slot_bytes;
        let mut memory = Buffer::new(bytes).map_err(|fault| {
            let error = io::Error::from_raw_os_error(fault.errno);
            format!("no memory for {bytes} bytes of buffers: {error}")
        })?;
        let all = memory.all_mut();
        let (pointer, length) = (all.as_mut_ptr(), all.len());
        let base = NonNull::new(pointer).ok_or("no memory for buffers")?;
        let whole = libc::iovec { iov_base: pointer.cast(), iov_len: length };
        // SAFETY: the memory is mapped for as long as this value lives, and the ring goes before it.
        unsafe { ring.submitter().register_buffers(&[whole]) }.map_err(|e| match e.raw_os_error() {
            Some(libc::ENOMEM) => format!(
                "{} KiB of buffers cannot be registered: the limit of locked memory (ulimit -l) is too low, or memory is short",
                length / 1024
            ),
            _ => format!("the kernel does not take buffers for a ring: {e}"),
        })?;
        let desk = Desk { places: (0..slots).map(|_| Place::Held).collect(), in_flight: 0 };
        let this = Self { ring, file, base, slot_bytes, _memory: memory };
        // Taken from the end: the first is used first.
        Ok((this, desk, (0..slots).rev().map(Slot).collect()))
    }

    /// Bytes of a slot.
    pub(super) fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// The first bytes of a slot.
    pub(super) fn bytes<'s>(&'s self, slot: &'s Slot, bytes: usize) -> &'s [u8] {
        let bytes = bytes.min(self.slot_bytes);
        // SAFETY: the slot lies in the memory (its number is below their number), which lives as long as `self`; the kernel does
        // not write there, since the slot is here and not in the `Desk`; and nobody else has it.
        unsafe {
            std::slice::from_raw_parts(self.base.as_ptr().add(usize::from(slot.0) * self.slot_bytes), bytes)
        }
    }

    /// Queues a read into a slot; it goes with the next [`Ring::submit`]. There is always room: the ring has an entry for each slot.
    pub(super) fn push(&self, desk: &mut Desk, slot: Slot, offset: u64, bytes: usize) {
        let bytes = u32::try_from(bytes.min(self.slot_bytes)).unwrap_or(u32::MAX);
        // SAFETY: the slot lies in the memory; see `bytes`.
        let into = unsafe { self.base.as_ptr().add(usize::from(slot.0) * self.slot_bytes) };
        let entry = opcode::ReadFixed::new(types::Fd(self.file.as_raw_fd()), into, bytes, 0);
        let entry = entry.offset(offset).build().user_data(slot.0.into());
        let number = usize::from(slot.0);
        if let Some(place) = desk.places.get_mut(number) {
            *place = Place::InFlight(slot);
            desk.in_flight += 1;
        }
        // SAFETY: `desk` is lent to nobody else, so no other thread uses this queue. What the entry points to stays: the file and
        // the memory belong to `self`, which nobody drops while a round borrows it, and the slot is in the desk until it is back.
        let pushed = unsafe { self.ring.submission_shared().push(&entry) };
        debug_assert!(pushed.is_ok(), "the ring has an entry for each slot");
    }

    /// Gives the kernel what was queued. If it says why it does not take all, the rest stays queued.
    pub(super) fn submit(&self, _desk: &mut Desk) -> io::Result<()> {
        loop {
            // SAFETY: `_desk` is lent to nobody else, so no other thread uses this queue.
            let queue = unsafe { self.ring.submission_shared() };
            if queue.is_empty() {
                return Ok(());
            }
            drop(queue);
            self.ring.submit()?;
        }
    }

    /// Waits until a completion can be reaped. Without the desk: others may queue and submit meanwhile.
    pub(super) fn wait(&self) -> io::Result<()> {
        self.ring.submit_and_wait(1).map(drop)
    }

    /// Takes what has come back; how many that were.
    pub(super) fn reap(&self, desk: &mut Desk) -> usize {
        let before = desk.in_flight;
        // SAFETY: `desk` is lent to nobody else, so no other thread uses this queue.
        let completed = unsafe { self.ring.completion_shared() };
        for entry in completed {
            desk.came_back(entry.user_data(), entry.result());
        }
        before - desk.in_flight
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring")
            .field("file", &self.file)
            .field("slot_bytes", &self.slot_bytes)
            .finish_non_exhaustive()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // The kernel takes a ring apart some time after it is closed, and would hold the pages for as long.
        let _ = self.ring.submitter().unregister_buffers();
    }
}
