//! What a job wrote is read back, whatever it was and whatever ended it: counts beside those of fio, and wrong bytes that are found.

use crate::fio::support::{fio_is_here, json, run, their_json};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;
use std::os::unix::fs::MetadataExt as _;

/// Reads and writes of a job.
fn done(document: &Value, job: usize) -> [u64; 2] {
    ["read", "write"].map(|side| document["jobs"][job][side]["total_ios"].as_u64().unwrap())
}

fn ours(line: &str) -> Value {
    let dir = TestDir::new();
    json(&Fathom::new().working_in(dir.path()), line)
}

#[test]
fn as_much_is_read_back_as_with_fio() {
    let here = fio_is_here("as_much_is_read_back_as_with_fio");
    for line in [
        "--name=a --rw=randwrite --size=1m --bs=4k --verify=md5 --verify_backlog=16 --verify_backlog_batch=4 --ioengine=libaio --iodepth=16",
        "--name=a --rw=write --size=768k --bs=4k --nrfiles=3 --verify=xxhash",
        "--name=a --rw=randwrite --size=768k --bs=4k --nrfiles=3 --openfiles=2 --verify=xxhash --verify_backlog=16 --ioengine=libaio --iodepth=8",
        "--name=a --rw=write:4k --size=768k --bs=4k --nrfiles=3 --verify=sha1",
        "--name=a --rw=write --size=1m --bs=4k --verify=crc32c --verify_interval=3000",
        "--name=a --rw=write --size=1m --bs=512 --verify=meta --verify_interval=1m",
    ] {
        let [reads, writes] = done(&ours(line), 0);
        // Of what leaves out 4 KiB every block is written twice.
        let once = if line.contains(":4k") { writes / 2 } else { writes };
        assert_eq!(reads, once, "{line}");
        if here {
            assert_eq!([reads, writes], done(&their_json(TestDir::new().path(), line), 0), "{line}");
        }
    }
    // How much of a mix is written is chance; what is not, it reads, and what is, it reads back.
    for line in [
        "--name=a --rw=randrw --size=1m --bs=4k --verify=crc32c --verify_backlog=8",
        "--name=a --rw=randrw --size=1m --bs=4k --verify=crc32c --verify_backlog=8 --ioengine=libaio --iodepth=8",
        "--name=a --rw=randrw --size=768k --filesize=256k --bs=4k --nrfiles=3 --verify=crc32c",
    ] {
        let operations = if line.contains("768k") { 192 } else { 256 };
        assert_eq!(done(&ours(line), 0)[0], operations, "{line}");
        if here {
            assert_eq!(done(&their_json(TestDir::new().path(), line), 0)[0], operations, "{line}");
        }
    }
    let [reads, writes] = done(&ours("--name=a --rw=rw:4k --size=1m --bs=4k --verify=md5"), 0);
    assert!(writes > 90 && reads > 200, "{reads} {writes}");
}

#[test]
fn of_blocks_that_are_written_again_the_newest_is_read_back() {
    for more in [
        "",
        "--bsrange=4k-16k",
        "--nrfiles=3",
        "--verify_backlog=8",
        "--verify_backlog=8 --verify_backlog_batch=3 --ioengine=libaio --iodepth=16",
        "--ioengine=io_uring --iodepth=32 --bsrange=4k-16k --verify_backlog=4",
        "--ioengine=mmap --verify_backlog=4",
        "--ioengine=mmap",
    ] {
        let line =
            format!("--name=a --rw=randwrite --norandommap --size=768k --bs=4k --verify=crc32c {more}");
        let [reads, writes] = done(&ours(&line), 0);
        assert!(reads > 10 && reads <= writes, "{line}: {reads} of {writes}");
        assert!(more.contains("backlog") || reads < writes, "{line}: {reads} of {writes}");
    }
}

#[test]
fn what_was_written_until_the_time_was_over_is_read_back() {
    for more in [
        "--rw=write --size=64m --rate_iops=200",
        "--rw=randwrite --norandommap --size=1m --time_based --rate_iops=200",
        "--rw=randrw --size=8m --nrfiles=2 --rate_iops=200",
        "--rw=randwrite --norandommap --size=1m --time_based --verify_backlog=32 --ioengine=libaio --iodepth=8",
    ] {
        let line = format!("--name=a --bs=4k --verify=md5 --runtime=500ms {more}");
        let [reads, writes] = done(&ours(&line), 0);
        assert!(writes >= 20 && reads >= 20, "{line}: {reads} {writes}");
    }
    // A neighbour that ends it.
    let line = "--name=slow --rw=write --size=64m --bs=4k --rate_iops=200 --verify=md5 \
                --name=quick --ioengine=null --rw=read --size=1m --rate_iops=400 --bs=4k --exitall";
    let document = ours(line);
    let [reads, writes] = done(&document, 0);
    assert!(writes >= 20 && reads.abs_diff(writes) <= 1, "{reads} {writes}");
    let [reads, _] = done(
        &ours(
            "--name=a --rw=write --size=64m --bs=4k --rate_iops=200 --runtime=200ms --verify=md5 --do_verify=0",
        ),
        0,
    );
    assert_eq!(reads, 0);
}

