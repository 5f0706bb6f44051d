//! `fathom sim replay`: a trace in virtual time, as text, as JSON, as a run and as a trace again; and what is refused.

use fathom_testkit::{Fathom, golden};
use serde_json::Value;
use std::fmt::Write as _;

/// Arrivals in the form of the Storage Performance Council: unit, block, bytes, direction, seconds.
fn spc() -> String {
    let mut text = String::new();
    for n in 0..300u64 {
        let block = n * 7919 % 10_007 * 8;
        let direction = if n.is_multiple_of(3) { "w" } else { "r" };
        let _ = writeln!(text, "0,{block},4096,{direction},{}.{:06}", n / 100, n % 100 * 10_000);
    }
    text
}

/// A trace of one task with arrivals and completions: the next read comes 1 ms after the one before is done.
fn blkparse() -> String {
    let mut text = String::new();
    for n in 0..20u64 {
        let sector = n * 4096;
        for (letter, us, who) in [("Q", 0, "[dd]"), ("G", 1, "[dd]"), ("D", 10, "[dd]"), ("C", 2010, "[0]")] {
            let at = n * 3010 + us;
            let _ = writeln!(
                text,
                "  8,0    0 {:>8} {:>5}.{:09} {:>5}  {letter}   R {sector} + 8 {who}",
                n + 1,
                at / 1_000_000,
                at % 1_000_000 * 1000,
                300
            );
        }
    }
    text
}

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

#[test]
fn a_replay_is_a_page_of_text_and_the_same_every_time() {
    let fathom = with(&[("a.spc", &spc())]);
    let line = "sim replay --from spc a.spc --device deskstar-60gxp --no-store";
    let text = fathom.run_line(line).expect_code(0);
    // How many values a profile has changes with the model; what comes out of these two does not.
    let (sentence, page) = text.stdout.split_once("\n\n").expect("a sentence and a page");
    assert!(
        sentence
            .starts_with("This replay is simulated, nothing was measured: host today, device deskstar-60gxp")
    );
    golden("tests/simulate/golden/replay.txt", page);
    assert!(text.stderr.contains("took "), "{}", text.stderr);
    assert_eq!(fathom.run_line(line).stdout, text.stdout);
}

#[test]
fn json_and_log_are_the_same_bytes_every_time() {
    let fathom = with(&[("a.spc", &spc())]);
    let line =
        |log: &str| format!("sim replay --from spc a.spc --scheduler bfq-lite --json --no-store --log {log}");
    let first = fathom.run_line(&line("one.fbl")).expect_code(0).stdout;
    assert_eq!(fathom.run_line(&line("two.fbl")).expect_code(0).stdout, first);
    let read = |name: &str| std::fs::read(fathom.work().join(name)).expect("a log");
    assert_eq!(read("one.fbl"), read("two.fbl"));
    let told: Value = serde_json::from_str(&first).expect("JSON");
    assert_eq!((&told["schema"], &told["counts"]["done"]), (&"fathom-sim-replay/1".into(), &300.into()));
    assert_eq!((&told["served"][0]["op"], &told["served"][0]["ops"]), (&"read".into(), &200.into()));
}

#[test]
fn what_was_simulated_is_a_trace_that_is_summed_up_and_replayed_again() {
    let fathom = with(&[("a.spc", &spc())]);
    for (form, name) in [("own", "b.fbl.zst"), ("tracefs", "b.trace"), ("blkparse", "b.blkparse")] {
        let line = format!("sim replay --from spc a.spc --no-store --log {name} --log-format {form}");
        let _ = fathom.run_line(&line).expect_code(0);
        let summary = fathom.run_line(&format!("trace summary --json {name}")).expect_code(0).stdout;
        let summary: Value = serde_json::from_str(&summary).expect("JSON");
        let requests = summary[0]["block"]["devices"][0]["requests"].as_array().expect("a list").clone();
        assert_eq!(requests.iter().filter_map(|r| r["completed"].as_u64()).sum::<u64>(), 300, "{name}");
        let again = json(&fathom, &format!("sim replay {name} --mode dependent"));
        assert_eq!(again["counts"]["done"], 300, "{name}");
    }
    let refused = fathom.run_line("sim replay --from spc a.spc --no-store --log b.trace").expect_code(2);
    assert!(refused.stderr.contains("b.trace exists"), "{}", refused.stderr);
}

