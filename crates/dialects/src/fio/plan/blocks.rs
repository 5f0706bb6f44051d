//! Converts a trace of block devices to a log of operations: requests that arrived at the devices, or, if the trace has no arrivals,
//! requests issued to them. Also maps them to the devices of this machine.

use super::super::iolog::{self, IologEntry, ParsedIolog};
use super::super::settings::Settings;
use super::super::{UsageError, World};
use super::Notes;
use super::replay::TRACE;
use crate::trace::{self, About, NAME_THE_FORM, TraceError};
use fathom_record::BlockEvent;
use fathom_record::block::{BlockAction, DeviceNumber, RequestFlags};
use fathom_workload::Does;
use std::path::Path;

/// Reads a trace of at most this many operations. `named`: it is replayed on the original devices, which must exist here.
pub(super) fn read(
    s: &Settings,
    (name, bytes): (&str, Vec<u8>),
    (most, named): (usize, bool),
    world: &World<'_>,
    notes: &mut Notes,
) -> Result<ParsedIolog, UsageError> {
    let failed = |what: String| s.wrong(TRACE, format!("{TRACE}={name}: {what}"));
    // fio has no option to select the format.
    let unread = |mut error: TraceError| {
        if let Some(what) = error.what.strip_suffix(NAME_THE_FORM) {
            error.what = what.to_owned();
        }
        failed(error.to_string())
    };
    let input = Box::new(std::io::Cursor::new(bytes));
    let mut events = trace::open(name, input, None).map_err(unread)?;
    let mut asked = TraceRequests::default();
    for event in &mut events {
        asked.take(&event.map_err(unread)?, most).map_err(failed)?;
    }
    let about = events.about();
    notes.say(format!(
        "job {}: {TRACE} is a trace in the form {}: what was asked of the devices is replayed",
        s.job,
        about.format.word()
    ));
    for note in &about.notes {
        notes.say(format!("job {}: {TRACE}={name}: {}", s.job, note.trim_end_matches('.')));
    }
    if about.lost > 0 {
        notes.say(format!(
            "job {}: {TRACE}={name}: {} events were lost when it was recorded, and are not replayed",
            s.job, about.lost
        ));
    }
    let mut files = Vec::with_capacity(asked.devices.len());
    for number in &asked.devices {
        files.push(if named { device(s, &about, *number, world)? } else { format!("device {number}") });
    }
    Ok(asked.log(files))
}

/// Finds the device of this machine for a device of the trace.
fn device(
    s: &Settings,
    about: &About,
    number: DeviceNumber,
    world: &World<'_>,
) -> Result<String, UsageError> {
    let redirect = "replay_redirect=FILE replays it on a file or another device";
    let described = about.devices.iter().find(|d| d.number == number && !d.name.is_empty());
    let path = match described {
        Some(described) => Some(format!("/dev/{}", described.name)),
        None => (world.device)(number.major, number.minor).map(|path| path.display().to_string()),
    };
    let Some(path) = path else {
        return Err(s
            .wrong(
                TRACE,
                format!("the trace does not name its device {number}, and there is none of this number here"),
            )
            .hint(redirect));
    };
    if (world.find)(Path::new(&path)).is_some_and(|found| found.device) {
        return Ok(path);
    }
    Err(s.wrong(TRACE, format!("the trace is one of the device {path}, which is not here")).hint(redirect))
}

#[derive(Default)]
struct TraceRequests {
    devices: Vec<DeviceNumber>,
    arrived: Vec<IologEntry>,
    issued: Vec<IologEntry>,
}

impl TraceRequests {
    fn take(&mut self, event: &BlockEvent, most: usize) -> Result<(), String> {
        let to = match event.action {
            BlockAction::Queue => &mut self.arrived,
            BlockAction::Issue => &mut self.issued,
            _ => return Ok(()),
        };
        let flags = event.flags;
        let bytes = event.bytes();
        let does = if flags.has(RequestFlags::DISCARD) {
            Some(Does::Trim)
        } else if bytes == 0 && flags.has(RequestFlags::PREFLUSH) {
            Some(Does::Sync)
        } else if flags.has(RequestFlags::WRITE) {
            Some(Does::Write)
        } else if flags.has(RequestFlags::READ) {
            Some(Does::Read)
        } else {
            return Ok(());
        };
        let syncs = does.is_some_and(Does::syncs);
        if bytes == 0 && !syncs {
            return Ok(());
        }
        if to.len() >= most {
            return Err(iolog::too_many(most));
        }
        let at = self.devices.iter().position(|d| *d == event.device).unwrap_or_else(|| {
            self.devices.push(event.device);
            self.devices.len() - 1
        });
        let offset =
            if syncs { 0 } else { event.sector.saturating_mul(fathom_record::block::event::SECTOR_BYTES) };
        to.push(IologEntry { file: at as u32, does, offset, bytes, at_ns: event.time_ns });
        Ok(())
    }

    fn log(self, files: Vec<String>) -> ParsedIolog {
        let mut entries = if self.arrived.is_empty() { self.issued } else { self.arrived };
        entries.sort_by_key(|e| e.at_ns);
        let first_ns = entries.first().map_or(0, |e| e.at_ns);
        entries.iter_mut().for_each(|e| e.at_ns -= first_ns);
        ParsedIolog { version: 0, files, entries, timed: true }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Access, Does, ListedOp, Program};
    use std::path::Path;

    /// What is done, where, how much, and when in us.
    fn listed_ops(args: &str) -> Vec<(Does, u64, u32, Option<u64>)> {
        let plan = planned(args);
        let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else { panic!() };
        let Access::Listed(list) = &stream.access else { panic!("{:?}", stream.access) };
        let one = |op: &ListedOp| (op.does.unwrap(), op.offset, op.bytes, op.due.map(|due| due.0 / 1000));
        list.iter().map(one).collect()
    }

    #[test]
    fn traces_of_devices_are_replayed_as_they_arrived() {
        let found = listed_ops("--name=r --read_iolog=blkparse.txt --replay_redirect=x");
        let expected = [(Does::Write, 2048 * 512, 4096, Some(0)), (Does::Read, 0, 1024, Some(1500))];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_device_is_the_one_of_its_number_and_never_a_file_that_is_made() {
        let why = refused("--name=r --read_iolog=blkparse.txt");
        assert!(why.contains("writes the block device /dev/disk"), "{why}");
        let plan = planned("--name=r --read_iolog=blkparse.txt --replay_skip=write");
        assert_eq!(plan.jobs[0].files[0], [Path::new("/dev/disk")]);
        for (trace, words) in [
            ("elsewhere.txt", "does not name its device 9,9"),
            ("gone.txt", "the device /dev/gone, which is not here"),
        ] {
            let why = refused(&format!("--name=r --read_iolog={trace}"));
            assert!(why.contains(words) && why.contains("replay_redirect=FILE"), "{why}");
            assert_eq!(listed_ops(&format!("--name=r --read_iolog={trace} --replay_redirect=x")).len(), 1);
        }
    }

    #[test]
    fn what_a_trace_cannot_tell_is_said() {
        let plan = planned("--name=r --read_iolog=lost.txt --replay_redirect=x");
        assert!(plan.notes.iter().any(|note| note.contains("7 events were lost")), "{:?}", plan.notes);
        let plan = planned("--name=r --read_iolog=cut.bin --replay_redirect=x");
        assert!(plan.notes.iter().any(|note| note.contains("in the middle of a record")), "{:?}", plan.notes);
        let why = refused("--name=r --read_iolog=two.fio");
        assert!(why.contains("no block trace") && !why.contains("--from"), "{why}");
    }
}
