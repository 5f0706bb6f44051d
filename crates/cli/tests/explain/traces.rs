//! Traces of other programs as a user sees them: summarised, converted, and rejected in a sentence.

use fathom_testkit::{Fathom, golden, need_tool};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Two reads of two bios each and a flush, in the kernel's own words.
const TRACEFS: &str = "\
# tracer: nop
              dd-300     [000] .....    10.000100: block_bio_queue: 7,0 R 0 + 8 [dd]
              dd-300     [000] .....    10.000101: block_getrq: 7,0 R 0 + 8 [dd]
              dd-300     [000] .....    10.000102: block_bio_queue: 7,0 R 8 + 8 [dd]
              dd-300     [000] .....    10.000103: block_bio_backmerge: 7,0 R 8 + 8 [dd]
              dd-300     [000] .....    10.000110: block_rq_issue: 7,0 R 8192 () 0 + 16 be,0,4 [dd]
          <idle>-0       [001] d.h1.    10.000210: block_rq_complete: 7,0 R () 0 + 16 be,0,4 [0]
              dd-300     [000] .....    10.000300: block_bio_queue: 7,0 R 2048 + 8 [dd]
              dd-300     [000] .....    10.000310: block_rq_issue: 7,0 R 4096 () 2048 + 8 be,0,4 [dd]
          <idle>-0       [001] d.h1.    10.000510: block_rq_complete: 7,0 R () 2048 + 8 be,0,4 [0]
  jbd2/loop0-8-400       [001] .....    10.001000: block_rq_issue: 7,0 FF 0 () 0 + 0 none,0,0 [jbd2/loop0-8]
          <idle>-0       [001] d.h1.    10.002000: block_rq_complete: 7,0 FF () 18446744073709551615 + 0 none,0,0 [0]
";

fn with(files: &[(&str, &[u8])]) -> Fathom {
    let fathom = Fathom::new();
    for (name, bytes) in files {
        std::fs::write(fathom.work().join(name), bytes).expect("a file of a test");
    }
    fathom
}

#[track_caller]
fn json(fathom: &Fathom, line: &str) -> Value {
    let outcome = fathom.run_line(line).expect_code(0);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {}", outcome.stdout))
}

/// The figures of one class of the first device.
fn class<'v>(told: &'v Value, class: &str) -> &'v Value {
    let all = told["block"]["devices"][0]["requests"].as_array().expect("a list");
    all.iter().find(|r| r["class"] == class).unwrap_or(&Value::Null)
}

#[test]
fn a_summary_is_a_page_of_text() {
    let fathom = with(&[("a.txt", TRACEFS.as_bytes())]);
    golden(
        "tests/explain/golden/trace_summary.txt",
        &fathom.run_line("trace summary a.txt").expect_code(0).stdout,
    );
}

#[test]
fn a_summary_as_json_has_the_same_figures() {
    let fathom = with(&[("a.txt", TRACEFS.as_bytes())]);
    let all = json(&fathom, "trace summary --json a.txt");
    let told = &all[0];
    assert_eq!((&told["schema"], &told["format"]), (&"fathom-trace/1".into(), &"tracefs".into()));
    let read = class(told, "read");
    assert_eq!(
        (&read["issued"], &read["issued_bytes"], &read["bios"]),
        (&2.into(), &12288.into(), &3.into())
    );
    assert_eq!((&read["back_merges"], &read["d2c"]["count"]), (&1.into(), &2.into()));
    assert_eq!(read["d2c"]["sum_ns"], 300_000);
    assert_eq!(class(told, "flush")["completed"], 1);
    assert_eq!(told["block"]["watched_ns"], 1_900_000);
    let issuers = told["block"]["devices"][0]["issuers"].as_array().expect("a list");
    assert!(issuers.iter().any(|i| i["kind"] == "journal"), "{issuers:?}");
}

