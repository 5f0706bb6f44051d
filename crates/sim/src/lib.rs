//! A workload in virtual time. The op stream of `workload` is executed unchanged by simulated threads, through a page cache,
//! read-ahead, write-back and a journal, an elevator and a device; what comes out is the same kind of record as that of a real run.
//!
//! Everything is deterministic: time is whole nanoseconds, equal times have a fixed order ([`event`]), chance has a stream for each
//! entity ([`random`]), floating point is only + - * / and sqrt. The same inputs and seed give the same bytes on any machine.

pub mod devices;
pub mod event;
pub mod random;
