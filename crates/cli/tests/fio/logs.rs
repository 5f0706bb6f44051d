//! Logs of single operations and histograms, through the built program; where fio is installed, the same files beside its own.

use crate::fio::support::{fio_is_here, run, theirs};
use fathom_testkit::{Fathom, TestDir};
use std::path::Path;

/// The numbers of a log; the last column may be hexadecimal.
fn rows(directory: &Path, name: &str) -> Vec<Vec<u64>> {
    let text = std::fs::read_to_string(directory.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let number = |n: &str| match n.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => n.parse(),
    };
    let row = |line: &str| {
        line.split(", ")
            .map(|n| number(n).unwrap_or_else(|e| panic!("{name}: {line}: {e}")))
            .collect::<Vec<u64>>()
    };
    text.lines().map(row).collect()
}

const NAMES: [&str; 6] =
    ["p_bw.1.log", "p_clat.1.log", "p_clat_hist.1.log", "p_iops.1.log", "p_lat.1.log", "p_slat.1.log"];

fn logs_of(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|n| n.ends_with(".log")).collect();
    names.sort();
    names
}

const EACH: &str = "--name=a --ioengine=io_uring --iodepth=4 --rw=randrw --size=256k --bs=4k --log_offset=1 --log_prio=1 \
                    --prio=3 --prioclass=2 --write_bw_log=p --write_iops_log=p --write_lat_log=p --write_hist_log=p \
                    --log_hist_msec=1000 --log_hist_coarseness=3";

#[test]
fn every_operation_has_a_line_as_in_fio() {
    let ours = TestDir::new();
    run(&Fathom::new().working_in(ours.path()), EACH).expect_code(0);
    let here = fio_is_here("fio: logs of single operations");
    let fio = TestDir::new();
    let mut both = vec![ours.path()];
    if here && theirs(fio.path(), EACH).status.success() {
        both.push(fio.path());
    }
    for directory in both {
        assert_eq!(logs_of(directory), NAMES);
        for name in NAMES.into_iter().filter(|n| !n.contains("hist")) {
            let rows = rows(directory, name);
            assert_eq!(rows.len(), 64, "{name}");
            let ends: Vec<[u64; 2]> = rows.iter().map(|r| [r[3], r[5]]).collect();
            assert!(ends.iter().all(|end| *end == [4096, 0x4003]), "{name}: {ends:x?}");
            assert!(rows.iter().all(|r| r.len() == 6 && r[2] <= 1 && r[4] % 4096 == 0), "{name}");
            let mut offsets: Vec<u64> = rows.iter().map(|r| r[4]).collect();
            offsets.sort_unstable();
            offsets.dedup();
            assert_eq!(offsets.len(), 64, "{name}: each block once");
        }
        assert!(rows(directory, "p_iops.1.log").iter().all(|r| r[1] == 1));
    }
    let sum = |name: &str| rows(ours.path(), name).iter().map(|r| r[1]).sum::<u64>();
    assert_eq!(sum("p_slat.1.log") + sum("p_clat.1.log"), sum("p_lat.1.log"));
    // fio tells a window of a histogram when an operation of a later one comes; ours tell the last one, too.
    let histograms = rows(ours.path(), "p_clat_hist.1.log");
    assert!(histograms.iter().all(|r| r.len() == 3 + 1856 / 8));
    assert_eq!(histograms.iter().flat_map(|r| &r[3..]).sum::<u64>(), 64);
    assert!(!logs_of(ours.path()).iter().any(|n| n.starts_with('.')), "nothing is left beside them");
}

#[test]
fn times_of_issue_are_a_last_column() {
    const LINE: &str = "--name=a --ioengine=io_uring --iodepth=4 --rw=randread --size=64k --bs=4k --write_lat_log=p \
                        --write_bw_log=p --log_issue_time=1";
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    run(&fathom, &format!("{LINE} --log_offset=1")).expect_code(0);
    // fio 3.42: `0, 57616, 1, 4096, 0, 0, 175431` in NAME_clat and NAME_slat, `0, 79398, 1, 4096, 0, 0, 0` in the others.
    for name in ["p_clat.1.log", "p_slat.1.log", "p_lat.1.log", "p_bw.1.log"] {
        let rows = rows(dir.path(), name);
        assert!(rows.len() == 16 && rows.iter().all(|row| row.len() == 7), "{name}: {rows:?}");
        if name.contains("_lat") || name.contains("_bw") {
            assert!(rows.iter().all(|row| row[6] == 0), "{name}: {rows:?}");
        }
    }
    let (clat, slat) = (rows(dir.path(), "p_clat.1.log"), rows(dir.path(), "p_slat.1.log"));
    for (completed, submitted) in clat.iter().zip(&slat) {
        assert_eq!(completed[6], submitted[6]);
        assert!(completed[6] >= submitted[1] && completed[6] > 0, "{submitted:?}: it was prepared before");
        assert_eq!((completed[6] + completed[1]) / 1_000_000, completed[0], "{completed:?}: it ended then");
    }
    run(&fathom, LINE).expect_code(1).expect_stderr("log_issue_time requires write_lat_log and log_offset");
}

