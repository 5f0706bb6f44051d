//! The kernel's block trace points in use: the action each maps to, the level of detail and the devices for which it is needed, and the
//! filter that limits it to those devices.

use super::devices::Watched;
use fathom_record::block::{BlockAction, DeviceNumber, measured_threads_name};

/// How much is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// Requests as the device sees them: issued, completed, requeued, failed; and who inserted them into the scheduler's queue. On
    /// devices without requests, bios that arrived and completed.
    #[default]
    Requests,
    /// Also the path to the device: arriving bios, merges, splits, plugging.
    Full,
}

/// One trace point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KernelEvent {
    /// Its directory below events/block.
    pub name: &'static str,
    /// The action it maps to.
    pub action: BlockAction,
    /// Bytes that one event takes in the ring.
    pub bytes: u64,
    wanted: Wanted,
}

/// The devices and levels of detail for which an event is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// On devices with requests.
    Requests,
    /// On devices with requests, at full detail.
    RequestsFull,
    /// On devices with a scheduler, where a request is identified by its first sector; at full detail on all devices with requests.
    Moves,
    /// On devices without requests.
    Bios,
    /// On devices without requests; at full detail on all devices.
    BiosFull,
    /// Names no device; only at full detail.
    NoDevice,
}

/// All trace points in use. Watching requires the first two; the others exist only in some kernel versions.
pub(super) const EVENTS: [KernelEvent; 13] = [
    event("block_rq_issue", BlockAction::Issue, 72, Wanted::Requests),
    event("block_rq_complete", BlockAction::Complete, 56, Wanted::Requests),
    event("block_rq_insert", BlockAction::Insert, 72, Wanted::Requests),
    event("block_rq_requeue", BlockAction::Requeue, 56, Wanted::Requests),
    event("block_bio_queue", BlockAction::Queue, 64, Wanted::BiosFull),
    event("block_bio_complete", BlockAction::BioComplete, 56, Wanted::Bios),
    event("block_bio_backmerge", BlockAction::BackMerge, 64, Wanted::RequestsFull),
    event("block_bio_frontmerge", BlockAction::FrontMerge, 64, Wanted::Moves),
    event("block_rq_merge", BlockAction::RequestMerge, 72, Wanted::Moves),
    event("block_split", BlockAction::Split, 68, Wanted::BiosFull),
    event("block_getrq", BlockAction::GetRequest, 64, Wanted::RequestsFull),
    event("block_plug", BlockAction::Plug, 32, Wanted::NoDevice),
    event("block_unplug", BlockAction::Unplug, 36, Wanted::NoDevice),
];

const fn event(name: &'static str, action: BlockAction, bytes: u64, wanted: Wanted) -> KernelEvent {
    KernelEvent { name, action, bytes, wanted }
}

impl KernelEvent {
    /// Whether watching is impossible without it.
    pub fn needed(&self) -> bool {
        matches!(self.action, BlockAction::Issue | BlockAction::Complete)
    }

    /// Its filter for these devices; `None` if it is not needed for any, "0" where there is nothing to filter by.
    pub fn filter(&self, devices: &[Watched], detail: Detail) -> Option<String> {
        let full = detail == Detail::Full;
        let wants = |d: &&Watched| match self.wanted {
            Wanted::Requests => !d.bio_based,
            Wanted::RequestsFull => full && !d.bio_based,
            Wanted::Moves => (full || d.scheduled) && !d.bio_based,
            Wanted::Bios => d.bio_based,
            Wanted::BiosFull => full || d.bio_based,
            Wanted::NoDevice => full && !d.bio_based,
        };
        let wanted: Vec<&Watched> = devices.iter().filter(wants).collect();
        if wanted.is_empty() {
            return None;
        }
        if self.wanted == Wanted::NoDevice {
            return Some("0".into());
        }
        let numbers = |scheduled: bool| {
            let chosen = wanted.iter().filter(move |d| d.scheduled == scheduled);
            filter_text(
                chosen.flat_map(|d| std::iter::once(d.number).chain(d.partitions.iter().copied())).collect(),
            )
        };
        if self.action != BlockAction::Insert || full {
            return [numbers(false), numbers(true)].into_iter().flatten().reduce(either);
        }
        // Insertions show whose request it is when another task issues it. If those of all other tasks are recorded, an unrecorded one
        // must be ours, which saves a third of the events.
        let others = |devices| format!("({devices}) && ({NO_DATA} || {})", not_ours());
        [numbers(false), numbers(true).map(others)].into_iter().flatten().reduce(either)
    }
}

/// A request without data: flushes bypass the scheduler.
const NO_DATA: &str = "nr_sector == 0";

/// Matches threads other than those whose I/O this process measures.
fn not_ours() -> String {
    format!("comm != \"{}\"", measured_threads_name(std::process::id()))
}

