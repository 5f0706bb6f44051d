//! In which order a stream comes to the offsets of its region, or the operations that it is given one by one.

use super::is_default;
use crate::{Bytes, Duration};
use serde::{Deserialize, Serialize};

/// Order of offsets. N is the number of whole records in the region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// 0, 1, 2, ... N-1, and again from 0.
    #[default]
    Sequential,
    /// As [`Access::Sequential`], reads and writes each in an order of their own: two cursors that do not see each other.
    SequentialByKind,
    /// N-1, N-2, ... 0.
    Backward,
    /// The same record every time.
    Same(u64),
    /// Record p, then p + step, and so on; when p + 1 + step >= N - 1 the next lap starts one record later than the last (at
    /// record 0 if N <= step). Laps overlap: it is not a permutation.
    Strided {
        /// Distance in records.
        step: u64,
    },
    /// A position anywhere in the region, rounded down to a multiple of the record size, which need not divide the region.
    Scaled(Scaled),
    /// Each record exactly once a pass, in the order of a swap shuffle (record i changes places with record r mod N for
    /// i = 0..N-1) drawn from MT19937-64 seeded by this key; the same in every pass and for every worker.
    Shuffled {
        /// Seed array of the generator.
        key: Vec<u64>,
    },
    /// Each record exactly once a pass, in an order keyed by the seed, the worker and the pass; no memory, no set-up. Records that
    /// change their sizes fill the region instead, and take a bit of memory for each unit: see [`Stream::fills`](super::Stream::fills).
    Permuted,
    /// Any record, uniformly, with repeats.
    Uniform,
    /// Record k (of a permutation keyed by the seed) with probability proportional to 1 / k^theta.
    Zipf {
        /// The exponent, above 0.
        theta: f64,
    },
    /// Self-similar: the share `1 - h` of the operations goes to the share `h` of the records (of a permutation keyed by the seed), and
    /// so on inside that share.
    Pareto {
        /// The share, above 0 and below 1 (0.2 is "80 % to 20 %", 0.5 is uniform).
        h: f64,
    },
    /// Normally distributed around the middle of the region; what falls outside is drawn again.
    Normal {
        /// Standard deviation in percent of the region.
        deviation_percent: f64,
    },
    /// An order in which some records are more popular than others (zipf, pareto, normal), moved so that the most popular one lies here.
    Around {
        /// The order.
        order: Box<Access>,
        /// Where, as a share of the region: at least 0 and below 1. What it moves over the end comes in again at the beginning.
        centre: f64,
    },
    /// The same few records again and again, in this order. A number is taken modulo N.
    Cycle {
        /// Their numbers.
        records: Vec<u64>,
        /// Each round adds the length of the cycle to the numbers, until one of them would leave the region: then it begins anew.
        #[serde(default, skip_serializing_if = "is_default")]
        advancing: bool,
    },
    /// Zones one after the other, each with its share of the operations; uniform inside a zone. Both columns add up to 100.
    Zoned(Vec<Zone>),
    /// Each record of an order begins a run of so many operations: on itself and those that follow it, up to the end of the region.
    Runs {
        /// Where runs begin.
        order: Box<Access>,
        /// Operations of a run.
        operations: u64,
        /// All of a run are on its first record.
        #[serde(default, skip_serializing_if = "is_default")]
        same: bool,
    },
    /// Reads and writes each go on behind their own last record, but for a share of them that is drawn from an order.
    PartlyRandom {
        /// Where those that are drawn go.
        order: Box<Access>,
        /// Percent of the reads that are drawn.
        reads_percent: u8,
        /// Percent of the writes that are drawn.
        writes_percent: u8,
    },
    /// In ascending order, so many bytes in a row, then so many are left out, and so on; from the beginning again at the end.
    Striped {
        /// Bytes in a row; a multiple of the record size.
        run: Bytes,
        /// Bytes left out.
        gap: Bytes,
        /// Reads and writes each go their own way, as in [`Access::SequentialByKind`].
        #[serde(default, skip_serializing_if = "is_default")]
        by_kind: bool,
    },
    /// Record 0, then the one so many records behind the end of the last (-2 goes backward). What lies outside begins anew: at record 0,
    /// or, going backward, as many records before the end.
    Skipping {
        /// Records between the end of one and the begin of the next.
        records: i64,
    },
    /// Zones one after the other, and again from the first. One is left when so many bytes were moved in it, wherever the last record
    /// ends.
    ZonesInTurn {
        /// Bytes of a zone.
        range: Bytes,
        /// Bytes between two zones.
        gap: Bytes,
        /// Bytes that are moved on a visit, above 0.
        moved: Bytes,
        /// The order inside a zone. In sequence reads and writes each begin at the zone's first byte; permuted: no byte twice on a visit
        /// while there is room; others draw each record, or each by its share.
        #[serde(default, skip_serializing_if = "is_default")]
        inside: Box<Access>,
    },
    /// A pass that leaves an SSD as long random writes do: each record once, in no order, in rounds. Each round begins by writing some of
    /// an earlier one again; the round that is written first has the most of them, the last one none. A pass ends when each record had
    /// its turn, or when all that is written comes to the records and what is spare.
    Preconditioning {
        /// Blocks that the device has beyond those it shows, as a share of these: at least 0, and below 5/3.
        spare: f64,
        /// Rounds of a pass.
        rounds: u32,
        /// How many rounds later something comes again: 1 is in the next one.
        apart: u32,
    },
    /// The listed operations, in order; record size and region are taken from the list.
    Listed(Vec<ListedOp>),
}

