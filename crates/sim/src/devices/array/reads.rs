//! Reads of an array: from what the cache holds dirty, or from the members, of mirrors the nearer one, of what a failed member held all others.

use super::jobs::Kind;
use super::{Array, Extent, Transfer};
use crate::devices::Command;

impl Array {
    pub(super) fn read(&mut self, now: u64, command: Command) {
        let mut stripes = self.layout.stripes(command.sector, command.end());
        if stripes.all(|(stripe, from, to)| self.dirty.covers(stripe, from, to)) {
            self.counters.read_hits += 1;
            self.transfer(now, u64::from(command.sectors), Transfer::ToHost(command.tag));
            return;
        }
        let extents = self.read_extents(command);
        self.jobs.start_read(now, Kind::Read(command), &extents, &mut self.members);
    }

    /// Where a read's data are; runs on one member that follow each other are one access.
    fn read_extents(&self, command: Command) -> Vec<Extent> {
        let mut extents: Vec<Extent> = Vec::new();
        for (stripe, from, to) in self.layout.stripes(command.sector, command.end()) {
            for part in self.layout.parts(from, to) {
                let holders = || self.layout.holders(stripe, part.index).filter(|&m| self.layout.works(m));
                // Of mirrors the one that began the command reads on, another would have to go there first.
                let going = extents.iter().rev().map(|e| e.member).find(|&m| holders().any(|h| h == m));
                let sector = stripe * self.layout.unit() + part.from;
                match going.or_else(|| self.members.nearest(holders(), sector)) {
                    Some(member) => join(&mut extents, self.layout.extent(stripe, part, member)),
                    // On the member that failed: all others have it together.
                    None => {
                        for member in self.layout.working() {
                            join(&mut extents, self.layout.extent(stripe, part, member));
                        }
                    }
                }
            }
        }
        extents
    }
}

/// Adds an access, to the one before it on its member if it follows that.
fn join(extents: &mut Vec<Extent>, extent: Extent) {
    let follows = |e: &&mut Extent| e.member == extent.member && e.sector + e.sectors == extent.sector;
    match extents.iter_mut().find(follows) {
        Some(before) => before.sectors += extent.sectors,
        None => extents.push(extent),
    }
}
