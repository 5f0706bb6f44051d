//! The order in which a stream visits the offsets of its region, or an explicit list of operations.

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
    /// Like [`Access::Sequential`], but reads and writes each have their own independent cursor.
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
    /// Each record exactly once a pass, in the order of a swap shuffle (record i is swapped with record r mod N for i = 0..N-1) drawn
    /// from MT19937-64 seeded by this key; the same in every pass and for every worker.
    Shuffled {
        /// Seed array of the generator.
        key: Vec<u64>,
    },
    /// Each record exactly once a pass, in an order keyed by the seed, the worker and the pass; needs no memory and no set-up. Records of
    /// varying size fill the region instead, which takes one bit of memory per unit: see [`Stream::fills`](super::Stream::fills).
    Permuted,
    /// Any record, uniformly, with repeats.
    Uniform,
    /// Record k (of a permutation keyed by the seed) with probability proportional to 1 / k^theta.
    Zipf {
        /// The exponent, above 0.
        theta: f64,
    },
    /// Self-similar: the share `1 - h` of the operations goes to the share `h` of the records (of a permutation keyed by the seed), and
    /// recursively inside that share.
    Pareto {
        /// The share, above 0 and below 1 (0.2 is "80 % to 20 %", 0.5 is uniform).
        h: f64,
    },
    /// Normally distributed around the middle of the region; values outside the region are drawn again.
    Normal {
        /// Standard deviation in percent of the region.
        deviation_percent: f64,
    },
    /// An order with popular records (zipf, pareto, normal), shifted so that the most popular one lies at `centre`.
    Around {
        /// The order.
        order: Box<Access>,
        /// Position as a share of the region: at least 0 and below 1. Records shifted past the end wrap around to the beginning.
        centre: f64,
    },
    /// The same few records over and over, in this order. Record numbers are taken modulo N.
    Cycle {
        /// Their numbers.
        records: Vec<u64>,
        /// Each round adds the length of the cycle to the numbers; the cycle restarts when one of them would leave the region.
        #[serde(default, skip_serializing_if = "is_default")]
        advancing: bool,
    },
    /// Zones one after the other, each with its share of the operations; uniform inside a zone. Each column adds up to 100.
    Zoned(Vec<Zone>),
    /// Each record of an order starts a run of operations: on that record and those that follow it, up to the end of the region.
    Runs {
        /// Where runs begin.
        order: Box<Access>,
        /// Operations per run.
        operations: u64,
        /// All operations of a run are on its first record.
        #[serde(default, skip_serializing_if = "is_default")]
        same: bool,
    },
    /// Reads and writes each continue after their own last record, except for a share of them that is drawn from an order.
    PartlyRandom {
        /// Order that the drawn operations follow.
        order: Box<Access>,
        /// Percent of the reads that are drawn.
        reads_percent: u8,
        /// Percent of the writes that are drawn.
        writes_percent: u8,
    },
    /// Ascending: `run` bytes are accessed, then `gap` bytes are skipped, and so on; wraps to the beginning at the end.
    Striped {
        /// Bytes in a row; a multiple of the record size.
        run: Bytes,
        /// Bytes left out.
        gap: Bytes,
        /// Reads and writes each have their own cursor, as in [`Access::SequentialByKind`].
        #[serde(default, skip_serializing_if = "is_default")]
        by_kind: bool,
    },
    /// Record 0, then the record that starts `records` records past the end of the last (-2 goes backward). Past the end of the region it
    /// restarts at record 0; going backward, `-records` records before the end.
    Skipping {
        /// Records between the end of one and the start of the next.
        records: i64,
    },
    /// Zones one after the other, and again from the first. A zone is left once `moved` bytes were transferred in it, wherever the last
    /// record ends.
    ZonesInTurn {
        /// Bytes of a zone.
        range: Bytes,
        /// Bytes between two zones.
        gap: Bytes,
        /// Bytes transferred per visit, above 0.
        moved: Bytes,
        /// The order inside a zone. Sequential: reads and writes each begin at the zone's first byte. Permuted: no byte twice in a visit
        /// while unvisited space is left. Others draw each record, or each by its share.
        #[serde(default, skip_serializing_if = "is_default")]
        inside: Box<Access>,
    },
    /// A pass that leaves an SSD in the state of long random writing: every record once, in random order, in rounds. Each round begins by
    /// rewriting some records of an earlier round; the first round has the most of its records rewritten, the last one none. A pass ends
    /// when each record had its turn, or when the writes amount to the records plus the spare blocks.
    Preconditioning {
        /// The device's spare blocks (over-provisioning) as a share of its visible ones: at least 0, and below 5/3.
        spare: f64,
        /// Rounds of a pass.
        rounds: u32,
        /// Rounds between writing a record and rewriting it: 1 is the next round.
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
    /// Random numbers drawn and discarded after every operation, syncs included.
    #[serde(skip_serializing_if = "is_default")]
    pub dropped: u8,
}

/// A part of the region and how often it is visited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Share of the operations, in percent; 0: the zone is never visited.
    pub operations_percent: f64,
    /// Share of the region, in percent.
    pub region_percent: f64,
}

impl Access {
    /// Whether each record is drawn independently of all earlier ones.
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

    /// Whether it remembers visited records inside zones.
    pub(crate) fn remembers_in_zones(&self) -> bool {
        match self {
            Self::PartlyRandom { order, .. } => **order == Self::Permuted,
            order => *order == Self::Permuted,
        }
    }

    /// Whether it is a list of operations with scheduled times.
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
    /// Kind of operation; without it, the direction of the stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub does: Option<Does>,
    /// Scheduled time, from the start of the stream or from the end of the previous pass: an open loop, as with a rate. Either all
    /// operations of a list have one or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Duration>,
    /// Computing time before it, not counted.
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
    /// Discard the range: see [`Direction::Trim`](super::Direction::Trim).
    Trim,
}

impl Does {
    /// Whether it moves no data.
    #[must_use]
    pub fn syncs(self) -> bool {
        matches!(self, Self::Sync | Self::DataSync)
    }
}
