//! Floor loops around io_uring: a tuned ring with registered file and buffers and deferred task work, that submits all free entries
//! in one call and waits for one completion.

use super::{Done, Offsets, Pages, Target, open, timed};
use anyhow::Result;
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::os::fd::AsRawFd as _;
use std::sync::Barrier;

const RECORD: usize = 4096;

pub fn cached_32(target: &Target, start: &Barrier) -> Result<Done> {
    run(target, start, 32, false)
}

pub fn cached_128(target: &Target, start: &Barrier) -> Result<Done> {
    run(target, start, 128, false)
}

pub fn direct_1(target: &Target, start: &Barrier) -> Result<Done> {
    run(target, start, 1, true)
}

pub fn direct_32(target: &Target, start: &Barrier) -> Result<Done> {
    run(target, start, 32, true)
}

fn run(target: &Target, start: &Barrier, depth: u32, direct: bool) -> Result<Done> {
    let file = open(&target.path, false, direct)?;
    let mut ring = IoUring::<squeue::Entry, cqueue::Entry>::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .setup_defer_taskrun()
        .build(depth)?;
    let mut pages = Pages::new(depth as usize * RECORD);
    let vectors: Vec<libc::iovec> = pages
        .0
        .iter_mut()
        .map(|page| libc::iovec { iov_base: page.0.as_mut_ptr().cast(), iov_len: RECORD })
        .collect();
    ring.submitter().register_files(&[file.as_raw_fd()])?;
    // SAFETY: the pages outlive the ring, which is dropped at the end of this function before them.
    unsafe { ring.submitter().register_buffers(&vectors)? };
    let mut offsets = Offsets::of(target, RECORD);
    let mut queue = |ring: &mut IoUring<squeue::Entry, cqueue::Entry>, slot: u32| {
        let page = vectors[slot as usize].iov_base.cast();
        let entry = opcode::ReadFixed::new(types::Fixed(0), page, RECORD as u32, slot as u16)
            .offset(offsets.next())
            .build()
            .user_data(u64::from(slot));
        // SAFETY: the page stays valid and belongs to this slot alone; the ring has room for every slot.
        unsafe { ring.submission().push(&entry) }
    };
    for slot in 0..depth {
        queue(&mut ring, slot)?;
    }
    let mut slots = Vec::with_capacity(depth as usize);
    let done = timed(target, start, || {
        let mut ops = 0;
        while ops < 256 {
            ring.submit_and_wait(1)?;
            for completion in ring.completion() {
                whole(completion.result())?;
                slots.push(completion.user_data() as u32);
            }
            ops += slots.len() as u64;
            for slot in slots.drain(..) {
                queue(&mut ring, slot)?;
            }
        }
        Ok(ops)
    });
    // What is still in flight writes into the pages: the ring waits for it here, before they go.
    drop(ring);
    drop(pages);
    done
}

/// Every read must have moved a whole record.
fn whole(result: i32) -> std::io::Result<()> {
    match result {
        n if n == RECORD as i32 => Ok(()),
        n if n < 0 => Err(std::io::Error::from_raw_os_error(-n)),
        _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}
