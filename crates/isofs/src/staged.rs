//! Bytes of the image read in large pieces for later small reads: directories, while they are parsed. They are kept only while held; if
//! none are held, a read finds out with a single atomic load.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

/// The bytes held now.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    count: AtomicUsize,
    parts: RwLock<BTreeMap<u64, Vec<u8>>>,
}

/// Keeps staged bytes; dropping it releases them.
#[derive(Debug)]
pub(crate) struct StagedGuard<'s> {
    staged: &'s Staged,
    keys: Vec<u64>,
}

impl Staged {
    /// Begins with nothing.
    pub(crate) fn hold(&self) -> StagedGuard<'_> {
        StagedGuard { staged: self, keys: Vec::new() }
    }

    /// Whether one part contains all of these bytes.
    pub(crate) fn holds(&self, byte: u64, bytes: u64) -> bool {
        let parts = self.parts.read().unwrap_or_else(PoisonError::into_inner);
        let nearest = parts.range(..=byte).next_back();
        nearest.is_some_and(|(&start, part)| byte - start + bytes <= part.len() as u64)
    }

    /// Fills a buffer if one part contains all of it.
    pub(crate) fn fill(&self, byte: u64, buf: &mut [u8]) -> bool {
        if self.count.load(Ordering::Acquire) == 0 {
            return false;
        }
        let parts = self.parts.read().unwrap_or_else(PoisonError::into_inner);
        let Some((&start, part)) = parts.range(..=byte).next_back() else { return false };
        let Ok(from) = usize::try_from(byte - start) else { return false };
        let Some(bytes) = from.checked_add(buf.len()).and_then(|end| part.get(from..end)) else {
            return false;
        };
        buf.copy_from_slice(bytes);
        true
    }
}

impl StagedGuard<'_> {
    /// Adds bytes at a position of the image. Of two parts at the same position the longer one stays.
    pub(crate) fn add(&mut self, byte: u64, bytes: Vec<u8>) {
        let mut parts = self.staged.parts.write().unwrap_or_else(PoisonError::into_inner);
        match parts.entry(byte) {
            Entry::Vacant(place) => {
                place.insert(bytes);
                self.keys.push(byte);
                self.staged.count.fetch_add(1, Ordering::Release);
            }
            // The owner of the shorter one then removes both, but the image can still be read.
            Entry::Occupied(mut place) if place.get().len() < bytes.len() => _ = place.insert(bytes),
            Entry::Occupied(_) => {}
        }
    }
}

impl Drop for StagedGuard<'_> {
    fn drop(&mut self) {
        let mut parts = self.staged.parts.write().unwrap_or_else(PoisonError::into_inner);
        for key in &self.keys {
            parts.remove(key);
        }
        self.staged.count.fetch_sub(self.keys.len(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_found_and_gone_afterwards() {
        let staged = Staged::default();
        let mut buf = [0; 2];
        let mut held = staged.hold();
        held.add(100, vec![1, 2, 3, 4]);
        held.add(200, vec![9]);
        assert!(staged.fill(102, &mut buf) && staged.holds(100, 4) && !staged.holds(101, 4));
        assert_eq!(buf, [3, 4]);
        for byte in [99, 103, 200, u64::MAX] {
            assert!(!staged.fill(byte, &mut buf), "{byte}");
        }
        let mut other = staged.hold();
        other.add(100, vec![7; 3]);
        drop(other);
        assert!(staged.fill(100, &mut buf), "it is the first one's");
        drop(held);
        assert!(!staged.fill(102, &mut buf));
    }
}
