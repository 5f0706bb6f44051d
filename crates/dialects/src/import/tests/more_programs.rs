//! Fixtures of programs without a dialect in fathom, with malformed lines in each.

use super::formats::read;
use super::{Imported, import};
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT};
use fathom_record::{Phase, Run, Status};

/// Lines that were not understood.
fn left(imported: &Imported) -> Vec<&str> {
    imported.not_understood.iter().map(|(_, line)| line.as_str()).collect()
}

fn run(imported: &Imported, n: usize) -> &Run {
    &imported.found[n].runs[0]
}

fn value(phase: &Phase, name: &str) -> f64 {
    phase.repetitions[0].figure(name).expect(name).value
}

#[test]
fn ioping() {
    let imported = read("ioping.txt");
    assert_eq!(imported.found.len(), 4);
    let phases = &run(&imported, 0).phases;
    assert_eq!((value(&phases[0], OPERATIONS), value(&phases[0], "latency max")), (1_120.0, 1_740_000.0));
    assert_eq!(phases[1].repetitions.len(), 5, "a repetition for each request");
    assert!(
        run(&imported, 0).doubts.iter().any(|d| d.code == "single-run"),
        "requests are no repeats of the run"
    );
    assert_eq!(run(&imported, 1).phases[0].name, "random write");
    assert_eq!(
        value(&run(&imported, 2).phases[0], "latency min"),
        200_000.0,
        "the unit stands behind the last"
    );
    let raw = &run(&imported, 3).phases[0];
    assert_eq!((value(raw, OPERATIONS), value(raw, "latency max")), (1_482.0, 2_435_833.0));
    assert_eq!(
        left(&imported),
        ["score 3 4 5 6", "4 2699386 1482 6069528 73720 974846 2435833 1016789 5 402674495"],
        "its mean is none"
    );
}

#[test]
fn ioping_as_json() {
    let imported = read("ioping.json");
    let phases = &run(&imported, 0).phases;
    assert_eq!((phases[0].name.as_str(), phases[0].axes.record_bytes), ("random read", Some(4096)));
    assert_eq!((value(&phases[0], OPERATIONS), value(&phases[0], "latency avg")), (4391.550656, 227_710.0));
    let names = |n: usize| phases[1].repetitions[n].figures[0].name.clone();
    assert_eq!([names(0), names(1)], ["latency of a request that is not counted", "latency"]);
    assert_eq!(imported.not_understood, []);
}

#[test]
fn ten_numbers_that_do_not_follow_from_each_other_are_not_iopings() {
    for line in ["1 2 3 4 5 6 7 8 9 10", "3 751351 3993 16354540 242312 250450 254620 5755 2 300489347"] {
        let imported = import("x", line.as_bytes(), None);
        assert_eq!((imported.found.len(), left(&imported)), (0, vec![line]));
    }
    let two = "3 751351 3993 16354540 242312 250450 254620 5755 4 300489347\n".repeat(2);
    let imported = import("x", two.as_bytes(), None);
    assert_eq!((imported.found.len(), run(&imported, 0).phases[0].repetitions.len()), (1, 2));
}

#[test]
fn phoronix() {
    let imported = read("phoronix.xml");
    let runs = &imported.found[0].runs;
    let [old, new] = [0, 1].map(|n| &runs[n]);
    assert_eq!(
        [&old.label, &new.label],
        ["Two disks & one kernel, old disk", "Two disks & one kernel, new disk"]
    );
    assert_eq!(old.started_at, "2023-05-16T10:30:00-00:00");
    assert!(old.environment["hardware"].as_str().is_some_and(|words| words.contains("ST1000")));
    assert_eq!(old.phases[0].repetitions.len(), 3, "a repetition for each time that it was run");
    assert_eq!(value(&old.phases[0], OPERATIONS), 180.0);
    assert_eq!(old.phases[0].repetitions[2].figure("operations per second avg").map(|f| f.line), Some(40));
    let megabytes = new.phases[1].repetitions[0].figure("MB/s").expect("as printed");
    assert_eq!((megabytes.value, megabytes.unit.as_str()), (512.5, ""), "of how many bytes is not told");
    assert_eq!(value(&old.phases[1], THROUGHPUT), 3990.0 * 1_048_576.0, "IOzone's MB");
    let seconds = old.phases[2].repetitions[0].figure("time").expect("seconds");
    assert_eq!((seconds.value, seconds.higher_is_better), (45.1e9, Some(false)));
    assert_eq!(
        left(&imported),
        ["<Value></Value>", "<Value>31,31,32,33,33</Value>"],
        "what is no figure is named"
    );
}

