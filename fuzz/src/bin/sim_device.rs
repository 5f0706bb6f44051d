//! Device profiles: no text panics; an error can be shown; whatever is read is built, and serves what it is given.

#![no_main]

use fathom_sim::devices::{Command, Device as _, DeviceProfile};
use libfuzzer_sys::fuzz_target;

/// Steps until a few commands must be done.
const MOST_STEPS: u32 = 100_000;

fuzz_target!(|text: &str| {
    let profile = match DeviceProfile::parse("mine.toml", text) {
        Ok(profile) => profile,
        Err(wrong) => return assert!(!wrong.to_string().is_empty()),
    };
    let mut device = profile.build().expect("all that can fail is looked at when it is read");
    let capacity = device.capacity_sectors();
    assert!(device.depth() > 0 && capacity >= 8, "{capacity} sectors");
    let command = |tag, write, sector, sectors| Command { tag, write, sector, sectors, segments: 1 };
    let commands = [
        command(0, false, 0, 8),
        command(1, true, capacity - 8, 8),
        command(2, false, capacity / 2 / 8 * 8, 8),
        command(3, true, 0, 0),
    ];
    let (mut now, mut done) = (0, Vec::new());
    for one in commands {
        device.submit(now, one);
        for step in 0.. {
            let next = device.next_event().expect("a command is outstanding, so something happens");
            assert!(next >= now && step < MOST_STEPS, "{next} after {now}, step {step}");
            now = next;
            device.advance(now, &mut done);
            if done.pop() == Some(one.tag) {
                break;
            }
        }
    }
    assert!(done.is_empty());
});
