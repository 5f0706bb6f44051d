//! `deadline`, under one name three behaviours: that of 2.6.0 to 2.6.23 (a batch ends at the first request that does not follow on; a new
//! direction starts at the lowest sector), that of 2.6.24 on (batches of up to 16 in the order of sectors; a new batch starts with
//! the oldest request), and today's `mq-deadline` ([`MqDeadline`]: a position per direction, priorities, aging).

mod classic;
mod mq;

pub use classic::{Deadline, Generation};
pub use mq::MqDeadline;

use crate::tunable::{Tunable, Unit};

const READ_EXPIRE: usize = 0;
const WRITE_EXPIRE: usize = 1;
const WRITES_STARVED: usize = 2;
const FIFO_BATCH: usize = 3;
const FRONT_MERGES: usize = 4;
const PRIO_AGING_EXPIRE: usize = 5;
const ASYNC_DEPTH: usize = 6;

/// An hour: longer deadlines are none.
const LONGEST_MS: u64 = 3_600_000;

const COMMON: [Tunable; 5] = [
    Tunable {
        name: "read_expire",
        unit: Unit::Millis,
        default: 500,
        min: 0,
        max: LONGEST_MS,
        doc: "a read older than this goes before the order of sectors",
    },
    Tunable {
        name: "write_expire",
        unit: Unit::Millis,
        default: 5000,
        min: 0,
        max: LONGEST_MS,
        doc: "the same for writes",
    },
    Tunable {
        name: "writes_starved",
        unit: Unit::Number,
        default: 2,
        min: 0,
        max: 1 << 20,
        doc: "how often reads are preferred before writes have their turn",
    },
    Tunable {
        name: "fifo_batch",
        unit: Unit::Requests,
        default: 16,
        min: 1,
        max: 1 << 20,
        doc: "most requests of one direction in the order of sectors before ages are looked at",
    },
    Tunable {
        name: "front_merges",
        unit: Unit::Switch,
        default: 1,
        min: 0,
        max: 1,
        doc: "whether bios are added before requests too",
    },
];

static CLASSIC: [Tunable; 5] = COMMON;

static MQ: [Tunable; 7] = [
    COMMON[0],
    COMMON[1],
    COMMON[2],
    COMMON[3],
    COMMON[4],
    Tunable {
        name: "prio_aging_expire",
        unit: Unit::Millis,
        default: 10_000,
        min: 0,
        max: LONGEST_MS,
        doc: "a request of a lower class older than this goes before higher classes",
    },
    Tunable {
        name: "async_depth",
        unit: Unit::Requests,
        default: 0,
        min: 0,
        max: 1 << 20,
        doc: "writes get no request while this many are in use; 0: as many as the elevator has tags",
    },
];
