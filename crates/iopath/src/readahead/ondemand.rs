//! Read-ahead on demand, linux 2.6.31 to 5.15 (rules from the 2.6.24 and 4.19 sources): it acts only when a page misses or a marked page
//! is touched. The mark is on the page at which the next window starts; random reads leave the state alone and read exactly what they
//! request. `context=0` disables the look at cached pages before a missing page, as before 2.6.31.

use super::call::{Call, Kind, PAGE_BYTES, Pages, Presence, Touch};
use super::counters::Counters;
use super::io::Io;
use super::policy::PolicyRules;
use super::window::{grown, history, initial_window, most, next_hole};
use crate::tunable::{Tunable, Tunables, Unit};

/// Row: largest window.
const MAX: usize = 0;
/// Row: largest request of the device.
const DEVICE: usize = 1;
/// Row: whether cached pages before a miss count as the trace of a stream.
const CONTEXT: usize = 2;

pub(super) static TABLE: [Tunable; 3] = [
    Tunable::count("max", Unit::Pages, 32, "largest window (read_ahead_kb / 4); 0 is no read-ahead"),
    Tunable::count(
        "device",
        Unit::Pages,
        0,
        "largest request of the device (max_sectors_kb / 4): calls longer than max read up to this much at once (since 4.10)",
    ),
    Tunable::switch("context", 1, "take cached pages before a missing one as a sign of a stream"),
];

#[derive(Clone, Debug)]
pub(super) struct OnDemand {
    pub tunables: Tunables<3>,
}

/// Per open file: the last window, of which the last `async_size` pages are read-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OnDemandFile {
    start: u64,
    size: u64,
    async_size: u64,
    /// Page on which the last call ended.
    previous: u64,
}

/// Page the call touched last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OnDemandCall {
    last: Option<u64>,
    end: u64,
}

impl PolicyRules for OnDemand {
    type File = OnDemandFile;
    type InCall = OnDemandCall;

    fn open(&self) -> OnDemandFile {
        OnDemandFile { start: 0, size: 0, async_size: 0, previous: u64::MAX / PAGE_BYTES }
    }

    fn begin(&self, _file: &mut OnDemandFile, call: &Call, _counters: &mut Counters) -> OnDemandCall {
        OnDemandCall { last: None, end: call.asked_end() }
    }

    fn touch<P: Pages>(
        &self,
        file: &mut OnDemandFile,
        now: &mut OnDemandCall,
        _: &Call,
        touch: Touch,
        io: &mut Io<'_, P>,
    ) {
        let asked = now.end - touch.page;
        now.last = Some(touch.page);
        if self.tunables[MAX] == 0 {
            if touch.presence == Presence::Absent {
                io.single(touch.page);
            }
            return;
        }
        let mut marked = touch.mark.is_some_and(|mark| {
            io.pages.unmark(mark);
            true
        });
        if touch.presence == Presence::Absent {
            let mark = self.missed(file, touch.page, asked, io);
            // The touched page may be the one just marked.
            marked = mark == Some(touch.page);
            if marked {
                io.pages.unmark(super::Mark::single(touch.page));
            }
            io.single(touch.page);
        }
        if marked && !io.pages.congested() {
            self.marked(file, touch.page, asked, io);
        }
    }

    fn end(&self, file: &mut OnDemandFile, now: OnDemandCall, _call: &Call) {
        if let Some(last) = now.last {
            file.previous = last;
        }
    }
}

impl OnDemand {
    /// Handles an absent page. Returns the page that was marked.
    fn missed<P: Pages>(
        &self,
        file: &mut OnDemandFile,
        page: u64,
        asked: u64,
        io: &mut Io<'_, P>,
    ) -> Option<u64> {
        let max = most(self.tunables[MAX], self.tunables[DEVICE], asked);
        if page == 0 {
            return self.initial(file, page, asked, max, io);
        }
        if expected(file, page) {
            return self.next(file, page, max, Kind::Sync, io);
        }
        if asked > max || page.wrapping_sub(file.previous) <= 1 {
            io.counters.contiguous_pages += 1;
            return self.initial(file, page, asked, max, io);
        }
        io.counters.jump_pages += 1;
        let seen = if self.tunables[CONTEXT] == 1 { history(page, max, io.pages) } else { 0 };
        if seen <= asked {
            // A short random read: exactly as requested, without changing the state.
            io.window(page, asked, None, Kind::Sync);
            return None;
        }
        let from_the_start = seen >= page;
        file.start = page;
        file.size = (if from_the_start { 2 * seen } else { seen } + asked).min(max);
        file.async_size = 1;
        self.read(file, page, max, Kind::Sync, io)
    }

