//! A run that was stopped for a while reports this before any figure. (D4 of the reliability review.)

use crate::measure::workloads::Text;
use fathom_testkit::{Fathom, Outcome};
use std::time::Duration;

/// Longer than whatever a busy machine does to a program.
const STOPPED: Duration = Duration::from_millis(1500);

/// Stops it with all its workers once it is at work, and lets it go on.
fn stopped(fathom: &Fathom, args: &[&str]) -> Outcome {
    let mut running = fathom.spawn(args);
    running.wait_for_work(8 << 20);
    running.signal(libc::SIGSTOP);
    std::thread::sleep(STOPPED);
    running.signal(libc::SIGCONT);
    running.finish().expect_code(0)
}

#[test]
fn d4_a_run_that_was_stopped_says_so_first_and_is_not_steady() {
    let fathom = Fathom::new();
    let stream = "record = { fixed = \"4KiB\" }\naccess = \"uniform\"\namount = \"endless\"";
    let text = Text::new("w").quick_write(fathom.work()).phase(
        "reads",
        "first",
        "read",
        "stop = { time = \"3s\" }\ninterval = \"100ms\"",
        stream,
    );
    let workload = text.save(&fathom);
    let outcome = stopped(&fathom, &["run", workload.to_str().expect("UTF-8")]);
    let said = &outcome.stdout;
    let still = said.find(" stood still for ").unwrap_or_else(|| panic!("{said}"));
    assert!(said.find("MiB/s").or(said.find("GiB/s")).is_some_and(|figure| still < figure), "{said}");
    assert!(said.contains("reads") && !said.contains("+ steady"), "{said}");
}

#[test]
fn d4_drop_ins_say_it_too() {
    let fathom = Fathom::new();
    let line = "fio --name=a --rw=randread --size=1m --bs=4k --time_based --runtime=3";
    let outcome = stopped(&fathom, &line.split(' ').collect::<Vec<_>>());
    assert!(outcome.stderr.contains("stood still for "), "{}", outcome.stderr);
}
