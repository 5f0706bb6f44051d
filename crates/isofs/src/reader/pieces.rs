//! The pieces of pages in flight, by number: those requested from the device, those waiting for another caller's read of the same blocks,
//! and cancelled ones. Nothing here reads or waits.

use foldhash::fast::FixedState;
use std::collections::{BTreeMap, HashMap};

/// Sector size of the queue.
pub(super) const SECTOR: u64 = 512;

/// The page of a cancelled piece.
pub(super) const CANCELLED: usize = usize::MAX;

/// State of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Queued in the elevator.
    Queued,
    /// At the device, or about to be read alone.
    Device,
    /// Another piece delivers its bytes.
    Attached,
    /// Unused number.
    Free,
}

/// A part of a page in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Index of the page in the cache, or [`CANCELLED`].
    pub(super) page: usize,
    /// Offset in the page.
    pub(super) at: usize,
    /// First byte in the image.
    pub(super) byte: u64,
    pub(super) length: usize,
    /// The opening that requested it.
    pub(super) owner: u32,
    pub(super) stage: Stage,
}

impl Wanted {
    pub(super) fn first_sector(&self) -> u64 {
        self.byte / SECTOR
    }

    pub(super) fn sectors(&self) -> u32 {
        let end = (self.byte + self.length as u64).div_ceil(SECTOR);
        u32::try_from(end - self.first_sector()).unwrap_or(u32::MAX)
    }

    fn end(&self) -> u64 {
        self.byte + self.length as u64
    }
}

/// All pieces.
#[derive(Debug)]
pub(super) struct Pieces {
    wanted: Vec<Wanted>,
    free: Vec<u32>,
    /// Pieces that others may attach to, by first byte. Empty if `attaches` is off.
    under_way: BTreeMap<u64, u32>,
    /// Attached pieces by the piece they wait for.
    followers: HashMap<u32, Vec<u32>, FixedState>,
    attaches: bool,
    /// Number of queued pieces that were cancelled; those at the device do not count.
    abandoned: usize,
}

impl Pieces {
    pub(super) fn new(attaches: bool) -> Self {
        Self {
            wanted: Vec::new(),
            free: Vec::new(),
            under_way: BTreeMap::new(),
            followers: HashMap::with_hasher(FixedState::default()),
            attaches,
            abandoned: 0,
        }
    }

    pub(super) fn get(&self, token: u32) -> Wanted {
        self.wanted[token as usize]
    }

    pub(super) fn set_stage(&mut self, token: u32, stage: Stage) {
        self.wanted[token as usize].stage = stage;
    }

    /// Adds a piece.
    pub(super) fn put(&mut self, wanted: Wanted) -> u32 {
        if let Some(token) = self.free.pop() {
            self.wanted[token as usize] = wanted;
            return token;
        }
        self.wanted.push(wanted);
        u32::try_from(self.wanted.len() - 1).unwrap_or(u32::MAX)
    }

    /// A piece in flight that delivers all these bytes.
    pub(super) fn bringing(&self, byte: u64, length: usize) -> Option<u32> {
        let (_, &token) = self.under_way.range(..=byte).next_back()?;
        (self.get(token).end() >= byte + length as u64).then_some(token)
    }

    /// Lets other pieces attach to this one.
    pub(super) fn lead(&mut self, token: u32) {
        if self.attaches {
            self.under_way.entry(self.get(token).byte).or_insert(token);
        }
    }

    /// Attaches a piece to another that delivers its bytes.
    pub(super) fn attach(&mut self, to: u32, wanted: Wanted) {
        if self.get(to).stage == Stage::Queued && self.is_abandoned(to) {
            self.abandoned -= 1; // wanted again
        }
        let token = self.put(Wanted { stage: Stage::Attached, ..wanted });
        self.followers.entry(to).or_default().push(token);
    }

    /// Whether a piece was cancelled.
    pub(super) fn is_abandoned(&self, token: u32) -> bool {
        self.get(token).page == CANCELLED && !self.followers.contains_key(&token)
    }

    /// Drops cancelled pieces at the beginning and end of a request.
    pub(super) fn trim(&mut self, parts: &mut Vec<u32>) {
        if self.abandoned == 0 {
            return;
        }
        while let Some(&last) = parts.last()
            && self.is_abandoned(last)
        {
            parts.pop();
            self.abandoned -= 1;
            self.done(last);
        }
        let leading = parts.iter().take_while(|&&token| self.is_abandoned(token)).count();
        for token in parts.drain(..leading) {
            self.abandoned -= 1;
            self.done(token);
        }
    }

    /// Marks a piece as sent to the device.
    pub(super) fn starts(&mut self, token: u32) {
        if self.abandoned > 0 && self.is_abandoned(token) {
            self.abandoned -= 1; // between others: it is read along with them
        }
        self.set_stage(token, Stage::Device);
    }

    /// Frees a finished piece's number; returns the pieces attached to it.
    pub(super) fn done(&mut self, token: u32) -> Vec<u32> {
        let byte = self.get(token).byte;
        if self.under_way.get(&byte) == Some(&token) {
            self.under_way.remove(&byte);
        }
        self.set_stage(token, Stage::Free);
        self.free.push(token);
        if self.followers.is_empty() { Vec::new() } else { self.followers.remove(&token).unwrap_or_default() }
    }

