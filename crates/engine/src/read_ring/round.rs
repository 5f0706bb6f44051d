//! The course of a round of reads: split into aligned pieces of one buffer each, submitted as slots become free, continued after
//! short reads, and reported. However a round ends, none of its pieces stays in the kernel.

use super::ring::Slot;
use super::{Event, Inside, ReadRing, Wanted};
use std::collections::VecDeque;
use std::io;
use std::sync::MutexGuard;

/// Number of retries of an interrupted piece.
const TRIES: u32 = 100;

/// A part of a read that fits into one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    read: usize,
    offset: u64,
    bytes: usize,
    /// The rest of a short read, or a retry.
    again: bool,
    /// Number of interruptions.
    tries: u32,
}

/// Progress of a read.
#[derive(Debug)]
struct ReadProgress {
    wanted: Wanted,
    /// Number of unfinished pieces.
    left: usize,
    /// File offset where it stops: its end, or the first error or end of file.
    end: u64,
    error: Option<i32>,
}

impl ReadProgress {
    /// Nothing can be read from this offset on.
    fn stops(&mut self, at: u64, error: Option<i32>) {
        if at < self.end {
            self.end = at;
            self.error = error;
        }
    }

    fn over(&self, read: usize) -> Event<'static> {
        let got = self.end.saturating_sub(self.wanted.offset);
        let got = usize::try_from(got).unwrap_or(usize::MAX).min(self.wanted.bytes);
        Event::Over { read, got, error: self.error.map(io::Error::from_raw_os_error) }
    }
}

/// See the module.
pub(super) struct Round<'r> {
    ring: &'r ReadRing,
    reads: Vec<ReadProgress>,
    /// Not submitted yet, in order.
    queue: VecDeque<Piece>,
    /// In flight, by slot index.
    flying: Vec<(u16, Piece)>,
    /// Completed but not yet reported.
    back: Vec<(Piece, Slot, i32)>,
}

impl<'r> Round<'r> {
    pub(super) fn new(ring: &'r ReadRing, wanted: &[Wanted]) -> Self {
        let mut this = Self {
            ring,
            reads: Vec::with_capacity(wanted.len()),
            queue: VecDeque::new(),
            flying: Vec::new(),
            back: Vec::new(),
        };
        for &one in wanted {
            this.cut(one);
        }
        this
    }

    /// Splits a read into pieces of whole units.
    fn cut(&mut self, wanted: Wanted) {
        let unit = self.ring.geometry.unit as u64;
        let end = wanted.offset.saturating_add(wanted.bytes as u64);
        let most = self.ring.buffer_bytes() as u64;
        let mut offset = wanted.offset / unit * unit;
        let mut left = 0;
        while wanted.bytes > 0 && offset < end {
            let bytes = (end - offset).min(most).next_multiple_of(unit).min(most);
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            self.queue.push_back(Piece { read: self.reads.len(), offset, bytes, again: false, tries: 0 });
            left += 1;
            offset = offset.saturating_add(bytes as u64);
        }
        self.reads.push(ReadProgress { wanted, left, end, error: None });
    }

