//! A bio, one piece of I/O as a file system passes it to the block layer, and its physical memory. Created by the simulator, a trace
//! reader or a test; kept in the slab of requests until its request completes.

use crate::limits::Limits;
use crate::task::TaskId;

/// Kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// Device to memory.
    Read = 0,
    /// Memory to device.
    Write = 1,
    /// Trim: the blocks are no longer needed.
    Discard = 2,
    /// Flushes and similar: no data, never merged.
    Other = 3,
}

impl Op {
    /// Whether it counts as a read for schedulers with two directions.
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Read)
    }

    /// 0 for reads, 1 for everything else: the index into per-direction tables.
    pub const fn direction(self) -> usize {
        !self.is_read() as usize
    }

    const fn of(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Read,
            1 => Self::Write,
            2 => Self::Discard,
            _ => Self::Other,
        }
    }
}

const OP: u8 = 0b011;
const SYNC: u8 = 0b100;
const CPU_SHIFT: u8 = 3;

/// Largest start sector of a bio: 128 PiB.
const LAST_SECTOR: u64 = (1 << 48) - 1;

/// A bio, in 32 bytes. Sectors are of 512 bytes; the device is the queue's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bio {
    /// First sector in the upper 48 bits, segments in the lower 16.
    place: u64,
    token: u32,
    sectors: u32,
    first: u32,
    end: u32,
    front: u16,
    back: u16,
    task: u16,
    flags: u8,
}

const _: () = assert!(size_of::<Bio>() <= 32, "a bio must stay within 32 bytes");

impl Bio {
    /// `sectors` sectors from `sector` (below 2^48) on, by task 0, with one physical segment at an unknown address. Writes are not
    /// synchronous.
    pub const fn new(op: Op, sector: u64, sectors: u32) -> Self {
        let span = PageSpan::UNKNOWN;
        let sector = if sector > LAST_SECTOR { LAST_SECTOR } else { sector };
        Self {
            place: sector << 16 | 1,
            token: 0,
            sectors,
            first: span.first,
            end: span.end,
            front: 0,
            back: 0,
            task: 0,
            flags: op as u8,
        }
    }

    /// Sets the submitting task.
    #[must_use]
    pub const fn by(mut self, task: TaskId) -> Self {
        self.task = task.0;
        self
    }

    /// Marks it as waited for: fsync, O_DIRECT, O_SYNC. Reads are always synchronous.
    #[must_use]
    pub const fn sync(mut self) -> Self {
        self.flags |= SYNC;
        self
    }

    /// Sets the submitting CPU (modulo 32): today's block layer has a software queue per CPU.
    #[must_use]
    pub const fn on(mut self, cpu: u8) -> Self {
        self.flags = self.flags & (OP | SYNC) | cpu << CPU_SHIFT;
        self
    }

    /// Sets the value by which the submitter recognises it on completion.
    #[must_use]
    pub const fn with_token(mut self, token: u32) -> Self {
        self.token = token;
        self
    }

    /// Sets its memory.
    #[must_use]
    pub const fn memory(mut self, span: PageSpan) -> Self {
        self.first = span.first;
        self.end = span.end;
        self.front = span.front;
        self.back = span.back;
        self.place = self.sector() << 16 | span.segments as u64;
        self
    }

    /// What is done.
    pub const fn op(&self) -> Op {
        Op::of(self.flags & OP)
    }

    /// First sector.
    pub const fn sector(&self) -> u64 {
        self.place >> 16
    }

    /// Length in sectors.
    pub const fn sectors(&self) -> u32 {
        self.sectors
    }

    /// The sector after the last one.
    pub const fn end(&self) -> u64 {
        self.sector() + self.sectors as u64
    }

    /// The submitting task.
    pub const fn task(&self) -> TaskId {
        TaskId(self.task)
    }

    /// The submitting CPU, 0 to 31.
    pub const fn cpu(&self) -> u8 {
        self.flags >> CPU_SHIFT
    }

    /// See [`Bio::with_token`].
    pub const fn token(&self) -> u32 {
        self.token
    }

    /// Whether it is waited for: every read, and writes marked so.
    pub const fn is_sync(&self) -> bool {
        self.op().is_read() || self.flags & SYNC != 0
    }

    /// The memory it transfers.
    pub const fn span(&self) -> PageSpan {
        PageSpan {
            first: self.first,
            end: self.end,
            front: self.front,
            back: self.back,
            segments: self.place as u16,
        }
    }
}

impl std::fmt::Debug for Bio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sync = if self.is_sync() { "sync" } else { "async" };
        write!(
            f,
            "{:?} {}+{} {sync} task {} token {}",
            self.op(),
            self.sector(),
            self.sectors,
            self.task,
            self.token
        )
    }
}

/// Physical memory in transfer order, reduced to what counting segments needs: its start and end, the lengths of its first and last
/// segment, and the number of segments. Addresses and lengths are in units of 512 bytes, which covers memory up to 2 TiB and blocks
/// smaller than a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSpan {
    first: u32,
    end: u32,
    front: u16,
    back: u16,
    segments: u16,
}

impl PageSpan {
    /// No memory; extend it with [`PageSpan::push`].
    pub const EMPTY: Self = Self { first: 0, end: 0, front: 0, back: 0, segments: 0 };
    /// One segment at an unknown address, as known from a trace. It never joins another.
    pub const UNKNOWN: Self = Self { first: u32::MAX, end: 0, front: 0, back: 0, segments: 1 };
    /// Units of 512 bytes in a page.
    pub const PAGE: u32 = 8;

    /// Segments at unknown addresses.
    pub const fn scattered(segments: u16) -> Self {
        Self { segments, ..Self::UNKNOWN }
    }

