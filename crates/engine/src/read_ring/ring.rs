//! The ring itself and its registered memory: all unsafe code for reading through it, and nothing else. A part of the memory is a
//! [`Slot`], a value that cannot be copied: its holder may access the bytes, and submitting it to the kernel gives it away until
//! completion.

use crate::backend::ring_refusal;
use crate::buffer::Buffer;
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use rustix::fd::{AsRawFd as _, OwnedFd};
use std::io;
use std::ptr::NonNull;

/// A part of the registered memory that the kernel is not using.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Slot(u16);

impl Slot {
    /// Its index, which completions carry.
    pub(super) fn number(&self) -> u16 {
        self.0
    }
}

/// Where a slot is: with its holder, in the kernel, or completed with a result.
#[derive(Debug, PartialEq, Eq)]
enum SlotState {
    Held,
    InFlight(Slot),
    Back(Slot, i32),
}

/// The user side of the ring, for one thread at a time: it is behind a lock, and the operations of the ring that must not run
/// concurrently take it as proof that they do not.
#[derive(Debug)]
pub(super) struct Desk {
    places: Vec<SlotState>,
    in_flight: usize,
}

impl Desk {
    /// Number of reads in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Takes a completed slot, with its result: bytes, or a negative errno.
    pub(super) fn take(&mut self, number: u16) -> Option<(Slot, i32)> {
        let place = self.places.get_mut(usize::from(number))?;
        match std::mem::replace(place, SlotState::Held) {
            SlotState::Back(slot, result) => Some((slot, result)),
            other => {
                *place = other;
                None
            }
        }
    }

    /// Notes that the kernel is done with a slot.
    fn came_back(&mut self, number: u64, result: i32) {
        let place = usize::try_from(number).ok().and_then(|number| self.places.get_mut(number));
        let Some(place) = place else { return };
        match std::mem::replace(place, SlotState::Held) {
            SlotState::InFlight(slot) => {
                *place = SlotState::Back(slot, result);
                self.in_flight -= 1;
            }
            other => {
                debug_assert!(false, "the kernel is done with slot {number}, which it did not have");
                *place = other;
            }
        }
    }
}

/// A ring over one file. The field order matters: the memory is dropped after the ring that uses it.
pub(super) struct Ring {
    ring: IoUring,
    file: OwnedFd,
    /// Start of the memory.
    base: NonNull<u8>,
    slot_bytes: usize,
    _memory: Buffer,
}

// SAFETY: the memory that `base` points to belongs to the ring alone; a part of it is accessed through a `Slot`, of which there
// is one for each part, and written by the kernel only while its `Slot` is in the `Desk`. The file and the ring may be used by
// any thread.
unsafe impl Send for Ring {}
// SAFETY: as above; single-threaded operations of the ring take `&mut Desk`, of which there is one.
unsafe impl Sync for Ring {}

impl Ring {
    /// A ring for `slots` reads in flight of `slot_bytes` each, with its memory registered; or a sentence why there is none.
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
        // SAFETY: the memory is mapped while this value lives, and the ring is dropped before it.
        unsafe { ring.submitter().register_buffers(&[whole]) }.map_err(|e| match e.raw_os_error() {
            Some(libc::ENOMEM) => format!(
                "{} KiB of buffers cannot be registered: the locked-memory limit (ulimit -l) is too low, or memory is short",
                length / 1024
            ),
            _ => format!("the kernel refused to register buffers: {e}"),
        })?;
        let desk = Desk { places: (0..slots).map(|_| SlotState::Held).collect(), in_flight: 0 };
        let this = Self { ring, file, base, slot_bytes, _memory: memory };
        // Taken from the end, so the first slot is used first.
        Ok((this, desk, (0..slots).rev().map(Slot).collect()))
    }

    /// Bytes of a slot.
    pub(super) fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// The first `bytes` bytes of a slot.
    pub(super) fn bytes<'s>(&'s self, slot: &'s Slot, bytes: usize) -> &'s [u8] {
        let bytes = bytes.min(self.slot_bytes);
        // SAFETY: the slot is in the memory (its index is below the number of slots), which lives as long as `self`; the kernel
        // does not write there, since the slot is here and not in the `Desk`; and it has no other holder.
        unsafe {
            std::slice::from_raw_parts(self.base.as_ptr().add(usize::from(slot.0) * self.slot_bytes), bytes)
        }
    }

    /// Queues a read into a slot for the next [`Ring::submit`]. The queue is never full: the ring has an entry for each slot.
    pub(super) fn push(&self, desk: &mut Desk, slot: Slot, offset: u64, bytes: usize) {
        let bytes = u32::try_from(bytes.min(self.slot_bytes)).unwrap_or(u32::MAX);
        // SAFETY: the slot is in the memory; see `bytes`.
        let into = unsafe { self.base.as_ptr().add(usize::from(slot.0) * self.slot_bytes) };
        let entry = opcode::ReadFixed::new(types::Fd(self.file.as_raw_fd()), into, bytes, 0);
        let entry = entry.offset(offset).build().user_data(slot.0.into());
        let number = usize::from(slot.0);
        if let Some(place) = desk.places.get_mut(number) {
            debug_assert_eq!(
                *place,
                SlotState::Held,
                "slot {number} is with its holder until it is submitted"
            );
            *place = SlotState::InFlight(slot);
            desk.in_flight += 1;
        }
        // SAFETY: `desk` is borrowed exclusively, so no other thread uses this queue. What the entry points to stays valid: the
        // file and the memory belong to `self`, which cannot be dropped while a round borrows it, and the slot is in the desk
        // until it is back.
        let pushed = unsafe { self.ring.submission_shared().push(&entry) };
        debug_assert!(pushed.is_ok(), "the ring has an entry for each slot");
    }

    /// Submits the queued reads. On an error, those not taken stay queued.
    pub(super) fn submit(&self, _desk: &mut Desk) -> io::Result<()> {
        loop {
            // SAFETY: `_desk` is borrowed exclusively, so no other thread uses this queue.
            let queue = unsafe { self.ring.submission_shared() };
            if queue.is_empty() {
                return Ok(());
            }
            drop(queue);
            self.ring.submit()?;
        }
    }

    /// Waits until a completion can be reaped. Does not need the desk, so other threads may queue and submit in parallel.
    pub(super) fn wait(&self) -> io::Result<()> {
        self.ring.submit_and_wait(1).map(drop)
    }

    /// Takes all completions; returns their number.
    pub(super) fn reap(&self, desk: &mut Desk) -> usize {
        let before = desk.in_flight;
        // SAFETY: `desk` is borrowed exclusively, so no other thread uses this queue.
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
        // The kernel dismantles a ring some time after it is closed, and would hold the pages until then.
        let _ = self.ring.submitter().unregister_buffers();
    }
}
