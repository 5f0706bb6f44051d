//! `deadline`, one name for three behaviours: 2.6.0 to 2.6.23 (a batch ends at the first non-sequential request; a new direction starts
//! at the lowest sector), 2.6.24 on (batches of up to 16 in sector order; a new batch starts with the oldest request), and today's
//! `mq-deadline` ([`MqDeadline`]: a position per direction, priorities, aging).

mod classic;
mod mq;
mod turns;

pub use classic::{Deadline, Generation};
pub use mq::MqDeadline;

use crate::tunable::{Tunable, Unit};

const READ: usize = 0;
const WRITE: usize = 1;

const READ_EXPIRE: usize = 0;
const WRITE_EXPIRE: usize = 1;
const WRITES_STARVED: usize = 2;
const FIFO_BATCH: usize = 3;
const FRONT_MERGES: usize = 4;
const PRIO_AGING_EXPIRE: usize = 5;
const ASYNC_DEPTH: usize = 6;

const COMMON: [Tunable; 5] = [
    Tunable::millis("read_expire", 500, "a read older than this goes before the order of sectors"),
    Tunable::millis("write_expire", 5000, "the same for writes"),
    Tunable::count(
        "writes_starved",
        Unit::Number,
        2,
        "how often reads are preferred before writes have their turn",
    ),
    Tunable::count(
        "fifo_batch",
        Unit::Requests,
        16,
        "most requests of one direction in the order of sectors before ages are looked at",
    )
    .at_least(1),
    Tunable::switch("front_merges", 1, "whether bios are added before requests too"),
];

static CLASSIC: [Tunable; 5] = COMMON;

static MQ: [Tunable; 7] = [
    COMMON[0],
    COMMON[1],
    COMMON[2],
    COMMON[3],
    COMMON[4],
    Tunable::millis(
        "prio_aging_expire",
        10_000,
        "a request of a lower class older than this goes before higher classes",
    ),
    Tunable::count(
        "async_depth",
        Unit::Requests,
        0,
        "writes get no request while this many are in use; 0: as many as the elevator has tags",
    ),
];
