//! The floor loop around Linux native asynchronous I/O: io_submit of all free slots, io_getevents of at least one, by system calls.

use super::{Done, Offsets, Pages, Target, open, timed};
use anyhow::Result;
use std::io::Error;
use std::os::fd::AsRawFd as _;
use std::sync::Barrier;

const RECORD: usize = 4096;

/// The kernel's `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    obj: u64,
    res: i64,
    res2: i64,
}

pub fn direct_32(target: &Target, start: &Barrier) -> Result<Done> {
    run(target, start, 32)
}

/// A context that is destroyed with this; the kernel then waits for what is in flight.
struct Context(libc::c_ulong);

impl Context {
    fn new(depth: usize) -> Result<Self> {
        let mut context = 0;
        // SAFETY: the kernel stores one word into `context`.
        let failed = unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) };
        if failed != 0 {
            return Err(Error::last_os_error().into());
        }
        Ok(Self(context))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context was made by io_setup and is not used again.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

fn run(target: &Target, start: &Barrier, depth: usize) -> Result<Done> {
    let file = open(&target.path, false, true)?;
    let mut pages = Pages::new(depth * RECORD);
    let mut offsets = Offsets::of(target, RECORD);
    let mut blocks: Vec<libc::iocb> = pages
        .0
        .iter_mut()
        .enumerate()
        .map(|(slot, page)| {
            // SAFETY: a zeroed iocb is valid: operation 0 is a read of nothing.
            let mut block: libc::iocb = unsafe { std::mem::zeroed() };
            block.aio_data = slot as u64;
            block.aio_fildes = file.as_raw_fd() as u32;
            block.aio_buf = page.0.as_mut_ptr() as u64;
            block.aio_nbytes = RECORD as u64;
            block
        })
        .collect();
    // Made last, so that it goes first: what is in flight writes into the pages.
    let context = Context::new(depth)?;
    let mut free: Vec<usize> = (0..depth).collect();
    let mut events = vec![Event::default(); depth];
    timed(target, start, || {
        let mut ops = 0;
        while ops < 256 {
            submit(&context, &mut blocks, &mut free, &mut offsets)?;
            ops += reap(&context, &mut events, &mut free)?;
        }
        Ok(ops)
    })
}

fn submit(
    context: &Context,
    blocks: &mut [libc::iocb],
    free: &mut Vec<usize>,
    offsets: &mut Offsets,
) -> Result<()> {
    let mut list = [std::ptr::null_mut::<libc::iocb>(); 128];
    for (entry, &slot) in list.iter_mut().zip(free.iter()) {
        blocks[slot].aio_offset = offsets.next() as i64;
        *entry = &raw mut blocks[slot];
    }
    let mut from = 0;
    while from < free.len() {
        // SAFETY: the list holds this many control blocks, which with their buffers live longer than the context.
        let taken = unsafe {
            libc::syscall(libc::SYS_io_submit, context.0, free.len() - from, list.as_mut_ptr().add(from))
        };
        if taken < 0 {
            return Err(Error::last_os_error().into());
        }
        from += taken as usize;
    }
    free.clear();
    Ok(())
}

fn reap(context: &Context, events: &mut [Event], free: &mut Vec<usize>) -> Result<u64> {
    let none = std::ptr::null_mut::<libc::timespec>();
    // SAFETY: the kernel stores at most as many events as there are.
    let got = unsafe {
        libc::syscall(libc::SYS_io_getevents, context.0, 1, events.len(), events.as_mut_ptr(), none)
    };
    if got < 0 {
        return Err(Error::last_os_error().into());
    }
    for event in &events[..got as usize] {
        if event.res < 0 {
            return Err(Error::from_raw_os_error(-event.res as i32).into());
        }
        free.push(event.data as usize);
    }
    Ok(got as u64)
}