fn either(one: String, other: String) -> String {
    format!("{one} || ({other})")
}

/// `dev == 7340032 || dev == 7340033`, each number once; `None` if there are none.
fn filter_text(numbers: Vec<DeviceNumber>) -> Option<String> {
    let numbers: std::collections::BTreeSet<u32> = numbers.into_iter().map(DeviceNumber::to_kernel).collect();
    numbers.iter().map(|n| format!("dev == {n}")).reduce(|all, one| format!("{all} || {one}"))
}

/// Upper bound of the ring bytes that one I/O takes: every event of the level once, with plugs shared.
pub(super) fn bytes_per_io(devices: &[Watched], detail: Detail) -> u64 {
    let wanted = EVENTS.iter().filter(|e| e.filter(devices, detail).is_some());
    // A bio is merged only once, and rarely requeued or split.
    let rare = [BlockAction::FrontMerge, BlockAction::RequestMerge, BlockAction::Requeue, BlockAction::Split];
    wanted.filter(|e| !rare.contains(&e.action)).map(|e| e.bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(minor: u32) -> Watched {
        Watched::of_number(DeviceNumber { major: 7, minor }, false)
    }

    fn of(action: BlockAction) -> KernelEvent {
        EVENTS.into_iter().find(|e| e.action == action).expect("known")
    }

    #[test]
    fn the_filter_names_the_devices_by_number() {
        let issue = of(BlockAction::Issue);
        assert_eq!(issue.filter(&[disk(1)], Detail::Requests).as_deref(), Some("dev == 7340033"));
        let two = issue.filter(&[disk(1), disk(0), disk(1)], Detail::Full);
        assert_eq!(two.as_deref(), Some("dev == 7340032 || dev == 7340033"));
        assert_eq!(issue.filter(&[], Detail::Full), None);
    }

    #[test]
    fn our_requests_in_a_scheduler_queue_are_left_out() {
        let insert = of(BlockAction::Insert);
        let ours = format!("fathom-{}", std::process::id());
        let scheduled = Watched { scheduled: true, ..disk(1) };
        let one = insert.filter(std::slice::from_ref(&scheduled), Detail::Requests);
        assert_eq!(one, Some(format!("(dev == 7340033) && (nr_sector == 0 || comm != \"{ours}\")")));
        let both = insert.filter(&[disk(0), scheduled.clone()], Detail::Requests);
        let wanted =
            format!("dev == 7340032 || ((dev == 7340033) && (nr_sector == 0 || comm != \"{ours}\"))");
        assert_eq!(both, Some(wanted));
        // At full detail nothing is filtered out.
        let full = insert.filter(&[disk(0), scheduled], Detail::Full);
        assert_eq!(full.as_deref(), Some("dev == 7340032 || (dev == 7340033)"));
    }

    #[test]
    fn a_disks_bios_may_name_its_partitions() {
        let mut parted = disk(0);
        parted.partitions.push(DeviceNumber { major: 259, minor: 0 });
        let queue = of(BlockAction::Queue).filter(&[parted], Detail::Full);
        assert_eq!(queue.as_deref(), Some("dev == 7340032 || dev == 271581184"));
    }

    #[test]
    fn bios_stand_for_requests_where_there_are_none() {
        let ram = Watched::of_number(DeviceNumber { major: 253, minor: 0 }, true);
        let both = [disk(0), ram.clone()];
        let filter = |action, devices: &[Watched], detail| of(action).filter(devices, detail);
        assert_eq!(filter(BlockAction::Issue, &both, Detail::Requests).as_deref(), Some("dev == 7340032"));
        assert_eq!(filter(BlockAction::Issue, &both[1..], Detail::Full), None);
        let only_ram = Some("dev == 265289728");
        assert_eq!(filter(BlockAction::Queue, &both, Detail::Requests).as_deref(), only_ram);
        assert_eq!(filter(BlockAction::BioComplete, &both, Detail::Full).as_deref(), only_ram);
        assert_eq!(
            filter(BlockAction::Queue, &both, Detail::Full).as_deref(),
            Some("dev == 7340032 || dev == 265289728")
        );
        assert_eq!(filter(BlockAction::BioComplete, &[disk(0)], Detail::Full), None);
    }

    #[test]
    fn plugging_names_no_device_and_belongs_to_the_full_level() {
        let unplug = of(BlockAction::Unplug);
        assert_eq!(unplug.filter(&[disk(0)], Detail::Requests), None);
        assert_eq!(unplug.filter(&[disk(0)], Detail::Full).as_deref(), Some("0"));
    }

    #[test]
    fn more_detail_takes_more_room() {
        let few = bytes_per_io(&[disk(0)], Detail::Requests);
        let many = bytes_per_io(&[disk(0)], Detail::Full);
        assert!((150..300).contains(&few) && many > few, "{few} {many}");
    }
}