#[test]
fn every_pass_is_read_back_and_counts() {
    // Reads, writes and syncs of fio 3.42.
    for (more, counts) in [
        ("--rw=write --io_size=512k", [64, 64, 0]),
        ("--rw=randwrite --io_size=512k --ioengine=libaio --iodepth=4", [64, 64, 0]),
        ("--rw=randwrite --io_size=512k --ioengine=posixaio --iodepth=32", [64, 64, 0]),
        ("--rw=randwrite --io_size=512k --ioengine=io_uring --iodepth=4 --verify_backlog=5", [64, 64, 0]),
        ("--rw=write --io_size=512k --nrfiles=2", [64, 64, 0]),
        ("--rw=write --io_size=512k --fsync=16", [64, 64, 4]),
        ("--rw=write --io_size=100k --fsync=16", [16, 16, 1]),
        ("--rw=write --io_size=512k --number_ios=40", [24, 24, 0]),
        ("--rw=write --loops=3 --fsync=16", [48, 48, 2]),
        ("--rw=write --loops=2 --fsync=5", [32, 32, 6]),
        ("--rw=randwrite --number_ios=10 --verify_backlog=4", [6, 6, 0]),
        ("--rw=randwrite --number_ios=10 --verify_backlog=8 --ioengine=io_uring", [8, 8, 0]),
        ("--rw=write --number_ios=5 --continue_on_error=io", [5, 5, 0]),
        // What is called a mix: its reads are not checked, and in order it makes no passes.
        ("--rw=randrw --rwmixread=100", [16, 0, 0]),
        ("--rw=rw --rwmixread=100 --loops=2", [32, 0, 0]),
        ("--rw=randrw --rwmixread=100 --io_size=256k --do_verify=0", [16, 0, 0]),
        ("--rw=rw --rwmixread=100 --io_size=256k --do_verify=0", [64, 0, 0]),
        ("--rw=rw --rwmixread=0 --io_size=256k --verify_backlog=5", [64, 64, 0]),
        ("--rw=randrw --rwmixread=0 --io_size=256k", [32, 32, 0]),
        ("--rw=write --io_size=512k --do_verify=0", [0, 16, 0]),
        ("--rw=write --io_size=512k --do_verify=0 --ioengine=libaio", [0, 128, 0]),
        ("--rw=randwrite --io_size=160k --do_verify=0 --ioengine=libaio --iodepth=4", [0, 40, 0]),
    ] {
        let document = ours(&format!("--name=a --bs=4k --size=64k --verify=crc32c {more}"));
        let ios =
            ["read", "write", "sync"].map(|side| document["jobs"][0][side]["total_ios"].as_u64().unwrap());
        assert_eq!(ios, counts, "{more}");
    }
    // Mixes: each pass has 16 reads and writes, and what it wrote is read back.
    for rw in ["rw", "randrw"] {
        let document = ours(&format!("--name=a --bs=4k --size=64k --rw={rw} --loops=3 --verify=md5"));
        let [reads, writes] = done(&document, 0);
        assert!(reads == 48 && writes > 8, "{rw}: {reads} {writes}");
    }
    // Where one kind has a rate the other goes on, and nothing keeps back what is read back at the end of a pass.
    for rate in ["rate_iops=,100", "rate_iops=100,", "rate=,1m"] {
        let document =
            ours(&format!("--name=a --bs=4k --size=64k --rw=randrw --loops=2 --verify=md5 --{rate}"));
        let [reads, writes] = done(&document, 0);
        assert!(reads == 32 && (1..32).contains(&writes), "{rate}: {reads} {writes}");
    }
    // number_ios of both loops counts what is read back before.
    let document = ours("--name=a --bs=4k --size=64k --rw=randrw --loops=2 --number_ios=14 --verify=md5");
    let [reads, writes] = done(&document, 0);
    assert!((17..32).contains(&reads) && reads + writes < 64, "{reads} {writes}");
    // Blocks of changing sizes, which are drawn: four passes.
    for more in ["--rw=randwrite", "--rw=write --ioengine=libaio --iodepth=4"] {
        let line = format!("--name=a --bsrange=4k-16k --size=64k --io_size=512k --verify=md5 {more}");
        let document = ours(&line);
        let [reads, writes] = done(&document, 0);
        assert!(reads == writes && writes >= 16, "{more}: {reads} {writes}");
        assert_eq!(document["jobs"][0]["write"]["io_bytes"], 4 * 65536, "{more}");
    }
}

