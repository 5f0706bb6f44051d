//! What would be read and ignored, or would give a figure of nothing, is refused with a sentence: writes to a drive that only reads, options
//! that have no part in what was asked for. And that what is given by name is what is simulated: limits, and whether a device rotates.

use fathom_testkit::Fathom;
use serde_json::Value;

fn with(files: &[(&str, &str)]) -> Fathom {
    let fathom = Fathom::new();
    for (name, text) in files {
        std::fs::write(fathom.work().join(name), text).expect("a file of a test");
    }
    fathom
}

fn json(fathom: &Fathom, line: &str) -> Value {
    let outcome = fathom.run_line(&format!("{line} --json --no-store")).expect_code(0);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {}", outcome.stdout))
}

/// Two reads with a flush of the cache between them, as blkparse prints them, and a write behind them if there is to be one.
fn blkparse(write: bool) -> String {
    let mut text = "  8,0    0        1     0.000000000   300  Q   R 4096 + 8 [dd]\n  8,0    0        2     0.010000000   300  Q FWS [jbd2]\n\
        \x20 8,0    0        3     0.020000000   300  Q   R 8192 + 8 [dd]\n"
        .to_owned();
    if write {
        text += "  8,0    0        4     0.030000000   300  Q   W 16384 + 8 [dd]\n";
    }
    text
}

const READ: &str = "-- fio --name=a --rw=randread --size=16m --number_ios=20 --direct=1";

#[test]
fn a_drive_that_only_reads_takes_no_writes() {
    let fathom = with(&[("reads.txt", &blkparse(false)), ("writes.txt", &blkparse(true))]);
    let told = json(&fathom, "sim replay reads.txt --device dvd");
    assert_eq!(
        (&told["counts"]["done"], &told["counts"]["flushes"]),
        (&3.into(), &1.into()),
        "flushes do no harm"
    );
    let _ = fathom.run_line(&format!("sim run --device dvd --no-store {READ}")).expect_code(0);
    for (line, words) in [
        (
            "sim replay writes.txt --device dvd",
            "arrival 4 of the trace writes, and dvd is an optical drive, whose medium is only read; choose another --device",
        ),
        (
            "sim replay --synthetic 9 --device t60p",
            "a quarter of the synthetic arrivals writes, and t60p is an optical drive",
        ),
        (
            "sim run --device dvd -- fio --name=a --rw=randrw --size=1m --direct=1",
            "writes, and dvd is an optical drive, whose medium is only read",
        ),
        (
            "sim sweep --vary device=dvd,t60p -- fio --name=a --rw=write --size=1m",
            "writes, and dvd is an optical drive",
        ),
        ("sim sweep --replay writes.txt --vary device=dvd,t60p", "arrival 4 of the trace writes, and dvd"),
    ] {
        let _ = fathom.run_line(line).expect_code(2).expect_stderr(words);
    }
    assert_eq!(fathom.run_line("list").expect_code(0).stdout.matches(" simulated ").count(), 0);
}

#[test]
fn bfq_knows_whether_its_device_rotates() {
    let fathom = Fathom::new();
    let ns = |device: &str, scheduler: &str| {
        let line = format!("sim replay --synthetic 3000 --depth 1 --device {device} --scheduler {scheduler}");
        json(&fathom, &line)["virtual_ns"].as_u64().expect("a number")
    };
    let flash = ns("ssd-generic", "bfq-lite");
    assert_eq!(flash, ns("ssd-generic", "bfq-lite,rotational=0"));
    assert_ne!(flash, ns("ssd-generic", "bfq-lite,rotational=1"), "the name says otherwise");
    assert_eq!(ns("sata-7200-ncq", "bfq-lite"), ns("sata-7200-ncq", "bfq-lite,rotational=1"));
}