    /// Executes the round.
    pub(super) fn run(mut self, report: &mut dyn FnMut(Event<'_>)) {
        for (read, progress) in self.reads.iter().enumerate() {
            if progress.left == 0 {
                report(progress.over(read)); // an empty read
            }
        }
        let ring = self.ring;
        let mut inside = ring.lock();
        loop {
            let past = self.hand_over(&mut inside);
            self.take_back(&mut inside);
            if past.is_empty() && self.back.is_empty() {
                if self.queue.is_empty() && self.flying.is_empty() {
                    return;
                }
                inside = self.wait(inside);
                continue;
            }
            drop(inside);
            for piece in past {
                self.is_over(piece, report);
            }
            self.report(report);
            inside = ring.lock();
            self.lay_down(&mut inside);
        }
    }

    /// Submits as many pieces as there are slots; returns those beyond the end of their read.
    fn hand_over(&mut self, inside: &mut Inside) -> Vec<Piece> {
        let mut past = Vec::new();
        let mut any = false;
        while let Some(&piece) = self.queue.front() {
            if self.reads.get(piece.read).is_none_or(|read| piece.offset >= read.end) {
                past.push(piece);
            } else if inside.broken.is_some() {
                break;
            } else {
                let Some(slot) = inside.free.pop() else { break };
                self.flying.push((slot.number(), piece));
                self.ring.ring.push(&mut inside.desk, slot, piece.offset, piece.bytes);
                inside.counts.reads += 1;
                inside.counts.again += u64::from(piece.again);
                any = true;
            }
            self.queue.pop_front();
        }
        if any {
            self.ring.submit(inside);
        }
        past
    }

    /// Takes completed pieces.
    fn take_back(&mut self, inside: &mut Inside) {
        if !inside.waiting && self.ring.ring.reap(&mut inside.desk) > 0 {
            self.ring.came.notify_all(); // completions of other rounds may be among them
        }
        let back = &mut self.back;
        self.flying.retain(|&(number, piece)| match inside.desk.take(number) {
            Some((slot, result)) => {
                back.push((piece, slot, result));
                false
            }
            None => true,
        });
    }

    /// Waits for a change. A ring that takes no more reads ends the rest of the round.
    fn wait<'a>(&mut self, inside: MutexGuard<'a, Inside>) -> MutexGuard<'a, Inside>
    where
        'r: 'a,
    {
        let Some(errno) = inside.broken else { return self.ring.settle(inside) };
        let lost = self.queue.drain(..).chain(self.flying.drain(..).map(|(_, piece)| piece));
        for piece in lost.collect::<Vec<_>>() {
            if let Some(read) = self.reads.get_mut(piece.read) {
                read.stops(piece.offset, Some(errno));
            }
            // Now beyond its read's end: reported by the next turn.
            self.queue.push_back(piece);
        }
        inside
    }

