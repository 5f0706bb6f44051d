//! Where the operations of a job go, and where from: checked blocks at odd offsets, block sizes that differ by direction, buffers on
//! memory nodes; beside fio where it is installed.

use crate::fio::support::{DEBIANS, fio_is_here, json, run, their_json, theirs};
use fathom_testkit::{Fathom, TestDir, skip};
use serde_json::Value;
use std::path::Path;

/// Reads and writes of the first job.
fn done(document: &Value) -> [u64; 2] {
    ["read", "write"].map(|side| document["jobs"][0][side]["total_ios"].as_u64().unwrap())
}

/// Changes a byte of a file.
fn spoil(dir: &TestDir, at: usize) {
    let path = dir.path().join("F");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[at] ^= 0x5a;
    std::fs::write(&path, bytes).unwrap();
}

#[test]
fn what_is_checked_begins_at_any_offset() {
    let jobs = "--name=w --filename=F --bs=16k --size=256k --verify=crc32c";
    for more in [
        "--rw=write --offset=120k",
        "--rw=randwrite --offset=1000",
        "--rw=randwrite --offset=1000 --norandommap --io_size=1m --verify_interval=512",
        "--rw=randwrite --offset=777 --bsrange=4k-16k --norandommap",
        "--rw=randrw --offset=5000 --verify_backlog=3 --ioengine=libaio --iodepth=4",
        "--rw=write:112k --offset=120k --verify_backlog=1 --loops=2",
        "--rw=write --offset=3000 --verify=pattern --verify_pattern=0xab%o",
    ] {
        let dir = TestDir::new();
        let fathom = Fathom::new().working_in(dir.path());
        let [read, wrote] = done(&json(&fathom, &format!("{jobs} {more}")));
        assert!(wrote > 0 && read > 0, "{more}: {read} {wrote}");
    }
    // Clones one behind the other, as in fio's example cross-stripe-verify.
    let clones = "--rw=write:112k --numjobs=3 --offset=120k --offset_increment=4m --io_size=256k --size=4m \
                  --verify_backlog=1 --group_reporting";
    let ours = done(&json(&Fathom::new().working_in(TestDir::new().path()), &format!("{jobs} {clones}")));
    assert_eq!(ours[0], ours[1]);
    if fio_is_here("what_is_checked_begins_at_any_offset") {
        let dir = TestDir::new();
        assert_eq!(ours, done(&their_json(dir.path(), &format!("{jobs} {clones}"))));
    }
}

#[test]
fn a_wrong_block_at_an_odd_offset_is_told_by_where_it_begins() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let of = |name: &str| format!("--name={name} --filename=F --bs=4k --size=64k --offset=1000");
    for (look, words) in [
        ("--verify=crc32c", "crc32c: verify failed"),
        ("--verify=pattern --verify_pattern=0xdeadbeef", "bad pattern block offset 904"),
    ] {
        run(&fathom, &format!("{} --rw=write --do_verify=0 {look}", of("w"))).expect_code(0);
        run(&fathom, &format!("{} --rw=randread {look}", of("r"))).expect_code(0);
        spoil(&dir, 1000 + 2 * 4096 + 904);
        run(&fathom, &format!("{} --rw=read {look}", of("r")))
            .expect_code(1)
            .expect_stderr(words)
            .expect_stderr("offset 9192, length 4096");
    }
}

#[test]
fn odd_offsets_are_those_of_fio() {
    if !fio_is_here("odd_offsets_are_those_of_fio") {
        return;
    }
    let of = |rw: &str| {
        format!("--name=a --filename=F --rw={rw} --bs=4k --size=64k --offset=1000 --verify=md5 --do_verify=0")
    };
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path()).env("FATHOM_FIO_VERSION", DEBIANS);
    assert!(theirs(dir.path(), &of("write")).status.success());
    run(&fathom, &of("read")).expect_code(0);
    let dir = TestDir::new();
    run(&Fathom::new().working_in(dir.path()).env("FATHOM_FIO_VERSION", DEBIANS), &of("write"))
        .expect_code(0);
    assert!(theirs(dir.path(), &of("read")).status.success());
}

