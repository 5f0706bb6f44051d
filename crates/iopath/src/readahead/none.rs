//! No read-ahead: a missing page is read alone. The baseline for every other policy, and the effect of `read_ahead_kb=0` in today's
//! kernels.

use super::call::{Call, Pages, Presence, Touch};
use super::counters::Counters;
use super::io::Io;
use super::policy::PolicyRules;

#[derive(Clone, Debug)]
pub(super) struct NoReadAhead;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nothing;

impl PolicyRules for NoReadAhead {
    type File = Nothing;
    type InCall = Nothing;

    fn open(&self) -> Nothing {
        Nothing
    }

    fn begin(&self, _file: &mut Nothing, _call: &Call, _counters: &mut Counters) -> Nothing {
        Nothing
    }

    fn touch<P: Pages>(&self, _: &mut Nothing, _: &mut Nothing, _: &Call, touch: Touch, io: &mut Io<'_, P>) {
        if touch.presence == Presence::Absent {
            io.single(touch.page);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Story;

    #[test]
    fn every_page_is_read_alone() {
        let mut story = Story::of("none");
        story.read(0, 16384);
        assert_eq!(story.reads(), [(0, 1), (1, 1), (2, 1), (3, 1)]);
        assert_eq!(story.counters().single_pages, 4);
    }
}