    /// Whole pages with these frame numbers, in transfer order.
    pub fn of_pages(frames: impl IntoIterator<Item = u32>, limits: &Limits) -> Self {
        let mut span = Self::EMPTY;
        for frame in frames {
            span.push(frame.wrapping_mul(Self::PAGE), Self::PAGE as u16, limits);
        }
        span
    }

    /// Appends `length` units of memory at `address`; a piece longer than a segment is split.
    pub fn push(&mut self, address: u32, length: u16, limits: &Limits) {
        let longest = limits.max_segment_sectors.clamp(1, u16::MAX as u32);
        let (mut at, mut left) = (address, length as u32);
        while left > 0 {
            let piece = left.min(longest).min(limits.up_to_boundary(at));
            let one = Self {
                first: at,
                end: at.wrapping_add(piece),
                front: piece as u16,
                back: piece as u16,
                segments: 1,
            };
            *self = self.join(one, limits);
            at = at.wrapping_add(piece);
            left -= piece;
        }
    }

    /// This memory followed by `next`. The last segment of the first and the first of the second are joined if they are adjacent and the
    /// limits allow it.
    #[must_use]
    pub fn join(self, next: Self, limits: &Limits) -> Self {
        if self.segments == 0 {
            return next;
        }
        if next.segments == 0 {
            return self;
        }
        let together = self.back as u32 + next.front as u32;
        let placed = self.back > 0 && next.front > 0;
        let neighbours = placed
            && self.end == next.first
            && together <= limits.max_segment_sectors.min(u16::MAX as u32)
            && limits.same_window(self.end - u32::from(self.back), next.first + u32::from(next.front) - 1);
        let segments = self.segments.saturating_add(next.segments) - u16::from(neighbours);
        let front = if neighbours && self.segments == 1 { together as u16 } else { self.front };
        let back = if neighbours && next.segments == 1 { together as u16 } else { next.back };
        Self { first: self.first, end: next.end, front, back, segments }
    }

    /// Like [`PageSpan::join`], for a merge of two bios or requests. Kernels since 5.2 only add the segment counts.
    #[must_use]
    pub fn merge(self, next: Self, limits: &Limits) -> Self {
        if limits.joins_across_bios {
            return self.join(next, limits);
        }
        let segments = self.segments.saturating_add(next.segments);
        Self { first: self.first, end: next.end, front: self.front, back: next.back, segments }
    }

    /// Number of segments.
    pub const fn segments(&self) -> u16 {
        self.segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CCISS: &Limits = &Limits::CCISS;

    #[test]
    fn ascending_pages_share_segments_and_descending_ones_never_do() {
        assert_eq!(PageSpan::of_pages(0..16, CCISS).segments(), 1);
        assert_eq!(PageSpan::of_pages(3..19, CCISS).segments(), 1);
        assert_eq!(PageSpan::of_pages(0..17, CCISS).segments(), 2);
        assert_eq!(PageSpan::of_pages((0..31).rev(), CCISS).segments(), 31);
        assert_eq!(PageSpan::of_pages([5, 6, 9, 10, 2], CCISS).segments(), 3);
    }

    #[test]
    fn a_boundary_parts_neighbours() {
        // IDE table entries do not cross 64 KiB.
        assert_eq!(PageSpan::of_pages(8..24, &Limits::IDE_26).segments(), 2);
        assert_eq!(PageSpan::of_pages(16..32, &Limits::IDE_26).segments(), 1);
    }

    #[test]
    fn page_by_page_or_joined_the_count_is_the_same_up_to_the_cut() {
        let left = PageSpan::of_pages(0..8, CCISS);
        let right = PageSpan::of_pages(8..12, CCISS);
        assert_eq!(left.merge(right, CCISS), PageSpan::of_pages(0..12, CCISS));
        assert_eq!(left.merge(right, &Limits::LOOP_618).segments(), 2);
        assert_eq!(PageSpan::EMPTY.join(left, CCISS), left);
        assert_eq!(left.join(PageSpan::EMPTY, CCISS), left);
    }

    #[test]
    fn pages_of_unknown_places_never_join() {
        let one = PageSpan::UNKNOWN;
        assert_eq!(one.join(one, CCISS).segments(), 2);
        assert_eq!(PageSpan::of_pages([0], CCISS).join(one, CCISS).segments(), 2);
        assert_eq!(one.join(PageSpan::of_pages([0], CCISS), CCISS).segments(), 2);
    }

    #[test]
    fn blocks_below_a_page_are_counted_in_their_page() {
        let mut span = PageSpan::EMPTY;
        span.push(80, 4, CCISS);
        span.push(84, 4, CCISS);
        assert_eq!(span.segments(), 1);
        span.push(88, 300, CCISS);
        assert_eq!(span.segments(), 4);
    }

    #[test]
    fn a_bio_keeps_what_it_is_given() {
        let bio = Bio::new(Op::Write, 1 << 40, 16).by(TaskId(9)).sync().with_token(77).on(35);
        assert_eq!(bio.cpu(), 3);
        assert_eq!((bio.op(), bio.sector(), bio.end()), (Op::Write, 1 << 40, (1 << 40) + 16));
        assert_eq!((bio.task(), bio.token(), bio.is_sync()), (TaskId(9), 77, true));
        let many = Bio::new(Op::Read, 1 << 40, 8).memory(PageSpan::scattered(1000));
        assert_eq!((many.span(), many.sector()), (PageSpan::scattered(1000), 1 << 40));
        assert!(Bio::new(Op::Read, 0, 8).is_sync() && !Bio::new(Op::Write, 0, 8).is_sync());
        assert_eq!(format!("{bio:?}"), "Write 1099511627776+16 sync task 9 token 77");
    }
}