#[test]
fn the_mode_says_when_arrivals_come() {
    let fathom = with(&[("a.blkparse", &blkparse())]);
    // 1 ms a command, so what had waited 2 ms for the device of the trace is done sooner.
    let profile = "kind = \"constant\"\nabout = \"one ms\"\n[service]\ncapacity_gb = { value = 1.0, src = \"guess\" }\n\
        queue_depth = { value = 4, src = \"guess\" }\ncommand_us = { value = 1000.0, src = \"guess\" }\nmb_s = { value = 0.0, src = \"guess\" }\n";
    std::fs::write(fathom.work().join("ms.toml"), profile).expect("a file of a test");
    let virtual_us = |mode: &str| {
        let told = json(&fathom, &format!("sim replay a.blkparse --device ms.toml --scheduler none {mode}"));
        told["virtual_ns"].as_u64().expect("a number") / 1000
    };
    assert_eq!(virtual_us("--mode open"), 19 * 3010 + 1000);
    assert_eq!(virtual_us("--mode open --scale 2"), 19 * 6020 + 1000);
    assert_eq!(virtual_us("--mode dependent"), 20 * 1000 + 19 * 1000);
    assert_eq!(virtual_us("--mode closed --depth 2"), 20 * 1000);
}

#[test]
fn a_replay_is_kept_as_a_run_that_calls_itself_simulated() {
    let fathom = with(&[("a.spc", &spc())]);
    for scheduler in ["mq-deadline", "none"] {
        let _ = fathom
            .run_line(&format!("sim replay --from spc a.spc --mode closed --scheduler {scheduler}"))
            .expect_code(0)
            .expect_stderr("kept as simulated run");
    }
    let list = fathom.run_line("list").expect_code(0).stdout;
    assert_eq!(list.matches(" simulated ").count(), 2, "{list}");
    let shown = fathom.run_line("show last --json").expect_code(0).stdout;
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(
        (&shown["simulation"]["stack"], &shown["phases"][0]["name"]),
        (&"replay".into(), &"replay".into())
    );
    let runs = fathom.run_line("list --json").expect_code(0).stdout;
    let runs: Vec<Value> = serde_json::from_str(&runs).expect("JSON");
    let ids: Vec<&str> = runs.iter().filter_map(|r| r["id"].as_str()).collect();
    let compared = fathom.run(["compare", ids[0], ids[1]]);
    assert!(compared.stdout.contains("is simulated: none of it was measured"), "{}", compared.stdout);
}

#[test]
fn arrivals_can_be_made_up() {
    let fathom = Fathom::new();
    let told = json(&fathom, "sim replay --synthetic 2000 --device sata-7200-ncq");
    assert_eq!((&told["counts"]["done"], &told["mode"]["depth"]), (&2000.into(), &32.into()));
    assert_eq!((&told["served"][0]["ops"], &told["served"][1]["ops"]), (&1500.into(), &500.into()));
    let other = json(&fathom, "sim replay --synthetic 2000 --device sata-7200-ncq --seed 2");
    // Of the host only the kernel's queue is used, and its answer rests on nothing else of it.
    let _ = fathom.run_line("sim replay --synthetic 50").expect_code(0);
    let shown = fathom.run_line("show last --json").expect_code(0).stdout;
    let run: Value = serde_json::from_str(&shown).expect("JSON");
    let guessed = run["simulation"]["rests_on"]["guessed"].to_string();
    assert!(!guessed.contains("host cpu.call_us") && !guessed.contains("memory"), "{guessed}");
    assert_ne!(told["virtual_ns"], other["virtual_ns"]);
}

/// What a device does may begin long behind the first events of a trace.
#[test]
fn a_device_that_comes_late_is_found() {
    let mut text = String::new();
    // Requests of one device as they were issued, then arrivals at another.
    for n in 0..6000u64 {
        let device = if n < 5000 { "8,0" } else { "8,16" };
        let letters = if n < 5000 { &["D", "C"][..] } else { &["Q", "D", "C"] };
        for (i, letter) in letters.iter().enumerate() {
            let who = if *letter == "C" { "[0]" } else { "[dd]" };
            let us = n * 100 + 10 * i as u64;
            let _ = writeln!(
                text,
                "  {device}    0 {:>8} {:>5}.{:09} {:>5}  {letter}   R {} + 8 {who}",
                n + 1,
                us / 1_000_000,
                us % 1_000_000 * 1000,
                300,
                n * 8
            );
        }
    }
    let fathom = with(&[("late.blkparse", &text)]);
    let told = json(&fathom, "sim replay late.blkparse --traced 8,16 --device ssd-generic");
    assert_eq!(told["counts"]["arrivals"], 1000);
    assert_eq!(told["requests_as_issued"], false, "{told}");
}