    /// An opening's queued pieces with their pages, sorted by page.
    pub(super) fn queued_of(&self, owner: u32) -> Vec<(usize, u32)> {
        let mine = |wanted: &Wanted| {
            wanted.stage == Stage::Queued && wanted.owner == owner && wanted.page != CANCELLED
        };
        let all = self.wanted.iter().enumerate().filter(|(_, wanted)| mine(wanted));
        let mut found: Vec<(usize, u32)> =
            all.map(|(token, wanted)| (wanted.page, u32::try_from(token).unwrap_or(u32::MAX))).collect();
        found.sort_unstable();
        found
    }

    /// The queued pieces that a page waits for: its own, and those that its attached pieces wait for.
    pub(super) fn queued_for(&self, page: usize) -> Vec<u32> {
        let is_queued = |token: u32| self.get(token).stage == Stage::Queued;
        let own = self
            .wanted
            .iter()
            .enumerate()
            .filter(|(_, wanted)| wanted.page == page && wanted.stage == Stage::Queued);
        let own = own.map(|(token, _)| u32::try_from(token).unwrap_or(u32::MAX));
        let brings = |followers: &[u32]| followers.iter().any(|&token| self.get(token).page == page);
        let leaders =
            self.followers.iter().filter(|&(&token, followers)| is_queued(token) && brings(followers));
        own.chain(leaders.map(|(&token, _)| token)).collect()
    }

    /// Whether any of these pieces is still queued. Drops pieces from the end that are not, so that repeated checks are cheap.
    pub(super) fn any_queued(&self, tokens: &mut Vec<u32>) -> bool {
        while let Some(&last) = tokens.last() {
            if self.get(last).stage == Stage::Queued {
                return true;
            }
            tokens.pop();
        }
        false
    }

    /// Cancels a queued piece for its page.
    pub(super) fn abandon(&mut self, token: u32) {
        self.wanted[token as usize].page = CANCELLED;
        self.abandoned += usize::from(self.is_abandoned(token));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(page: usize, byte: u64, length: usize) -> Wanted {
        Wanted { page, at: 0, byte, length, owner: 1, stage: Stage::Queued }
    }

    #[test]
    fn a_request_for_a_page_in_flight_waits_for_it() {
        let mut pieces = Pieces::new(true);
        let leader = pieces.put(piece(0, 4096, 4096));
        pieces.lead(leader);
        assert_eq!(pieces.bringing(4096, 4096), Some(leader));
        assert_eq!(pieces.bringing(6144, 2048), Some(leader));
        assert_eq!((pieces.bringing(6144, 4096), pieces.bringing(2048, 2048)), (None, None));
        pieces.attach(leader, piece(1, 6144, 2048));
        let followers = pieces.done(leader);
        assert_eq!((followers.len(), pieces.get(followers[0]).page), (1, 1));
        assert_eq!(pieces.bringing(4096, 4096), None, "it is over");
        let mut none = Pieces::new(false);
        let alone = none.put(piece(0, 0, 4096));
        none.lead(alone);
        assert_eq!(none.bringing(0, 4096), None, "switched off");
    }

    #[test]
    fn a_page_waits_for_its_own_pieces_and_for_those_it_is_attached_to() {
        let mut pieces = Pieces::new(true);
        let tokens: Vec<u32> = (0..4).map(|n| pieces.put(piece(n / 2, 4096 * n as u64, 4096))).collect();
        tokens.iter().for_each(|&token| pieces.lead(token));
        pieces.attach(tokens[3], piece(0, 3 * 4096, 4096));
        pieces.starts(tokens[0]);
        let mut waits = pieces.queued_for(0);
        waits.sort_unstable();
        assert_eq!(waits, [tokens[1], tokens[3]]);
        assert_eq!(pieces.queued_for(1), [tokens[2], tokens[3]]);
        assert!(pieces.any_queued(&mut waits));
        pieces.starts(tokens[3]);
        assert!(pieces.any_queued(&mut waits) && waits == [tokens[1]]);
        pieces.starts(tokens[1]);
        assert!(!pieces.any_queued(&mut waits) && pieces.queued_for(0).is_empty());
    }

    #[test]
    fn unwanted_pages_are_trimmed_at_both_ends() {
        let mut pieces = Pieces::new(true);
        let tokens: Vec<u32> = (0..5).map(|n| pieces.put(piece(n, 4096 * n as u64, 4096))).collect();
        tokens.iter().for_each(|&token| pieces.lead(token));
        assert_eq!(pieces.queued_of(1).len(), 5);
        [0, 1, 2, 4].iter().for_each(|&n| pieces.abandon(tokens[n]));
        assert_eq!(pieces.queued_of(1), [(3, tokens[3])]);
        // The second piece is wanted again before it is sent.
        pieces.attach(tokens[1], piece(9, 4096, 4096));
        let mut parts = tokens.clone();
        pieces.trim(&mut parts);
        assert_eq!(parts, tokens[1..4], "what lies between is read along");
        parts.iter().for_each(|&token| pieces.starts(token));
        assert_eq!(pieces.abandoned, 0);
        // A cancelled piece that is read along may become wanted before it completes.
        pieces.attach(tokens[2], piece(9, 8192, 4096));
        assert_eq!((pieces.abandoned, pieces.done(tokens[2]).len()), (0, 1));
    }
}
