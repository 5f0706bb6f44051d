//! System calls seen with strace: offsets in order, and what lies inside the clock. Line 20 of the specification's
//! acceptance list. The random order is computed here again from the generator's published definition, to catch errors
//! in the program's own generator.

use crate::dropin::layout::rows;
use fathom_testkit::{Fathom, FileCall, TestDir, need_tool, skip};
use std::path::Path;
use std::process::{Command, Stdio};

/// First records of the random order of a file of 100 records, as published.
const HUNDRED_BEGINS: [u64; 16] = [31, 64, 18, 24, 58, 40, 43, 0, 1, 19, 87, 10, 9, 92, 81, 73];
/// The order of a file of 10 records, as published.
const TEN: [u64; 10] = [3, 5, 1, 9, 7, 4, 2, 0, 8, 6];

/// The Mersenne Twister of 64 bits (Nishimura and Matsumoto, 2000), seeded by an array.
struct Twister {
    state: [u64; 312],
    at: usize,
}

impl Twister {
    fn new(key: &[u64]) -> Self {
        let mut state = [0u64; 312];
        state[0] = 19_650_218;
        let mixed = |previous: u64, factor: u64| (previous ^ (previous >> 62)).wrapping_mul(factor);
        for i in 1..312 {
            state[i] = mixed(state[i - 1], 6_364_136_223_846_793_005).wrapping_add(i as u64);
        }
        let mut i = 1;
        let next = |i: usize, state: &mut [u64; 312]| {
            if i + 1 < 312 {
                return i + 1;
            }
            state[0] = state[311];
            1
        };
        for k in 0..312 {
            let j = k % key.len();
            let word = state[i] ^ mixed(state[i - 1], 3_935_559_000_370_003_845);
            state[i] = word.wrapping_add(key[j]).wrapping_add(j as u64);
            i = next(i, &mut state);
        }
        for _ in 0..311 {
            let word = state[i] ^ mixed(state[i - 1], 2_862_933_555_777_941_757);
            state[i] = word.wrapping_sub(i as u64);
            i = next(i, &mut state);
        }
        state[0] = 1 << 63;
        Self { state, at: 312 }
    }

    fn next(&mut self) -> u64 {
        if self.at == 312 {
            for i in 0..312 {
                let high = self.state[i] & 0xffff_ffff_8000_0000;
                let word = high | (self.state[(i + 1) % 312] & 0x7fff_ffff);
                let odd = if word & 1 == 1 { 0xb502_6f5a_a966_19e9 } else { 0 };
                self.state[i] = self.state[(i + 156) % 312] ^ (word >> 1) ^ odd;
            }
            self.at = 0;
        }
        let mut x = self.state[self.at];
        self.at += 1;
        x ^= (x >> 29) & 0x5555_5555_5555_5555;
        x ^= (x << 17) & 0x71d6_7fff_eda6_0000;
        x ^= (x << 37) & 0xfff7_eee0_0000_0000;
        x ^ (x >> 43)
    }
}

/// IOzone's random order of `n` records.
fn random_order(n: u64) -> Vec<u64> {
    let mut twister = Twister::new(&[0x12345, 0x23456, 0x34567, 0x45678]);
    let mut order: Vec<u64> = (0..n).collect();
    for i in 0..n {
        order.swap(i as usize, (twister.next() % n) as usize);
    }
    order
}

/// IOzone's stride order: advances by `stride`, and near the end restarts one record after the start of the previous
/// round.
fn stride_order(n: u64, stride: u64) -> Vec<u64> {
    let (mut at, mut round) = (0, 0);
    (0..n)
        .map(|_| {
            let read = at;
            if at + 1 + stride >= n - 1 {
                round += 1;
                at = if n <= stride { 0 } else { round % n };
            } else {
                at += stride;
            }
            read
        })
        .collect()
}

#[test]
fn the_orders_of_this_test_are_the_published_ones() {
    assert_eq!(random_order(100)[..16], HUNDRED_BEGINS);
    assert_eq!(random_order(10), TEN);
    let mut sorted = random_order(100);
    sorted.sort_unstable();
    assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    let stride = stride_order(100, 17);
    assert_eq!(stride[..8], [0, 17, 34, 51, 68, 85, 1, 18]);
    assert_eq!(stride[96..], [67, 84, 17, 34]);
}

