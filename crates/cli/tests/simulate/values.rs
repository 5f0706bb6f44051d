//! Single values of profiles that are to be others, sweeps over a trace, what a record keeps of all this, and that a comparison tells it.

use fathom_testkit::Fathom;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// Reads of 64 KiB, one after the other, as a trace in the form of the Storage Performance Council.
fn trace(fathom: &Fathom) {
    let mut text = String::new();
    for n in 0..200u64 {
        let direction = if n.is_multiple_of(2) { "w" } else { "r" };
        let _ = writeln!(text, "0,{},16384,{direction},0.{:06}", n * 7919 % 10_007 * 32, n * 4000);
    }
    std::fs::write(fathom.work().join("a.spc"), text).expect("writes");
}

fn json(fathom: &Fathom, line: &str) -> Value {
    let outcome = fathom.run_line(line).expect_code(0);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {}", outcome.stdout))
}

const FIO: &str = "-- fio --name=a --rw=randwrite --size=16m --number_ios=200 --bs=4k --direct=1";

#[test]
fn a_value_that_is_set_changes_the_answer_and_stands_in_it() {
    let fathom = Fathom::new();
    let run = |set: &str| {
        json(
            &fathom,
            &format!("sim run --device smartarray-6i-h1 --scheduler none --json --no-store {set} {FIO}"),
        )
    };
    let elapsed = |run: &Value| run["phases"][0]["repetitions"][0]["elapsed_ns"].as_u64().expect("a number");
    let (plain, other) = (run(""), run("--set device.controller.firmware_us=900"));
    // 200 commands, each 800 us longer in the firmware.
    assert!(elapsed(&other) >= elapsed(&plain) + 100 * 800_000, "{} {}", elapsed(&plain), elapsed(&other));
    assert_eq!(other["simulation"]["set"], serde_json::json!([["device.controller.firmware_us", "900"]]));
    assert!(plain["simulation"]["set"].is_null());
    assert_eq!(plain["simulation"]["limits"], "loop-6.18");
    let guessed = other["simulation"]["rests_on"]["guessed"].as_array().expect("names").clone();
    assert!(guessed.iter().any(|name| name == "device controller.firmware_us"), "{guessed:?}");
    let _ = fathom
        .run_line(&format!("sim run --set device.controler.firmware_us=9 --device smartarray-6i-h1 {FIO}"))
        .expect_code(2)
        .expect_stderr("similar names: controller.firmware_us");
    let _ = fathom.run_line(&format!("sim run --set scheduler=none {FIO}")).expect_code(2);
}

#[test]
fn every_value_of_a_profile_can_be_varied() {
    let fathom = Fathom::new();
    let line = format!(
        "sim sweep --device smartarray-6i-h1 --vary device.controller.firmware_us=100,900 --vary host.cpu.cpus=1,2 --set host.cpu.call_us=5 --figure time --json {FIO}"
    );
    let sweep = json(&fathom, &line);
    assert_eq!(sweep["runs"].as_array().expect("runs").len(), 4);
    assert_eq!(sweep["factors"][0]["name"], "device.controller.firmware_us");
    let shown = fathom.run_line("show last --json").expect_code(0).stdout;
    assert!(shown.contains("host.cpu.call_us") && shown.contains("device.controller.firmware_us"), "{shown}");
    for (vary, told) in [
        ("device.controller.firmware=1,2", "similar names: controller.firmware_us"),
        ("device.layout.level=raid5,raid7", "unknown variant"),
        ("controller.firmware_us=1,2", "not a known setting"),
    ] {
        let line = format!("sim sweep --device smartarray-6i-h1 --vary {vary} {FIO}");
        let _ = fathom.run_line(&line).expect_code(2).expect_stderr(told);
    }
}

