//! Runs for the tests of the rules: clean ones, to which a test adds what its rule looks for.

use super::{DoubtInputs, of};
use fathom_record::{Axes, Clock, DeviceDelta, Doubt, Phase, Physical, Repetition, Run, Status, Worker};
use serde_json::Value;

/// A phase of 100 ms with one worker that requested `asked` bytes, of which the device moved `moved`. It reads, unless its name says that
/// it writes.
pub(crate) fn phase(name: &str, asked: u64, moved: u64) -> Phase {
    let writes = name.contains("write");
    let (read, written) = if writes { (0, moved) } else { (moved, 0) };
    let device =
        DeviceDelta { name: "sda".into(), read_bytes: read, write_bytes: written, ..DeviceDelta::default() };
    let physical = Physical {
        method: "diskstats".into(),
        devices: vec![device],
        own_read_bytes: Some(read),
        own_write_bytes: Some(written),
        written_in_clock_bytes: None,
        dirty_after_bytes: Some(0),
        ..Physical::default()
    };
    let worker = Worker { bytes: asked, ops: 1, elapsed_ns: 100_000_000, ..Worker::default() };
    let repetition =
        Repetition { elapsed_ns: 100_000_000, workers: vec![worker], physical, ..Repetition::default() };
    Phase {
        seq: 0,
        name: name.into(),
        axes: Axes::default(),
        reads: !writes,
        writes,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![repetition],
    }
}

/// A completed run of these phases.
pub(crate) fn run_of(phases: Vec<Phase>) -> Run {
    let numbered = phases.into_iter().zip(0..).map(|(p, seq)| Phase { seq, ..p });
    let clock = Clock { source: "tsc".into(), hz: 1e9, ..Clock::default() };
    Run { status: Status::Completed, phases: numbered.collect(), clock, ..Run::default() }
}

/// The doubts on an unknown machine.
pub(crate) fn doubts(run: &Run, seen: &DoubtInputs) -> Vec<Doubt> {
    of(run, &Value::Null, seen)
}

/// The only doubt, which must have this code.
pub(crate) fn code(run: &Run, seen: &DoubtInputs, code: &str) -> Doubt {
    code_in(run, &Value::Null, seen, code)
}

/// As `code`, in an environment.
pub(crate) fn code_in(run: &Run, environment: &Value, seen: &DoubtInputs, code: &str) -> Doubt {
    let mut found = of(run, environment, seen);
    assert_eq!(found.iter().map(|d| d.code.as_str()).collect::<Vec<_>>(), [code], "{found:?}");
    let doubt = found.remove(0);
    assert!(
        doubt.sentence.starts_with(char::is_uppercase) || doubt.sentence.starts_with(char::is_numeric),
        "{}",
        doubt.sentence
    );
    assert!(doubt.sentence.ends_with('.'), "{}", doubt.sentence);
    doubt
}

/// Asserts that there is no doubt.
pub(crate) fn none(run: &Run, seen: &DoubtInputs) {
    none_in(run, &Value::Null, seen);
}

/// As `none`, in an environment.
pub(crate) fn none_in(run: &Run, environment: &Value, seen: &DoubtInputs) {
    assert_eq!(of(run, environment, seen), []);
}
