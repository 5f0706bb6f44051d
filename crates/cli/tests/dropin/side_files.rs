//! Files written beside the output: latencies (-Q), histograms (-+z), start and end of each test (-+T).

use crate::dropin::layout::iozone;
use fathom_testkit::dir::names_in;
use fathom_testkit::mask_keep_width;
use std::fs;
use std::path::Path;

const HEADER: &str = "Offset in kBytes   Latency in microseconds  Transfer size in bytes";

/// (offset in kB, bytes) of every line of a latency file.
fn operations(file: &Path) -> Vec<(u64, u64)> {
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(text.lines().next(), Some(HEADER));
    let lines = text.lines().skip(1).take_while(|l| !l.is_empty());
    lines
        .map(|l| {
            assert_eq!(l.len(), 32, "three fields of ten: {l:?}");
            let words: Vec<u64> = l.split_whitespace().map(|w| w.parse().unwrap()).collect();
            assert_eq!(words.len(), 3);
            (words[0], words[2])
        })
        .collect()
}

#[test]
fn every_operation_of_a_table_has_its_line() {
    let (fathom, outcome) = iozone("-s 64k -r 16k -i 0 -i 1 -Q");
    let _ = outcome.expect_code(0).expect_stdout("\tOffset/latency files enabled.\n");
    let names = ["rol.dat", "rrol.dat", "rwol.dat", "wol.dat"];
    assert_eq!(names_in(fathom.work()), names);
    for name in names {
        let file = fathom.work().join(name);
        assert_eq!(operations(&file), [(0, 16384), (16, 16384), (32, 16384), (48, 16384)], "{name}");
        let text = fs::read_to_string(&file).unwrap();
        let last = mask_keep_width(text.lines().last().unwrap());
        assert_eq!(last, "System time          # User time          # Real          #  (seconds)", "{name}");
    }
}

#[test]
fn a_second_run_appends() {
    let (fathom, outcome) = iozone("-s 64k -r 16k -i 0 -Q");
    let _ = outcome.expect_code(0);
    let first = fs::read_to_string(fathom.work().join("wol.dat")).unwrap();
    let _ = fathom.run_line("iozone -s 64k -r 16k -i 0 -Q").expect_code(0);
    let both = fs::read_to_string(fathom.work().join("wol.dat")).unwrap();
    assert!(both.starts_with(&first));
    assert_eq!(both.matches(HEADER).count(), 2);
}

#[test]
fn every_child_has_files_of_its_own() {
    let (fathom, outcome) = iozone("-t 2 -s 64k -r 16k -x -i 0 -i 1 -Q -+z -+T");
    let _ = outcome.expect_code(0);
    let mut expected: Vec<String> = Vec::new();
    for n in 0..2 {
        expected.push(format!("Child_{n}.log"));
        expected.extend(["rol", "rrol", "rwol", "wol"].map(|what| format!("Child_{n}_{what}.dat")));
        expected.push(format!("Iozone_histogram_child_{n}.txt"));
    }
    expected.sort();
    assert_eq!(names_in(fathom.work()), expected);
    for n in 0..2 {
        for what in ["rol", "rrol", "rwol", "wol"] {
            let file = fathom.work().join(format!("Child_{n}_{what}.dat"));
            assert_eq!(operations(&file), [(0, 16384), (16, 16384), (32, 16384), (48, 16384)]);
            assert!(!fs::read_to_string(&file).unwrap().contains("System time"));
        }
        let log = fs::read_to_string(fathom.work().join(format!("Child_{n}.log"))).unwrap();
        let starts: Vec<&str> = log.lines().filter_map(|l| l.get(..26)).map(str::trim_end).collect();
        assert_eq!(starts[..2], ["Write test start:", "Write test finished:"], "{log}");
        assert_eq!(starts.len(), 8);
        assert!(log.lines().all(|l| l.len() == 26 + 24), "a date of 24 characters: {log}");
    }
}

#[test]
fn the_histogram_counts_every_operation() {
    let (fathom, outcome) = iozone("-t 2 -s 256k -r 16k -x -i 0 -+n -+z");
    let _ = outcome.expect_code(0);
    for n in 0..2 {
        let text = fs::read_to_string(fathom.work().join(format!("Iozone_histogram_child_{n}.txt"))).unwrap();
        assert_eq!(text.lines().next(), Some(format!("Child: {n} Op: write").as_str()));
        let bands: Vec<&str> = text.lines().filter(|l| l.starts_with("Band ")).collect();
        assert_eq!(bands.len(), 9);
        let buckets: Vec<(&str, u64)> = bands
            .iter()
            .flat_map(|b| b.split_once(": ").unwrap().1.split_whitespace())
            .map(|b| b.split_once(':').unwrap())
            .map(|(word, count)| (word, count.parse().unwrap()))
            .collect();
        assert_eq!(buckets.iter().map(|b| b.1).sum::<u64>(), 16);
        let words: Vec<&str> = buckets.iter().map(|b| b.0).collect();
        let expected = "20us 40us 60us 80us 100us 200us 400us 600us 800us 1ms 2ms 4ms 6ms 8ms 10ms 12ms 14ms 16ms 18ms 20ms \
                        40ms 60ms 80ms 100ms 200ms 400ms 600ms 800ms 1s 2s 4s 6s 8s 10s 20s 40s 60s 80s 120s 120+s";
        assert_eq!(words, expected.split_whitespace().collect::<Vec<_>>());
        // As IOzone 3.489 writes them: a label of nine columns after the number, then label and count twelve apart.
        assert!(bands[0].starts_with("Band 1:    20us:"), "{}", bands[0]);
        let ends: Vec<usize> = bands[0].match_indices("us:").map(|m| m.0).collect();
        assert!(ends.windows(2).all(|w| w[1] - w[0] == 14), "{}", bands[0]);
    }
}

#[test]
fn a_table_writes_no_histograms() {
    let (fathom, outcome) = iozone("-s 64k -i 0 -+z");
    let _ = outcome.expect_code(0);
    assert!(names_in(fathom.work()).is_empty(), "{:?}", names_in(fathom.work()));
}