#[test]
fn vdbench_on_a_file_system() {
    let imported = read("vdbench-files.txt");
    let format = &run(&imported, 0).phases;
    assert_eq!((value(&format[0], OPERATIONS), value(&format[0], THROUGHPUT)), (48.0, 6.0 * 1_048_576.0));
    assert_eq!(
        value(&format[0], OPERATIONS) * value(&format[0], "bytes per operation"),
        value(&format[0], THROUGHPUT)
    );
    assert_eq!(
        (value(&format[0], "create per second"), value(&format[0], "create latency avg")),
        (1.8, 1400e6)
    );
    assert_eq!((format[0].reads, format[0].writes, format[1].repetitions.len()), (false, true, 2));
    let reads = &run(&imported, 1).phases[0];
    assert_eq!((reads.reads, reads.writes, value(reads, "reads per second")), (true, false, 250.0));
    assert_eq!(left(&imported), ["worker 3 4 5 6"]);
}

#[test]
fn bonnie() {
    let imported = read("bonnie.txt");
    let new = &run(&imported, 0).phases;
    let of = |name: &str| new.iter().find(|p| p.name == name).expect(name);
    assert_eq!(value(of("write by character"), THROUGHPUT), 767.0 * 1024.0);
    assert_eq!(value(of("create files in order"), OPERATIONS), 1_162.0, "and not the number of files");
    assert!(of("read").repetitions[0].figure(THROUGHPUT).is_none(), "too short to be measured");
    let old = &run(&imported, 1).phases;
    assert_eq!(old[0].name, "write", "what was left out has no cell");
    assert_eq!(value(&old[0], THROUGHPUT), 132_035.0 * 1024.0);
    let alone = &run(&imported, 3).phases;
    let cpu = |phases: &[Phase]| phases.iter().map(|p| value(p, "CPU")).sum::<f64>();
    assert_eq!(cpu(alone), cpu(old));
    assert_eq!(run(&imported, 2).phases.len(), 6, "the line behind it is of another machine");
    assert_eq!(run(&imported, 2).phases[0].axes.file_bytes, Some(15_744 << 20));
    assert_eq!(imported.found.len(), 5);
    assert_eq!(left(&imported).last(), Some(&"whisper,8G,,,132035,24,56505,15,,,168485,25,325.7"));
}

#[test]
fn a_row_of_bonnie_that_was_wrapped_or_cut_has_no_wrong_figure() {
    let heads = "Version  1.97       ------Sequential Output------ --Sequential Input- --Random-
Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
";
    let printed = |text: &str| -> Vec<(String, String)> {
        let imported = import("-", text.as_bytes(), None);
        let phases = imported.found.iter().flat_map(|f| &f.runs).flat_map(|r| &r.phases);
        let of = |p: &Phase| {
            let figures = p.repetitions[0].figures.iter();
            figures.map(|f| (p.name.clone(), f.printed.clone())).collect::<Vec<_>>()
        };
        phases.flat_map(of).collect()
    };
    for row in [
        "host            16G   767  99 170893  13 76553   7  2463  96 279364  12 325.7  19",
        "whisper          8G           132035  24 56505  15           168485  25 1325.7  19",
        "Raid5 (8 disk)15744M 55881  98 153735 51 61680  24 56229  95 207348 44 741.2   1",
    ] {
        let whole = printed(&format!("{heads}{row}\n"));
        assert!(whole.len() >= 8, "{whole:?}");
        let squeezed = row.split_whitespace().collect::<Vec<_>>().join(" ");
        if row.starts_with("host") {
            assert_eq!(printed(&format!("{heads}{squeezed}\n")), whole);
        }
        for row in [row, &squeezed] {
            for cut in 1..row.len() {
                let (left, right) = row.split_at(cut);
                // The terminal or the mailer has broken the line, or what follows is lost.
                let wrapped = printed(&format!("{heads}{left}\n{right}\n"));
                assert!(wrapped.iter().all(|figure| whole.contains(figure)), "{left}: {wrapped:?}");
                if row.contains("  ") {
                    let alone = printed(&format!("{heads}{left}\n"));
                    assert!(alone.iter().all(|figure| whole.contains(figure)), "{left}: {alone:?}");
                }
            }
        }
    }
    let row = "1.97,1.97,wifo3-02,1,1438076799,63G,,1905,91,364656,24,119264,12,3457,86,306391,14,439.5,17,16,,,,,8891,13,+++++,+++,17536,23,11535,17,+++++,+++,19876,28,8631us,18055us,184ms,23985us,57565us,83422us,391us,125us,128us,375us,20us,90us";
    let whole = printed(&format!("{row}\n"));
    for cut in 1..row.len() {
        let (left, right) = row.split_at(cut);
        assert!(printed(&format!("{left}\n{right}\n")).iter().all(|f| whole.contains(f)), "{left}");
        assert!(printed(&format!("{left}\n")).iter().all(|f| whole.contains(f)), "{left}");
    }
}