/// The calls of each pass over a file: those of one thread from an open to the next, if data was moved in between.
/// Calls of another thread (reading kernel counters and the page cache when the clocks have stopped) do not count.
fn passes(calls: &[FileCall]) -> Vec<Vec<FileCall>> {
    let mut passes: Vec<Vec<FileCall>> = Vec::new();
    for call in calls {
        let open = passes.iter().rposition(|p| p[0].pid == call.pid);
        match (call.name.as_str(), open) {
            ("open" | "openat" | "creat", _) => passes.push(vec![call.clone()]),
            (_, Some(at)) => passes[at].push(call.clone()),
            (_, None) => {}
        }
    }
    passes.retain(|p| p.iter().any(moves));
    passes
}

fn moves(call: &FileCall) -> bool {
    matches!(call.name.as_str(), "read" | "write" | "pread64" | "pwrite64" | "readv" | "writev")
}

/// Record numbers in the order in which a pass read or wrote them.
fn records(pass: &[FileCall], record_bytes: u64) -> Vec<u64> {
    pass.iter().filter(|c| moves(c)).filter_map(|c| c.offset).map(|o| o / record_bytes).collect()
}

/// Names of the calls after the last transfer.
fn after_data(pass: &[FileCall]) -> Vec<&str> {
    let last = pass.iter().rposition(moves).map_or(0, |at| at + 1);
    pass[last..].iter().map(|c| c.name.as_str()).filter(|n| *n != "lseek").collect()
}

/// Asserts only transfers and seeks between the first and the last transfer.
fn assert_pure(pass: &[FileCall]) {
    let first = pass.iter().position(moves).unwrap_or(0);
    let last = pass.iter().rposition(moves).unwrap_or(0);
    for call in &pass[first..=last] {
        assert!(moves(call) || call.name == "lseek", "{call:?} among the transfers");
    }
}

#[test]
fn records_are_read_and_written_in_iozones_orders() {
    let test = "records_are_read_and_written_in_iozones_orders";
    for ending in [&[][..], &["-e", "-c"][..]] {
        let fathom = Fathom::new();
        let mut args: Vec<&str> = "iozone -s 400k -r 4k -i 0 -i 2 -i 5".split(' ').collect();
        args.extend(ending);
        let Some(trace) = fathom.strace(test, &args) else { return };
        assert_eq!(trace.code, Some(0), "{}", trace.stderr);
        let passes = passes(&trace.on_file(&fathom.work().join("iozone.tmp")));
        assert_eq!(passes.len(), 5, "write, rewrite, random read, random write, stride read");
        let straight: Vec<u64> = (0..100).collect();
        let orders: Vec<Vec<u64>> = passes.iter().map(|p| records(p, 4096)).collect();
        assert_eq!(orders[0], straight);
        assert_eq!(orders[1], straight);
        assert_eq!(orders[2], random_order(100));
        assert_eq!(orders[3], random_order(100), "the same order for reading and writing");
        assert_eq!(orders[4], stride_order(100, 17));
        for (pass, kind) in passes.iter().zip(["write", "write", "read", "write", "read"]) {
            assert!(pass.iter().filter(|c| moves(c)).all(|c| c.name == kind && c.bytes == Some(4096)));
            assert_pure(pass);
            assert_eq!(
                after_data(pass),
                ["fsync", "close"],
                "the same calls; which are timed is another test's"
            );
        }
    }
}

#[test]
fn the_other_tests_walk_as_iozones_do() {
    let test = "the_other_tests_walk_as_iozones_do";
    let fathom = Fathom::new();
    let args = [
        "iozone", "-s", "40k", "-r", "4k", "-i", "0", "-i", "1", "-i", "3", "-i", "4", "-i", "6", "-i", "7",
        "-E", "-i", "9", "-i", "10",
    ];
    let Some(trace) = fathom.strace(test, args) else { return };
    assert_eq!(trace.code, Some(0), "{}", trace.stderr);
    let passes = passes(&trace.on_file(&fathom.work().join("iozone.tmp")));
    let straight: Vec<u64> = (0..10).collect();
    let warmed: Vec<u64> = std::iter::once(0).chain(straight.clone()).collect();
    let backward: Vec<u64> = straight.iter().rev().copied().collect();
    let shown: Vec<(&str, Vec<u64>)> = passes
        .iter()
        .map(|p| (p.iter().find(|c| moves(c)).map_or("", |c| c.name.as_str()), records(p, 4096)))
        .collect();
    // Backward first, then the passes without a second, so that a difference names its pass.
    let expected = [
        ("write", straight.clone()),
        ("write", straight.clone()),
        ("read", warmed.clone()),
        ("read", warmed),
        ("read", backward),
        ("write", vec![0; 10]),
        ("write", straight.clone()),
        ("write", straight.clone()),
        ("read", straight.clone()),
        ("read", straight.clone()),
        ("pwrite64", straight.clone()),
        ("pwrite64", straight.clone()),
        ("pread64", straight.clone()),
        ("pread64", straight),
    ];
    let mut got = shown;
    // IOzone reads backward twice and reports the first; doing it once gives the same figures.
    if got.len() == expected.len() + 1 {
        assert_eq!(got[4], got[5]);
        got.remove(5);
    }
    assert_eq!(got, expected);
}