/// Where the positions of [`Access::Scaled`] come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scaled {
    /// xoroshiro128+ (rotations 55, 14, 36) whose state is four numbers of the C library's random() after srandom(this); without it
    /// a generator that follows from the workload's seed. With a common sequence it is the first worker's; the others have their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub libc_seed: Option<u32>,
    /// Numbers that are drawn and dropped after every operation, syncs included.
    #[serde(skip_serializing_if = "is_default")]
    pub dropped: u8,
}

/// A part of the region and how often it is visited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Share of the operations, in percent; 0: it is left alone.
    pub operations_percent: f64,
    /// Share of the region, in percent.
    pub region_percent: f64,
}

impl Access {
    /// Whether each record is drawn by itself, whatever was drawn before.
    #[must_use]
    pub fn draws_each(&self) -> bool {
        use Access::{Around, Normal, Pareto, Uniform, Zipf, Zoned};
        matches!(self, Uniform | Zipf { .. } | Pareto { .. } | Normal { .. } | Zoned(_) | Around { .. })
    }

    /// Whether it may be the order inside zones.
    pub(crate) fn fits_in_zones(&self) -> bool {
        match self {
            Self::Sequential | Self::Permuted => true,
            Self::PartlyRandom { order, .. } => **order == Self::Permuted || order.draws_each(),
            order => order.draws_each(),
        }
    }

    /// Whether inside zones it remembers what had its turn.
    pub(crate) fn remembers_in_zones(&self) -> bool {
        match self {
            Self::PartlyRandom { order, .. } => **order == Self::Permuted,
            order => *order == Self::Permuted,
        }
    }

    /// Whether it is a list of operations that says when each is due.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        matches!(self, Self::Listed(list) if list.first().is_some_and(|op| op.due.is_some()))
    }
}

/// One operation of a given list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedOp {
    /// Offset in the file.
    pub offset: u64,
    /// Length in bytes; a sync has none.
    pub bytes: u32,
    /// Which file of the set, for a stream over all of them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file: u32,
    /// What it does; without it, what the direction of the stream says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub does: Option<Does>,
    /// When it is due, from the start of the stream, or from the end of the pass before: an open loop, as with a rate. All operations of
    /// a list say it, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Duration>,
    /// Time to compute before it, not counted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub think: Duration,
}

/// What a listed operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Does {
    /// Read.
    Read,
    /// Write.
    Write,
    /// fsync.
    Sync,
    /// fdatasync.
    DataSync,
    /// Give the range back: see [`Direction::Trim`](super::Direction::Trim).
    Trim,
}

impl Does {
    /// Whether it moves no data.
    #[must_use]
    pub fn syncs(self) -> bool {
        matches!(self, Self::Sync | Self::DataSync)
    }
}
