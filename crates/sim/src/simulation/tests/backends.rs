//! Back-ends that are more than one call per operation: the resulting system calls, and when the worker sees completions.

use super::*;

/// Reads and writes that reach the device, with bytes: without a page cache each call is a request.
fn calls(stream: &str) -> (u64, u64, u64, u64) {
    let setup = Setup { stack: Stack::NoCache, ..setup("today") };
    let out = run(&workload(1, 1, "", stream), setup);
    let device = &only(&out).physical.devices[0];
    (device.read_ios, device.read_bytes, device.write_ios, device.write_bytes)
}

fn stdio(buffer: &str, operations: u32, rest: &str) -> String {
    format!(
        "record = {{ fixed = \"4KiB\" }}\namount = {{ operations = {operations} }}\nbackend = {{ stdio = {{ buffer = \"{buffer}\" }} }}\n\
         timed = {{ close = true }}\n{rest}"
    )
}

#[test]
fn a_full_buffer_of_the_c_library_is_one_call() {
    let written = |buffer: &str, n: u32| calls(&stdio(buffer, n, "direction = \"write\""));
    // Four records fill the buffer, the fifth flushes it, and closing writes the rest.
    assert_eq!(written("16KiB", 6), (0, 0, 2, 6 * 4096));
    assert_eq!(written("16KiB", 4), (0, 0, 1, 4 * 4096));
    // A buffer of one record: the first bypasses it; of the others every second one waits for the next.
    assert_eq!(written("0", 5), (0, 0, 5, 5 * 4096));
    assert_eq!(written("4KiB", 4), (0, 0, 4, 4 * 4096));
    // Larger records: whole buffers bypass it, the rest waits.
    assert_eq!(written("3KiB", 2), (0, 0, 3, 2 * 4096));
}

#[test]
fn a_read_of_the_c_library_fills_its_buffer_and_no_more() {
    let read = |buffer: &str, n: u32, rest: &str| calls(&stdio(buffer, n, rest));
    assert_eq!(read("16KiB", 5, "direction = \"read\""), (2, 2 * 16_384, 0, 0));
    assert_eq!(read("0", 5, "direction = \"read\""), (5, 5 * 4096, 0, 0));
    // Backward every record is sought. The library reads from a multiple of the buffer size, and later records are found there.
    assert_eq!(
        read("16KiB", 4, "direction = \"read\"\naccess = \"backward\"\nlength = \"16KiB\""),
        (3, 12_288 + 2 * 16_384, 0, 0)
    );
}

#[test]
fn an_fsync_also_writes_the_c_librarys_buffer() {
    let stream = stdio("64KiB", 6, "direction = \"write\"\nsync_every = { writes = 2 }");
    let (_, _, requests, bytes) = calls(&stream);
    assert_eq!((requests, bytes), (3, 6 * 4096));
}

#[test]
fn operations_and_bytes_through_the_c_library_are_those_of_calls() {
    let figures = |backend: &str| {
        let stream = format!(
            "direction = \"read\"\nrecord = {{ fixed = \"4KiB\" }}\nlength = \"1MiB\"\nbackend = {{ {backend} }}"
        );
        let out = run(&workload(1, 1, "cache = \"cold\"", &stream), setup(NEW));
        let r = only(&out);
        (r.ops(), r.workers[0].bytes, out.inside.counts.pages_asked, r.physical.devices[0].read_bytes)
    };
    let by_calls = figures("psync = \"read\"");
    assert_eq!(by_calls.0, 256);
    assert_eq!(figures("stdio = { buffer = \"0\" }"), by_calls);
    assert_eq!(figures("stdio = { buffer = \"64KiB\" }"), by_calls);
}

#[test]
fn a_read_behind_the_end_fails_in_the_c_library_too() {
    let stream = "direction = \"read\"\nrecord = { fixed = \"48KiB\" }\nlength = \"9MiB\"\nbackend = { stdio = { buffer = \"64KiB\" } }";
    let out = run(&workload(1, 1, "", stream), setup(NEW));
    let error = only(&out).error().unwrap();
    // The last whole record starts 32 KiB before the end of the file.
    assert_eq!(error.offset, Some(170 * 49_152));
    assert!(error.message.contains("only 32768 of 49152 bytes"), "{}", error.message);
}

/// 64 reads of 4 KiB, 8 in flight, through the page cache, with this back-end; or one call at a time.
fn buffered(backend: &str, cache: &str) -> Simulated {
    let stream = format!(
        "direction = \"read\"\naccess = \"permuted\"\nrecord = {{ fixed = \"4KiB\" }}\namount = {{ operations = 64 }}\n{backend}"
    );
    let mut s = setup("today");
    s.device = Box::new(Constant::new(80_000_000, 8, MS, 0));
    run(&workload(1, 1, &format!("cache = \"{cache}\""), &stream), s)
}

fn deepest(out: &Simulated) -> u32 {
    let layer = only(out).block.as_ref().unwrap();
    layer.devices[0].in_device.iter().map(|d| d.depth).max().unwrap_or(0)
}

