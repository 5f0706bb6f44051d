//! The layers between a process and a device, as pure policies: elevators (merge, sort, dispatch) and read-ahead. A policy receives the
//! time and the events and returns decisions; it has no clock, no device, no threads, allocates nothing per call and is deterministic. So
//! it can be tested without a device, run in the simulator and used by isofs.
//!
//! # The elevator half
//!
//! ```text
//! submitter ── Bio ──▶ Queue ── merge? ──▶ Requests (slab) ──▶ Elevator ── next ──▶ device ── completed ──▶ Bio by Bio
//!                        │ limits, pools and tags, plugs
//! ```
//!
//! A [`Queue`] consists of an elevator ([`elevator::by_name`]) and [`Rules`] (the limits of the device, the kernel's pools or tags and
//! its plug). The caller submits [`Bio`]s, asks for the next request when the device has room, and reports completions:
//!
//! ```
//! use fathom_iopath::{Bio, Limits, Nanos, Next, Op, Queue, Rules, Submitted, elevator};
//!
//! let elevator = elevator::by_name("noop")?;
//! let mut queue = Queue::new(elevator, Rules::linux26(Limits::IDE_26));
//! let now = Nanos::ZERO;
//! assert!(matches!(queue.submit(now, Bio::new(Op::Read, 0, 8)), Submitted::Queued(_)));
//! assert!(matches!(queue.submit(now, Bio::new(Op::Read, 8, 8)), Submitted::Merged { .. }));
//! queue.unplug(now); // someone waits
//! let Next::Request(id) = queue.next(now, 1) else { unreachable!() };
//! assert_eq!(queue.request(id).map(|r| (r.sector(), r.sectors())), Some((0, 16)));
//! let mut bios = 0;
//! queue.completed(Nanos::from_millis(8), id, |_bio| bios += 1);
//! assert_eq!(bios, 2);
//! # Ok::<(), fathom_iopath::elevator::ElevatorNameError>(())
//! ```
#![warn(missing_docs)]

pub mod agree;
pub mod bio;
pub mod elevator;
pub mod limits;
pub mod list;
pub mod merge;
pub mod pages;
pub mod queue;
pub mod readahead;
pub mod request;
mod slot;
pub mod task;
pub mod time;
pub mod tree;
pub mod tunable;

pub use bio::{Bio, Op, PageSpan};
pub use elevator::{AnyElevator, Elevator};
pub use limits::{Limits, LimitsError};
pub use merge::{MergeCounts, MergeKind};
pub use queue::{Next, Queue, Rules, Submitted};
pub use request::{Request, RequestId, Requests, Slot};
pub use task::{IoClass, TaskId, TaskInfo};
pub use time::{Hz, Nanos};
pub use tunable::{Tunable, TunableError, Unit};
