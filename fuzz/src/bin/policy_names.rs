//! Elevators and read-ahead policies by name, with tunables: no text panics; an error can be shown; values are in their ranges and
//! survive being written; an elevator with them serves what it is given.

#![no_main]

use fathom_iopath::tunable::View;
use fathom_iopath::{AnyElevator, Bio, Elevator as _, Limits, Nanos, Next, Op, Queue, Rules, Submitted, elevator, readahead};
use libfuzzer_sys::fuzz_target;

/// Questions until a few bios must be done.
const MOST_STEPS: u32 = 10_000;

fuzz_target!(|text: &str| {
    match elevator::by_name(text) {
        Err(wrong) => assert!(!wrong.to_string().is_empty()),
        Ok(made) => {
            let again = elevator::by_name(&written(made.name(), made.tunables())).expect("what was written");
            assert_eq!((again.name(), again.tunables().values), (made.name(), made.tunables().values));
            serves(made);
        }
    }
    match readahead::by_name(text) {
        Err(wrong) => assert!(!wrong.to_string().is_empty()),
        Ok(made) => {
            let again = readahead::by_name(&written(made.name(), made.tunables())).expect("what was written");
            assert_eq!((again.name(), again.tunables().values), (made.name(), made.tunables().values));
            let _ = made.open();
        }
    }
});

/// The name with every tunable.
fn written(name: &str, tunables: View<'_>) -> String {
    let mut text = name.to_owned();
    for (row, value) in tunables.table.iter().zip(tunables.values) {
        assert!((row.min..=row.max).contains(value), "{}={value}", row.name);
        text += &format!(",{}={value}", row.name);
    }
    text
}

/// Eight bios of two tasks in both directions: each that the elevator takes is chosen once, however long it waits.
fn serves(elevator: AnyElevator) {
    let mut queue = Queue::new(elevator, Rules::bare(Limits::UNKNOWN));
    // Elevators count back from now.
    let mut now = Nanos::from_secs(86_400);
    let mut taken = 0;
    for n in 0..8u16 {
        let op = if n % 4 == 3 { Op::Write } else { Op::Read };
        let bio = Bio::new(op, u64::from(n) * 7919 % 64 * 16, 8).by(fathom_iopath::TaskId(n % 2));
        // The separate depth for writes may be used up.
        taken += u32::from(queue.submit(now, bio) != Submitted::Full);
    }
    let mut served = 0;
    for _ in 0..MOST_STEPS {
        match queue.next(now, 1) {
            Next::Request(id) => {
                now += Nanos::from_millis(1);
                assert!(queue.completed(now, id, |_| served += 1));
            }
            Next::NotBefore(until) => now = now.max(until) + Nanos(1),
            Next::Nothing => break,
        }
    }
    assert_eq!((served, queue.waiting()), (taken, 0));
}
