//! Threads that wait for each other or for a rate, asynchronous writes, and the ends of a flow.

use super::*;

#[test]
fn semaphores_keep_two_in_step_and_blocks_are_woken() {
    let producer = [
        op("p", "semaphore-post", "target = \"w\", value = 1, blocking = true"),
        op("h", "spin", "value = 1000"),
    ];
    let consumer = [op("w", "semaphore-wait", "value = 4, high_water = 8")];
    let threads = [(1, &*flow(100, &producer)), (1, &*flow(25, &consumer))];
    let out = run(&flows("", "", 1, &threads), setup("today"));
    let r = first(&out);
    assert_eq!([counts(r, "p"), counts(r, "w"), counts(r, "h")], [(100, 0), (25, 0), (100, 0)]);
    assert!(r.workers.iter().all(|w| w.ops == 0), "none of it is I/O");

    let waker = [op("d", "delay", "value = 1"), op("k", "wake", "target = \"b\"")];
    let threads = [(1, &*flow(3, &waker)), (2, &*flow(3, &[op("b", "block", "")]))];
    let out = run(&flows("", "", 1, &threads), setup("today"));
    let r = first(&out);
    // One wake-up for each of the two that wait.
    assert_eq!([counts(r, "k"), counts(r, "b")], [(6, 0), (6, 0)]);
    assert!(out.inside.elapsed_ns >= 3_000 * MS);
}

#[test]
fn giving_wakes_only_tasks_that_can_proceed() {
    let post = op("p", "semaphore-post", "target = \"w\", value = 1, blocking = true");
    let wait = [op("w", "semaphore-wait", "value = 1, high_water = 1"), op("h", "spin", "value = 1000")];
    let threads = [(100, &*flow(5, &[post])), (1, &*flow(500, &wait))];
    let out = run(&flows("", "", 1, &threads), setup("today"));
    assert_eq!(counts(first(&out), "p"), (500, 0));
    // In one round each before the other: first come, first served.
    assert!(out.inside.events < 8_000, "{}", out.inside.events);

    let ops = [op("s", "stat", SLOT)];
    let out = run(&flows(&files(1, 64), "", 1, &[(100, &flow(20, &ops))]), setup("today"));
    assert_eq!(counts(first(&out), "s"), (2_000, 0));
    assert!(out.inside.events < 20_000, "{}", out.inside.events);
}

#[test]
fn a_deadlock_is_reported() {
    let out = run(&flows("", "", 1, &[(2, &endless(&[op("b", "block", "")]))]), setup("today"));
    let error = only(&out).error().unwrap();
    assert!(
        error.message.contains("operation b") && error.message.contains("none can wake it"),
        "{}",
        error.message
    );
    let out =
        run(&flows("", "", 1, &[(1, &endless(&[op("w", "semaphore-wait", "value = 1")]))]), setup("today"));
    let error = only(&out).error().unwrap();
    assert!(error.message.contains("has waited 600 s"), "{}", error.message);
    // With a time limit the phase simply ends.
    let timed = flows("", "stop = { time = \"5s\" }", 1, &[(2, &endless(&[op("b", "block", "")]))]);
    let warm =
        flows("", "ramp = \"1s\"\nstop = { time = \"5s\" }", 1, &[(2, &endless(&[op("b", "block", "")]))]);
    for w in [timed, warm] {
        let out = run(&w, setup("today"));
        let r = first(&out);
        assert!(r.workers.iter().all(|w| w.ending == Ending::Stopped && w.elapsed_ns == 5_000 * MS));
    }
    // A warm-up alone does not wake them.
    let out = run(&flows("", "ramp = \"1s\"", 1, &[(2, &endless(&[op("b", "block", "")]))]), setup("today"));
    assert!(only(&out).error().unwrap().message.contains("none can wake it"));
}

