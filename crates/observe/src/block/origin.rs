//! The task a request belongs to. The task that hands a request to the driver is often not the one that caused it: requests that waited
//! in a scheduler or a plug are issued by the kernel's block workers, and flushes by its flush machinery. So the task that allocated the
//! request or inserted it into the queue is remembered until it is issued.
//!
//! On a device with a scheduler, insertions by the measured threads are filtered out in the kernel ([`super::kernel_events`]). All other
//! insertions are recorded, so a request without a recorded insertion is ours. This does not hold for flushes and writes with a flush,
//! which bypass the scheduler: those belong to their issuer. Requests that others queued before the watch began, or whose insertion event
//! was lost, are also attributed to us: a few at most, and the number of lost events is reported. A process that measures nothing itself
//! records all insertions ([`Watched::for_a_bystander`]).
//!
//! A request is identified by its device and first sector, which a front merge changes.
//!
//! Plugging names no device: a task's plugs belong to the device for which it last allocated a request.

use super::devices::Watched;
use super::kernel_events::Detail;
use super::own::OwnTasks;
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::{
    BlockAction, BlockEvent, DeviceNumber, IssuerKind, RequestFlags, measured_threads_name,
};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// The task that caused an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Who {
    /// Kind of issuer. Unknown for completions: `Other`.
    pub kind: IssuerKind,
    /// Its PID; 0 for completions.
    pub pid: u32,
    /// Its name, padded with zeros; empty for completions.
    pub task: [u8; TASK_NAME_BYTES],
}

impl Who {
    /// The event as if this task had been running, for analyses that know one task per event.
    #[must_use]
    pub fn put_into(&self, event: &BlockEvent) -> BlockEvent {
        if self.task[0] == 0 { *event } else { BlockEvent { pid: self.pid, task: self.task, ..*event } }
    }

    /// The name without the padding.
    #[must_use]
    pub fn name(&self) -> std::borrow::Cow<'_, str> {
        let end = self.task.iter().position(|&b| b == 0).unwrap_or(self.task.len());
        String::from_utf8_lossy(&self.task[..end])
    }
}

/// Maximum number of requests remembered. More than this exceeds all queues of a machine, so all are forgotten.
const MOST_REQUESTS: usize = 1 << 17;

/// Requests with one of these flags bypass a scheduler's queue.
const PAST_THE_QUEUE: RequestFlags =
    RequestFlags(RequestFlags::PREFLUSH.0 | RequestFlags::FUA.0 | RequestFlags::OTHER.0);

/// Attributes requests to tasks.
pub(super) struct Origins {
    tasks: OwnTasks,
    /// The task that allocated each request, by device and first sector.
    waiting: HashMap<(DeviceNumber, u64), Who, RandomState>,
    /// The device for which a task last allocated a request.
    plugging: HashMap<u32, DeviceNumber, RandomState>,
    partitions: Vec<(DeviceNumber, DeviceNumber)>,
    /// Devices on which our own insertions are filtered out.
    unseen: Vec<DeviceNumber>,
    /// The measured process, as the default.
    measured: Who,
    detail: Detail,
}

impl Origins {
    pub fn new(tasks: OwnTasks, devices: &[Watched], detail: Detail) -> Self {
        let unseen = devices.iter().filter(|d| d.scheduled && detail == Detail::Requests).map(|d| d.number);
        let me = std::process::id();
        let task = BlockEvent::task_of(&measured_threads_name(me));
        let partitions = devices.iter().flat_map(|d| d.partitions.iter().map(|&p| (p, d.number)));
        Self {
            tasks,
            waiting: HashMap::default(),
            plugging: HashMap::default(),
            partitions: partitions.collect(),
            unseen: unseen.collect(),
            measured: Who { kind: IssuerKind::Own, pid: me, task },
            detail,
        }
    }

    /// Called for every event as soon as it is read.
    #[inline]
    pub fn look(&mut self, event: &BlockEvent) {
        if event.task[0] != 0 {
            self.tasks.look(event.pid, &event.task);
        }
    }

    /// Called once per drain.
    pub fn next_round(&mut self) {
        self.tasks.next_round();
    }

    pub fn by_name(&self) -> u64 {
        self.tasks.by_name()
    }