#[test]
fn a_trace_of_arrivals_has_no_depth_and_no_issuer() {
    let lines: String = (0..40).map(|i| format!("0,{},4096,r,{i}.5\n", i * 64)).collect();
    let fathom = with(&[("a.spc", lines.as_bytes()), ("one.spc", b"0,20941264,8192,w,0.551706\n")]);
    let text = fathom.run_line("trace summary --from spc a.spc").expect_code(0).stdout;
    assert!(text.contains("arrivals only, so neither depth nor latency"), "{text}");
    for invented in ["busy", "max ", "issued by", "not complete"] {
        assert!(!text.contains(invented), "{invented}: {text}");
    }
    let told = &json(&fathom, "trace summary --json --from spc a.spc")[0];
    assert_eq!(told["arrivals_only"], true);
    let device = &told["block"]["devices"][0];
    assert!(device["in_device"].as_array().is_none_or(Vec::is_empty), "{device}");
    assert!(device["issuers"].as_array().is_none_or(Vec::is_empty), "{device}");
    let one = fathom.run_line("trace summary --from spc one.spc").expect_code(0).stdout;
    assert!(one.contains(": 1 event (spc)"), "{one}");
}

#[test]
fn every_form_tells_the_same_requests() {
    let fathom = with(&[("a.txt", TRACEFS.as_bytes())]);
    let plain = json(&fathom, "trace summary --json a.txt")[0].clone();
    for (format, name) in
        [("own", "a.fbl"), ("own", "b.fbl.zst"), ("tracefs", "a.trace"), ("blkparse", "a.blkparse")]
    {
        let outcome =
            fathom.run_line(&format!("trace export --format {format} a.txt -o {name}")).expect_code(0);
        assert!(outcome.stderr.contains(&format!("wrote {name} (11 events)")), "{}", outcome.stderr);
        let again = json(&fathom, &format!("trace summary --json {name}"))[0].clone();
        for class_name in ["read", "flush"] {
            assert_eq!(class(&again, class_name), class(&plain, class_name), "{name}");
        }
    }
    let csv = fathom.run_line("trace export --format csv a.txt -o -").expect_code(0).stdout;
    assert_eq!(csv.lines().count(), 4, "{csv}");
    let summary = fathom.run_line("trace export --format json a.txt -o -").expect_code(0).stdout;
    assert!(summary.contains("\"fathom-trace/1\""), "{summary}");
}

#[test]
fn what_is_there_is_not_overwritten() {
    let fathom = with(&[("a.txt", TRACEFS.as_bytes()), ("b.csv", b"mine")]);
    let refused = fathom.run_line("trace export --format csv a.txt -o b.csv").expect_code(2);
    assert!(refused.stderr.contains("b.csv exists"), "{}", refused.stderr);
    assert_eq!(std::fs::read(fathom.work().join("b.csv")).expect("b.csv"), b"mine");
    let _ = fathom.run_line("trace export --format csv a.txt -o b.csv --force").expect_code(0);
    let itself = fathom.run_line("trace export --format tracefs a.txt -o a.txt --force").expect_code(2);
    assert!(itself.stderr.contains("is the trace itself"), "{}", itself.stderr);
}

#[test]
fn mistakes_have_file_line_and_column() {
    let broken = TRACEFS.replace("7,0 R 2048 + 8 [dd]", "7,0 R 2048 - 8 [dd]");
    let fathom = with(&[("a.txt", broken.as_bytes()), ("no.txt", b"hello\n")]);
    let outcome = fathom.run_line("trace summary a.txt").expect_code(2);
    assert!(
        outcome.stderr.contains("a.txt, line 8, column 80: expected \"+\", found \"-\""),
        "{}",
        outcome.stderr
    );
    let outcome = fathom.run_line("trace summary no.txt").expect_code(2);
    assert!(outcome.stderr.contains("no block trace that fathom knows"), "{}", outcome.stderr);
    let outcome = fathom.run_line("trace summary gone.txt").expect_code(2);
    assert!(outcome.stderr.contains("gone.txt: there is no such file"), "{}", outcome.stderr);
    let outcome = fathom.run_line("trace export --format own no.txt -o x").expect_code(2);
    assert!(!fathom.work().join("x").exists(), "{}", outcome.stderr);
    // Events before the error are written.
    let outcome = fathom.run_line("trace export --format own a.txt -o half").expect_code(2);
    assert!(outcome.stderr.contains("wrote half (6 events)"), "{}", outcome.stderr);
}

#[test]
fn one_device_of_many_can_be_asked_for() {
    let fathom = with(&[("a.csv", b"1,R,0,4096,10\n7,W,4096,512,20\n7,R,0,512,30\n")]);
    let all = json(&fathom, "trace summary --json a.csv --device volume7");
    let devices = all[0]["block"]["devices"].as_array().expect("a list");
    assert_eq!(devices.len(), 1);
    assert_eq!((&devices[0]["name"], &devices[0]["bio_based"]), (&"volume7".into(), &true.into()));
    let outcome = fathom.run_line("trace summary a.csv --device sda").expect_code(2);
    assert!(
        outcome.stderr.contains("--device sda is not in the trace; it has volume1, volume7"),
        "{}",
        outcome.stderr
    );
}

