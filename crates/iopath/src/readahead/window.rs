//! Window sizes and the start of the next window, common to the generations from 2.6.10 on. Sizes and positions in pages.

use super::call::Pages;

/// The maximum for one call: larger if the call is longer and the device allows it.
pub(super) fn most(max: u64, device: u64, asked: u64) -> u64 {
    if asked > max && device > max { asked.min(device) } else { max }
}

/// A first window: the call's length rounded up to a power of two, times 4 if small, times 2 if medium, the maximum otherwise.
pub(super) fn initial_window(pages: u64, max: u64) -> u64 {
    let size = pages.next_power_of_two();
    if size <= max / 32 {
        size * 4
    } else if size <= max / 4 {
        size * 2
    } else {
        max
    }
}

/// The next window: four times a small one, twice a larger one, at most the maximum.
pub(super) fn grown(size: u64, max: u64) -> u64 {
    if size < max / 16 {
        4 * size
    } else if size <= max / 2 {
        2 * size
    } else {
        max
    }
}

/// Number of pages before `page` that are cached without a gap, up to `max`.
pub(super) fn history(page: u64, max: u64, pages: &impl Pages) -> u64 {
    (1..=max.min(page)).take_while(|back| pages.present(page - back)).count() as u64
}

/// The first absent page from `page` on, within `max` pages.
pub(super) fn next_hole(page: u64, max: u64, pages: &impl Pages) -> Option<u64> {
    (page..page.saturating_add(max)).find(|&page| !pages.present(page))
}