#[test]
fn a_job_that_goes_round_for_a_time_reads_back_each_time_round() {
    // In fio 3.42 also the reads come near to the writes, or to their places where no map says which blocks are left.
    let line = "--name=a --bs=4k --size=64k --verify=crc32c --time_based --runtime=500ms --iodepth=4";
    for (more, share) in [
        ("--rw=write --ioengine=libaio", 0.9),
        ("--rw=randwrite --ioengine=io_uring", 0.9),
        ("--rw=randwrite --ioengine=posixaio --bsrange=4k-8k", 0.9),
        ("--rw=randwrite --ioengine=libaio --nrfiles=2 --fsync=8", 0.9),
        ("--rw=randwrite --ioengine=libaio --norandommap", 0.5),
    ] {
        let [reads, writes] = done(&ours(&format!("{line} {more}")), 0);
        let (reads, writes) = (reads as f64, writes as f64);
        assert!(writes > 64.0 && reads >= share * writes && reads <= writes, "{more}: {reads} of {writes}");
    }
    // Of clones that share a file one would find what another is just writing.
    let [reads, writes] =
        done(&ours(&format!("{line} --rw=randwrite --ioengine=libaio --numjobs=2 --filename=f")), 0);
    assert!(reads == 16 && writes > 64, "{reads} of {writes}");
    // Beside a latency target, of which the last window is counted.
    let target = "--latency_target=50ms --latency_window=50ms --latency_percentile=90";
    let [reads, writes] = done(&ours(&format!("{line} --rw=randwrite --ioengine=libaio {target}")), 0);
    assert!(reads > 16 && writes > 16, "{reads} of {writes}");
}

#[test]
fn a_pause_counts_what_is_read_back_meanwhile() {
    // fio 3.42: 16 pauses in 128 operations, 8 with twice as many blocks.
    for (blocks, pauses) in [(8, 16), (16, 8)] {
        let runs_ms = || {
            let document = ours(&format!(
                "--name=a --rw=write --bs=4k --size=256k --verify=crc32c --verify_backlog=8 --thinktime=20ms --thinktime_blocks={blocks}"
            ));
            assert_eq!(done(&document, 0), [64, 64]);
            let ms = document["jobs"][0]["job_runtime"].as_u64().unwrap();
            assert!((pauses - 1) * 20 <= ms, "{blocks}: {ms} ms");
            ms
        };
        // On a loaded machine a pause may be longer than asked for: one run of five is not disturbed.
        assert!((0..5).any(|_| runs_ms() < (pauses + 8) * 20), "{blocks}: too many pauses");
    }
}

#[test]
fn wrong_bytes_of_several_files_are_found_in_theirs() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=v --size=192k --bs=4k --nrfiles=3 --verify=crc32c";
    run(&fathom, &format!("{line} --rw=randwrite --do_verify=0")).expect_code(0);
    run(&fathom, &format!("{line} --rw=read")).expect_code(0);
    run(&fathom, &format!("{line} --rw=randwrite --verify_only")).expect_code(0);
    let path = dir.path().join("v.0.1");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[9000..9004].iter_mut().for_each(|byte| *byte ^= 0x5a);
    std::fs::write(&path, bytes).unwrap();
    for how in ["--rw=read", "--rw=randread", "--rw=randwrite --verify_only"] {
        run(&fathom, &format!("{line} {how}")).expect_code(1).expect_stderr("v.0.1 offset 8192, length 4096");
    }
}

#[test]
fn jobs_after_each_other_find_what_one_of_them_spoils() {
    // What fio's own t/verify.py does with each sum.
    let base = "--fallocate=truncate --filename=verify --stonewall --ioengine=psync --filesize=1M --bs=4096 --verify_fatal=1";
    for size in [4096, 4] {
        let line = format!(
            "--name=layout --rw=randwrite --verify=md5 {base} --name=only --verify_only --rw=randwrite --verify=md5 {base} \
             --name=read --rw=randread --verify=md5 {base} --name=mangle --rw=randwrite --randrepeat=0 {base} --bs={size} --number_ios=1 \
             --name=only_again --verify_only --rw=randwrite --verify=md5 {base} --name=read_again --rw=randread --verify=md5 {base}"
        );
        let dir = TestDir::new();
        let fathom = Fathom::new().working_in(dir.path());
        let text = run(&fathom, &format!("--output-format=json {line}")).expect_code(1).stdout;
        let document: Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<u64> =
            document["jobs"].as_array().unwrap().iter().map(|job| job["error"].as_u64().unwrap()).collect();
        assert_eq!(errors, [0, 0, 0, 0, 84, 84], "{size}");
    }
}

#[test]
fn a_file_gets_its_size_without_its_space() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --filename=F --rw=write --size=4m --bs=4k --number_ios=4 --fallocate=truncate";
    json(&fathom, line);
    let found = std::fs::metadata(dir.path().join("F")).unwrap();
    assert_eq!(found.len(), 4 << 20);
    assert!(found.blocks() * 512 <= 64 << 10, "{} blocks", found.blocks());
}
