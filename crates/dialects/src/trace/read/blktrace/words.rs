//! Interprets the action of a blktrace record: the event in its lower half, categories in its upper half.

use fathom_record::block::{BlockAction, RequestFlags};

/// Categories in the upper half of an action.
mod category {
    pub const READ: u32 = 1;
    pub const WRITE: u32 = 1 << 1;
    pub const FLUSH: u32 = 1 << 2;
    pub const SYNC: u32 = 1 << 3;
    pub const DRIVER: u32 = 1 << 9;
    pub const NOTIFY: u32 = 1 << 10;
    pub const AHEAD: u32 = 1 << 11;
    pub const META: u32 = 1 << 12;
    pub const DISCARD: u32 = 1 << 13;
    pub const FUA: u32 = 1 << 15;
}

/// Whether the record is a note about a task or the time rather than an event.
pub(super) fn is_note(action: u32) -> bool {
    action >> 16 & category::NOTIFY != 0
}

/// The event in the lower half of an action; `None` for events that are not used.
pub(super) fn action(word: u32) -> Option<BlockAction> {
    Some(match word & 0xff {
        1 => BlockAction::Queue,
        2 => BlockAction::BackMerge,
        3 => BlockAction::FrontMerge,
        4 => BlockAction::GetRequest,
        6 => BlockAction::Requeue,
        7 => BlockAction::Issue,
        8 => BlockAction::Complete,
        9 => BlockAction::Plug,
        10 | 11 => BlockAction::Unplug,
        12 => BlockAction::Insert,
        13 => BlockAction::Split,
        15 => BlockAction::Remap,
        // Sleeping for a request, bounces, aborts, driver data.
        _ => return None,
    })
}

/// The request's flags from the upper half.
pub(super) fn flags(action: u32) -> RequestFlags {
    let is = |bit: u32| action >> 16 & bit != 0;
    let mut flags = RequestFlags::default();
    let mut set = |when: bool, flag: RequestFlags| {
        if when {
            flags = flags.with(flag);
        }
    };
    let driver = is(category::DRIVER);
    set(driver, RequestFlags::OTHER);
    set(is(category::DISCARD), RequestFlags::DISCARD);
    set(is(category::WRITE) && !is(category::DISCARD) && !driver, RequestFlags::WRITE);
    set(is(category::READ) && !driver, RequestFlags::READ);
    set(is(category::FLUSH), RequestFlags::PREFLUSH);
    set(is(category::FUA), RequestFlags::FUA);
    set(is(category::AHEAD), RequestFlags::AHEAD);
    set(is(category::SYNC), RequestFlags::SYNC);
    set(is(category::META), RequestFlags::META);
    flags
}