/// The lines of a log of 8 blocks that were written one after the other.
fn are_in_sequence(text: &str) {
    let offsets: Vec<&str> = text.lines().filter_map(|line| line.split(", ").nth(4)).collect();
    let wanted: Vec<String> = (0..8).map(|block| (block * 131_072).to_string()).collect();
    assert_eq!(offsets, wanted, "{text}");
}

#[test]
fn compressed_logs_are_inflated_by_both_programs() {
    let ours = TestDir::new();
    let fathom = Fathom::new().working_in(ours.path());
    let line = "--name=job --ioengine=null --filesize=1M --bs=128K --rw=write --write_bw_log=test --per_job_logs=0 --log_offset=1 \
                --log_compression=10K --log_store_compressed=1";
    // The second replaces the log of the first.
    for _ in 0..2 {
        run(&fathom, line).expect_code(0);
    }
    let inflate = "--inflate-log=test_bw.log.fz";
    are_in_sequence(&run(&fathom, inflate).expect_code(0).stdout);
    run(&fathom, "--inflate-log=missing.fz").expect_code(1).expect_stderr("missing.fz");
    if !fio_is_here("fio: compressed logs") {
        return;
    }
    let of_ours = theirs(ours.path(), inflate);
    assert_eq!(String::from_utf8_lossy(&of_ours.stdout), run(&fathom, inflate).stdout);
    let fio = TestDir::new();
    if theirs(fio.path(), line).status.success() {
        let read = run(&Fathom::new().working_in(fio.path()), inflate).expect_code(0).stdout;
        assert_eq!(read, String::from_utf8_lossy(&theirs(fio.path(), inflate).stdout));
        are_in_sequence(&read);
    }
}

#[test]
fn times_may_count_from_1970_and_windows_tell_the_largest() {
    let dir = TestDir::new();
    // Logs stay where they are; only what they are made of is written down elsewhere.
    let elsewhere = TestDir::new();
    let line = "--name=a --ioengine=null --size=1g --rw=read --rate_iops=1000 --runtime=1 --time_based --write_lat_log=p \
                --bandwidth-log --log_avg_msec=100 --log_max_value=1 --log_unix_epoch=1 --aux-path=";
    let before = unix_ms();
    run(&Fathom::new().working_in(dir.path()), &format!("{line}{}", elsewhere.path().display()))
        .expect_code(0);
    assert!(dir.path().join("agg-read_bw.log").exists());
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    let rows = rows(dir.path(), "p_clat.1.log");
    assert!(rows.len() >= 5, "{rows:?}");
    assert!(rows.iter().all(|r| (before..unix_ms() + 200).contains(&r[0])), "{rows:?}");
    assert!(rows.windows(2).all(|pair| pair[0][0] <= pair[1][0]), "{rows:?}");
}

fn unix_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

#[test]
fn what_is_read_back_stands_in_the_logs_as_in_fio() {
    const LINE: &str = "--name=a --rw=write --size=64k --bs=4k --verify=md5 --write_lat_log=v";
    let ours = TestDir::new();
    run(&Fathom::new().working_in(ours.path()), LINE).expect_code(0);
    let fio = TestDir::new();
    let mut both = vec![ours.path()];
    if fio_is_here("fio: logs of what is read back") && theirs(fio.path(), LINE).status.success() {
        both.push(fio.path());
    }
    for directory in both {
        let directions: Vec<u64> = rows(directory, "v_clat.1.log").iter().map(|row| row[2]).collect();
        assert_eq!(directions, [[1; 16], [0; 16]].concat(), "{}", directory.display());
    }
}
