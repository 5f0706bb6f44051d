//! The table of requests: a slab with reused slots, generations to detect stale ids, and the bios of each request as a chain in a second
//! slab. [`crate::Queue`] allocates and frees requests; elevators read them and use their links.

mod chain;

use crate::bio::{Bio, Op, PageSpan};
use crate::list::ListLinks;
pub use crate::slot::{RequestId, Slot};
use crate::task::{TaskId, TaskInfo, Tasks};
use crate::time::Nanos;
use crate::tree::TreeLinks;
use chain::Node;
use std::ops::{Index, IndexMut};

/// Progress of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Not in use: the slot is free.
    Free,
    /// In the plug of its task.
    Plugged,
    /// With the elevator.
    Waiting,
    /// Picked before a tag was free: it goes next, and can no longer grow.
    Parked,
    /// In flight.
    Started,
}

/// Per-request data of the elevator. Zeroed when the elevator is given the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Private {
    /// Deadline, or another relevant time.
    pub due: Nanos,
    /// Passover counter, order of arrival or the like.
    pub count: i64,
    /// Index of the elevator's own queue.
    pub queue: u16,
    /// Flags.
    pub mark: u16,
}

/// One or more bios that go to the device together.
#[derive(Clone, Debug)]
pub struct Request {
    sector: u64,
    queued_at: Nanos,
    /// Data of the elevator.
    pub private: Private,
    pub(crate) list: ListLinks,
    pub(crate) tree: TreeLinks,
    sectors: u32,
    generation: u32,
    first_bio: Option<Slot>,
    last_bio: Option<Slot>,
    span: PageSpan,
    bios: u16,
    /// Pool slots that it holds: one, plus one for each request that the elevator gathered into it.
    places: u16,
    task: TaskId,
    op: Op,
    cpu: u8,
    sync: bool,
    stage: Stage,
}

const _: () = assert!(size_of::<Request>() <= 128, "a request must stay within 128 bytes");

impl Request {
    fn free() -> Self {
        Self {
            sector: 0,
            queued_at: Nanos::ZERO,
            private: Private::default(),
            list: ListLinks::default(),
            tree: TreeLinks::default(),
            sectors: 0,
            generation: 0,
            first_bio: None,
            last_bio: None,
            span: PageSpan::EMPTY,
            bios: 0,
            places: 0,
            task: TaskId(0),
            op: Op::Read,
            cpu: 0,
            sync: false,
            stage: Stage::Free,
        }
    }

    /// First sector.
    pub const fn sector(&self) -> u64 {
        self.sector
    }

    /// Length in sectors.
    pub const fn sectors(&self) -> u32 {
        self.sectors
    }

    /// The sector after the last one.
    pub const fn end(&self) -> u64 {
        self.sector + self.sectors as u64
    }

    /// Kind of operation.
    pub const fn op(&self) -> Op {
        self.op
    }

    /// Whether it is waited for.
    pub const fn is_sync(&self) -> bool {
        self.sync
    }

    /// The task that submitted its first bio.
    pub const fn task(&self) -> TaskId {
        self.task
    }

    /// The submitting CPU, 0 to 31.
    pub const fn cpu(&self) -> u8 {
        self.cpu
    }

    /// When its first bio was submitted.
    pub const fn queued_at(&self) -> Nanos {
        self.queued_at
    }

    /// Number of physical segments.
    pub const fn segments(&self) -> u16 {
        self.span.segments()
    }

    /// Number of bios.
    pub const fn bios(&self) -> u16 {
        self.bios
    }

    /// Its progress.
    pub const fn stage(&self) -> Stage {
        self.stage
    }

    pub(crate) const fn places(&self) -> u16 {
        self.places
    }
}

/// The slab of requests and that of their bios. The number of requests is fixed; the slab of bios grows by doubling until the largest
/// backlog has been seen.
#[derive(Clone, Debug)]
pub struct Requests {
    slots: Vec<Request>,
    free: Option<Slot>,
    live: usize,
    nodes: Vec<Node>,
    free_node: Option<Slot>,
    tasks: Tasks,
}

impl Requests {
    /// A table with this many slots (at least one).
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(1, 1 << 24);
        let mut slots = vec![Request::free(); capacity];
        for (at, request) in slots.iter_mut().enumerate().take(capacity - 1) {
            request.list.next = Some(Slot::of(at + 1));
        }
        // Untouched memory costs nothing; few backlogs have more than eight bios per request.
        let nodes = Vec::with_capacity(capacity * 8);
        Self { slots, free: Some(Slot::of(0)), live: 0, nodes, free_node: None, tasks: Tasks::default() }
    }

    /// Number of requests in use.
    pub const fn len(&self) -> usize {
        self.live
    }

    /// Whether no request is in use.
    pub const fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Number of slots.
    pub const fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// The id of a request in use.
    pub fn id(&self, slot: Slot) -> RequestId {
        RequestId { slot, generation: self[slot].generation }
    }

    /// A request by its id; `None` if it has completed or was merged into another.
    pub fn get(&self, id: RequestId) -> Option<&Request> {
        let request = self.slots.get(id.slot.index())?;
        (request.generation == id.generation && request.stage != Stage::Free).then_some(request)
    }

    /// Information about a task.
    pub fn task(&self, task: TaskId) -> TaskInfo {
        self.tasks.get(task)
    }

    pub(crate) fn describe(&mut self, task: TaskId, info: TaskInfo) {
        self.tasks.describe(task, info);
    }

    /// A new request with one bio; `None` if every slot is in use.
    pub(crate) fn make(&mut self, now: Nanos, bio: Bio) -> Option<Slot> {
        let slot = self.free?;
        let node = self.node(bio);
        let request = &mut self[slot];
        debug_assert_eq!(request.stage, Stage::Free, "a place on the free list is in use");
        let next_free = request.list.next;
        *request = Request {
            sector: bio.sector(),
            queued_at: now,
            sectors: bio.sectors(),
            generation: request.generation,
            first_bio: Some(node),
            last_bio: Some(node),
            span: bio.span(),
            bios: 1,
            places: 1,
            task: bio.task(),
            op: bio.op(),
            cpu: bio.cpu(),
            sync: bio.is_sync(),
            stage: Stage::Waiting,
            ..Request::free()
        };
        self.free = next_free;
        self.live += 1;
        Some(slot)
    }

    pub(crate) fn set_stage(&mut self, slot: Slot, stage: Stage) {
        self[slot].stage = stage;
    }

    fn release(&mut self, slot: Slot) {
        let next_free = self.free;
        let request = &mut self[slot];
        debug_assert_ne!(request.stage, Stage::Free, "a place is freed once");
        let generation = request.generation.wrapping_add(1);
        *request = Request { generation, ..Request::free() };
        request.list.next = next_free;
        self.free = Some(slot);
        self.live -= 1;
    }

    /// The requests in use, by slot.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &Request)> {
        let used = |(_, request): &(usize, &Request)| request.stage != Stage::Free;
        self.slots.iter().enumerate().filter(used).map(|(at, request)| (Slot::of(at), request))
    }
}

impl Index<Slot> for Requests {
    type Output = Request;
    fn index(&self, slot: Slot) -> &Request {
        &self.slots[slot.index()]
    }
}

impl IndexMut<Slot> for Requests {
    fn index_mut(&mut self, slot: Slot) -> &mut Request {
        &mut self.slots[slot.index()]
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
