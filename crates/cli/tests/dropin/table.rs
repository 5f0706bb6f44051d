//! The table of single and auto mode: rows, columns, widths, zeros, and the report after it. Lines 1, 4 to 8 and 10 to
//! 14 of the specification's acceptance list.

use crate::dropin::layout::{COLUMNS, assert_order, golden, golden_run, iozone, line_starting, rows, sizes};
use fathom_testkit::{Fathom, skip};
use std::os::unix::fs::OpenOptionsExt as _;

const NO_RETEST_ZEROS: [&str; 4] = ["rewrite", "reread", "frewrite", "freread"];

/// Whether files in the working directory can be opened with O_DIRECT; records the skip if not.
pub fn need_o_direct(test: &str, fathom: &Fathom) -> bool {
    let probe = fathom.dir().path().join("probe");
    let opened = std::fs::write(&probe, "x")
        .and_then(|()| std::fs::OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(&probe));
    if let Err(e) = &opened {
        skip(test, &format!("the test directory's file system has no O_DIRECT: {e}"));
    }
    opened.is_ok()
}

/// Bytes each phase of the last run moved, by the stored record.
fn stored_bytes(fathom: &Fathom) -> Vec<u64> {
    let json = fathom.run_line("show --json").expect_code(0).stdout;
    let run: serde_json::Value = serde_json::from_str(&json).unwrap();
    let worker = |p: &serde_json::Value| p["repetitions"][0]["workers"][0]["bytes"].as_u64();
    run["phases"].as_array().unwrap().iter().filter_map(worker).collect()
}

#[test]
fn one_file_written_and_read_is_one_row_of_four() {
    let (fathom, out) = golden_run("one_row", "-s 1m -r 4k -i 0 -i 1");
    assert_order(&out, &["\tFile size set to 1024 kB\n", "\tRecord Size 4 kB\n", "\tCommand line used: "]);
    let rows = rows(&out);
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].file_kb, rows[0].record_kb), (1024, 4));
    assert_eq!(rows[0].columns(), ["write", "rewrite", "read", "reread"]);
    assert!(rows[0].text.starts_with("            1024       4 "));
    assert_eq!(rows[0].text.len(), 142, "blanks up to the last column, which is one short");
    assert_eq!(fathom.dir().names().iter().filter(|n| n.contains("iozone")).count(), 0);
    assert_eq!(fathom_testkit::dir::names_in(fathom.work()), Vec::<String>::new());
}

#[test]
fn auto_mode_runs_every_record_size_up_to_the_file() {
    let (_fathom, out) = golden_run("auto", "-a -g 64k");
    assert_eq!(sizes(&out), [4, 8, 16, 32, 64].map(|r| (64, r)));
    for row in rows(&out) {
        assert_eq!(row.columns(), COLUMNS[..13].iter().map(|c| c.0).collect::<Vec<_>>());
        assert_eq!(row.text.len(), 143);
        assert!(row.values.iter().all(|v| *v > 0));
    }
}

#[test]
fn large_files_leave_small_records_out_and_the_report_shows_zeros() {
    let (_fathom, out) = golden_run("crossover", "-Ra -n 16m -g 32m -i 0");
    let records = |file| -> Vec<u64> { sizes(&out).iter().filter(|s| s.0 == file).map(|s| s.1).collect() };
    assert_eq!(records(16384), (2..=14).map(|n| 1 << n).collect::<Vec<_>>());
    assert_eq!(records(32768), (6..=14).map(|n| 1 << n).collect::<Vec<_>>());
    let reports: Vec<&str> = out.lines().filter(|l| l.starts_with("\"32768\"")).collect();
    assert_eq!(reports.len(), 2, "write and rewrite");
    for report in reports {
        let cells = report.strip_prefix("\"32768\"   0  0  0  0  ").unwrap_or_else(|| panic!("{report:?}"));
        assert_eq!(cells.split_whitespace().count(), 9);
        assert!(cells.split_whitespace().all(|c| c.parse::<u64>().is_ok_and(|n| n > 0)), "{report:?}");
    }
    assert_order(
        &out,
        &[
            "\niozone test complete.\n",
            "Excel output is below:\n\n\"Writer report\"\n",
            "\"Re-writer report\"\n",
        ],
    );
}

