//! Tunables of the anticipatory scheduler with the values of 2.6.12, and their row indices.

use crate::tunable::Tunable;

pub(super) const READ_EXPIRE: usize = 0;
pub(super) const WRITE_EXPIRE: usize = 1;
pub(super) const READ_BATCH_EXPIRE: usize = 2;
pub(super) const WRITE_BATCH_EXPIRE: usize = 3;
pub(super) const ANTIC_EXPIRE: usize = 4;

pub(super) static TABLE: [Tunable; 5] = [
    Tunable::millis(
        "read_expire",
        125,
        "a synchronous request older than this may go first, looked at once per this time",
    ),
    Tunable::millis("write_expire", 250, "the same for asynchronous ones"),
    Tunable::millis("read_batch_expire", 500, "a synchronous batch ends after this time if others wait"),
    Tunable::millis(
        "write_batch_expire",
        125,
        "how long an asynchronous batch should take; its length adapts",
    ),
    Tunable::millis(
        "antic_expire",
        6,
        "longest wait for the next request of the same process; 0: never wait",
    ),
];
