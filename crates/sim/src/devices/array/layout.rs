//! Location of an array's sectors on its members: levels 0, 1, 5 (left-symmetric) and 10, in stripes of one unit per member.

/// RAID level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
pub enum RaidLevel {
    /// Striping without redundancy.
    #[serde(rename = "raid0")]
    Raid0,
    /// Every member holds all data.
    #[serde(rename = "raid1")]
    Raid1,
    /// One unit of each stripe is the parity of the others.
    #[serde(rename = "raid5")]
    Raid5,
    /// Striping over mirrored pairs.
    #[serde(rename = "raid10")]
    Raid10,
}

/// Unit for mirrored data, which has no stripes; in sectors.
const MIRROR_UNIT: u64 = 2048;

/// Geometry of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayLayout {
    level: RaidLevel,
    members: u64,
    unit: u64,
    stripes: u64,
    failed: Option<usize>,
}

/// A run of sectors on one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberExtent {
    /// Index of the member.
    pub member: usize,
    /// First sector on the member.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u64,
}

/// A part of a unit, by offsets inside the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitPart {
    /// Index of the unit in the stripe's data.
    pub index: u64,
    /// First offset.
    pub from: u64,
    /// Offset after the last.
    pub to: u64,
}

impl ArrayLayout {
    /// A layout over members of `member_sectors` sectors; `None` if the level needs more or an even number of members, or the unit is 0.
    #[must_use]
    pub fn new(level: RaidLevel, members: u64, unit_sectors: u64, member_sectors: u64) -> Option<Self> {
        let fits = match level {
            RaidLevel::Raid0 => members >= 1,
            RaidLevel::Raid1 => members >= 2,
            RaidLevel::Raid5 => members >= 3,
            RaidLevel::Raid10 => members >= 4 && members.is_multiple_of(2),
        };
        let unit = if level == RaidLevel::Raid1 { MIRROR_UNIT } else { unit_sectors };
        let stripes = member_sectors.checked_div(unit)?;
        (fits && stripes > 0).then_some(Self { level, members, unit, stripes, failed: None })
    }

    /// The same layout with a failed member; `None` if there is no such member or data would be lost.
    #[must_use]
    pub fn without(self, member: u64) -> Option<Self> {
        let survives = self.level != RaidLevel::Raid0 && member < self.members;
        survives.then_some(Self { failed: Some(member as usize), ..self })
    }

    /// Whether a member works.
    #[must_use]
    pub fn works(&self, member: usize) -> bool {
        self.failed != Some(member)
    }

    /// Indices of the working members.
    pub fn working(&self) -> impl Iterator<Item = usize> + use<> {
        let failed = self.failed;
        (0..self.members as usize).filter(move |&member| failed != Some(member))
    }

    /// The RAID level.
    #[must_use]
    pub fn level(&self) -> RaidLevel {
        self.level
    }

    /// Sectors per unit.
    #[must_use]
    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// Data units per stripe.
    #[must_use]
    pub fn width(&self) -> u64 {
        match self.level {
            RaidLevel::Raid0 => self.members,
            RaidLevel::Raid1 => 1,
            RaidLevel::Raid5 => self.members - 1,
            RaidLevel::Raid10 => self.members / 2,
        }
    }

    /// Data sectors per stripe.
    #[must_use]
    pub fn stripe_sectors(&self) -> u64 {
        self.width() * self.unit
    }

    /// Capacity of the array, sectors.
    #[must_use]
    pub fn capacity_sectors(&self) -> u64 {
        self.stripes * self.stripe_sectors()
    }

    /// The member with the parity of a stripe.
    fn parity(&self, stripe: u64) -> u64 {
        self.members - 1 - stripe % self.members
    }

    /// Members that hold a unit of a stripe's data, whether they work or not.
    #[must_use]
    pub fn holders(&self, stripe: u64, index: u64) -> std::ops::Range<usize> {
        let first = match self.level {
            RaidLevel::Raid0 => index,
            RaidLevel::Raid1 => return 0..self.members as usize,
            RaidLevel::Raid5 => (self.parity(stripe) + 1 + index) % self.members,
            RaidLevel::Raid10 => return 2 * index as usize..2 * index as usize + 2,
        };
        first as usize..first as usize + 1
    }

