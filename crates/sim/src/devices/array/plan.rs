//! Member accesses for a write to a stripe. A full stripe is written without reads. A partial write first reads old data and old parity
//! (read-modify-write), or the rest of the stripe (reconstruct-write) where that takes fewer accesses and is allowed.

use super::layout::{ArrayLayout, MemberExtent, RaidLevel, UnitPart};

/// Reads, and the writes that follow once all reads are done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StripePlan {
    /// Accesses of the first step.
    pub reads: Vec<MemberExtent>,
    /// Accesses of the second step.
    pub writes: Vec<MemberExtent>,
}

/// The written part of a stripe: runs of offsets, ascending, not touching.
pub type Written = [(u64, u64)];

/// Plans a write to one stripe.
#[must_use]
pub fn of_stripe(layout: &ArrayLayout, stripe: u64, written: &Written, reconstruct: bool) -> StripePlan {
    let parts: Vec<UnitPart> = written.iter().flat_map(|&(from, to)| layout.parts(from, to)).collect();
    let mut plan = StripePlan::default();
    for &part in &parts {
        let holders = layout.holders(stripe, part.index).filter(|&member| layout.works(member));
        plan.writes.extend(holders.map(|member| layout.extent(stripe, part, member)));
    }
    if layout.level() == RaidLevel::Raid5 && !parts.is_empty() {
        add_parity(layout, stripe, &parts, reconstruct, &mut plan);
    }
    plan
}

/// Plans a write of full stripes: one access per member.
#[must_use]
pub fn of_full_stripes(layout: &ArrayLayout, first: u64, stripes: u64) -> StripePlan {
    if stripes == 1 || layout.level() == RaidLevel::Raid1 {
        let mut plan = StripePlan::default();
        for stripe in first..first + stripes {
            plan.writes.extend(of_stripe(layout, stripe, &[(0, layout.stripe_sectors())], false).writes);
        }
        return plan;
    }
    // Every member has one unit of every stripe, data or parity.
    let extent =
        |member| MemberExtent { member, sector: first * layout.unit(), sectors: stripes * layout.unit() };
    StripePlan { reads: Vec::new(), writes: layout.working().map(extent).collect() }
}

fn add_parity(
    layout: &ArrayLayout,
    stripe: u64,
    parts: &[UnitPart],
    reconstruct: bool,
    plan: &mut StripePlan,
) {
    let from = parts.iter().map(|p| p.from).min().unwrap_or(0);
    let to = parts.iter().map(|p| p.to).max().unwrap_or(0);
    let Some(parity) = layout.parity_extent(stripe, from, to) else { return };
    if !layout.works(parity.member) {
        return;
    }
    let rest = untouched(layout, parts, from, to);
    let is_lost = |part: &UnitPart| !layout.works(layout.holders(stripe, part.index).start);
    if !rest.is_empty() && parts.iter().any(is_lost) {
        // The old data can only be reconstructed from all other members.
        plan.reads.extend(layout.working().map(|member| MemberExtent { member, ..parity }));
    } else if !rest.is_empty() {
        let reconstruct = reconstruct && !rest.iter().any(is_lost);
        let reads: Vec<UnitPart> =
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
fn untouched(layout: &ArrayLayout, parts: &[UnitPart], from: u64, to: u64) -> Vec<UnitPart> {
    let mut rest = Vec::new();
    for index in 0..layout.width() {
        let mut at = from;
        for part in parts.iter().filter(|part| part.index == index) {
            if part.from > at {
                rest.push(UnitPart { index, from: at, to: part.from });
            }
            at = at.max(part.to);
        }
        if at < to {
            rest.push(UnitPart { index, from: at, to });
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raid5() -> ArrayLayout {
        ArrayLayout::new(RaidLevel::Raid5, 4, 128, 12_800).unwrap()
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
        let extent = |member| MemberExtent { member, sector: 10, sectors: 10 };
        assert_eq!(plan.reads, [extent(0), extent(3)], "two reads either way, so the plain one");
        assert_eq!(plan.writes, [extent(0), extent(3)]);
    }

    #[test]
    fn most_of_a_stripe_is_cheaper_by_the_rest_of_it() {
        let plan = of_stripe(&raid5(), 0, &[(0, 256)], true);
        assert_eq!(plan.reads, [MemberExtent { member: 2, sector: 0, sectors: 128 }]);
        assert_eq!(of_stripe(&raid5(), 0, &[(0, 256)], false).reads.len(), 3);
    }

    #[test]
    fn with_a_failed_member_its_data_come_from_the_others() {
        // Stripe 0 has its data on 0, 1, 2 and its parity on 3.
        let failed = |member| raid5().without(member).unwrap();
        let members = |extents: &[MemberExtent]| extents.iter().map(|e| e.member).collect::<Vec<_>>();
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
        let pairs = ArrayLayout::new(RaidLevel::Raid10, 4, 128, 12_800).unwrap();
        assert_eq!(of_stripe(&pairs, 1, &[(0, 10)], true).writes.len(), 2);
        let plain = ArrayLayout::new(RaidLevel::Raid0, 4, 128, 12_800).unwrap();
        assert_eq!(
            of_stripe(&plain, 1, &[(0, 200)], true),
            StripePlan {
                reads: vec![],
                writes: vec![
                    MemberExtent { member: 0, sector: 128, sectors: 128 },
                    MemberExtent { member: 1, sector: 128, sectors: 72 }
                ],
            }
        );
    }
}
