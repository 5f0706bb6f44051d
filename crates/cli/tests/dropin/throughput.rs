//! Throughput mode: blocks, their order, and relations between their figures. Lines 15 to 18 of the specification's
//! acceptance list.

use crate::dropin::layout::{assert_order, figures, golden, golden_run, iozone, line_starting};
use crate::dropin::table::need_o_direct;
use fathom_testkit::Fathom;
use fathom_testkit::dir::names_in;

/// The blocks in the program's order, by the text between count and equals sign.
const BLOCKS: [&str; 13] = [
    " 2 initial writers \t",
    " 2 rewriters \t",
    " 2 readers \t\t",
    "2 re-readers \t",
    "2 reverse readers \t",
    "2 stride readers \t",
    "2 random readers \t",
    "2 mixed workload \t",
    "2 random writers \t",
    "2 pwrite writers \t",
    "2 pread readers \t",
    " 2 fwriters \t",
    " 2 freaders \t",
];

/// The command line of the 2008 kernel comparison, a hundredth of its size.
#[test]
fn one_writer_moves_its_whole_file_in_both_blocks() {
    let (fathom, out) = golden_run("one_writer", "-r 1m -s 30m -c -e -t 1 -F X1 -i 0");
    assert_order(
        &out,
        &[
            "\tInclude close in write timing\n",
            "\tInclude fsync in write timing\n",
            "\tThroughput test with 1 process\n",
        ],
    );
    assert!(out.contains("\tEach process writes a 30720 kByte file in 1024 kByte records\n"));
    assert_eq!(figures(&out, "\tMin xfer"), [30720.0, 30720.0]);
    for (label, blocks) in [("\tChildren see", 2), ("\tParent sees", 2)] {
        assert_eq!(figures(&out, label).len(), blocks);
    }
    assert!(
        out.lines().filter(|l| l.contains("/sec")).all(|l| l.contains(" kB/sec") || l.contains("kBytes/sec"))
    );
    assert_eq!(out.matches("\tMin xfer \t\t\t\t\t=   30720.00 kB\n").count(), 2);
    assert!(names_in(fathom.work()).is_empty());
}

#[test]
fn two_direct_writers_on_named_files() {
    let test = "two_direct_writers_on_named_files";
    let fathom = Fathom::new();
    if !need_o_direct(test, &fathom) {
        return;
    }
    let out = fathom.run_line("iozone -r 1m -s 16m -c -e -I -t 2 -F X1 X2 -i 0").expect_code(0).stdout;
    golden("two_direct_writers", &out);
    assert!(out.contains("\tO_DIRECT feature enabled\n"));
    let xfers = figures(&out, "\tMin xfer");
    assert_eq!(xfers.len(), 2);
    assert!(xfers.iter().all(|x| *x <= 16384.0 && (x / 1024.0).fract() == 0.0), "{xfers:?}");
    let children = figures(&out, "\tChildren see");
    let parents = figures(&out, "\tParent sees");
    for (child, parent) in children.iter().zip(&parents) {
        assert!(child >= parent, "children {children:?}, parent {parents:?}");
    }
    assert!(names_in(fathom.work()).is_empty());
}

#[test]
fn all_tests_run_in_iozones_order_and_the_report_comes_before_the_end() {
    let (fathom, out) = golden_run("all_blocks", "-t 2 -s 2m -r 64k -R -C -+u");
    let shown: Vec<&str> =
        out.lines().filter_map(|l| l.strip_prefix("\tChildren see throughput for ")).collect();
    assert_eq!(shown.len(), 13);
    for (line, block) in shown.iter().zip(BLOCKS) {
        assert!(line.starts_with(block), "{line:?} instead of {block:?}");
        assert!(line[block.len()..].starts_with('='), "{line:?}");
    }
    assert_eq!(out.lines().filter(|l| l.starts_with("\tCPU Utilization: Wall time ")).count(), 1);
    assert_eq!(out.lines().filter(|l| l.starts_with("\tCPU utilization: Wall time ")).count(), 12);
    for child in [0, 1] {
        let start = format!("\tChild[{child}] xfer count = ");
        assert_eq!(out.lines().filter(|l| l.starts_with(&start)).count(), 13);
    }
    assert_order(
        &out,
        &[
            "\"Throughput report Y-axis is type of test X-axis is number of processes\"\n",
            "\"Record size = 64 kBytes \"\n",
            "\"Output is in kBytes/sec\"\n",
            "\n\"  Initial write \"",
            "\n\"        Rewrite \"",
            "\n\"          Fread \"",
            "\niozone test complete.\n",
        ],
    );
    assert!(out.ends_with("\n\niozone test complete.\n"));
    assert!(names_in(fathom.work()).is_empty());
}