    /// Reports completed pieces; unfinished ones are queued again, in front.
    fn report(&mut self, report: &mut dyn FnMut(Event<'_>)) {
        for at in 0..self.back.len() {
            let Some((piece, slot, result)) = self.back.get(at) else { break };
            let piece = *piece;
            let Some(read) = self.reads.get_mut(piece.read) else { continue };
            let (rest, came) = after(piece, *result, self.ring.geometry.unit);
            let wanted = read.wanted;
            let (first, last) = (piece.offset, piece.offset.saturating_add(came as u64));
            let from = first.max(wanted.offset);
            let to = last.min(wanted.offset.saturating_add(wanted.bytes as u64));
            if from < to {
                let within = |place: u64| usize::try_from(place - first).unwrap_or(usize::MAX);
                let bytes = self.ring.ring.bytes(slot, came);
                if let Some(bytes) = bytes.get(within(from)..within(to)) {
                    let at = usize::try_from(from - wanted.offset).unwrap_or(usize::MAX);
                    report(Event::Bytes { read: piece.read, at, bytes });
                }
            }
            match rest {
                Rest::Whole => self.is_over(piece, report),
                Rest::Ends(error) => {
                    read.stops(last, error);
                    self.is_over(piece, report);
                }
                Rest::Again(piece) => self.queue.push_front(piece),
            }
        }
    }

    /// A piece is finished; with its last piece, a read is over.
    fn is_over(&mut self, piece: Piece, report: &mut dyn FnMut(Event<'_>)) {
        let Some(progress) = self.reads.get_mut(piece.read) else { return };
        progress.left -= 1;
        if progress.left == 0 {
            report(progress.over(piece.read));
        }
    }

    /// Returns processed slots for other rounds.
    fn lay_down(&mut self, inside: &mut Inside) {
        if self.back.is_empty() {
            return;
        }
        inside.free.extend(self.back.drain(..).map(|(_, slot, _)| slot));
        self.ring.came.notify_all();
    }
}

/// What to do after a piece has completed.
#[derive(Debug, PartialEq, Eq)]
enum Rest {
    /// It is complete.
    Whole,
    /// Nothing more follows: end of file, or this errno.
    Ends(Option<i32>),
    /// The rest to be read.
    Again(Piece),
}

/// The outcome of a piece, and the number of bytes read.
fn after(piece: Piece, result: i32, unit: usize) -> (Rest, usize) {
    let Ok(came) = usize::try_from(result) else {
        let errno = result.saturating_neg();
        let passing = matches!(errno, libc::EINTR | libc::EAGAIN | libc::ECANCELED);
        return match passing && piece.tries < TRIES {
            true => (Rest::Again(Piece { again: true, tries: piece.tries + 1, ..piece }), 0),
            false => (Rest::Ends(Some(errno)), 0),
        };
    };
    let came = came.min(piece.bytes);
    let rest = if came == piece.bytes {
        Rest::Whole
    } else if came == 0 || !came.is_multiple_of(unit) {
        // The last part of a file that is not a multiple of the unit: nothing beyond it may be requested.
        Rest::Ends(None)
    } else {
        let offset = piece.offset.saturating_add(came as u64);
        Rest::Again(Piece { offset, bytes: piece.bytes - came, again: true, tries: 0, ..piece })
    };
    (rest, came)
}

impl Drop for Round<'_> {
    /// A round whose caller panicked may have pieces in flight: their slots stay unowned until completion.
    fn drop(&mut self) {
        let ring = self.ring;
        let mut inside = ring.lock();
        loop {
            self.take_back(&mut inside);
            inside.free.extend(self.back.drain(..).map(|(_, slot, _)| slot));
            if self.flying.is_empty() || inside.broken.is_some() {
                break;
            }
            inside = ring.settle(inside);
        }
        drop(inside);
        ring.came.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: Piece = Piece { read: 3, offset: 8192, bytes: 8192, again: false, tries: 0 };

    #[test]
    fn a_short_read_continues_where_it_stopped() {
        assert_eq!(after(PIECE, 8192, 1), (Rest::Whole, 8192));
        let rest = Piece { offset: 8192 + 4096, bytes: 4096, again: true, ..PIECE };
        assert_eq!(after(PIECE, 4096, 512), (Rest::Again(rest), 4096));
        let rest = Piece { offset: 8192 + 5, bytes: 8187, again: true, ..PIECE };
        assert_eq!(after(PIECE, 5, 1), (Rest::Again(rest), 5));
    }

    #[test]
    fn at_the_end_of_the_file_nothing_more_is_asked_for() {
        assert_eq!(after(PIECE, 0, 1), (Rest::Ends(None), 0));
        assert_eq!(after(PIECE, 700, 512), (Rest::Ends(None), 700), "a part of a sector is the last one");
    }

    #[test]
    fn interrupted_reads_are_retried_a_limited_number_of_times() {
        for errno in [libc::EINTR, libc::EAGAIN, libc::ECANCELED] {
            let again = Piece { again: true, tries: 1, ..PIECE };
            assert_eq!(after(PIECE, -errno, 1), (Rest::Again(again), 0));
            let tired = Piece { tries: TRIES, ..PIECE };
            assert_eq!(after(tired, -errno, 1), (Rest::Ends(Some(errno)), 0));
        }
        assert_eq!(after(PIECE, -libc::EIO, 1), (Rest::Ends(Some(libc::EIO)), 0));
        let short = Piece { tries: TRIES, ..PIECE };
        let (Rest::Again(rest), 1) = after(short, 1, 1) else { panic!("it goes on") };
        assert_eq!(rest.tries, 0, "something came in between");
    }

    #[test]
    fn a_read_ends_where_the_first_thing_stopped_it() {
        let wanted = Wanted { offset: 100, bytes: 1000 };
        let mut read = ReadProgress { wanted, left: 0, end: 1100, error: None };
        read.stops(900, Some(libc::EIO));
        read.stops(950, Some(libc::EINVAL));
        let Event::Over { read: 7, got: 800, error: Some(error) } = read.over(7) else {
            panic!("it is over")
        };
        assert_eq!(error.raw_os_error(), Some(libc::EIO));
        read.stops(40, None);
        assert!(
            matches!(read.over(7), Event::Over { got: 0, error: None, .. }),
            "stopped before its first byte"
        );
    }
}
