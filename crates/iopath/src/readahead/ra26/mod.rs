//! Read-ahead of linux 2.6.1 to 2.6.9: called for each page, growing and shrinking with hits and misses, and able to switch itself off.
//! Three variants of one state machine ([`window`]).
//!
//! - shared (to 2.6.6): all calls through an open file use one state. Threads that read at random interleave page by page, every
//!   page looks like a jump, the next window shrinks by two each time, and at 0 read-ahead goes off; then every page is read
//!   alone. This is the regression that the SysBench tables of 2004 show.
//! - private (patch of May 2004): a call copies the state, works on the copy and puts it back; of two concurrent calls one update is
//!   lost.
//! - seeky (2.6.7): private, and the window after a jump is as long as the average run, without a spare page; the ahead window is
//!   used only for runs longer than the maximum. `count_run=1` is 2.6.8, which includes the current run.

mod window;

use super::call::{Call, Pages, Presence, Touch};
use super::counters::Counters;
use super::io::Io;
use super::policy::PolicyRules;
use crate::tunable::{Tunable, Tunables, Unit, View};
pub(super) use window::Window;

/// Row: largest window.
const MAX: usize = 0;
/// Row: smallest window after lost pages.
const MIN: usize = 1;
/// Row: whether the current run counts, in the seeky variant.
const COUNT_RUN: usize = 2;

pub(super) static TABLE: [Tunable; 3] = [
    Tunable::count("max", Unit::Pages, 32, "largest window; half of it is the first one"),
    Tunable::count(
        "min",
        Unit::Pages,
        4,
        "the next window is not made smaller than this by pages that were lost",
    )
    .at_least(1),
    Tunable::switch("count_run", 0, "the run that is going on counts in the window after a jump (2.6.8)"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// One state for all calls.
    Shared,
    /// A copy per call.
    Private,
    /// A copy per call, and windows as long as runs.
    Seeky,
}

#[derive(Clone, Debug)]
pub(super) struct Ra26 {
    pub tunables: Tunables<3>,
    pub variant: Variant,
}

impl Ra26 {
    /// Its tunables and their values: the current run matters only in the seeky variant.
    pub fn view(&self) -> View<'_> {
        let view = self.tunables.view();
        let rows = rows(self.variant).len();
        View { table: &view.table[..rows], values: &view.values[..rows] }
    }
}

/// Tunables of a variant.
pub(super) fn rows(variant: Variant) -> &'static [Tunable] {
    if variant == Variant::Seeky { &TABLE } else { &TABLE[..COUNT_RUN] }
}

impl PolicyRules for Ra26 {
    type File = Window;
    /// The copy that the call works on; `None` where the state is shared.
    type InCall = Option<Window>;

    fn open(&self) -> Window {
        Window::new(self.tunables[MAX])
    }

    fn begin(&self, file: &mut Window, _call: &Call, _counters: &mut Counters) -> Option<Window> {
        (self.variant != Variant::Shared).then_some(*file)
    }

    fn touch<P: Pages>(
        &self,
        file: &mut Window,
        copy: &mut Option<Window>,
        _call: &Call,
        touch: Touch,
        io: &mut Io<'_, P>,
    ) {
        let window = copy.as_mut().unwrap_or(file);
        self.page(window, touch.page, io);
        if touch.presence == Presence::Absent && !io.pages.present(touch.page) {
            self.missed(window, touch.page, io.counters);
            io.single(touch.page);
        }
    }