#[test]
fn without_crossover_small_records_run_on_large_files() {
    let (_fathom, out) = golden_run("no_crossover", "-az -n 32m -g 32m -i 0");
    assert_eq!(sizes(&out), (2..=14).map(|n| (32768, 1 << n)).collect::<Vec<_>>());
    assert!(out.contains("\tCross over of record size disabled.\n"));
}

#[test]
fn sizes_double_from_the_smallest_and_are_not_powers_of_two() {
    let (_fathom, out) = golden_run("doubling", "-a -n 100k -g 200k -q 64k -i 0");
    let expected: Vec<(u64, u64)> =
        [100, 200].iter().flat_map(|f| (2..=6).map(move |n| (*f, 1 << n))).collect();
    assert_eq!(sizes(&out), expected);
    assert!(out.contains("\tUsing maximum file size of 200 kilobytes.\n"));
}

/// A widely used disk benchmark command; sizes are a sixty-fourth, so that its 6 records stay 6.
#[test]
fn direct_io_with_a_list_of_records_counts_whole_records_only() {
    let test = "direct_io_with_a_list_of_records_counts_whole_records_only";
    let fathom = Fathom::new();
    if !need_o_direct(test, &fathom) {
        return;
    }
    let line = "iozone -e -I -a -s 1600k -r 4k -r 16k -r 64k -r 128k -r 256k -i 0 -i 1 -i 2";
    let out = fathom.run_line(line).expect_code(0).stdout;
    golden("direct", &out);
    let splash = [
        "\tInclude fsync in write timing\n",
        "\tO_DIRECT feature enabled\n",
        "\tAuto Mode\n",
        "\tFile size set to 1600 kB\n",
        "\tRecord Size 4 kB\n",
        "\tRecord Size 16 kB\n",
        "\tRecord Size 64 kB\n",
        "\tRecord Size 128 kB\n",
        "\tRecord Size 256 kB\n",
        "\tCommand line used: iozone -e -I -a ",
    ];
    assert_order(&out, &splash);
    let rows = rows(&out);
    assert_eq!(sizes(&out), [4, 16, 64, 128, 256].map(|r| (1600, r)));
    assert!(
        rows.iter()
            .all(|r| r.values.len() == 6
                && r.columns() == COLUMNS[..6].iter().map(|c| c.0).collect::<Vec<_>>())
    );
    let bytes = stored_bytes(&fathom);
    assert_eq!(bytes.len(), 30);
    assert!(bytes[..6].iter().all(|b| *b == 1600 << 10), "{bytes:?}");
    assert!(
        bytes[24..].iter().all(|b| *b == 6 * (256 << 10)),
        "the last row has six whole records: {bytes:?}"
    );
}

/// `cut -c7-78`, then the last six lines, then four of them: two header lines, two rows, nothing else.
#[test]
fn a_script_that_cuts_columns_and_counts_lines_from_the_end_still_works() {
    let test = "a_script_that_cuts_columns_and_counts_lines_from_the_end_still_works";
    let fathom = Fathom::new();
    if !need_o_direct(test, &fathom) {
        return;
    }
    let out = fathom.run_line("iozone -e -I -a -s 4M -r 64k -r 1024k -i 0 -i 1 -i 2").expect_code(0).stdout;
    let lines: Vec<&str> = out.lines().collect();
    let kept: Vec<&str> = lines[lines.len() - 6..][..4].iter().map(|l| l.get(6..78).unwrap_or("")).collect();
    assert!(kept[0].trim_start().starts_with("random    random"), "{kept:?}");
    assert!(kept[1].contains("kB  reclen    write  rewrite    read    reread    read     write"), "{kept:?}");
    for (row, record) in kept[2..].iter().zip(["64", "1024"]) {
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(words.len(), 8, "{row:?}");
        assert_eq!(words[..2], ["4096", record]);
        assert!(row.ends_with(|c: char| c.is_ascii_digit()), "the sixth figure ends at column 78: {row:?}");
    }
    assert_eq!(lines[lines.len() - 2..], ["", "iozone test complete."], "exactly two lines after the table");
}

#[test]
fn operations_per_second() {
    let (_fathom, out) = golden_run("ops_per_second", "-s 1m -r 64k -O -i 0 -i 1 -i 2");
    assert!(!out.contains("Output is in kBytes"));
    assert!(out.contains("\tOPS Mode. Output is in operations per second.\n"));
    assert_eq!(rows(&out)[0].columns(), COLUMNS[..6].iter().map(|c| c.0).collect::<Vec<_>>());
}

