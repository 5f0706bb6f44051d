//! A team that communicates by MPI: the calls of `calls.c`, with sent buffers kept until MPI has released them.

use fathom_cli::ranks::{Message, Team};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_void};

// SAFETY: the signatures are those of src/calls.c.
unsafe extern "C" {
    fn fathom_mpi_start() -> c_int;
    fn fathom_mpi_rank() -> c_int;
    fn fathom_mpi_size() -> c_int;
    fn fathom_mpi_send(bytes: *const c_void, count: c_int, to: c_int, kind: c_int) -> *mut c_void;
    fn fathom_mpi_left(request: *mut c_void) -> c_int;
    fn fathom_mpi_look(from: *mut c_int, kind: *mut c_int, count: *mut c_int) -> c_int;
    fn fathom_mpi_take(bytes: *mut c_void, count: c_int, from: c_int, kind: c_int) -> c_int;
    fn fathom_mpi_enter_barrier();
    fn fathom_mpi_passed_barrier() -> c_int;
    fn fathom_mpi_name(text: *mut c_char, room: c_int);
    fn fathom_mpi_end();
    fn fathom_mpi_abort(code: c_int);
}

/// Messages are split into pieces of this size: MPI counts are ints.
const PIECE: usize = 1 << 26;
/// Bit of the message kind: more pieces follow.
const MORE: c_int = 0x100;

/// A send request, and its bytes, which must stay in place until it is done.
type Leaving = (*mut c_void, Box<[u8]>);

/// The ranks of MPI_COMM_WORLD.
pub struct Mpi {
    rank: u32,
    size: u32,
    /// Sends in progress.
    leaving: RefCell<VecDeque<Leaving>>,
    /// Pieces of incomplete messages.
    pieces: RefCell<Vec<Message>>,
}

impl Mpi {
    /// Starts MPI.
    ///
    /// # Errors
    /// If MPI cannot be initialised.
    pub fn start() -> Result<Self, String> {
        // SAFETY: called once, from the only thread.
        let (started, rank, size) = unsafe {
            let started = fathom_mpi_start();
            if started == 0 { (0, fathom_mpi_rank(), fathom_mpi_size()) } else { (started, 0, 1) }
        };
        if started != 0 {
            return Err(format!("MPI could not be started ({started})"));
        }
        let number = |n: c_int| u32::try_from(n).unwrap_or(0);
        Ok(Self {
            rank: number(rank),
            size: number(size).max(1),
            leaving: RefCell::default(),
            pieces: RefCell::default(),
        })
    }

    /// Finalises MPI once all ranks are done.
    pub fn end(self) {
        // SAFETY: the last call; MPI completes pending requests, and their bytes live until then.
        unsafe { fathom_mpi_end() };
    }

    /// Aborts all remaining ranks.
    pub fn abort(&self, code: u8) {
        // SAFETY: MPI was started.
        unsafe { fathom_mpi_abort(c_int::from(code)) };
    }

    fn look_after_leaving(&self) {
        // SAFETY: each request is tested until it is complete, and not afterwards.
        self.leaving.borrow_mut().retain(|(request, _)| unsafe { fathom_mpi_left(*request) } == 0);
    }

    fn piece(&self) -> Option<(Message, bool)> {
        let (mut from, mut kind, mut count) = (0, 0, 0);
        // SAFETY: the three numbers live through the call; the bytes have the reported length.
        let bytes = unsafe {
            if fathom_mpi_look(&raw mut from, &raw mut kind, &raw mut count) == 0 {
                return None;
            }
            let mut bytes = vec![0u8; usize::try_from(count).unwrap_or(0)];
            if fathom_mpi_take(bytes.as_mut_ptr().cast(), count, from, kind) != 0 {
                return None;
            }
            bytes
        };
        let message = Message { from: u32::try_from(from).unwrap_or(0), kind: (kind & 0xff) as u8, bytes };
        Some((message, kind & MORE != 0))
    }
}

impl Team for Mpi {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn send(&self, to: u32, kind: u8, bytes: &[u8]) {
        self.look_after_leaving();
        let mut rest = bytes;
        loop {
            let (piece, more) = rest.split_at(rest.len().min(PIECE));
            let piece: Box<[u8]> = piece.into();
            let kind = c_int::from(kind) | if more.is_empty() { 0 } else { MORE };
            // SAFETY: the bytes are kept with the request until it is complete.
            let request =
                unsafe { fathom_mpi_send(piece.as_ptr().cast(), piece.len() as c_int, to as c_int, kind) };
            if !request.is_null() {
                self.leaving.borrow_mut().push_back((request, piece));
            }
            rest = more;
            if rest.is_empty() {
                return;
            }
        }
    }

    fn poll(&self) -> Option<Message> {
        self.look_after_leaving();
        loop {
            let (message, more) = self.piece()?;
            let mut pieces = self.pieces.borrow_mut();
            let at = pieces.iter().position(|p| (p.from, p.kind) == (message.from, message.kind));
            match (at, more) {
                (None, false) => return Some(message),
                (None, true) => pieces.push(message),
                (Some(at), _) => {
                    pieces[at].bytes.extend_from_slice(&message.bytes);
                    if !more {
                        return Some(pieces.swap_remove(at));
                    }
                }
            }
        }
    }

    fn sent(&self) -> bool {
        self.look_after_leaving();
        self.leaving.borrow().is_empty()
    }

    fn enter_barrier(&self) {
        // SAFETY: MPI was started; one barrier at a time.
        unsafe { fathom_mpi_enter_barrier() };
    }

    fn passed_barrier(&self) -> bool {
        // SAFETY: after a completed barrier the request is null, for which MPI_Test returns true.
        unsafe { fathom_mpi_passed_barrier() != 0 }
    }

    fn carrier(&self) -> String {
        let mut text = [0u8; 256];
        // SAFETY: the size is passed, and the text is zero-terminated.
        unsafe { fathom_mpi_name(text.as_mut_ptr().cast(), text.len() as c_int) };
        let text = String::from_utf8_lossy(&text).into_owned();
        // "Open MPI v4.1.4, package: ..." and "MPICH Version:      4.0.2".
        let first = text.split(['\0', '\n', ',']).next().unwrap_or_default();
        first.replace("Version:", "").split_ascii_whitespace().collect::<Vec<_>>().join(" ")
    }
}