    fn end(&self, file: &mut Window, copy: Option<Window>, _call: &Call) {
        if let Some(copy) = copy {
            *file = copy;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Story, shuffled};

    /// Sixteen threads on one file, each reading 16 KiB at random, their pages interleaved as if each waited for every page.
    fn sixteen_threads(policy: &str) -> Story {
        let mut story = Story::of(policy);
        let blocks = shuffled(65_536, 42);
        for round in blocks[..320].chunks(16) {
            story.interleaved(round.iter().map(|&block| (block * 16384, 16384)));
        }
        story
    }

    #[test]
    fn threads_that_share_a_state_switch_it_off() {
        let story = sixteen_threads("ra26-shared");
        assert_eq!(story.counters().went_off, 1);
        assert_eq!(story.counters().came_back, 0);
        let singles = story.reads().iter().filter(|&&(_, pages)| pages == 1).count();
        assert!(singles > 1000, "four requests for each 16 KiB, {singles} of one page");
    }

    #[test]
    fn threads_with_a_copy_each_read_one_page_too_many() {
        let story = sixteen_threads("ra26-private");
        assert_eq!(story.counters().went_off, 0);
        let fives = story.reads().iter().filter(|&&(_, pages)| pages == 5).count();
        assert!(fives > 250, "{fives} of {}", story.reads().len());
    }

    #[test]
    fn seeky_reads_what_the_calls_are_long() {
        let story = sixteen_threads("ra26-seeky");
        assert_eq!(story.counters().went_off, 0);
        let fours = story.reads().iter().skip(40).filter(|&&(_, pages)| pages == 4).count();
        assert!(fours > 200, "{fours} of {}", story.reads().len());
    }

    #[test]
    fn one_thread_at_random_reads_five_pages_for_four() {
        let mut story = Story::of("ra26-shared");
        for n in [50, 7, 300, 120, 800, 20, 500] {
            story.read(n * 16384, 16384);
        }
        let sizes: Vec<u32> = story.reads().iter().map(|&(_, pages)| pages).collect();
        assert_eq!(sizes, [16, 5, 5, 5, 5, 5, 5]);
    }

    #[test]
    fn a_stream_grows_to_the_maximum() {
        for policy in ["ra26-shared", "ra26-private", "ra26-seeky,count_run=1"] {
            let mut story = Story::of(policy);
            (0..400).for_each(|page| story.read(page << 12, 4096));
            let sizes: Vec<u32> = story.reads().iter().map(|&(_, pages)| pages).collect();
            assert_eq!(sizes[0], 16, "{policy}");
            assert!(sizes[4..].iter().all(|&pages| pages == 32), "{policy}: {sizes:?}");
        }
    }

    #[test]
    fn off_ends_after_thirty_two_misses_in_a_row() {
        let mut story = sixteen_threads("ra26-shared");
        story.take_reads();
        story.file_bytes = 2 << 30;
        (0..29).for_each(|page| story.read((300_000 + page) << 12, 4096));
        assert_eq!(story.counters().came_back, 0);
        (29..80).for_each(|page| story.read((300_000 + page) << 12, 4096));
        assert_eq!(story.counters().came_back, 1);
        assert!(story.reads().iter().any(|&(_, pages)| pages == 32), "{:?}", story.reads());
    }

    #[test]
    fn windows_all_cached_shrink_the_next() {
        let mut story = Story::of("ra26-shared");
        story.cache.fill(0..4000);
        for n in shuffled(900, 3) {
            story.read(n * 16384, 16384);
        }
        assert!(story.counters().cached_windows > 0);
        assert!(story.reads().is_empty());
    }

    #[test]
    fn why_it_went_off_is_counted_apart() {
        let story = sixteen_threads("ra26-shared");
        assert_eq!((story.counters().went_off, story.counters().went_off_cached), (1, 0), "of misses");
        // A file read page by page from the cache: each fully cached window makes the next one shorter.
        let mut story = Story::of("ra26-shared,max=2");
        story.cache.fill(0..100);
        [0, 1, 2, 3, 4, 5].into_iter().for_each(|page| story.read(page << 12, 4096));
        let counters = story.counters();
        assert_eq!((counters.went_off, counters.went_off_cached), (1, 1), "{counters:?}");
    }

    #[test]
    fn a_page_of_another_call_inside_the_window_counts_as_contiguous() {
        let mut story = Story::of("ra26-shared");
        // The window is 0 to 15: page 9 after page 0 is not sequential, but shrinks nothing.
        [0, 9, 200].into_iter().for_each(|page| story.read(page << 12, 4096));
        assert_eq!((story.counters().contiguous_pages, story.counters().jump_pages), (1, 1));
    }

    #[test]
    fn of_two_calls_at_once_one_update_is_lost() {
        let mut story = Story::of("ra26-private");
        story.read(0, 4096);
        story.interleaved([(4096, 8192), (1 << 20, 4096)].into_iter());
        // The second call ended first; the first one overwrote its state.
        story.read(12288, 4096);
        assert_eq!(story.counters().jump_pages, 1, "the second call's; the first page of all is neither");
        assert_eq!(story.counters().contiguous_pages, 3);
    }
}