#[test]
fn operations_per_second_are_the_rate_over_the_record() {
    // Limited to 100 operations/s, so the figure is known.
    let (_fathom, outcome) = iozone("-s 1m -r 64k -O -i 0 -+n -+O 100");
    let out = outcome.expect_code(0).stdout;
    let ops = rows(&out)[0].values[0];
    assert!((1..=110).contains(&ops), "{ops} operations a second where 100 were allowed");
}

#[test]
fn microseconds_per_operation() {
    let (_fathom, out) = golden_run("microseconds", "-s 1m -r 64k -N");
    assert!(out.contains("\tMicroseconds/op Mode. Output is in microseconds per operation.\n"));
    assert!(!out.contains("Output is in kBytes"));
    assert_eq!(rows(&out)[0].cells().len(), 13);
    assert!(!out.contains("I/O error during read"), "a message without a cause");
}

#[test]
fn without_retests_their_columns_are_zero() {
    let (_fathom, out) = golden_run("no_retest", "-s 1m -r 64k -+n");
    let cells = rows(&out)[0].cells();
    assert_eq!(cells.len(), 13);
    for (name, value) in cells {
        assert_eq!(value == 0, NO_RETEST_ZEROS.contains(&name), "{name} is {value}");
    }
}

#[test]
fn extended_tests_stand_in_four_more_columns() {
    let (_fathom, out) = golden_run("extended", "-s 512 -E -i 9 -i 10");
    let header = line_starting(&out, "              kB  reclen");
    assert_eq!(header.split_whitespace().count(), 2 + 17);
    assert!(header.ends_with("  pwrite repwrite   pread   repread"));
    assert_eq!(rows(&out)[0].columns(), ["pwrite", "repwrite", "pread", "repread"]);
}

#[test]
fn a_mapped_file_has_no_stdio_columns() {
    let (_fathom, out) = golden_run("mapped", "-s 1m -r 64k -B");
    assert!(out.contains("\tUsing mmap files\n"));
    assert!(!line_starting(&out, "              kB  reclen").contains("fwrite"));
    let row = &rows(&out)[0];
    assert_eq!(row.columns(), COLUMNS[..9].iter().map(|c| c.0).collect::<Vec<_>>());
    assert_eq!(row.text.len(), 107, "the row stops after the stride read");
}

#[test]
fn the_old_auto_mode_has_a_narrow_table() {
    let (_fathom, out) = golden_run("old_auto", "-A -g 64k");
    assert!(rows(&out).iter().all(|r| r.values.len() == 4));
    assert_eq!(line_starting(&out, "              kB  reclen").len(), 60);
}

#[test]
fn lists_in_any_order_are_run_in_order() {
    let (_fathom, outcome) = iozone("-s 256k -s 128k -r 64k -r 16k -r 32k -i 0");
    let out = outcome.expect_code(0).stdout;
    let expected: Vec<(u64, u64)> = [128, 256].iter().flat_map(|f| [16, 32, 64].map(|r| (*f, r))).collect();
    assert_eq!(sizes(&out), expected);
}

#[test]
fn the_report_shows_the_tables_figures() {
    let (_fathom, outcome) = iozone("-Ra -g 128k -i 0 -i 1");
    let out = outcome.expect_code(0).stdout;
    let titles = ["\"Writer report\"", "\"Re-writer report\"", "\"Reader report\"", "\"Re-Reader report\""];
    for (column, title) in titles.iter().enumerate() {
        let start = out.find(&format!("\n\n{title}\n")).unwrap_or_else(|| panic!("no {title} in\n{out}"));
        let mut lines = out[start + 2..].lines().skip(1);
        assert!(
            lines
                .next()
                .is_some_and(|l| l.starts_with("        \"4\"  \"8\"  \"16\"  \"32\"  \"64\"  \"128\""))
        );
        for file_kb in [64, 128] {
            let figures = rows(&out);
            let cells =
                figures.iter().filter(|r| r.file_kb == file_kb).map(|r| format!(" {} ", r.values[column]));
            let expected = format!("\"{file_kb}\"  {}", cells.collect::<String>());
            assert_eq!(lines.next(), Some(expected.as_str()));
        }
    }
}

#[test]
fn cpu_use_has_tables_of_its_own() {
    let (_fathom, out) = golden_run("cpu", "-s 1m -r 64k -i 0 -+u -R");
    assert!(out.contains("\"Writer CPU utilization report (Zero values should be ignored)\""));
}
