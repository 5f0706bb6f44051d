//! Reads of an array: from dirty cache data or from the members; a mirror reads from the nearer copy, and a failed member's data is read
//! from all others.

use super::jobs::JobKind;
use super::{Array, MemberExtent, Transfer};
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
        self.jobs.start_read(now, JobKind::Read(command), &extents, &mut self.members);
    }

    /// Extents of a read's data; contiguous runs on one member become one access.
    fn read_extents(&self, command: Command) -> Vec<MemberExtent> {
        let mut extents: Vec<MemberExtent> = Vec::new();
        for (stripe, from, to) in self.layout.stripes(command.sector, command.end()) {
            for part in self.layout.parts(from, to) {
                let holders = || self.layout.holders(stripe, part.index).filter(|&m| self.layout.works(m));
                // With mirrors, the member that started the command continues, since another would have to seek first.
                let going = extents.iter().rev().map(|e| e.member).find(|&m| holders().any(|h| h == m));
                let sector = stripe * self.layout.unit() + part.from;
                match going.or_else(|| self.members.nearest(holders(), sector)) {
                    Some(member) => join(&mut extents, self.layout.extent(stripe, part, member)),
                    // On the failed member: reconstructed from all others.
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

/// Adds an access, joining it with the previous one on its member if contiguous.
fn join(extents: &mut Vec<MemberExtent>, extent: MemberExtent) {
    let follows = |e: &&mut MemberExtent| e.member == extent.member && e.sector + e.sectors == extent.sector;
    match extents.iter_mut().find(follows) {
        Some(before) => before.sectors += extent.sectors,
        None => extents.push(extent),
    }
}