    /// The task an event belongs to; also maps the event's device to the whole disk. `None` for plugs of tasks without I/O on the watched
    /// devices, and for events that are used only here. Must be called in time order.
    #[inline]
    pub fn of(&mut self, event: &mut BlockEvent) -> Option<Who> {
        if let Some((_, disk)) = self.partitions.iter().find(|(part, _)| *part == event.device) {
            event.device = *disk;
        }
        // A flush has no sector; at most one is in flight.
        let key = (event.device, if event.sectors == 0 { u64::MAX } else { event.sector });
        let who = match event.action {
            BlockAction::Complete | BlockAction::BioComplete => Who::default(),
            BlockAction::Requeue => {
                let who = self.running(event);
                // A worker issues it again.
                self.waiting.entry(key).or_insert(who);
                who
            }
            BlockAction::Plug => {
                event.device = *self.plugging.get(&event.pid)?;
                self.running(event)
            }
            BlockAction::Unplug => {
                event.device = self.plugging.remove(&event.pid)?;
                self.running(event)
            }
            BlockAction::GetRequest => {
                let who = self.running(event);
                self.remember(key, who);
                self.plugging.insert(event.pid, event.device);
                who
            }
            BlockAction::Insert => {
                let who = self.running(event);
                match self.waiting.get(&key) {
                    Some(&maker) => maker,
                    None => {
                        self.remember(key, who);
                        who
                    }
                }
            }
            // Without a scheduler nothing waits, so there is nothing to look up.
            BlockAction::Issue if self.waiting.is_empty() => self.unseen(event),
            BlockAction::Issue => match self.waiting.remove(&key) {
                Some(who) => who,
                None => self.unseen(event),
            },
            BlockAction::RequestMerge => {
                self.waiting.remove(&key);
                self.if_full_detail(event)?
            }
            BlockAction::FrontMerge => {
                let before = (event.device, event.sector.saturating_add(u64::from(event.sectors)));
                if let Some(who) = self.waiting.remove(&before) {
                    self.remember(key, who);
                }
                self.if_full_detail(event)?
            }
            _ => self.running(event),
        };
        Some(who)
    }

    /// Merges other than back merges are used here and not passed on: at that point the merged request is unknown.
    fn if_full_detail(&mut self, event: &BlockEvent) -> Option<Who> {
        (self.detail == Detail::Full).then(|| self.running(event))
    }

    #[inline]
    fn running(&mut self, event: &BlockEvent) -> Who {
        let kind = self.tasks.kind(event.pid, &event.task, event.device, event.flags);
        Who { kind, pid: event.pid, task: event.task }
    }

    /// The owner of a request whose insertion was not recorded.
    #[inline]
    fn unseen(&mut self, event: &BlockEvent) -> Who {
        let running = self.running(event);
        let past_the_queue = event.sectors == 0 || event.flags.0 & PAST_THE_QUEUE.0 != 0;
        if running.task == self.measured.task || past_the_queue || !self.unseen.contains(&event.device) {
            return running;
        }
        self.measured
    }

