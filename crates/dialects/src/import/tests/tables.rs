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
    assert_eq!((cells(&unclear).len(), left(&unclear)), (2, vec![2]));
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