#[test]
fn stress_ng() {
    let imported = read("stress-ng.txt");
    let first = run(&imported, 0);
    assert_eq!((first.status, first.phases[0].axes.streams), (Status::Failed, Some(2)));
    assert_eq!(value(&first.phases[0], "write rate"), 1_689.36 * 1_048_576.0);
    assert_eq!(value(&first.phases[0], "largest resident memory"), 2664.0 * 1024.0);
    assert_eq!(imported.not_understood.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [7]);
    assert_eq!(run(&imported, 1).phases[0].name, "iomix");
}

#[test]
fn hyperfine_as_csv_and_as_markdown() {
    let imported = read("hyperfine.csv");
    let csv = &run(&imported, 0).phases;
    assert_eq!(csv.len(), 3);
    assert_eq!(csv[0].name, "dd if=/dev/zero of=x bs=1M count=4, then sync");
    assert_eq!((value(&csv[0], "time avg"), value(&csv[1], "system CPU time")), (4_826_082.5, 39_000.0));
    assert_eq!(csv[0].axes.tags["size"], "4");
    assert_eq!(left(&imported).len(), 1, "\"fast\" is no time");
    let markdown = &run(&imported, 1).phases;
    assert_eq!(markdown[0].name, "dd");
    assert_eq!(
        (value(&markdown[0], "time avg"), value(&markdown[0], "time stddev")),
        (4_800_000.0, 1_100_000.0)
    );
    assert_eq!(
        (value(&markdown[0], "relative time"), value(&markdown[0], "relative time, stddev")),
        (3.61, 2.06)
    );
}

#[test]
fn dbench() {
    let imported = read("dbench.txt");
    let phases = &run(&imported, 0).phases;
    assert_eq!((phases.len(), phases[0].axes.streams), (5, Some(2)));
    assert_eq!(
        (value(&phases[0], THROUGHPUT), value(&phases[0], "latency max")),
        (382_031_000.0, 55_418_000.0)
    );
    assert_eq!(phases[0].repetitions[0].figures[0].name, THROUGHPUT, "before what it was on the way");
    assert_eq!((value(&phases[3], "operations"), value(&phases[3], "latency avg")), (19_794.0, 10_000.0));
    assert_eq!(left(&imported), ["Flush          many      0.890    55.404"]);
    assert_eq!(run(&imported, 1).phases[0].axes.streams, Some(4), "3.x counts processes");
}

#[test]
fn dbench_by_client() {
    let table = |count: u32| {
        format!(
            " Operation      Count    AvgLat    MaxLat\n ----------------------------------------\n NTCreateX      {count}     0.071    10.004\n ReadX          38902     0.003     4.395\n\n"
        )
    };
    let text = format!(
        "dbench version 4.00 - Copyright Andrew Tridgell 1999-2004\n\n{}Per client results:\nClient 0 did 76994 lines and 429768472 bytes\n{}Client 1 did 67996 lines and 384324397 bytes\n{}Throughput 360.796 MB/sec  2 clients  2 procs  max_latency=25.774 ms\n",
        table(3),
        table(1),
        table(2)
    );
    let imported = import("-", text.as_bytes(), None);
    assert_eq!(
        (imported.found[0].what.as_str(), left(&imported).len()),
        ("dbench, 2 operations, also by client", 0)
    );
    let of =
        |p: &Phase| (p.name.clone(), p.axes.tags.get("client").cloned().unwrap_or_default(), p.axes.streams);
    let phases: Vec<_> = run(&imported, 0).phases.iter().map(of).collect();
    let cell = |name: &str, client: &str, streams| (name.to_owned(), client.to_owned(), Some(streams));
    let expected = [
        cell("dbench", "", 2),
        cell("NTCreateX", "total", 2),
        cell("ReadX", "total", 2),
        cell("dbench", "0", 1),
        cell("NTCreateX", "0", 1),
        cell("ReadX", "0", 1),
        cell("dbench", "1", 1),
        cell("NTCreateX", "1", 1),
        cell("ReadX", "1", 1),
    ];
    assert_eq!(phases, expected);
    assert_eq!(value(&run(&imported, 0).phases[3], "bytes"), 429_768_472.0);
}

