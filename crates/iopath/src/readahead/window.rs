//! How large a window is and where the next one begins: what the generations from 2.6.10 on have in common. Sizes and places in pages.

use super::call::Pages;

/// The maximum for one call: more if the call is longer and the device takes it.
pub(super) fn most(max: u64, device: u64, asked: u64) -> u64 {
    if asked > max && device > max { asked.min(device) } else { max }
}

/// A first window: the call's length as a power of two, times 4 if small, times 2 if not large, the maximum otherwise.
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

/// How many pages before `page` are cached without a gap, as far as `max`.
pub(super) fn history(page: u64, max: u64, pages: &impl Pages) -> u64 {
    (1..=max.min(page)).take_while(|back| pages.present(page - back)).count() as u64
}

/// The first absent page from `page` on, within `max` pages.
pub(super) fn next_hole(page: u64, max: u64, pages: &impl Pages) -> Option<u64> {
    (page..page.saturating_add(max)).find(|&page| !pages.present(page))
}
