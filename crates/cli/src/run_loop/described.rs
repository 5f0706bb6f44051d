//! A planned phase in the terms of the record: its name, the sizes of its parts, what it does.

use crate::flows;
use fathom_record::physical::{NO_IO, PASSTHROUGH};
use fathom_record::{Axes, Phase, Physical};
use fathom_workload::{Backend, Direction, MapFlush, Stream};

pub fn described(phase: &fathom_workload::Phase, number: usize) -> Phase {
    let streams: Vec<&Stream> = phase.streams().collect();
    let synchronous = |s: &&Stream| {
        s.timed.fsync
            || s.sync_series.is_some_and(|series| series.requests == 1 || series.at_end)
            || s.sync_every.is_some_and(|e| e.writes == 1 && e.range.is_none())
            || s.open.sync != fathom_workload::OpenSync::No
            || matches!(s.backend, Backend::Pvsync2(o) if o.dsync || o.sync)
            // A remainder of more than one record is flushed when the file is closed.
            || matches!(s.backend, Backend::Mmap { flush: MapFlush::Sync, flush_every, .. } if flush_every == 1 || s.timed.close)
    };
    Phase {
        seq: number as u32,
        name: phase.name.clone(),
        axes: Axes {
            file_bytes: phase.axes.file.map(|b| b.0),
            record_bytes: phase.axes.record.map(|b| b.0),
            streams: phase.axes.streams.map(u64::from),
            queue_depth: streams.iter().map(|s| u64::from(s.queue_depth)).max().filter(|&d| d > 1),
            tags: phase.axes.tags.clone(),
        },
        reads: streams.iter().any(|s| s.direction.reads()) || flows::read(phase),
        writes: streams.iter().any(|s| s.direction.writes()) || flows::write(phase),
        sync_in_clock: (!streams.is_empty() && streams.iter().all(synchronous))
            || flows::write_synchronously(phase),
        direct: all_direct(&streams) || flows::go_direct(phase),
        repetitions: Vec::new(),
    }
}

/// What the kernel's counters of the device say about a phase. They know nothing of NVMe commands.
pub fn as_far_as_counted(phase: &fathom_workload::Phase, mut counted: Physical) -> Physical {
    let streams: Vec<&Stream> = phase.streams().collect();
    let all = |is: fn(&Stream) -> bool| {
        !streams.is_empty() && streams.iter().all(|s| is(s)) && !flows::read(phase) && !flows::write(phase)
    };
    if all(|s| s.backend == Backend::Null) {
        counted.method = NO_IO.into();
        counted.devices.clear();
    } else if all(by_command) {
        // Whatever the counters say of the device, others did.
        counted.method = PASSTHROUGH.into();
        counted.devices.clear();
    } else if streams.iter().any(|s| by_command(s)) {
        counted.method = "none".into();
        counted.devices.clear();
        counted.note =
            Some("part of the operations were NVMe commands, which the kernel does not count".into());
    }
    counted
}

fn by_command(stream: &Stream) -> bool {
    matches!(stream.backend, Backend::Nvme(_))
}

/// Whether nothing went through the page cache: judged by the streams that write, or without any by those that read.
fn all_direct(streams: &[&Stream]) -> bool {
    let writes = |s: &&&Stream| s.direction != Direction::Read;
    let any_writes = streams.iter().any(|s| writes(&s));
    let mut concerned = streams.iter().filter(|s| !any_writes || writes(s)).peekable();
    concerned.peek().is_some() && concerned.all(|s| s.open.direct)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::Bytes;

    fn stream(direction: Direction, direct: bool) -> Stream {
        let mut stream = Stream::new("f", direction, Bytes(4096));
        stream.open.direct = direct;
        stream
    }

    #[test]
    fn a_phase_is_direct_if_all_that_write_in_it_are() {
        let of = |streams: &[Stream]| all_direct(&streams.iter().collect::<Vec<_>>());
        let (read, write) = (Direction::Read, Direction::Write);
        assert!(of(&[stream(write, true), stream(write, true), stream(read, false)]));
        assert!(!of(&[stream(write, true), stream(write, false)]));
        assert!(of(&[stream(read, true)]) && !of(&[stream(read, true), stream(read, false)]));
        assert!(!of(&[]));
    }
}