#[test]
fn limits_hold_a_rate() {
    let read = op("r", "read", &format!("{SLOT}, size = 4096, random = true"));
    for (limit, target, bytes) in
        [("limit-events", "", 4096), ("limit-iops", "r", 4096), ("limit-ops", "r", 4096)]
    {
        let target = if target.is_empty() { String::new() } else { format!("target = \"{target}\"") };
        let ops = [read.clone(), op("l", limit, &target)];
        let phase = "events_per_s = 50.0\nstop = { time = \"10s\" }";
        let out = run(&flows(&files(1, 64), phase, 1, &[(4, &endless(&ops))]), setup("today"));
        let (ops, moved) = counts(first(&out), "r");
        // Four implicit opens are among them.
        assert!((495..=509).contains(&ops), "{limit}: {ops}");
        assert_eq!(moved, (ops - 4) * bytes);
    }
    let ops = [
        op("r", "read", &format!("{SLOT}, size = \"256KiB\", random = true")),
        op("l", "limit-bandwidth", "target = \"r\""),
    ];
    let phase = "events_per_s = 2.0\nstop = { time = \"10s\" }";
    let out = run(&flows(&files(1, 1024), phase, 1, &[(1, &endless(&ops))]), setup("today"));
    let (_, moved) = counts(first(&out), "r");
    assert!((19 << 20..=22 << 20).contains(&moved), "{moved}");
}

#[test]
fn ends_by_count_bytes_time_amount_and_warm_up() {
    let read = op("r", "read", &format!("{SLOT}, size = 4096, random = true"));
    let of = |phase: &str, more: &[String], threads: u32| {
        let ops: Vec<String> = std::iter::once(read.clone()).chain(more.iter().cloned()).collect();
        only(&run(&flows(&files(1, 64), phase, 1, &[(threads, &endless(&ops))]), setup("today"))).clone()
    };
    let by_count = of("", &[op("e", "finish-on-count", "target = \"r\", value = 100")], 1);
    assert_eq!(counts(&by_count, "r"), (100, 99 * 4096));
    let by_bytes = of("", &[op("e", "finish-on-bytes", "target = \"r\", value = 40960")], 1);
    assert_eq!(counts(&by_bytes, "r"), (12, 11 * 4096));
    let by_amount = of("stop = { operations = 77 }", &[], 3);
    assert_eq!((by_amount.ops(), counts(&by_amount, "r").0), (77, 77));
    let by_time = of("stop = { time = \"1s\" }", &[], 2);
    assert!(by_time.workers.iter().all(|w| w.elapsed_ns == 1_000 * MS && w.ending == Ending::Stopped));
    let warm = of("ramp = \"1s\"\nstop = { time = \"1s\" }\ninterval = \"100ms\"", &[], 2);
    assert!(warm.workers.iter().all(|w| w.ramp_ops > 0 && w.ops > 0 && w.elapsed_ns == 1_000 * MS));
    assert_eq!(warm.intervals.iter().map(|i| i.ops).sum::<u64>(), warm.ops());
}

#[test]
fn asynchronous_writes_are_under_way_when_they_count() {
    let ops = [
        op("w", "async-write", &format!("{SLOT}, size = 8192, random = true, repeat = 16, direct = true")),
        op("a", "async-wait", ""),
    ];
    let out = run(&flows(&files(2, 1024), "", 1, &[(2, &flow(20, &ops))]), setup("today"));
    let r = first(&out);
    // Includes the implicit opens.
    assert_eq!([counts(r, "w"), counts(r, "a")], [(642, 640 * 8192), (40, 0)]);
    let journal = out.inside.counts.journal_blocks * 4096;
    assert_eq!(r.physical.devices[0].write_bytes - journal, 640 * 8192, "all of them were waited for");
    let (write, wait) = (row(r, "w"), row(r, "a"));
    assert!(write.latency.max_ns() < MS && wait.latency.max_ns() > MS, "the wait is the wait's");
}