#[test]
fn limits_take_numbers_of_their_own() {
    let fathom = Fathom::new();
    let with = |limits: &str| {
        format!(
            "sim run --host server-2007-linux-2.6 --device smartarray-6i-h1 --scheduler noop --limits {limits} --no-store -- fio --name=a --rw=write --size=16m --bs=1m --end_fsync=1"
        )
    };
    let writes = |limits: &str| {
        let line = with(limits).replace(" -- ", " --json -- ");
        let run = fathom.run_line(&line).expect_code(0).stdout;
        let run: Value = serde_json::from_str(&run).expect("JSON");
        assert_eq!(run["simulation"]["limits"], limits);
        run["phases"][0]["repetitions"][0]["physical"]["devices"][0]["write_ios"].as_u64().expect("a number")
    };
    // 4096 pages; a request of 64 KiB is at most 16 of them.
    let (plain, shorter) = (writes("cciss"), writes("cciss,max_sectors=128"));
    assert!(shorter >= 256 && shorter > plain, "{plain} {shorter}");
    let text = fathom.run_line(&with("cciss,max_segments=8")).expect_code(0);
    let text = text.expect_stdout("limits cciss,max_segments=8;").stdout;
    let line = text.lines().find(|l| l.starts_with("writes: ")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains(" segments per request; most bytes in requests of "), "{line}");
    let _ = fathom
        .run_line(&format!("sim sweep --no-store --vary limits=cciss;cciss,max_sectors=64 {READ}"))
        .expect_code(0)
        .expect_stdout("cciss,max_sectors=64");
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let fathom = with(&[("a.txt", &blkparse(true))]);
    for (line, words) in [
        (format!("sim run --readahead none --stack nocache {READ}"), "without a cache nothing is read ahead"),
        (
            format!("sim sweep --vary readahead=none,modern --stack nocache {READ}"),
            "--readahead none with --stack nocache",
        ),
        (
            format!("sim sweep --readahead modern --vary stack=full,nocache {READ}"),
            "--readahead modern with --stack nocache",
        ),
        ("sim replay a.txt --set host.cpu.cpus=64".into(), "host.cpu.cpus: a replay makes no use of it"),
        (
            "sim sweep --replay a.txt --vary host.memory.cache_mib=64,128".into(),
            "host.memory.cache_mib: a replay makes no use of it",
        ),
        ("sim replay a.txt --log-format csv".into(), "--log-format belongs to --log"),
        ("sim replay a.txt --log b.json --log-format json".into(), "invalid value 'json'"),
        (
            "sim replay a.txt --scheduler deadline,fifo_batch=8,fifo_batch=9".into(),
            "fifo_batch is given twice",
        ),
        (format!("sim run --readahead modern,max=8,max=9 {READ}"), "max is given twice"),
        ("sim replay a.txt --limits cciss,max_segments=0".into(), "outside 2 to 65535"),
        ("sim agree /dev/null".into(), "read more than once, and this is no regular file"),
        ("sim calibrate /dev/null -o b.toml".into(), "/dev/null: the trace is read more than once"),
        ("sim sweep --replay /dev/null --vary scheduler=none".into(), "this is no regular file"),
    ] {
        let _ = fathom.run_line(&line).expect_code(2).expect_stderr(words);
    }
    let _ = fathom.run_line("sim replay a.txt --no-store --set host.cpu.hz=250").expect_code(0);
    let _ = fathom.run_line(&format!("sim run --no-store --stack nocache {READ}")).expect_code(0);
}

#[test]
fn a_host_of_ones_own_is_told_where_it_is_wrong() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../sim/profiles/host/today.toml");
    let host = std::fs::read_to_string(path).expect("a profile");
    let is = "limit_percent = { value = 20";
    assert!(host.contains(is));
    let fathom = with(&[("host.toml", &host.replacen(is, "limit_percent = { value = 5", 1))]);
    let line = 1 + host.lines().position(|l| l.starts_with("background_percent")).expect("a line");
    let told = format!(
        "host.toml:{line}:1: writeback.background_percent is 10; expected 0 to writeback.limit_percent"
    );
    let _ = fathom.run_line(&format!("sim run --host host.toml {READ}")).expect_code(2).expect_stderr(&told);
}

#[test]
fn help_promises_no_stdin_where_a_trace_is_read_more_than_once() {
    let fathom = Fathom::new();
    // However its lines are broken.
    let help = |command: &str| {
        let text = fathom.run_line(&format!("sim {command} --help")).expect_code(0).stdout;
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for command in ["agree", "calibrate"] {
        let help = help(command);
        assert!(!help.contains("stdin") && help.contains("read more than once"), "{help}");
    }
    let help = help("replay");
    assert!(help.contains("reads stdin") && help.contains("[default: own]"), "{help}");
}

#[test]
fn each_of_several_refusals_names_the_file() {
    let text = "name = \"t\"\n[[fileset]]\nname = \"f\"\nfiles = { list = [\"x\"] }\nsize = { fixed = \"1MiB\" }\n\
         [[phase]]\nname = \"read\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
         [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"read\"\nrecord = { fixed = \"4KiB\" }\n\
         lock = \"file\"\npace = { least = { reads_per_s = 10 } }\n";
    let outcome = with(&[("t.toml", text)]).run_line("sim run t.toml").expect_code(2);
    let named =
        outcome.stderr.lines().filter(|line| line.contains("t.toml: phase 0 (read), group g: ")).count();
    assert_eq!(named, 2, "{}", outcome.stderr);
}