#[test]
fn seeks_are_timed_where_iozone_seeks() {
    let test = "seeks_are_timed_where_iozone_seeks";
    let fathom = Fathom::new();
    let Some(trace) =
        fathom.strace(test, ["iozone", "-s", "400k", "-r", "4k", "-i", "0", "-i", "2", "-i", "4"])
    else {
        return;
    };
    assert_eq!(trace.code, Some(0), "{}", trace.stderr);
    let passes = passes(&trace.on_file(&fathom.work().join("iozone.tmp")));
    let seeks = |pass: &[FileCall]| pass.iter().filter(|c| c.name == "lseek").count();
    assert_eq!(passes.len(), 5);
    // IOzone seeks before every record. The engine does not if the file position is already right: about once per pass.
    let in_place = random_order(100).windows(2).filter(|w| w[1] == w[0] + 1).count();
    assert!(in_place <= 2);
    assert_eq!(seeks(&passes[2]), 100 - in_place, "random read");
    assert_eq!(seeks(&passes[3]), 100 - in_place, "random write");
    assert!((99..=100).contains(&seeks(&passes[4])), "record rewrite: back to the start after each");
}

/// Delay of the calls.
const DELAY_MS: u64 = 500;
/// 400 kB in that time, in kB/s: a higher figure cannot include the slow call, a lower one may.
const SLOWEST: u64 = 400_000 / DELAY_MS;
/// On a busy machine something else may be as slow, but not every time; the slow call would be.
const TRIES: usize = 3;

/// The write figure of a run in which every such call on the test file is delayed by `DELAY_MS`.
fn rate_with_slow(test: &str, dir: &Path, call: &str, options: &str) -> Option<u64> {
    let fathom = Fathom::new().working_in(dir);
    let file = fathom.work().join("iozone.tmp");
    let line = fathom.command(format!("iozone -s 400k -r 4k -i 0 -+n {options}").split_whitespace());
    let mut tracer = Command::new("strace");
    tracer.args(["-f", "-q", "-q", "-o", "/dev/null", "-e", &format!("trace={call}")]);
    tracer.args(["-e", &format!("inject={call}:delay_enter={}", DELAY_MS * 1000), "-P"]).arg(&file).arg("--");
    tracer.arg(line.get_program()).args(line.get_args()).stdin(Stdio::null()).current_dir(fathom.work());
    tracer.envs(line.get_envs().filter_map(|(name, value)| value.map(|v| (name, v))));
    let out = tracer.output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    if !out.status.success() {
        skip(test, &format!("strace cannot slow calls down here: {}", String::from_utf8_lossy(&out.stderr)));
        return None;
    }
    Some(rows(&text)[0].values[0])
}

/// Whether the figure includes the slow call: then it never exceeds `SLOWEST`.
fn is_timed(test: &str, dir: &Path, call: &str, options: &str) -> Option<bool> {
    for _ in 0..TRIES {
        if rate_with_slow(test, dir, call, options)? > SLOWEST {
            return Some(false);
        }
    }
    Some(true)
}

#[test]
fn fsync_and_close_are_timed_exactly_if_asked_for() {
    let test = "fsync_and_close_are_timed_exactly_if_asked_for";
    if !need_tool(test, "strace") {
        return;
    }
    // In memory if possible: there a real fsync takes no time, however busy the disk is.
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() { TestDir::new_in(memory) } else { TestDir::new() };
    for (call, options, inside) in [
        ("fsync", "", false),
        ("fsync", "-c", false),
        ("fsync", "-e", true),
        ("close", "", false),
        ("close", "-e", false),
        ("close", "-c", true),
    ] {
        let Some(timed) = is_timed(test, dir.path(), call, options) else { return };
        assert_eq!(timed, inside, "a slow {call} and options {options:?}");
    }
}
