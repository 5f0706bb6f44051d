//! The native format: no text panics; what is read is written and read back; what `check` lets pass has op streams that stay
//! inside their regions.

#![no_main]

use fathom_workload::ops::{Done, OpCode, Place, Region, StreamOps};
use fathom_workload::{Access, Program, Sizing, Stream, Workload};
use libfuzzer_sys::fuzz_target;

/// Operations drawn from each stream, and streams drawn from.
const OPERATIONS: usize = 100;
const STREAMS: usize = 8;
/// A shuffle is a list in memory; larger ones are checked, but not drawn here.
const SHUFFLED: u64 = 1 << 14;

fuzz_target!(|text: &str| {
    let workload = match Workload::from_toml(text) {
        Ok(workload) => workload,
        Err(diagnostic) => {
            assert!(!diagnostic.message.is_empty());
            let _ = diagnostic.render("fuzz.toml", text);
            return;
        }
    };
    let written = workload.to_toml().expect("what came from text is text");
    let again = Workload::from_toml(&written).expect("what was written is of the format");
    // NaN is not equal to itself; texts are.
    assert_eq!(again.to_toml().as_deref(), Ok(written.as_str()));
    if workload.check().is_err() {
        return;
    }
    let threads = workload.phases.iter().flat_map(|p| &p.groups).flat_map(|g| &g.threads);
    for thread in threads.take(STREAMS) {
        if let Program::Stream(stream) = &thread.program {
            draw(&workload, stream);
        }
    }
});

fn draw(workload: &Workload, stream: &Stream) {
    let Some(Sizing::Fixed(file)) = workload.fileset(&stream.fileset).map(|set| &set.size) else { return };
    let start = stream.start.0;
    let region = match &stream.access {
        Access::Listed(list) => {
            let end = list.iter().map(|op| op.offset + u64::from(op.bytes)).max().unwrap_or(0);
            Region { start: 0, length: end }
        }
        _ => Region { start, length: stream.length.map_or(file.0.saturating_sub(start), |b| b.0) },
    };
    if matches!(stream.access, Access::Shuffled { .. }) && region.length / stream.record.unit().0 > SHUFFLED {
        return;
    }
    let mut ops = StreamOps::new(stream, region, workload.seed.0, Place::default())
        .expect("a checked stream has operations");
    let mut done = Done::default();
    for _ in 0..OPERATIONS {
        let Some(op) = ops.next(&done) else { return };
        match op.kind {
            OpCode::Read => done.reads += 1,
            OpCode::Write => done.writes += 1,
            OpCode::Trim => {}
            OpCode::Sync { .. } | OpCode::Evict => continue,
        }
        assert!(op.bytes > 0 && op.offset >= region.start);
        assert!(op.offset + u64::from(op.bytes) <= region.start + region.length);
    }
}