#[test]
fn yabs() {
    let imported = read("yabs.txt");
    let phases = &run(&imported, 0).phases;
    let (rate, operations) = (value(&phases[0], THROUGHPUT), value(&phases[0], OPERATIONS));
    assert!((rate / (operations * 4096.0) - 1.0).abs() < 0.001, "MB are 1000 KiB: {rate}, {operations}");
    assert_eq!(value(&phases[3], THROUGHPUT), 1.07 * 1024e6, "also below a row with a cell that is none");
    assert_eq!(left(&imported), ["Write      | 431.14 MB/s    (842) | fast MB/s      (540)"]);
}

#[test]
fn disk_marks() {
    let imported = read("diskmark.txt");
    let [crystal, k, forum] = [0, 1, 2].map(|n| &run(&imported, n).phases);
    assert_eq!(value(&crystal[0], THROUGHPUT), 7_427.749e6);
    assert_eq!((crystal[3].name.as_str(), crystal[3].axes.streams), ("random mix", Some(16)));
    // KDiskMark's MB is 1000 KiB.
    let [rate, operations] = [THROUGHPUT, OPERATIONS].map(|name| value(&k[0], name));
    assert!((rate / (operations * 1_048_576.0) - 1.0).abs() < 0.001, "{rate}, {operations}");
    assert_eq!(forum[3].axes.queue_depth, Some(32));
    assert_eq!(left(&imported).len(), 1, "{:?}", left(&imported));
}

#[test]
fn pgbench() {
    let imported = read("pgbench.txt");
    assert_eq!(imported.found.len(), 2);
    let phases = &run(&imported, 0).phases;
    assert_eq!((value(&phases[0], OPERATIONS), phases[1].repetitions.len()), (46.282475, 2));
    assert_eq!(value(&phases[0], "schedule lag max"), 50.417e6);
    let old = &run(&imported, 1).phases;
    assert_eq!((value(&old[0], OPERATIONS), old[2].name.as_str()), (230.483785, "BEGIN;"));
    assert_eq!(left(&imported), ["- strange 1 2 3 4"]);
}

#[test]
fn elbencho() {
    let imported = read("elbencho.txt");
    let phases = &run(&imported, 0).phases;
    assert_eq!(value(&phases[0], "time"), 125.755e9);
    assert_eq!(value(&phases[0], THROUGHPUT), 33_352.0 * 1_048_576.0, "of the last");
    assert_eq!(value(&phases[0], "latency max"), 14.5e6);
    assert_eq!(value(&phases[1], "Files/s"), 1_142_465.0);
    let imported = read("elbencho.csv");
    let phases = &run(&imported, 0).phases;
    assert_eq!((phases[1].name.as_str(), value(&phases[1], THROUGHPUT)), ("WRITE", 2_941.0 * 1_048_576.0));
    assert_eq!((phases[1].axes.queue_depth, phases[1].direct), (Some(4), true));
    assert_eq!(imported.not_understood.len(), 1, "a row that was cut off: {:?}", left(&imported));
}

#[test]
fn vdbench() {
    let imported = read("vdbench.txt");
    let phases = &run(&imported, 0).phases;
    assert_eq!((value(&phases[0], OPERATIONS), phases[1].repetitions.len()), (2_231.5, 2));
    assert_eq!(value(&phases[0], "latency avg"), 28.33e6);
    assert_eq!(run(&imported, 1).label, "rd2");
    assert_eq!(left(&imported), ["16:24:34.053           3      103.0     0.10    1024"]);
    // Truncated before the mean; the intervals remain.
    let text = "12:00:00.000 Starting RD=a; x\n\nDec 02, 2020  interval        i/o   MB/sec\n   rate  1024**2\n12:00:01.000 1 10.0 1.00\n";
    assert_eq!(import("-", text.as_bytes(), None).found[0].figures(), 2);
}