/// A record of blktrace's binary form.
fn binary(nth: u32, time: u64, action: u32, sector: u64, bytes: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(0x6561_7407u32.to_le_bytes());
    out.extend(nth.to_le_bytes());
    out.extend(time.to_le_bytes());
    out.extend(sector.to_le_bytes());
    for number in [bytes, action, 4321, 7 << 20 | 3, nth % 2] {
        out.extend(number.to_le_bytes());
    }
    out.extend([0, 0]);
    out.extend((payload.len() as u16).to_le_bytes());
    out.extend(payload);
    out
}

/// Files of two CPUs, with every kind of record that blkparse prints.
fn blktrace_files(dir: &Path) -> u64 {
    const READ: u32 = 1 << 16;
    const WRITE: u32 = 2 << 16;
    const QUEUE: u32 = 1 << 20;
    const FS: u32 = 1 << 24;
    let (ahead, meta, sync, flush, fua, discard) = (1 << 27, 1 << 28, 1 << 19, 1 << 18, 1 << 31, 1 << 29);
    let kinds: [(u32, u64, u32); 14] = [
        (1 | QUEUE | READ | FS, 1000, 4096),
        (4 | QUEUE | READ | FS, 1000, 4096),
        (9 | QUEUE, 0, 0),
        (2 | QUEUE | READ | FS | ahead, 1008, 4096),
        (3 | QUEUE | READ | FS | meta, 992, 4096),
        (10 | QUEUE, 0, 0),
        (12 | QUEUE | READ | FS, 992, 12288),
        (7 | 1 << 22 | READ | FS | sync, 992, 12288),
        (8 | 1 << 23 | READ | FS | sync, 992, 12288),
        (13 | WRITE, 2000, 4096),
        (7 | 1 << 22 | WRITE | flush | fua | sync | meta, 2000, 4096),
        (7 | 1 << 22 | WRITE | discard, 4000, 8192),
        (8 | 1 << 23 | WRITE | discard, 4000, 8192),
        (6 | 1 << 21 | WRITE, 2000, 4096),
    ];
    let mut files = [Vec::new(), Vec::new()];
    for file in &mut files {
        file.extend(binary(0, 1_000_000, 1 << 26, 0, 0, b"my prog\0\0\0\0\0\0\0\0\0"));
    }
    let mut nth = 0;
    for round in 0..50u64 {
        for (action, sector, bytes) in kinds {
            nth += 1;
            let payload: Vec<u8> = match action & 0xff {
                10 => 3u64.to_be_bytes().to_vec(),
                13 => (sector + round * 64 + 4).to_be_bytes().to_vec(),
                _ => Vec::new(),
            };
            let time = 1_000_000 + u64::from(nth) * 12_345_677;
            files[(nth % 2) as usize].extend(binary(nth, time, action, sector + round * 64, bytes, &payload));
        }
    }
    for (cpu, bytes) in files.iter().enumerate() {
        std::fs::write(dir.join(format!("g.blktrace.{cpu}")), bytes).expect("a file of a test");
    }
    nth.into()
}

#[test]
fn binary_records_print_as_blkparse_prints_them() {
    let test = "binary_records_print_as_blkparse_prints_them";
    if !need_tool(test, "blkparse") {
        return;
    }
    let fathom = Fathom::new();
    let events = blktrace_files(fathom.work());
    let ours = fathom.run_line("trace export --format blkparse g -o -").expect_code(0).stdout;
    let theirs =
        Command::new("blkparse").args(["-i", "g"]).current_dir(fathom.work()).output().expect("blkparse");
    let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
    // We renumber the sequence, and blktrace prints the new part of a split in its own column.
    let lines = |text: &str| -> Vec<String> {
        let events = text.lines().take_while(|l| !l.starts_with("CPU"));
        events
            .filter(|l| !l.starts_with("Input file"))
            .map(|l| {
                let words: Vec<&str> = l.split_whitespace().collect();
                [&words[..2], &words[3..]].concat().join(" ")
            })
            .collect()
    };
    let (ours, theirs) = (lines(&ours), lines(&theirs));
    assert_eq!(ours.len() as u64, events);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}