    /// The extent of a part of a unit on a member.
    #[must_use]
    pub fn extent(&self, stripe: u64, part: UnitPart, member: usize) -> MemberExtent {
        MemberExtent { member, sector: stripe * self.unit + part.from, sectors: part.to - part.from }
    }

    /// The extent of a stripe's parity for the offsets `from` to `to`; `None` without parity.
    #[must_use]
    pub fn parity_extent(&self, stripe: u64, from: u64, to: u64) -> Option<MemberExtent> {
        (self.level == RaidLevel::Raid5).then(|| MemberExtent {
            member: self.parity(stripe) as usize,
            sector: stripe * self.unit + from,
            sectors: to - from,
        })
    }

    /// The parts of units covered by a run of a stripe's data, by offsets inside the stripe.
    pub fn parts(&self, from: u64, to: u64) -> impl Iterator<Item = UnitPart> + use<> {
        let unit = self.unit;
        (from / unit..to.div_ceil(unit)).map(move |index| UnitPart {
            index,
            from: from.max(index * unit) - index * unit,
            to: to.min((index + 1) * unit) - index * unit,
        })
    }

    /// The stripes covered by a run of sectors: (stripe, from, to) with offsets inside the stripe.
    pub fn stripes(&self, sector: u64, end: u64) -> impl Iterator<Item = (u64, u64, u64)> + use<> {
        let size = self.stripe_sectors();
        (sector / size..end.div_ceil(size)).map(move |stripe| {
            (stripe, sector.max(stripe * size) - stripe * size, end.min((stripe + 1) * size) - stripe * size)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_symmetric_parity_moves_left_and_data_follow_it() {
        let raid = ArrayLayout::new(RaidLevel::Raid5, 4, 128, 12_800).unwrap();
        let row = |stripe| (0..3).map(|index| raid.holders(stripe, index).start).collect::<Vec<_>>();
        assert_eq!(row(0), [0, 1, 2]);
        assert_eq!(row(1), [3, 0, 1]);
        assert_eq!(row(2), [2, 3, 0]);
        assert_eq!(
            raid.parity_extent(1, 0, 128),
            Some(MemberExtent { member: 2, sector: 128, sectors: 128 })
        );
        assert_eq!(raid.capacity_sectors(), 3 * 12_800);
    }

    #[test]
    fn runs_are_cut_into_stripes_and_parts() {
        let raid = ArrayLayout::new(RaidLevel::Raid5, 4, 128, 12_800).unwrap();
        assert_eq!(raid.stripes(300, 1000).collect::<Vec<_>>(), [(0, 300, 384), (1, 0, 384), (2, 0, 232)]);
        let parts: Vec<_> = raid.parts(100, 300).collect();
        assert_eq!(parts[0], UnitPart { index: 0, from: 100, to: 128 });
        assert_eq!(parts[2], UnitPart { index: 2, from: 0, to: 44 });
    }

    #[test]
    fn mirrors_hold_everything_twice() {
        let pairs = ArrayLayout::new(RaidLevel::Raid10, 4, 128, 12_800).unwrap();
        assert_eq!((pairs.holders(9, 1), pairs.width()), (2..4, 2));
        let mirror = ArrayLayout::new(RaidLevel::Raid1, 3, 0, 20_480).unwrap();
        assert_eq!((mirror.holders(0, 0), mirror.capacity_sectors()), (0..3, 20_480));
    }

    #[test]
    fn a_member_may_fail_where_data_survive_it() {
        let raid = ArrayLayout::new(RaidLevel::Raid5, 4, 128, 12_800).unwrap().without(2).unwrap();
        assert_eq!(raid.working().collect::<Vec<_>>(), [0, 1, 3]);
        assert!(raid.without(4).is_none());
        assert!(ArrayLayout::new(RaidLevel::Raid0, 4, 128, 12_800).unwrap().without(0).is_none());
    }

    #[test]
    fn levels_need_their_members() {
        assert!(ArrayLayout::new(RaidLevel::Raid5, 2, 128, 12_800).is_none());
        assert!(ArrayLayout::new(RaidLevel::Raid10, 5, 128, 12_800).is_none());
        assert!(ArrayLayout::new(RaidLevel::Raid0, 2, 0, 12_800).is_none());
        assert!(ArrayLayout::new(RaidLevel::Raid0, 2, 128, 100).is_none());
    }
}