#[test]
fn a_trace_is_swept() {
    let fathom = Fathom::new();
    trace(&fathom);
    let line = "sim sweep --replay a.spc --from spc --mode closed --depth 8 --device smartarray-6i-h1 --vary device.layout.unit_kib=16,256 --vary scheduler=none,mq-deadline --json";
    let sweep = json(&fathom, line);
    assert_eq!((sweep["runs"].as_array().expect("runs").len(), &sweep["workload"]), (4, &"a.spc".into()));
    // As one replay by itself.
    let seconds = |run: &Value| run["phases"][0]["seconds"].as_f64().expect("seconds");
    let cell = &sweep["runs"].as_array().expect("runs")[0]["cell"];
    let settings: Vec<&str> = sweep["factors"]
        .as_array()
        .expect("factors")
        .iter()
        .zip(sweep["cells"][cell.as_u64().expect("a number") as usize]["levels"].as_array().expect("levels"))
        .map(|(f, level)| f["values"][level.as_u64().expect("a number") as usize].as_str().expect("a word"))
        .collect();
    let alone = json(
        &fathom,
        &format!(
            "sim replay a.spc --from spc --mode closed --depth 8 --device smartarray-6i-h1 --set device.layout.unit_kib={} --scheduler {} --json",
            settings[0], settings[1]
        ),
    );
    let virtual_s = alone["virtual_ns"].as_u64().expect("a number") as f64 / 1e9;
    assert!((seconds(&sweep["runs"][0]) - virtual_s).abs() < 1e-9, "{} {virtual_s}", sweep["runs"][0]);
    let run = json(&fathom, "show last --json");
    assert_eq!(run["simulation"]["handed_in"], serde_json::json!({"mode": "closed", "depth": 8}));
    let listed = fathom.run_line("list").expect_code(0).stdout;
    assert_eq!(listed.matches(" simulated ").count(), 5, "{listed}");
    for (words, told) in [
        (
            "--replay a.spc --from spc --vary stack=full,nocache",
            "or a profile value (device.KEY or host.KEY)",
        ),
        ("--replay a.spc --from spc --vary record=4k,8k", "or a profile value (device.KEY or host.KEY)"),
        (
            "--replay a.spc --from spc --vary scheduler=none --rounds 3",
            "--rounds: a replay gives the same each time",
        ),
        ("--replay a.spc --vary scheduler=none --seed 4", "--seed: a replay has no random choices"),
        (
            "--replay a.spc --vary scheduler=none --readahead none",
            "already includes the effect of read-ahead",
        ),
        ("--replay - --vary scheduler=none", "name a file"),
        ("--mode closed --vary scheduler=none -- iozone -s 64k -i 0", "--mode belongs to --replay"),
        ("--replay none.spc --vary scheduler=none", "none.spc"),
    ] {
        let _ = fathom.run_line(&format!("sim sweep {words}")).expect_code(2).expect_stderr(told);
    }
}

/// The text of a shipped profile.
fn profile(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/profiles").join(name);
    std::fs::read_to_string(path).expect("a profile")
}

#[test]
fn a_record_keeps_the_profiles_that_were_files() {
    let fathom = Fathom::new();
    let at = |name: &str| fathom.work().join(name);
    std::fs::create_dir(at("own")).expect("a directory");
    let array = profile("device/smartarray-6i-h1.toml");
    std::fs::write(at("own/array.toml"), array.replace("\"scsi-10k-72g\"", "\"./disk.toml\""))
        .expect("writes");
    std::fs::write(at("own/disk.toml"), profile("device/scsi-10k-72g.toml")).expect("writes");
    let host = profile("host/today.toml");
    std::fs::write(at("host.toml"), &host).expect("writes");
    let line = format!(
        "sim run --host host.toml --device own/array.toml --scheduler none --limits cciss --json {FIO}"
    );
    let first = json(&fathom, &line);
    let texts = first["simulation"]["texts"].as_array().expect("texts").clone();
    let of: Vec<&str> = texts.iter().map(|t| t["of"].as_str().expect("a word")).collect();
    assert_eq!(of, ["host", "device", "device members.disk"]);
    assert_eq!(texts[0]["text"], host.as_str());
    // As on the profiles that are shipped.
    let shipped = json(
        &fathom,
        &format!("sim run --device smartarray-6i-h1 --scheduler none --limits cciss --json {FIO}"),
    );
    let workers = |run: &Value| run["phases"][0]["repetitions"][0]["workers"].clone();
    assert_eq!(workers(&shipped), workers(&first));
    assert!(shipped["simulation"]["texts"].is_null());

    // The same name, and another text by now: a comparison tells that, and everything else that was asked for.
    let other = host.replacen("call_us = { value = ", "call_us = { value = 1", 1);
    assert_ne!(other, host);
    std::fs::write(at("host.toml"), other).expect("writes");
    let second =
        json(&fathom, &line.replace("scheduler none", "scheduler mq-deadline --set device.cache.mib=0"));
    let id = |run: &Value| run["id"].as_str().expect("an id").to_owned();
    let compared = fathom.run_line(&format!("compare {} {}", id(&first), id(&second))).expect_code(0).stdout;
    for told in ["simulated scheduler", "simulated device.cache.mib", "profile of the host: cpu.call_us"] {
        assert!(compared.contains(told), "{told}: {compared}");
    }
    assert!(!compared.contains("simulated limits"), "{compared}");
}

#[test]
fn recycled_pages_make_more_segments() {
    let fathom = Fathom::new();
    let requests = |set: &str| {
        let line = format!(
            "sim run --host server-2007-linux-2.6 --device smartarray-6i-h1 --limits cciss --scheduler noop --readahead none --json --no-store {set} -- fio --name=a --rw=write --size=16m --bs=1m --end_fsync=1"
        );
        let run = json(&fathom, &line);
        run["phases"][0]["repetitions"][0]["physical"]["devices"][0]["write_ios"].as_u64().expect("a number")
    };
    let random = "--set host.pages.order=random --set host.pages.recycled_permille=500";
    // A scatter list of 31 that is full of single pages ends a request early.
    assert!(requests(random) > requests("--set host.pages.order=ascending") * 5 / 4);
    let _ = fathom
        .run_line("sim run --set host.pages.order=random --set host.pages.batch=31 -- fio --name=a --size=1m")
        .expect_code(2)
        .expect_stderr("pages.recycled_permille is left out");
}