#[test]
fn memory_lies_where_a_policy_says() {
    let nodes = Path::new("/sys/devices/system/node/online");
    let Ok(online) = std::fs::read_to_string(nodes) else {
        skip("memory_lies_where_a_policy_says", "this machine does not tell its nodes");
        return;
    };
    let online = online.trim();
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --rw=write --size=256k --bs=64k";
    for policy in ["default", "local", "prefer:0", "bind:0", "interleave:all", &format!("bind:{online}")] {
        run(&fathom, &format!("{line} --numa_cpu_nodes=0 --numa_mem_policy={policy}")).expect_code(0);
    }
    // fio 3.33 says so, too.
    for (policy, words) in [
        ("interleave:0-63", "numa_parse_nodestring failed"),
        ("prefer:all", if online == "0" { "" } else { "one node only for 'prefer'" }),
        ("bind", "a nodelist is needed for 'bind'"),
        ("near", "memory policy should be: default, prefer, bind, interleave, local"),
    ] {
        let ran = run(&fathom, &format!("--name=b --rw=write --size=64k --numa_mem_policy={policy}"));
        if !words.is_empty() {
            ran.expect_code(1)
                .expect_stderr(words)
                .expect_stderr(&format!("failed parsing numa_mem_policy={policy}"));
        }
    }
}

/// Reads and writes of the first job with their bytes.
fn moved(document: &Value) -> [[u64; 2]; 2] {
    ["read", "write"]
        .map(|side| ["total_ios", "io_bytes"].map(|key| document["jobs"][0][side][key].as_u64().unwrap()))
}

#[test]
fn reads_and_writes_of_a_mix_have_block_sizes_of_their_own() {
    let test = "reads_and_writes_of_a_mix_have_block_sizes_of_their_own";
    // The least and the largest block of each, and what of each there may be: a half of the operations.
    for (sizes, reads, writes) in [
        ("--bs=4k,64k", [4096, 4096], [65536, 65536]),
        ("--bsrange=4k-8k,16k-64k", [4096, 8192], [16384, 65536]),
        ("--bssplit=64k/40:128k/60,128k/100", [65536, 131_072], [131_072, 131_072]),
    ] {
        for rw in ["rw", "randrw --norandommap"] {
            let line = format!("--name=a --filename=F --size=16m --rw={rw} {sizes}");
            let right = |[read, write]: [[u64; 2]; 2], who: &str| {
                for ([count, bytes], [least, most]) in [(read, reads), (write, writes)] {
                    assert!(count > 20, "{who}: {line}");
                    assert!(
                        (count * least..=count * most).contains(&bytes),
                        "{who}: {line}: {count} {bytes}"
                    );
                }
                let all = read[1] + write[1];
                assert!(((16 << 20)..(17 << 20)).contains(&all), "{who}: {line}: {all}");
            };
            let dir = TestDir::new();
            let fathom = Fathom::new().working_in(dir.path());
            right(moved(&json(&fathom, &line)), "fathom");
            if fio_is_here(test) {
                right(moved(&their_json(TestDir::new().path(), &line)), "fio");
            }
        }
    }
}

#[test]
fn offsets_of_a_kind_are_multiples_of_its_own_blocks() {
    let line = "--name=a --filename=F --size=4m --rw=randrw --bs=4k,12k --norandommap --write_iolog=L";
    let multiples = |dir: &Path, who: &str| {
        let log = std::fs::read_to_string(dir.join("L")).unwrap();
        let mut found = [0, 0];
        for line in log.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [.., does, offset, bytes] = words.as_slice() else { continue };
            let (kind, size) = match *does {
                "read" => (0, 4096),
                "write" => (1, 12288),
                _ => continue,
            };
            let (offset, bytes): (u64, u64) = (offset.parse().unwrap(), bytes.parse().unwrap());
            assert!(bytes == size && offset.is_multiple_of(size), "{who}: {line}");
            found[kind] += 1;
        }
        assert!(found.iter().all(|n| *n > 100), "{who}: {found:?}");
    };
    let dir = TestDir::new();
    run(&Fathom::new().working_in(dir.path()), line).expect_code(0).expect_stdout("(R) 4096B-4096B, (W) 12");
    multiples(dir.path(), "fathom");
    if fio_is_here("offsets_of_a_kind_are_multiples_of_its_own_blocks") {
        let dir = TestDir::new();
        assert!(theirs(dir.path(), line).status.success());
        multiples(dir.path(), "fio");
    }
}

#[test]
fn a_mix_with_sizes_of_its_kinds_is_not_verified() {
    let line = "--name=a --size=1m --rw=randrw --bs=4k,8k --verify=crc32c";
    run(&Fathom::new().working_in(TestDir::new().path()), line)
        .expect_code(1)
        .expect_stderr("bs: with verify, reads and writes of one job have the same block sizes");
}
