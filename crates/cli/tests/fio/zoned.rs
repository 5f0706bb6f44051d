//! `zonemode=zbd` on files over which zones are laid: writes are in order inside each zone, whatever the workers draw. Real zoned devices
//! are tested in the lab.

use crate::fio::support::run;
use fathom_testkit::{Fathom, TestDir};
use std::collections::BTreeMap;

const ZONE: u64 = 64 << 10;

/// Runs a job over sixteen zones of a file. The blocks of its writes by zone, from its iolog, and its output.
fn moved(options: &str) -> (BTreeMap<u64, Vec<u64>>, String) {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let outcome = run(
        &fathom,
        &format!(
            "--name=a --filename=f --size=1m --bs=16k --zonemode=zbd --zonesize=64k --write_iolog=log {options}"
        ),
    )
    .expect_code(0);
    let mut zones: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for line in std::fs::read_to_string(dir.path().join("log")).unwrap().lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if let [.., "write", offset, _] = words[..] {
            let offset: u64 = offset.parse().unwrap();
            zones.entry(offset / ZONE).or_default().push(offset % ZONE / 16384);
        }
    }
    (zones, outcome.stdout)
}

fn written(options: &str) -> BTreeMap<u64, Vec<u64>> {
    moved(options).0
}

#[test]
fn random_writes_are_in_order_inside_each_zone() {
    for engine in ["psync", "libaio --iodepth=8", "io_uring --iodepth=8"] {
        let zones = written(&format!("--rw=randwrite --ioengine={engine} --io_size=2m"));
        assert_eq!(zones.values().map(Vec::len).sum::<usize>(), 128, "{engine}");
        for (zone, blocks) in &zones {
            let in_order: Vec<u64> = (0..blocks.len() as u64).map(|n| n % 4).collect();
            assert_eq!(*blocks, in_order, "{engine}: zone {zone}");
        }
    }
}

#[test]
fn at_most_so_many_zones_are_begun_and_what_was_written_is_read_back() {
    // With two open zones the zones are filled one after the other, but for the last two.
    let (zones, output) = moved("--rw=randwrite --max_open_zones=2 --io_size=512k --verify=crc32c");
    assert_eq!(zones.values().map(Vec::len).sum::<usize>(), 32);
    assert!(output.contains("issued rwts: total=32,32,"), "{output}");
    assert!(zones.values().filter(|blocks| blocks.len() < 4).count() <= 2, "{zones:?}");
    // The part behind the capacity is left out.
    let zones = written("--rw=write --zonecapacity=32k");
    assert!(zones.len() == 16 && zones.values().all(|blocks| *blocks == [0, 1]), "{zones:?}");
}

#[test]
fn workers_share_the_zones() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for options in
        ["", "--thread", "--ioengine=libaio --iodepth=4", "--ioengine=io_uring --iodepth=4 --thread"]
    {
        let line = format!(
            "--name=a --filename=f --size=1m --bs=4k --zonemode=zbd --zonesize=64k --rw=randrw --numjobs=4 --io_size=4m --group_reporting {options}"
        );
        let _ = run(&fathom, &line).expect_code(0);
    }
    // Nothing is written yet in zones that are only read: as in fio, the job ends without an operation.
    let _ =
        run(&fathom, "--name=a --filename=f --size=1m --bs=4k --zonemode=zbd --zonesize=64k --rw=randread")
            .expect_code(0);
    let why = run(&fathom, "--name=a --filename=f --size=1m --zonemode=zbd --rw=write").expect_code(1);
    assert!(
        why.stderr.contains("this is no zoned device") && why.stderr.contains("zonesize"),
        "{}",
        why.stderr
    );
}