    /// Handles a touch of a marked page.
    fn marked<P: Pages>(&self, file: &mut OnDemandFile, page: u64, asked: u64, io: &mut Io<'_, P>) {
        let max = most(self.tunables[MAX], self.tunables[DEVICE], asked);
        if expected(file, page) {
            self.next(file, page, max, Kind::Async, io);
            return;
        }
        // Another stream's window: the pages cached from here on were read ahead for it.
        let Some(hole) = next_hole(page + 1, max, io.pages) else { return };
        file.start = hole;
        file.size = grown(hole - page + asked, max);
        file.async_size = file.size;
        self.read(file, page, max, Kind::Async, io);
    }

    fn initial<P: Pages>(
        &self,
        file: &mut OnDemandFile,
        page: u64,
        asked: u64,
        max: u64,
        io: &mut Io<'_, P>,
    ) -> Option<u64> {
        file.start = page;
        file.size = initial_window(asked, max);
        file.async_size = if file.size > asked { file.size - asked } else { file.size };
        self.read(file, page, max, Kind::Sync, io)
    }

    fn next<P: Pages>(
        &self,
        file: &mut OnDemandFile,
        page: u64,
        max: u64,
        kind: Kind,
        io: &mut Io<'_, P>,
    ) -> Option<u64> {
        io.counters.contiguous_pages += 1;
        file.start += file.size;
        file.size = grown(file.size, max);
        file.async_size = file.size;
        self.read(file, page, max, kind, io)
    }

    fn read<P: Pages>(
        &self,
        file: &mut OnDemandFile,
        page: u64,
        max: u64,
        kind: Kind,
        io: &mut Io<'_, P>,
    ) -> Option<u64> {
        // A window that would begin with its own mark is merged with the one that the mark would start.
        if page == file.start && file.size == file.async_size {
            let more = grown(file.size, max);
            if file.size + more <= max {
                file.async_size = more;
                file.size += more;
            } else {
                file.size = max;
                file.async_size = max / 2;
            }
        }
        // At the end of the file there is no next window for a mark to start.
        let last = file.start.saturating_add(file.size) >= io.file_pages;
        let mark = (!last && file.async_size > 0).then(|| file.start + file.size - file.async_size);
        let free = mark.filter(|&page| !io.pages.present(page));
        io.window(file.start, file.size, mark, kind);
        free
    }
}

/// Whether a page is where the state expects the stream: at the mark or after the window.
fn expected(file: &OnDemandFile, page: u64) -> bool {
    page == file.start + file.size - file.async_size || page == file.start + file.size
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Story, shuffled};

    #[test]
    fn random_calls_get_what_they_ask_for() {
        let mut story = Story::of("ra-ondemand");
        for n in shuffled(4000, 1) {
            let n = n + 1;
            story.cache = Default::default();
            story.read(n * 65536, 16384);
            assert_eq!(story.take_reads(), [(n * 16, 4)]);
        }
    }

    #[test]
    fn a_stream_quadruples_then_doubles() {
        let mut story = Story::of("ra-ondemand");
        (0..256).for_each(|page| story.read(page << 12, 4096));
        let sizes: Vec<u32> = story.reads().iter().map(|&(_, pages)| pages).collect();
        assert_eq!(sizes[..5], [4, 8, 16, 32, 32]);
    }

    #[test]
    fn two_streams_through_one_file_keep_their_windows() {
        let mut story = Story::of("ra-ondemand");
        for page in 0..300 {
            story.read(page << 12, 4096);
            story.read((5000 + page) << 12, 4096);
        }
        let large = story.reads().iter().filter(|&&(_, pages)| pages == 32).count();
        assert!(large > 8, "marks bring both to the maximum: {:?}", story.reads());
    }

    #[test]
    fn without_context_a_stream_among_others_stays_small() {
        let mut with = Story::of("ra-ondemand");
        let mut without = Story::of("ra-ondemand,context=0");
        for page in 0..100 {
            for story in [&mut with, &mut without] {
                story.read((100 + page) << 12, 4096);
                story.read((5000 + 3 * page) << 12, 4096);
            }
        }
        assert!(without.reads().len() > with.reads().len());
    }

    #[test]
    fn calls_longer_than_the_window_may_use_the_device() {
        let mut story = Story::of("ra-ondemand,device=320");
        story.read(0, 1 << 20);
        assert_eq!(story.reads()[0], (0, 256));
    }
}
