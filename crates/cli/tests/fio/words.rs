//! Options as pipelines write them, each beside fio: numbers with something behind them, names that JSON repeats, included files that
//! begin a section, units of rates, and the messages for jobs that measure little or nothing.

use crate::fio::support::{DEBIANS, fio_is_here, json, run, their_json, theirs};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;

/// The JSON of both, each in a separate directory with these files.
fn both(files: &[(&str, &str)], line: &str) -> [Value; 2] {
    let (ours, theirs) = (TestDir::new(), TestDir::new());
    for dir in [&ours, &theirs] {
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
    }
    let fathom = Fathom::new().working_in(ours.path()).env("FATHOM_FIO_VERSION", DEBIANS);
    [json(&fathom, line), their_json(theirs.path(), line)]
}

/// The keys of an object.
fn keys(value: &Value) -> Vec<&String> {
    let mut keys: Vec<&String> = value.as_object().expect("an object").keys().collect();
    keys.sort();
    keys
}

#[test]
fn what_stands_behind_a_number_counts_for_nothing() {
    if !fio_is_here("what_stands_behind_a_number_counts_for_nothing") {
        return;
    }
    for args in [
        "--number_ios=128*1",
        "--number_ios=4.5k",
        "--number_ios=4k4",
        "--number_ios=0x10",
        "--number_ios=4e3",
        "--bs=8k*2",
        "--bs=4kx",
        "--bs=7k/8",
        "--bs=8kibx",
        "--bs=4096bytes",
        "--size=64k+4k",
        "--numjobs=2*1 --group_reporting",
        "--direct=1x",
        "--thread=4",
    ] {
        let line = format!("--name=a --ioengine=null --size=1m {args}");
        let [ours, theirs] = both(&[], &line).map(|d| d["jobs"][0]["read"]["total_ios"].clone());
        assert_eq!(ours, theirs, "{args}");
    }
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for args in ["--number_ios=(4+4)", "--bs=0.5m", "--direct=4", "--thread=true", "--unit_base=bits"] {
        let line = format!("--name=a --ioengine=null --size=1m {args}");
        assert_eq!(theirs(dir.path(), &line).status.code(), Some(1), "{args}");
        run(&fathom, &line).expect_code(1);
    }
}

#[test]
fn options_are_named_as_fio_names_them() {
    if !fio_is_here("options_are_named_as_fio_names_them") {
        return;
    }
    let file = "[global]\nallrandrepeat=1\nthreads=1\nblocksize=4k\nreadwrite=read\nnr_files=1\ndisable_bw=0\n[a]\nsize=1m\nioengine=null\niomem=malloc\nio_limit=8k\n";
    let [ours, theirs] = both(&[("j.fio", file)], "j.fio");
    for of in ["/global options", "/jobs/0/job options"] {
        assert_eq!(ours.pointer(of), theirs.pointer(of), "{of}");
    }
}

#[test]
fn an_included_file_with_a_section_is_left_out() {
    if !fio_is_here("an_included_file_with_a_section_is_left_out") {
        return;
    }
    let files = [
        ("common.fio", "[global]\nbs=16k\n"),
        ("j.fio", "[global]\nioengine=null\nsize=64k\ninclude common.fio\n[a]\nrw=randread\n"),
    ];
    let [ours, theirs_] = both(&files, "j.fio");
    for of in ["/global options", "/jobs/0/job options", "/jobs/0/read/total_ios"] {
        assert_eq!(ours.pointer(of), theirs_.pointer(of), "{of}");
    }
    let dir = TestDir::new();
    std::fs::write(dir.path().join("common.fio"), "[global]\nbs=16k\n").unwrap();
    std::fs::write(dir.path().join("j.fio"), "[a]\nsize=64k\ninclude common.fio\nbs=4k\n").unwrap();
    assert_eq!(theirs(dir.path(), "j.fio").status.code(), Some(1));
    run(&Fathom::new().working_in(dir.path()), "j.fio").expect_code(1);
}

#[test]
fn who_lays_out_only_or_reads_no_clock_has_the_keys_of_fio() {
    if !fio_is_here("who_lays_out_only_or_reads_no_clock_has_the_keys_of_fio") {
        return;
    }
    let [ours, theirs] = both(&[], "--name=a --size=64k --create_only=1");
    assert_eq!(keys(&ours["jobs"][0]), keys(&theirs["jobs"][0]));
    let paced = "--name=a --ioengine=null --size=1m --rate=1m --gtod_reduce=1";
    for document in both(&[], paced) {
        let read = &document["jobs"][0]["read"];
        assert!(read["bw_samples"].as_u64() > Some(0) && read["iops_mean"].as_f64() > Some(0.0), "{read}");
        assert_eq!(read["clat_ns"]["N"], 0);
    }
}

#[test]
fn what_compresses_may_be_the_pattern() {
    if !fio_is_here("what_compresses_may_be_the_pattern") {
        return;
    }
    let line = "--name=a --filename=f --rw=write --bs=8k --size=64k --buffer_compress_percentage=50 --buffer_pattern=0xdeadbeef --buffer_compress_chunk=4096";
    let (ours, other) = (TestDir::new(), TestDir::new());
    run(&Fathom::new().working_in(ours.path()), line).expect_code(0);
    assert!(theirs(other.path(), line).status.success());
    let pattern: Vec<u8> = [0xde, 0xad, 0xbe, 0xef].into_iter().cycle().take(2048).collect();
    for dir in [&ours, &other] {
        let written = std::fs::read(dir.path().join("f")).unwrap();
        for page in written.chunks(4096) {
            assert!(page[2048..] == pattern && page[..2048] != pattern);
        }
    }
}

#[test]
fn rates_are_in_bits() {
    if !fio_is_here("rates_are_in_bits") {
        return;
    }
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for base in ["1024", "1000"] {
        let line = format!(
            "--name=a --ioengine=null --size=1g --rate=1m --time_based --runtime=1 --unit_base=1 --kb_base={base}"
        );
        let units = |text: &str| -> Vec<String> {
            let rates = text.lines().find(|l| l.contains("BW=")).expect("a line with the rate");
            let words = rates.split(['=', ' ', '(', ')']).filter(|w| w.ends_with("bit/s"));
            words.map(|w| w.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned()).collect()
        };
        let ours = run(&fathom, &line).expect_code(0).stdout;
        let theirs = String::from_utf8(theirs(dir.path(), &line).stdout).unwrap();
        assert_eq!(units(&ours), units(&theirs), "{base}");
        assert_eq!(units(&ours).len(), 2, "{ours}");
    }
}