#[test]
fn the_blocks_figures_agree_with_each_other() {
    let (_fathom, outcome) = iozone("-t 3 -s 2m -r 64k -i 0 -i 1 -i 2 -C");
    let out = outcome.expect_code(0).stdout;
    let of = |label| figures(&out, label);
    let (sum, min, max, mean, xfer) = (
        of("\tChildren see"),
        of("\tMin throughput per process"),
        of("\tMax throughput per process"),
        of("\tAvg throughput per process"),
        of("\tMin xfer"),
    );
    let lines: Vec<&str> = out.lines().filter(|l| l.starts_with("\tChild[")).collect();
    let blocks = lines.len() / 3;
    assert_eq!((lines.len(), sum.len()), (blocks * 3, blocks));
    for block in 0..blocks {
        let children: Vec<(f64, f64)> = lines[block * 3..][..3]
            .iter()
            .map(|l| {
                let after = |word: &str| {
                    l.split_once(word).unwrap().1.split_whitespace().next().unwrap().parse().unwrap()
                };
                (after("xfer count ="), after("Throughput ="))
            })
            .collect();
        let near = |a: f64, b: f64| (a - b).abs() <= 0.02 + b.abs() * 1e-6;
        assert!(near(sum[block], children.iter().map(|c| c.1).sum()), "{out}");
        assert!(near(mean[block], sum[block] / 3.0), "{out}");
        assert!(near(min[block], children.iter().map(|c| c.1).fold(f64::INFINITY, f64::min)), "{out}");
        assert!(near(max[block], children.iter().map(|c| c.1).fold(0.0, f64::max)), "{out}");
        assert!(near(xfer[block], children.iter().map(|c| c.0).fold(f64::INFINITY, f64::min)), "{out}");
        assert!(children.iter().all(|c| c.0 <= 2048.0 && (c.0 / 64.0).fract() == 0.0), "{out}");
        assert!(children.iter().any(|c| c.0 == 2048.0), "the first to finish has done its whole file\n{out}");
    }
}

#[test]
fn without_stonewall_everyone_finishes() {
    let (_fathom, outcome) = iozone("-t 3 -s 1m -r 64k -x -i 0 -i 1");
    let out = outcome.expect_code(0).expect_stdout("\tStonewall disabled\n").stdout;
    assert_eq!(figures(&out, "\tMin xfer"), [1024.0; 4]);
}

#[test]
fn writers_finish_their_files_although_the_clock_has_stopped() {
    let (fathom, outcome) = iozone("-t 3 -s 4m -r 64k -i 0 -+n -w");
    let _ = outcome.expect_code(0);
    for n in 0..3 {
        let file = fathom.work().join(format!("iozone.DUMMY.{n}"));
        assert_eq!(std::fs::metadata(&file).unwrap().len(), 4 << 20);
    }
}

#[test]
fn a_range_of_streams_is_a_column_each_in_the_report() {
    let (_fathom, out) = golden_run("range", "-l 1 -u 2 -s 1m -r 64k -i 0 -+n -R");
    assert_order(
        &out,
        &["\tMin process = 1 \n", "\tMax process = 2 \n", "\tThroughput test with 1 process\n"],
    );
    assert_eq!(figures(&out, "\tChildren see").len(), 2);
    assert_order(&out, &["for  1 initial writers", "for  2 initial writers"]);
    assert_eq!(line_starting(&out, "\"        Rewrite \""), "\"        Rewrite \"       0.00        0.00 ");
    let writes = line_starting(&out, "\"  Initial write \"");
    assert_eq!(writes.split('"').nth(2).map(|c| c.split_whitespace().count()), Some(2));
}

/// A quirk of IOzone's texts that a script may have copied.
#[test]
fn cpu_utilization_has_its_capital_in_the_initial_write_only() {
    let capitals = |out: &str| out.matches("\tCPU Utilization: ").count();
    let (fathom, outcome) = iozone("-t 2 -t 1 -s 256k -r 64k -i 0 -+u -w");
    assert_eq!(capitals(&outcome.expect_code(0).stdout), 2, "once for each number of streams");
    let out = fathom.run_line("iozone -t 1 -s 256k -r 64k -i 1 -+u").expect_code(0).stdout;
    assert_eq!((capitals(&out), out.matches("\tCPU utilization: ").count()), (0, 2));
}

#[test]
fn threads_are_called_threads() {
    let (_fathom, out) = golden_run("threads", "-T -t 2 -s 1m -r 64k -i 0 -i 1");
    assert!(out.contains("\tThroughput test with 2 threads\n"));
    assert!(out.contains("\tEach thread writes a 1024 kByte file in 64 kByte records\n"));
    assert!(!out.contains("per process"));
}

#[test]
fn operations_instead_of_kilobytes() {
    let (_fathom, out) = golden_run("streams_ops", "-O -t 2 -s 1m -r 64k -i 0 -x -+n");
    assert_eq!(figures(&out, "\tMin xfer"), [16.0], "{out}");
    assert!(out.contains(" ops/sec\n") && !out.contains(" kB/sec"));
}

#[test]
fn the_total_size_is_shared_with_plus_k() {
    let (_fathom, outcome) = iozone("-t 2 -s 2m -+k -r 64k -i 0 -+n -x");
    let out = outcome.expect_code(0).stdout;
    assert!(out.contains("\tEach process writes a 1024 kByte file in 64 kByte records\n"), "{out}");
    assert_eq!(figures(&out, "\tMin xfer"), [1024.0]);
}