#[test]
fn what_cannot_be_replayed_is_an_error_that_says_why() {
    let broken = spc().replacen("1.500000", "1.5x", 1);
    let fathom = with(&[("a.spc", &spc()), ("broken.spc", &broken), ("a.blkparse", &blkparse())]);
    for (line, words) in [
        ("sim replay", "what is to be replayed?"),
        ("sim replay gone.fbl", "gone.fbl: there is no such file"),
        ("sim replay a.spc a.blkparse", "one trace at a time, and 2 were named"),
        ("sim replay --synthetic 5 a.spc", "a trace, or --synthetic, but not both"),
        ("sim replay --synthetic 5 --from spc", "--from gives the format of a trace"),
        ("sim replay --synthetic 5 --traced sda", "--traced names a device of a trace"),
        ("sim replay --from spc a.spc --seed 2", "--seed belongs to --synthetic"),
        ("sim replay --synthetic 5 --mode open", "synthetic arrivals have no times"),
        ("sim replay --from spc a.spc --mode dependent", "this format has none"),
        ("sim replay --from spc a.spc --mode closed --scale 2", "nothing to --scale"),
        ("sim replay --from spc a.spc --depth 2", "--depth belongs to --mode closed"),
        ("sim replay --from spc a.spc --scale 0", "expected a number above 0"),
        ("sim replay --from spc a.spc --force", "--force belongs to --log"),
        ("sim replay --from spc a.spc --log x.json --log-format json", "invalid value 'json'"),
        ("sim replay --from spc a.spc --log-format own", "--log-format belongs to --log"),
        ("sim replay --from spc broken.spc", "broken.spc, line 151, column"),
        ("sim replay a.blkparse --traced sdb", "--traced sdb is not in the trace; it has 8,0"),
        ("sim replay a.blkparse --traced 9:9", "is not in the trace"),
        ("sim replay a.blkparse --device drum", "drum"),
        ("sim replay a.blkparse --scheduler lottery", "no elevator \"lottery\""),
        ("sim replay a.blkparse --scheduler mq-deadline,fifo_batch=0", "outside 1 to"),
    ] {
        let outcome = fathom.run_line(line).expect_code(2);
        assert!(outcome.stderr.contains(words), "{line}: {}", outcome.stderr);
    }
}

#[test]
fn a_write_that_must_be_on_the_medium_takes_an_arm_and_a_turn() {
    let trace = |letters: &str| -> String {
        let line = |n: u64| {
            let (sector, at) = (n * 500_000, n * 100);
            format!(
                "  8,0    0 {:>8} {:>5}.{:09} {:>5}  Q {letters} {sector} + 8 [jbd2]\n",
                n + 1,
                at / 1000,
                at % 1000 * 1_000_000,
                7
            )
        };
        (0..50).map(line).collect()
    };
    let fathom = with(&[("plain.txt", &trace("WS")), ("durable.txt", &trace("FWFS"))]);
    let of = |file: &str| json(&fathom, &format!("sim replay {file} --device sata-7200-ncq"));
    let (plain, durable) = (of("plain.txt"), of("durable.txt"));
    assert_eq!(durable["counts"]["flushes"], 100, "{durable}");
    assert_eq!(plain["counts"]["flushes"], 0, "{plain}");
    let busy = |told: &Value| told["device_ns"]["rotation"].as_u64().unwrap_or(0);
    assert!(busy(&durable) > 50_000_000, "{durable}");
}

#[test]
fn a_name_that_is_no_utf8_ends_no_replay() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let fathom = Fathom::new();
    let name = OsStr::from_bytes(b"a\xff.spc");
    std::fs::write(fathom.work().join(name), spc()).expect("a file of a test");
    let words: Vec<&OsStr> =
        ["sim", "replay", "--from", "spc"].map(OsStr::new).into_iter().chain([name]).collect();
    let _ = fathom.run(words).expect_code(0);
    let listed = fathom.run_line("list").expect_code(0).stdout;
    assert!(listed.contains(" simulated "), "{listed}");
}

#[test]
fn what_several_arms_or_channels_do_is_no_share_above_the_whole() {
    let fathom = Fathom::new();
    for device in ["smartarray-6i-h1", "ssd-generic"] {
        let line = format!("sim replay --synthetic 3000 --depth 64 --device {device} --no-store");
        let page = fathom.run_line(&line).expect_code(0).stdout;
        let line = page.lines().find(|l| l.starts_with("device ")).unwrap_or_else(|| panic!("{page}"));
        let shares = line.split(' ').filter_map(|word| word.parse::<f64>().ok());
        let before_reads = line.split(';').next().unwrap_or_default();
        let shares: Vec<f64> = shares.take(before_reads.matches('%').count()).collect();
        assert!(shares.len() == 5 && shares.iter().all(|s| *s <= 100.5), "{line}");
        assert!(page.contains("the mean of "), "{page}");
    }
}
