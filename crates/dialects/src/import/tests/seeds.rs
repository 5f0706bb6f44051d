//! The five documents: all of their figures are found, no line of figures is left over, and the statements of the statistics
//! specification about them hold.

use super::*;
use crate::import::Found;
use fathom_record::imported::names::{OPERATIONS, PARENT, THROUGHPUT, TIME};
use fathom_record::{Phase, Run};
use fathom_testkit::seed;

fn seeded(test: &str, name: &str) -> Option<Imported> {
    let text = seed(test, name)?;
    let imported = import("seed.txt", text.as_bytes(), None);
    assert_eq!(imported.not_understood, [], "lines of figures that were not understood");
    Some(imported)
}

fn runs<'i>(imported: &'i Imported, dialect: &str) -> Vec<&'i Run> {
    imported.found.iter().flat_map(|f| &f.runs).filter(|r| r.dialect == dialect).collect()
}

fn value(phase: &Phase, name: &str) -> f64 {
    phase.repetitions[0].figure(name).expect(name).value
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 5e-7, "{a} is not {b}");
}

#[test]
fn the_mail_of_2008_has_twelve_runs_of_two_blocks() {
    let Some(imported) = seeded("the_mail_of_2008_has_twelve_runs_of_two_blocks", "000") else { return };
    let logs = runs(&imported, "iozone");
    assert_eq!(logs.len(), 12);
    assert!(
        logs.iter()
            .all(|r| r.phases.len() == 2 && r.phases.iter().all(|p| p.repetitions[0].figures.len() == 6))
    );
    let shape: Vec<(u64, bool)> =
        logs.iter().map(|r| (r.phases[0].axes.streams.expect("streams"), r.phases[0].direct)).collect();
    let (bad, good) = shape.split_at(6);
    assert_eq!(bad, [(1, false), (1, true), (2, false), (2, true), (3, false), (3, true)]);
    assert_eq!(good, [(1, false), (2, false), (3, false), (1, true), (2, true), (3, true)]);
    assert_eq!(logs[0].started_at, "2008-01-23T14:53:26-00:00");
    // Ratios of the children's figures, initial write and rewrite: statistics.md, section 14.
    let pairs = [(0, 6), (2, 7), (4, 8), (1, 9), (3, 10), (5, 11)];
    let wanted = [
        [1.624712, 9.232769, 5.140114, 0.999017, 1.079300, 1.003254],
        [1.422805, 8.568496, 4.923787, 1.003866, 1.059787, 0.999608],
    ];
    for (block, wanted) in wanted.iter().enumerate() {
        for (&(before, after), &ratio) in pairs.iter().zip(wanted) {
            close(
                value(&logs[after].phases[block], THROUGHPUT)
                    / value(&logs[before].phases[block], THROUGHPUT),
                ratio,
            );
        }
    }
    // The mail's own table has the same values, rounded to MB/s.
    let table = runs(&imported, "table");
    for (column, logs) in
        [(0, [0, 1, 2, 3, 4, 5]), (1, [6, 9, 7, 10, 8, 11])].map(|(c, l)| (table[c], l.map(|n| logs[n])))
    {
        for (row, log) in column.phases.iter().zip(logs) {
            let (in_table, logged) =
                (value(row, THROUGHPUT) / 1e6, value(&log.phases[0], THROUGHPUT) / 1024e3);
            assert!(
                (in_table - logged).abs() < 1.0,
                "{}: {in_table} MB/s in the table, {logged} in the log",
                row.name
            );
        }
    }
}

#[test]
fn the_log_of_2008_contradicts_its_own_headline() {
    let Some(imported) = seeded("the_log_of_2008_contradicts_its_own_headline", "000") else { return };
    let logs = runs(&imported, "iozone");
    let flagged: Vec<(usize, &[u32])> = (0..)
        .zip(&logs)
        .flat_map(|(n, r)| {
            r.doubts.iter().filter(|d| d.code == "contradicted").map(move |d| (n, d.phases.as_slice()))
        })
        .collect();
    assert_eq!(flagged, [(3, &[0][..]), (3, &[1]), (4, &[0]), (8, &[0]), (8, &[1])]);
    let evidence = |run: usize, name: &str| {
        let finding = &logs[run].phases[0].repetitions[0].findings[0];
        finding.evidence.iter().find(|e| e.name == name).expect(name).value
    };
    close(evidence(3, "parent over children"), 0.611703);
    assert!((evidence(3, "smallest transfer over expected") - 0.684).abs() < 5e-4);
    close(evidence(3, "window of the children"), 32.588149);
    close(evidence(3, "time of the parent"), 53.256511);
    close(evidence(8, "parent over children"), 0.861150);
    let sentence = &logs[3].doubts[0].sentence;
    for part in ["79399.89", "48569.16", "1050624 of 1536000", "32.59 s", "53.26 s", "20.7 s"] {
        assert!(sentence.contains(part), "{sentence}");
    }
    close(value(&logs[10].phases[0], PARENT) / value(&logs[3].phases[0], PARENT), 1.764272);
    assert!(
        logs.iter()
            .all(|r| r.doubts.iter().any(|d| d.sentence.starts_with("single runs, no interval possible")))
    );
}