    fn remember(&mut self, key: (DeviceNumber, u64), who: Who) {
        if self.waiting.len() >= MOST_REQUESTS {
            self.waiting.clear();
        }
        self.waiting.insert(key, who);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: DeviceNumber = DeviceNumber { major: 7, minor: 1 };
    const PART: DeviceNumber = DeviceNumber { major: 259, minor: 0 };
    /// PIDs that no process has: tasks are judged by their names.
    const NOBODY: u32 = u32::MAX - 1;
    const WORKER: u32 = u32::MAX - 2;

    fn origins() -> Origins {
        let mut disk = Watched::of_number(DISK, false);
        disk.partitions.push(PART);
        Origins::new(OwnTasks::new(), &[disk], Detail::Requests)
    }

    fn event(action: BlockAction, sector: u64, pid: u32, task: &str) -> BlockEvent {
        BlockEvent {
            time_ns: 1,
            device: DISK,
            action,
            flags: RequestFlags::WRITE,
            sector,
            sectors: 8,
            pid,
            cpu: 0,
            error: 0,
            task: BlockEvent::task_of(task),
        }
    }

    fn who(origins: &mut Origins, event: &BlockEvent) -> (IssuerKind, String) {
        let who = origins.of(&mut { *event }).expect("handed on");
        (who.kind, who.name().into_owned())
    }

    #[test]
    fn a_request_belongs_to_its_maker_not_its_issuer() {
        let me = std::process::id();
        let mut origins = origins();
        for first in [BlockAction::GetRequest, BlockAction::Insert] {
            who(&mut origins, &event(first, 64, me, "mine"));
            let issued = who(&mut origins, &event(BlockAction::Issue, 64, WORKER, "kworker/0:1H"));
            assert_eq!(issued, (IssuerKind::Own, "mine".into()));
            let again = who(&mut origins, &event(BlockAction::Issue, 64, WORKER, "kworker/0:1H"));
            assert_eq!(again.0, IssuerKind::Kernel, "the next one there is another request");
        }
    }

    #[test]
    fn unreported_requests_in_a_scheduler_queue_are_ours() {
        let disk = Watched { scheduled: true, ..Watched::of_number(DISK, false) };
        let issue = |sector| event(BlockAction::Issue, sector, WORKER, "kworker/0:1H");
        let origins = |detail| Origins::new(OwnTasks::new(), std::slice::from_ref(&disk), detail);
        let mut asked = origins(Detail::Requests);
        who(&mut asked, &event(BlockAction::Insert, 64, NOBODY, "dd"));
        assert_eq!(who(&mut asked, &issue(64)), (IssuerKind::Other, "dd".into()));
        let ours = (IssuerKind::Own, format!("fathom-{}", std::process::id()));
        assert_eq!(who(&mut asked, &issue(72)), ours);
        // Another process's task may dispatch it, too.
        assert_eq!(who(&mut asked, &event(BlockAction::Issue, 80, NOBODY, "dd")), ours);
        for past in [RequestFlags::PREFLUSH, RequestFlags::FUA, RequestFlags::OTHER] {
            let mut issued = issue(72);
            issued.flags = RequestFlags::WRITE.with(past);
            assert_eq!(who(&mut asked, &issued).0, IssuerKind::Kernel, "{past:?} goes past the scheduler");
        }
        assert_eq!(
            who(&mut origins(Detail::Full), &issue(72)).0,
            IssuerKind::Kernel,
            "full detail reports all"
        );
    }

    #[test]
    fn a_request_that_was_merged_in_front_stays_its_makers() {
        let disk = Watched { scheduled: true, ..Watched::of_number(DISK, false) };
        let mut origins = Origins::new(OwnTasks::new(), std::slice::from_ref(&disk), Detail::Requests);
        who(&mut origins, &event(BlockAction::Insert, 64, NOBODY, "dd"));
        let merge = event(BlockAction::FrontMerge, 56, NOBODY, "dd");
        assert_eq!(origins.of(&mut { merge }), None, "not told on: those at the back are not known");
        let issued = who(&mut origins, &event(BlockAction::Issue, 56, WORKER, "kworker/0:1H"));
        assert_eq!(issued, (IssuerKind::Other, "dd".into()));
        // A request merged into another is forgotten: the next one at that sector is different.
        who(&mut origins, &event(BlockAction::Insert, 200, NOBODY, "dd"));
        assert_eq!(origins.of(&mut event(BlockAction::RequestMerge, 200, NOBODY, "dd")), None);
        assert_eq!(
            who(&mut origins, &event(BlockAction::Issue, 200, WORKER, "kworker/0:1H")).0,
            IssuerKind::Own
        );
    }

    #[test]
    fn a_bystander_takes_nothing_for_its_own() {
        let disk = Watched { scheduled: true, ..Watched::of_number(DISK, false) }.for_a_bystander();
        let mut origins = Origins::new(OwnTasks::new(), std::slice::from_ref(&disk), Detail::Requests);
        assert_eq!(
            who(&mut origins, &event(BlockAction::Issue, 64, WORKER, "kworker/0:1H")).0,
            IssuerKind::Kernel
        );
        let inserts = super::super::kernel_events::EVENTS.iter().find(|e| e.action == BlockAction::Insert);
        let filter = inserts.and_then(|e| e.filter(&[disk], Detail::Requests)).expect("a filter");
        assert!(!filter.contains("comm"), "no command is filtered out: {filter}");
    }

    #[test]
    fn a_plug_belongs_to_the_device_its_task_uses() {
        let mut origins = origins();
        let mut plug = event(BlockAction::Plug, 0, NOBODY, "dd");
        plug.device = DeviceNumber::default();
        let device = |origins: &mut Origins, event: &BlockEvent| {
            let mut event = *event;
            origins.of(&mut event).map(|_| event.device)
        };
        assert_eq!(device(&mut origins, &plug), None, "somebody else's");
        who(&mut origins, &event(BlockAction::GetRequest, 8, NOBODY, "dd"));
        assert_eq!(device(&mut origins, &plug), Some(DISK));
        plug.action = BlockAction::Unplug;
        assert_eq!(device(&mut origins, &plug), Some(DISK));
        assert_eq!(device(&mut origins, &plug), None, "that was all it had");
    }

    #[test]
    fn bios_of_a_partition_are_its_disks() {
        let mut queued = event(BlockAction::Queue, 8, NOBODY, "dd");
        queued.device = PART;
        assert!(origins().of(&mut queued).is_some());
        assert_eq!(queued.device, DISK);
    }

    #[test]
    fn a_flush_is_who_asked_for_it() {
        let mut origins = origins();
        let mut asked = event(BlockAction::GetRequest, 0, std::process::id(), "mine");
        asked.sectors = 0;
        who(&mut origins, &asked);
        let mut flush = event(BlockAction::Issue, 0, WORKER, "kworker/0:1H");
        flush.sectors = 0;
        assert_eq!(who(&mut origins, &flush).0, IssuerKind::Own);
        assert_eq!(origins.of(&mut event(BlockAction::Complete, 0, 0, "")), Some(Who::default()));
    }
}
