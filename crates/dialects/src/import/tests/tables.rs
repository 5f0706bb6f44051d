//! Tables that people and spreadsheets write.

use super::formats::all_understood;
use super::{Imported, import};
use fathom_record::Phase;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT, TIME};

#[test]
fn tables_that_people_write() {
    let imported = all_understood("table.txt");
    let labels: Vec<&str> = imported.found.iter().flat_map(|f| &f.runs).map(|r| r.label.as_str()).collect();
    assert_eq!(labels, ["kernel a", "kernel b", "old", "new", "read (MB/s)", "latency"]);
    let figures = |run: usize| -> Vec<(String, f64)> {
        let figures = &imported.found[2].runs[run].phases[0].repetitions[0].figures;
        figures.iter().map(|f| (f.name.clone(), f.value)).collect()
    };
    assert_eq!(figures(0), [("throughput".into(), 10.5e6), ("throughput, \u{b1}".into(), 1.5e6)]);
    assert_eq!(figures(1)[..].iter().map(|f| f.1).collect::<Vec<_>>(), [3e6, 0.5e6], "one unit for both");
}

/// Heading, row, name and value of the figures of tables.
fn cells(imported: &Imported) -> Vec<(String, String, String, f64)> {
    let runs = imported.found.iter().flat_map(|f| &f.runs);
    let phases = runs.flat_map(|r| r.phases.iter().map(|p| (r.label.clone(), p)));
    let figure = |(head, p): (String, &Phase)| {
        let f = &p.repetitions[0].figures[0];
        (head, p.name.clone(), f.name.clone(), f.value)
    };
    phases.map(figure).collect()
}