#[test]
fn the_page_of_2004_has_thirteen_times() {
    let Some(imported) = seeded("the_page_of_2004_has_thirteen_times", "001") else { return };
    assert_eq!(imported.found.iter().map(Found::figures).sum::<usize>(), 13);
    let columns = runs(&imported, "table");
    let labels: Vec<&str> = columns.iter().map(|r| r.label.as_str()).collect();
    assert_eq!(labels, ["2.4.25", "2.6.5-bk2", "2.6.6-rc3", "2.6.6-rc3 + patch"]);
    for (ratio, wanted) in (0..4)
        .map(|s| value(&columns[3].phases[s], TIME) / value(&columns[2].phases[s], TIME))
        .zip([0.569913, 0.691385, 0.703873, 0.625924])
    {
        close(ratio, wanted);
    }
    let noop = &columns[1].phases[0];
    assert_eq!(
        (noop.name.as_str(), noop.axes.streams, noop.axes.record_bytes),
        ("noop scheduler", Some(16), Some(16384))
    );
    assert_eq!(value(noop, TIME), 165.3393e9);
}

#[test]
fn the_bug_report_of_2007_has_flowops_times_histograms_and_iostat() {
    let Some(imported) = seeded("the_bug_report_of_2007_has_flowops_times_histograms_and_iostat", "002")
    else {
        return;
    };
    let count = |dialect| {
        let runs = runs(&imported, dialect);
        let figures: usize =
            imported.found.iter().filter(|f| f.runs[0].dialect == dialect).map(Found::figures).sum();
        (runs.len(), figures)
    };
    // Two of each of the twelve tests; a row has four figures, a summary six.
    let rows = 2 * (5 * 4 + 3 * 2 + 3 * 6 + 10);
    assert_eq!(count("filebench"), (24, rows * 4 + 24 * 6));
    assert_eq!(count("time"), (10, 2 * 3 + 2 * 4 + 6 * 3));
    assert_eq!(count("dd"), (2, 2 * 5));
    assert_eq!(count("dtrace"), (4, 4 + 3 + 3 + 13 + 5));
    assert_eq!(count("iostat"), (2, (6 * 10 + 2 * 4) + (9 * 10 + 2 * 4)));
    let by_label =
        |label: &str| imported.found.iter().flat_map(|f| &f.runs).find(|r| r.label == label).expect(label);
    let rate = |label| value(by_label(label).phases.last().expect("a summary"), OPERATIONS);
    assert_eq!(rate("singlestreamread8k, BASELINE"), 366.2);
    assert_eq!(rate("singlestreamread8k, ENHANCED"), 19754.4);
    let copy = |label| value(&by_label(label).phases[0], "real time") / 1e9;
    assert_eq!(
        (copy("Straight file copy, BASELINE"), copy("Straight file copy, ENHANCED")),
        (363.944, 186.583)
    );
}

#[test]
fn the_mail_and_its_answer_have_a_table_and_two_dd() {
    let Some(imported) = seeded("the_mail_and_its_answer_have_a_table_and_two_dd", "003") else { return };
    assert_eq!(imported.found.iter().map(Found::figures).sum::<usize>(), 12 + 2 * 8);
    let dd = runs(&imported, "dd");
    assert_eq!(dd[0].error.as_deref(), Some("dd: writing `/data/test': No space left on device"));
    assert_eq!((value(&dd[1].phases[0], THROUGHPUT), dd[1].phases[0].writes), (71.1e6, true));
    assert!(dd[1].label.contains("512MB BBWC"), "{}", dd[1].label);
}

#[test]
fn the_report_of_2005_has_26_tables_of_429_rows() {
    let Some(imported) = seeded("the_report_of_2005_has_26_tables_of_429_rows", "004") else { return };
    let sheets = runs(&imported, "iozone");
    assert_eq!(
        sheets.iter().map(|r| r.label.as_str()).collect::<Vec<_>>(),
        ["IOzone on heping", "IOzone on eirene"]
    );
    let mut tables = 0;
    let mut rows = 0;
    for sheet in &sheets {
        let mut names: Vec<&str> = sheet.phases.iter().map(|p| p.name.as_str()).collect();
        names.dedup();
        tables += names.len();
        let mut heads: Vec<_> = sheet.phases.iter().map(|p| (&p.name, p.axes.file_bytes)).collect();
        heads.dedup();
        rows += heads.len();
    }
    assert_eq!((tables, rows), (26, 429));
    // Every nonzero number of the tables.
    assert_eq!(imported.found.iter().map(Found::figures).collect::<Vec<_>>(), [0, 1989, 1872]);
    let environment = &sheets[0].environment;
    assert_eq!(environment["memory"]["total_bytes"], 6_165_744u64 * 1024);
    assert_eq!(environment["cpu"]["caches"][0]["size_bytes"], 512 * 1024);
    assert_eq!(sheets[1].environment["filesystem"], "NFS");
    let sentence = |code: &str| &sheets[0].doubts.iter().find(|d| d.code == code).expect(code).sentence;
    let order = sentence("order-effect");
    for part in
        ["read, file 4 GiB, record 64 KiB: 65268 kB/s, the nearer neighbour 17.396 times that", "; and "]
    {
        assert!(order.contains(part), "{order}");
    }
    let levels = sentence("two-levels");
    assert!(
        levels.contains("write, file 256 MiB: 58217 and 88937 kB/s (3 of 8 cells on the lower, ratio 1.528)"),
        "{levels}"
    );
    assert_eq!(sheets[0].argv.join(" "), "./iozone -R -a -g 7G -b heping2.wks");
}
