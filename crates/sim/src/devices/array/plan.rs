//! Member accesses for a write to a stripe. A full stripe is written without reads. A partial write first reads old data and old parity
//! (read-modify-write), or the rest of the stripe (reconstruct-write) where that takes fewer accesses and is allowed.

use super::layout::{Extent, Layout, Level, Part};

/// Reads, and the writes that follow once all reads are done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Accesses of the first step.
    pub reads: Vec<Extent>,
    /// Accesses of the second step.
    pub writes: Vec<Extent>,
}

/// The written part of a stripe: runs of offsets, ascending, not touching.
pub type Written = [(u64, u64)];

/// Plans a write to one stripe.
#[must_use]
pub fn of_stripe(layout: &Layout, stripe: u64, written: &Written, reconstruct: bool) -> Plan {
    let parts: Vec<Part> = written.iter().flat_map(|&(from, to)| layout.parts(from, to)).collect();
    let mut plan = Plan::default();
    for &part in &parts {
        let holders = layout.holders(stripe, part.index).filter(|&member| layout.works(member));
        plan.writes.extend(holders.map(|member| layout.extent(stripe, part, member)));
    }
    if layout.level() == Level::Raid5 && !parts.is_empty() {
        add_parity(layout, stripe, &parts, reconstruct, &mut plan);
    }
    plan
}

/// Plans a write of full stripes: one access per member.
#[must_use]
pub fn of_full_stripes(layout: &Layout, first: u64, stripes: u64) -> Plan {
    if stripes == 1 || layout.level() == Level::Raid1 {
        let mut plan = Plan::default();
        for stripe in first..first + stripes {
            plan.writes.extend(of_stripe(layout, stripe, &[(0, layout.stripe_sectors())], false).writes);
        }
        return plan;
    }
    // Every member has one unit of every stripe, data or parity.
    let extent = |member| Extent { member, sector: first * layout.unit(), sectors: stripes * layout.unit() };
    Plan { reads: Vec::new(), writes: layout.working().map(extent).collect() }
}

fn add_parity(layout: &Layout, stripe: u64, parts: &[Part], reconstruct: bool, plan: &mut Plan) {
    let from = parts.iter().map(|p| p.from).min().unwrap_or(0);
    let to = parts.iter().map(|p| p.to).max().unwrap_or(0);
    let Some(parity) = layout.parity_extent(stripe, from, to) else { return };
    if !layout.works(parity.member) {
        return;
    }
    let rest = untouched(layout, parts, from, to);
    let is_lost = |part: &Part| !layout.works(layout.holders(stripe, part.index).start);
    if !rest.is_empty() && parts.iter().any(is_lost) {
        // The old data can only be reconstructed from all other members.
        plan.reads.extend(layout.working().map(|member| Extent { member, ..parity }));
    } else if !rest.is_empty() {
        let reconstruct = reconstruct && !rest.iter().any(is_lost);
        let reads: Vec<Part> =
            if reconstruct && rest.len() < parts.len() + 1 { rest } else { parts.to_vec() };
        let modified = reads == parts;
        for part in reads {
            let member = layout.holders(stripe, part.index).start;
            plan.reads.push(layout.extent(stripe, part, member));
        }
        if modified {
            plan.reads.push(parity);
        }
    }
    plan.writes.push(parity);
}

/// The parts of the offsets `from` to `to` of all units that are not written.
fn untouched(layout: &Layout, parts: &[Part], from: u64, to: u64) -> Vec<Part> {
    let mut rest = Vec::new();
    for index in 0..layout.width() {
        let mut at = from;
        for part in parts.iter().filter(|part| part.index == index) {
            if part.from > at {
                rest.push(Part { index, from: at, to: part.from });
            }
            at = at.max(part.to);
        }
        if at < to {
            rest.push(Part { index, from: at, to });
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raid5() -> Layout {
        Layout::new(Level::Raid5, 4, 128, 12_800).unwrap()
    }

    #[test]
    fn a_full_stripe_reads_nothing() {
        let plan = of_stripe(&raid5(), 5, &[(0, 384)], true);
        assert!(plan.reads.is_empty());
        assert_eq!(plan.writes.len(), 4);
        let run = of_full_stripes(&raid5(), 5, 3);
        assert!(run.reads.is_empty());
        assert!(run.writes.iter().all(|w| (w.sector, w.sectors) == (640, 384)) && run.writes.len() == 4);
    }

    #[test]
    fn a_part_reads_old_data_and_parity() {
        let plan = of_stripe(&raid5(), 0, &[(10, 20)], true);
        let extent = |member| Extent { member, sector: 10, sectors: 10 };
        assert_eq!(plan.reads, [extent(0), extent(3)], "two reads either way, so the plain one");
        assert_eq!(plan.writes, [extent(0), extent(3)]);
    }

    #[test]
    fn most_of_a_stripe_is_cheaper_by_the_rest_of_it() {
        let plan = of_stripe(&raid5(), 0, &[(0, 256)], true);
        assert_eq!(plan.reads, [Extent { member: 2, sector: 0, sectors: 128 }]);
        assert_eq!(of_stripe(&raid5(), 0, &[(0, 256)], false).reads.len(), 3);
    }

    #[test]
    fn with_a_failed_member_its_data_come_from_the_others() {
        // Stripe 0 has its data on 0, 1, 2 and its parity on 3.
        let failed = |member| raid5().without(member).unwrap();
        let members = |extents: &[Extent]| extents.iter().map(|e| e.member).collect::<Vec<_>>();
        let lost = of_stripe(&failed(0), 0, &[(10, 20)], true);
        assert_eq!((members(&lost.reads), members(&lost.writes)), (vec![1, 2, 3], vec![3]));
        let other = of_stripe(&failed(2), 0, &[(0, 256)], true);
        assert_eq!(members(&other.reads), [0, 1, 3], "the rest cannot be read, so old data and parity");
        let parity = of_stripe(&failed(3), 0, &[(10, 20)], true);
        assert_eq!((parity.reads.len(), members(&parity.writes)), (0, vec![0]));
        assert_eq!(members(&of_full_stripes(&failed(1), 0, 4).writes), [0, 2, 3]);
    }

    #[test]
    fn mirrors_write_twice_and_stripes_once() {
        let pairs = Layout::new(Level::Raid10, 4, 128, 12_800).unwrap();
        assert_eq!(of_stripe(&pairs, 1, &[(0, 10)], true).writes.len(), 2);
        let plain = Layout::new(Level::Raid0, 4, 128, 12_800).unwrap();
        assert_eq!(
            of_stripe(&plain, 1, &[(0, 200)], true),
            Plan {
                reads: vec![],
                writes: vec![
                    Extent { member: 0, sector: 128, sectors: 128 },
                    Extent { member: 1, sector: 128, sectors: 72 }
                ],
            }
        );
    }
}