#[test]
fn a_cell_without_a_figure_does_not_shift_the_cells_behind_it() {
    let imported = of("| disk  | read (MB/s) | scheduler   | latency (ms) | IOPS  |
|-------|-------------|-------------|--------------|-------|
| sda   | n/a         | mq-deadline | 1.5          | 12.3k |
| nvme0 | 3400        | none        | -            | 80000 |
| sdb   | broken      | none        | 9.5          |       |
");
    let expected = [
        cell("read (MB/s)", "nvme0", THROUGHPUT, 3400e6),
        cell("latency (ms)", "sda", TIME, 1.5e6),
        cell("latency (ms)", "sdb", TIME, 9.5e6),
        cell("IOPS", "sda", "operations per second", 12_300.0),
        cell("IOPS", "nvme0", "operations per second", 80_000.0),
    ];
    assert_eq!(cells(&imported), expected);
    assert_eq!(imported.not_understood.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [5]);
    // What tells the rows apart is part of their names; a unit of a cell or a heading is that of no other.
    let imported = of("All in MB/s:

| op    | bs | qd | before   | lat p99 (us) | change |
|-------|----|---:|----------|--------------|-------:|
| read  | 4k | 32 | 98.7     | 456          | +25.0% |
| write | 1M | 1  | 1.2 GB/s | 2.1ms        | 3      |
");
    let expected = [
        cell("before", "read, bs 4k, qd 32", THROUGHPUT, 98.7e6),
        cell("before", "write, bs 1M, qd 1", THROUGHPUT, 1.2e9),
        cell("lat p99 (us)", "read, bs 4k, qd 32", TIME, 456e3),
        cell("lat p99 (us)", "write, bs 1M, qd 1", TIME, 2.1e6),
        cell("change", "read, bs 4k, qd 32", "share", 25.0),
        cell("change", "write, bs 1M, qd 1", "value", 3.0),
    ];
    assert_eq!(cells(&imported), expected);
    let ruled = of(
        "Times in seconds:\n\nTest old new\n------------\nsmall files n/a 10.5\nlarge files 1.5k 80\nno files - 5\n",
    );
    let values: Vec<f64> = cells(&ruled).into_iter().map(|(.., value)| value).collect();
    assert_eq!((values, ruled.not_understood.len()), (vec![1500e9, 10.5e9, 80e9, 5e9], 0));
}

fn of(text: &str) -> Imported {
    import("-", text.as_bytes(), None)
}

/// Numbers of the lines that were not read, or only in part.
fn left(imported: &Imported) -> Vec<u64> {
    imported.not_understood.iter().map(|(n, _)| *n).collect()
}

fn cell(head: &str, row: &str, name: &str, value: f64) -> (String, String, String, f64) {
    (head.into(), row.into(), name.into(), value)
}

#[test]
fn every_kind_of_rule_and_of_bar_gives_the_same() {
    let expected = [
        cell("IOPS", "read", OPERATIONS, 12_345.0),
        cell("IOPS", "write", OPERATIONS, 98_700.0),
        cell("BW (MiB/s)", "read", THROUGHPUT, 48.5 * 1_048_576.0),
        cell("BW (MiB/s)", "write", THROUGHPUT, 385.5 * 1_048_576.0),
        cell("lat (us)", "read", TIME, 81_200.0),
    ];
    for table in [
        "+-------+-------+------------+----------+\n| test  | IOPS  | BW (MiB/s) | lat (us) |\n+-------+-------+------------+----------+\n| read  | 12345 | 48.5       | 81.2     |\n| write | 98.7k | 385.5      | n/a      |\n+-------+-------+------------+----------+\n",
        "| test | IOPS | BW (MiB/s) | lat (us) |\n| --- | ---: | ---: | --- |\n| read | 12345 | 48.5 | 81.2 |\n| write | 98.7k | 385.5 | |\n",
        " test  | IOPS  | BW (MiB/s) | lat (us)\n-------+-------+------------+----------\n read  | 12345 |       48.5 |     81.2\n write | 98.7k |      385.5 |\n(2 rows)\n",
        "test | IOPS | BW (MiB/s) | lat (us)\n--- | ---: | --- | ---\nread | 12345 | 48.5 | 81.2\nwrite | 98.7k | 385.5 | -\n",
        "\u{2502} test  \u{2502} IOPS  \u{2502} BW (MiB/s) \u{2502} lat (us) \u{2502}\n\u{251c}\u{2500}\u{2500}\u{2500}\u{253c}\u{2500}\u{2500}\u{253c}\u{2500}\u{2500}\u{253c}\u{2500}\u{2500}\u{2524}\n\u{2502} read  \u{2502} 12345 \u{2502} 48.5 \u{2502} 81.2 \u{2502}\n\u{2502} write \u{2502} 98.7k \u{2502} 385.5 \u{2502} \u{2502}\n",
        "test    IOPS  BW (MiB/s)  lat (us)\n-----  -----  ----------  --------\nread   12345        48.5      81.2\nwrite  98.7k       385.5\n",
        "test,IOPS,BW (MiB/s),lat (us)\nread,12345,48.5,81.2\nwrite,98.7k,385.5,\n",
        "test;IOPS;BW (MiB/s);lat (us)\nread;12345;48,5;81,2\nwrite;98700;385,5;-\n",
        "test\tIOPS\tBW (MiB/s)\tlat (us)\nread\t12345\t48.5\t81.2\nwrite\t98.7k\t385.5\t\n",
    ] {
        for text in [
            table.to_owned(),
            table.replace('\n', "\r\n"),
            format!("> {}\n", table.trim_end_matches('\n').replace('\n', "\n> ")),
        ] {
            let imported = of(&text);
            assert_eq!(cells(&imported), expected, "{text}");
            assert_eq!(left(&imported), [0; 0], "{text}");
        }
    }
}

#[test]
fn a_row_that_does_not_fit_its_headings_is_named() {
    let wrapped = of(
        "| test | IOPS | BW (MB/s) |\n|---|---|---|\n| read | 123 | 4.5 |\n| write with a long name | 99 |\n2.5 |\n| both | 7 | 1.2G |\n| cut | 12\n",
    );
    let expected = [
        cell("IOPS", "read", OPERATIONS, 123.0),
        cell("IOPS", "both", OPERATIONS, 7.0),
        cell("BW (MB/s)", "read", THROUGHPUT, 4.5e6),
    ];
    assert_eq!((cells(&wrapped), left(&wrapped)), (expected.to_vec(), vec![4, 5, 6, 7]));
    let fields = of("test,bs,iops,lat_us\nread,4k,100,5\nwrite,4k,200\nboth,4k,1,2,3\nlast,8k,300,many\n");
    let expected = [
        cell("iops", "read, bs 4k", OPERATIONS, 100.0),
        cell("iops", "last, bs 8k", OPERATIONS, 300.0),
        cell("lat_us", "read, bs 4k", TIME, 5e3),
    ];
    assert_eq!((cells(&fields), left(&fields)), (expected.to_vec(), vec![3, 4, 5]));
    // Whether the comma is that of decimals, no number tells.
    let unclear = of("test;IOPS;MB/s\nread;100;48,251\nwrite;200;9\n");
    assert_eq!((cells(&unclear).len(), left(&unclear)), (3, vec![2]));
    // A word between two rules, or under both.
    let shifted = of(
        "test   IOPS  MB/s\n-----  ----  ----\nread   1000  48.5\nof 8 files   1000 48.5\nwrite  2000  99.5\n",
    );
    assert_eq!((cells(&shifted).len(), left(&shifted)), (4, vec![4]));
}

#[test]
fn a_unit_of_the_text_is_not_that_of_other_quantities() {
    let imported = of(
        "Read in MB/s:\n\ntest | before | iops | lat | cpu\n-----|-----|-----|-----|----\na | 10 | 20 | 30 | 40\n",
    );
    let expected = [
        cell("before", "a", THROUGHPUT, 10e6),
        cell("iops", "a", OPERATIONS, 20.0),
        cell("lat", "a", "value", 30.0),
        cell("cpu", "a", "value", 40.0),
    ];
    assert_eq!(cells(&imported), expected);
    let thousands = of("test,IOPS (k),BW MBps\na,1.5,20\n");
    let expected = [cell("IOPS (k)", "a", OPERATIONS, 1500.0), cell("BW MBps", "a", THROUGHPUT, 20e6)];
    assert_eq!(cells(&thousands), expected);
    // A parameter is no figure, and a heading of several words is one.
    let ruled = of(
        "Test     QD  Read IOPS  lat (us)\n--------------------------------\nseq 64    1       1000      12.5\nrand 4   32        500      99.5\n",
    );
    let expected = [
        cell("Read IOPS", "seq 64, QD 1", OPERATIONS, 1000.0),
        cell("Read IOPS", "rand 4, QD 32", OPERATIONS, 500.0),
        cell("lat (us)", "seq 64, QD 1", TIME, 12_500.0),
        cell("lat (us)", "rand 4, QD 32", TIME, 99_500.0),
    ];
    assert_eq!((cells(&ruled), left(&ruled)), (expected.to_vec(), vec![]));
    let figures_alone = of("iops,bw (MB/s)\n1000,4\n2000,8\n");
    let expected = [
        cell("iops", "row 1", OPERATIONS, 1000.0),
        cell("iops", "row 2", OPERATIONS, 2000.0),
        cell("bw (MB/s)", "row 1", THROUGHPUT, 4e6),
        cell("bw (MB/s)", "row 2", THROUGHPUT, 8e6),
    ];
    assert_eq!(cells(&figures_alone), expected);
}

/// Heading, name and value of each figure.
fn values(text: &str) -> Vec<(String, String, f64)> {
    cells(&of(text)).into_iter().map(|(head, _, name, value)| (head, name, value)).collect()
}

#[test]
fn a_rate_in_a_heading_is_no_time() {
    for (head, name, value) in [
        ("ops_per_sec", OPERATIONS, 5.0),
        ("ops per second", OPERATIONS, 5.0),
        ("MB per sec", THROUGHPUT, 5e6),
        ("requests_per_second", "value", 5.0),
        ("reads per sec", "value", 5.0),
        ("rate (reads per sec)", "value", 5.0),
        ("reads/sec", "value", 5.0),
        ("ms per op", "value", 5.0),
        ("ops_sec", "value", 5.0),
        ("reads_sec", "value", 5.0),
        ("mb_sec", "value", 5.0),
        ("elapsed_sec", TIME, 5e9),
        ("Run time, seconds", TIME, 5e9),
        ("runtime seconds", TIME, 5e9),
        ("seconds", TIME, 5e9),
        ("time (s)", TIME, 5e9),
    ] {
        for before in ["", "In MB/s:\n\n", "In seconds:\n\n"] {
            let read = values(&format!("{before}| test | {head} |\n|---|---|\n| a | 5 |\n"));
            assert_eq!(read, [(head.to_owned(), name.to_owned(), value)], "{before}");
        }
    }
}

#[test]
fn a_list_in_a_cell_says_nothing_about_commas() {
    let listed =
        of("| threads | cpus | IOPS |\n|---|---|---|\n| 4 | 0,1 | 12,345 |\n| 8 | 0-3 | 20,000,000 |\n");
    assert_eq!(cells(&listed), [cell("IOPS", "8, 0-3", OPERATIONS, 2e7)]);
    assert_eq!(left(&listed), [3]);
    // Names and parameters are none of the figures.
    let named = of("test,threads,IOPS\n\"0,1\",\"1,2\",\"12,345\"\n");
    assert_eq!(cells(&named), [cell("IOPS", "0,1, threads 1,2", OPERATIONS, 12_345.0)]);
    assert_eq!(left(&named), [0; 0]);
    // Elsewhere than between semicolons the commas of others may group digits.
    let bars = of("| test | lat (us) | IOPS |\n|---|---|---|\n| a | 48,5 | 12,345 |\n| b | 7,125 | 99 |\n");
    let expected = [cell("lat (us)", "a", TIME, 48_500.0), cell("IOPS", "b", OPERATIONS, 99.0)];
    assert_eq!((cells(&bars), left(&bars)), (expected.to_vec(), vec![3, 4]));
    let fields = of("test;cpus;lat_us;IOPS\na;0;48,5;12,345\n");
    let last = cells(&fields).pop();
    assert_eq!((last, left(&fields)), (Some(cell("IOPS", "a", OPERATIONS, 12.345)), vec![]));
    let list = of("test;cpus;IOPS\na;0,1;12,345\n");
    assert_eq!((cells(&list), left(&list)), (vec![], vec![2]));
}

#[test]
fn a_figure_is_not_multiplied_twice() {
    for (before, head) in
        [("", "IOPS (k)"), ("", "kIOPS"), ("", "BW (MB/s)"), ("", "MBps"), ("All in MB/s:\n\n", "before")]
    {
        for magnitude in ["k", "M", "G"] {
            let text = format!("{before}| test | {head} |\n|---|---|\n| a | 98.7{magnitude} |\n| b | 5 |\n");
            let imported = of(&text);
            assert_eq!((cells(&imported).len(), left(&imported).len()), (1, 1), "{text}");
        }
    }
    assert_eq!(
        values("test,IOPS,lat_us\na,98.7k,1.5k\n").iter().map(|v| v.2).collect::<Vec<_>>(),
        [98_700.0, 1.5e6]
    );
}

#[test]
fn a_size_is_no_throughput() {
    for head in
        ["size (GB)", "record size (KB)", "size_gb", "GB read", "mean size", "cpus", "MIOPS", "time (s)"]
    {
        let text = format!("All in MB/s:\n\n| test | {head} | before |\n|---|---|---|\n| a | 4 | 5 |\n");
        let rates: Vec<f64> = values(&text).into_iter().filter(|v| v.1 == THROUGHPUT).map(|v| v.2).collect();
        assert_eq!(rates, [5e6], "{head}");
    }
}

#[test]
fn two_tables_do_not_become_one() {
    let first = "| test | BW (MB/s) |\n|------|-----------|\n| a | 81 |\n";
    let boxed = "+---+---+\n| test | BW (MB/s) |\n+---+---+\n| a | 81 |\n+---+---+\n";
    let segments = "test  MB/s\n----  ----\na       81\n";
    let fields = "test,MB/s\na,81\n";
    for (one, other) in [
        (first, first.replace("BW (MB/s)", "us")),
        (boxed, boxed.replace("BW (MB/s)", "us")),
        (segments, segments.replace("MB/s", "us  ")),
        (fields, fields.replace("MB/s", "us")),
    ] {
        for between in ["", "Latency:\n", "\n"] {
            let imported = of(&format!("{one}{between}{other}"));
            let read: Vec<(String, f64)> =
                cells(&imported).into_iter().map(|(_, _, name, value)| (name, value)).collect();
            assert_eq!(
                read,
                [(THROUGHPUT.to_owned(), 81e6), (TIME.to_owned(), 81e3)],
                "{one}{between}{other}"
            );
            assert_eq!(left(&imported), [0; 0], "{one}{between}{other}");
        }
        // Headings that are numbers: named, or not of the first table.
        for between in ["", "Latency:\n"] {
            let other = other.replace("us", "4k").replace("81", "82");
            let imported = of(&format!("{one}{between}{other}"));
            assert!(cells(&imported).iter().all(|c| c.2 != THROUGHPUT || c.3 == 81e6), "{imported:?}");
            // "a,82" alone is no line of figures.
            let is_known = one != fields || between.is_empty();
            assert!(!is_known || cells(&imported).len() == 2 || !left(&imported).is_empty(), "{imported:?}");
        }
    }
    let words = of("test,MB/s,us\na,81,5\ntest,before,after\na,82,83\n");
    assert_eq!((cells(&words).len(), left(&words)), (2, vec![4]));
    // Rows whose headings were not read are none of a workload's parameters.
    let rows =
        of("In MB/s:\n\n| what | is |\n|---|---|\n| fs | ext4 |\n| scheduler | none |\n| disks | 4 |\n");
    assert_eq!((cells(&rows), left(&rows)), (vec![], vec![7]));
    // Rows that are each ruled off, and sums below a rule, belong to their table.
    let ruled = of(
        "+---+---+\n| test | us |\n+===+===+\n| a | 1 |\n+---+---+\n| b | n/a |\n+---+---+\n| c | 3 |\n+---+---+\n| sum | 4 |\n+---+---+\n",
    );
    assert_eq!((cells(&ruled).len(), left(&ruled).len()), (3, 0));
    let sum = of("| test | us |\n|---+---|\n| a | 1 |\n| b | 2 |\n|---+---|\n| sum | 3 |\n");
    assert_eq!((cells(&sum).len(), left(&sum).len()), (3, 0));
}

#[test]
fn no_row_of_a_long_table_vanishes() {
    const ROWS: usize = 3_000;
    for (head, row) in [
        ("| test | IOPS |\n|---|---|\n", "| read | 12 |\n"),
        ("test  IOPS\n----  ----\n", "read    12\n"),
        ("test,IOPS\n", "read,12\n"),
    ] {
        let imported = of(&format!("{head}{}", row.repeat(ROWS)));
        assert_eq!(
            (cells(&imported).len(), left(&imported).len(), imported.prose.len()),
            (ROWS, 0, 0),
            "{head}"
        );
    }
    // Rows beyond the limits, and those without their headings, are named.
    const MANY: usize = 120_000;
    let imported = of(&format!("test,IOPS\n{}", "read,12\n".repeat(MANY)));
    assert_eq!(cells(&imported).len() + left(&imported).len(), MANY);
    let wide = "| 12 ".repeat(300);
    let imported = of(&format!("{}|\n{}|\n{wide}|\n{wide}|\n", "| us ".repeat(300), "|---".repeat(300)));
    assert_eq!((cells(&imported).len(), left(&imported)), (0, vec![3, 4]));
    let imported = of(&format!("| a | b |\n| name | MB/s |\n{}", "| read | 12 |\n".repeat(700)));
    assert_eq!(cells(&imported).len() + left(&imported).len(), 700, "{:?}", imported.prose);
}

/// Time quadratic in the length of a line would be minutes.
#[test]
fn long_lines_are_soon_read() {
    let words = "a ".repeat(100_000);
    for text in [
        format!("{words}\n{words}\n{words}\n"),
        format!("{words}\n{}\n{words}\n", "-- ".repeat(75_000)),
        format!("{}\n{}\n", "us,".repeat(75_000) + "us", "1,".repeat(75_000) + "1"),
        "lat us, with the cache\n".repeat(5_000),
    ] {
        assert_eq!(cells(&of(&text)).len(), 0);
    }
}