#[test]
fn aio_without_o_direct_waits_in_the_call_that_hands_operations_in() {
    let one = buffered("", "cold");
    let aio = buffered("backend = { aio = {} }\nqueue_depth = 8", "cold");
    assert_eq!((only(&aio).ops(), deepest(&aio)), (64, 1));
    assert_eq!(only(&aio).physical.devices[0].read_ios, only(&one).physical.devices[0].read_ios);
    // One after the other, but the worker sees none before all of its call are done.
    assert_eq!(only(&aio).workers[0].elapsed_ns, only(&one).workers[0].elapsed_ns);
    assert!(only(&aio).latency(OpKind::Read).min_ns() >= 8 * MS);
    let small = buffered("backend = { aio = { batch = 2 } }\nqueue_depth = 8", "cold");
    let latency = only(&small).latency(OpKind::Read);
    let (least, most) = (latency.min_ns(), latency.max_ns());
    assert!(least >= 2 * MS && most < 3 * MS, "{least} {most}");
}

#[test]
fn io_uring_without_o_direct_waits_only_for_what_is_not_in_memory() {
    let depth = "backend = { uring = {} }\nqueue_depth = 8";
    let cold = buffered(depth, "cold");
    assert_eq!((only(&cold).ops(), deepest(&cold)), (64, 8));
    // The worker itself copies cached pages during submission: as fast as with calls, and no faster.
    let (warm, one) = (buffered(depth, "warm"), buffered("", "warm"));
    let (warm, one) = (only(&warm), only(&one));
    assert_eq!((warm.ops(), warm.physical.devices[0].read_ios), (64, 0));
    assert_eq!(warm.workers[0].elapsed_ns, one.workers[0].elapsed_ns);
    assert!(warm.latency(OpKind::Read).min_ns() >= 8 * one.latency(OpKind::Read).min_ns());
}

#[test]
fn an_amount_is_exact_and_a_sync_goes_alone_with_aio_without_o_direct() {
    let stream = "direction = \"write\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\namount = { operations = 20 }\n\
                  sync_every = { writes = 5 }\nbackend = { aio = {} }\nqueue_depth = 8";
    let out = run(&workload(1, 1, "", stream), setup(NEW));
    let r = only(&out);
    assert_eq!((r.ops(), out.inside.counts.fsyncs), (20, 4));
    assert_eq!(r.resident_after.unwrap().dirty_pages, 0);
    let timed = "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\namount = \"endless\"\nbackend = { aio = {} }\nqueue_depth = 8";
    let out = run(&workload(2, 2, "stop = { operations = 100 }", timed), setup(NEW));
    assert_eq!(only(&out).ops(), 100);
    let out = run(&workload(2, 2, "cache = \"cold\"\nstop = { time = \"1s\" }", timed), setup(NEW));
    assert!(only(&out).workers.iter().all(|w| w.ending == Ending::Stopped && w.elapsed_ns >= 1000 * MS));
}

#[test]
fn a_sync_may_be_one_of_those_in_flight() {
    let synced = |backend: &str, more: &str| {
        let stream = format!(
            "direction = \"write\"\naccess = \"uniform\"\nrecord = {{ fixed = \"4KiB\" }}\namount = {{ operations = 64 }}\n\
             open = {{ direct = true }}\nsync_every = {{ writes = 4 }}\nbackend = {{ {backend} = {{}} }}\nqueue_depth = 8\n{more}"
        );
        let mut s = setup("today");
        s.device = Box::new(Constant::new(80_000_000, 8, MS, 0));
        run(&workload(1, 1, "", &stream), s)
    };
    for backend in ["uring", "aio"] {
        let (alone, among) = (synced(backend, ""), synced(backend, "sync_in_queue = true"));
        assert_eq!(alone.inside.counts.fsyncs, among.inside.counts.fsyncs, "{backend}");
        assert_eq!(only(&among).ops(), 64);
        let took = [&alone, &among].map(|out| only(out).workers[0].elapsed_ns);
        assert!(took[1] < took[0], "{backend}: {took:?}");
    }
    assert!(deepest(&synced("uring", "")) <= 4);
    assert!(deepest(&synced("uring", "sync_in_queue = true")) > 4);
}

#[test]
fn disturbing_reads_and_a_purged_cache_cost_time_and_are_in_no_latency() {
    let read = |rest: &str| {
        let stream =
            format!("direction = \"read\"\nrecord = {{ fixed = \"4KiB\" }}\nlength = \"256KiB\"\n{rest}");
        run(&workload(1, 1, "cache = \"warm\"", &stream), setup("ncsa-2005-linux-2.4"))
    };
    let (plain, disturbed) = (read(""), read("disturb_every = 16"));
    // Two reads each before reads 0, 16, 32 and 48.
    assert_eq!(disturbed.inside.counts.pages_asked, plain.inside.counts.pages_asked + 8);
    assert_eq!(only(&disturbed).ops(), 64);
    assert!(only(&disturbed).workers[0].elapsed_ns > only(&plain).workers[0].elapsed_ns);
    let purged = read("purge = \"1MiB\"");
    let (of_plain, of_purged) = (only(&plain).latency(OpKind::Read), only(&purged).latency(OpKind::Read));
    assert!(of_purged.min_ns() > of_plain.min_ns(), "the buffer has left the caches");
    let walks_ns = 64 * 256 * 1600;
    assert!(only(&purged).workers[0].elapsed_ns > only(&plain).workers[0].elapsed_ns + walks_ns);
}
