//! The worksheet of -b, byte for byte, and the xlsx beside it. Line 9 of the specification's acceptance list.

use crate::dropin::layout::{golden, iozone, rows};
use fathom_testkit::Fathom;
use fathom_testkit::dir::names_in;
use std::collections::BTreeMap;
use std::fs;

const BEGIN: [u8; 8] = [0x09, 0, 0x04, 0, 0x02, 0, 0x10, 0];
const END: [u8; 4] = [0x0a, 0, 0, 0];

/// A cell of the sheet.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Label(String),
    Number(f64),
}

/// Reads a BIFF2 sheet by its records; anything IOzone would not have written fails.
fn read(bytes: &[u8]) -> BTreeMap<(u16, u16), Cell> {
    assert_eq!(bytes[..8], BEGIN);
    assert_eq!(bytes[bytes.len() - 4..], END);
    let mut cells = BTreeMap::new();
    let mut rest = &bytes[8..bytes.len() - 4];
    while !rest.is_empty() {
        let u16_at = |at: usize| u16::from_le_bytes([rest[at], rest[at + 1]]);
        let (kind, length) = (u16_at(0), usize::from(u16_at(2)));
        let place = (u16_at(4), u16_at(6));
        assert_eq!(rest[8..11], [0, 0, 0], "attributes");
        let cell = match (kind, length) {
            (4, 264) => {
                let text = &rest[12..12 + usize::from(rest[11])];
                Cell::Label(String::from_utf8(text.to_vec()).unwrap())
            }
            (3, 15) => Cell::Number(f64::from_le_bytes(rest[11..19].try_into().unwrap())),
            other => panic!("record {other:?}"),
        };
        assert_eq!(cells.insert(place, cell), None, "{place:?} twice");
        rest = &rest[4 + length..];
    }
    cells
}

fn label(cells: &BTreeMap<(u16, u16), Cell>, place: (u16, u16)) -> &str {
    match cells.get(&place) {
        Some(Cell::Label(text)) => text,
        other => panic!("{place:?} holds {other:?}"),
    }
}

#[test]
fn the_worksheet_holds_the_tables_figures() {
    let (fathom, outcome) = iozone("-Rab out.wks -g 128k");
    let out = outcome.expect_code(0).stdout;
    golden("worksheet", &out);
    let bytes = fs::read(fathom.work().join("out.wks")).unwrap();
    let cells = read(&bytes);
    assert_eq!(bytes[8..12], [4, 0, 8, 1], "the first record is a label");
    assert_eq!(label(&cells, (0, 0)), "iozone -Rab out.wks -g 128k ");
    assert_eq!(label(&cells, (1, 0)), " ");
    assert_eq!(label(&cells, (2, 0)), "The top row is records sizes, the left column is file sizes");
    let titles = [
        "Writer Report",
        "Re-writer Report",
        "Reader Report",
        "Re-reader Report",
        "Random Read Report",
        "Random Write Report",
        "Backward Read Report",
        "Record Rewrite Report",
        "Stride Read Report",
        "Fwrite Report",
        "Re-fwrite Report",
        "Fread Report",
        "Re-fread Report",
    ];
    let table = rows(&out);
    for (i, title) in titles.iter().enumerate() {
        // Title, row of record sizes, two file sizes; no empty row between.
        let top = 3 + 4 * u16::try_from(i).unwrap();
        assert_eq!(label(&cells, (top, 0)), *title);
        for (column, record_kb) in (1..).zip((2..=14).map(|n| f64::from(1 << n))) {
            assert_eq!(cells.get(&(top + 1, column)), Some(&Cell::Number(record_kb)));
        }
        for (line, file_kb) in [(top + 2, 64), (top + 3, 128)] {
            assert_eq!(cells.get(&(line, 0)), Some(&Cell::Number(file_kb as f64)));
            let figures: Vec<Cell> = table
                .iter()
                .filter(|r| r.file_kb == file_kb)
                .map(|r| Cell::Number(r.values[i] as f64))
                .collect();
            for (column, figure) in (1..).zip(&figures) {
                assert_eq!(cells.get(&(line, column)), Some(figure), "{title}, {file_kb} kB");
            }
            let beyond = u16::try_from(figures.len()).unwrap() + 1;
            assert_eq!(cells.get(&(line, beyond)), None, "records larger than the file are absent");
        }
    }
    assert_eq!(names_in(fathom.work()), ["out.wks", "out.xlsx"]);
    assert_eq!(fs::read(fathom.work().join("out.xlsx")).unwrap()[..2], *b"PK");
}

#[test]
fn the_worksheet_of_streams_has_its_values_from_the_third_column() {
    let (fathom, outcome) = iozone("-b out.wks -l 1 -u 2 -s 256k -r 64k -i 0");
    let _ = outcome.expect_code(0);
    let cells = read(&fs::read(fathom.work().join("out.wks")).unwrap());
    assert_eq!(label(&cells, (0, 0)), "iozone -b out.wks -l 1 -u 2 -s 256k -r 64k -i 0 ");
    let texts: Vec<&str> =
        cells.values().filter_map(|c| if let Cell::Label(t) = c { Some(t.as_str()) } else { None }).collect();
    let trimmed: Vec<&str> = texts.iter().map(|t| t.trim()).collect();
    assert_eq!(
        trimmed[1..],
        [
            "Throughput report Y-axis is type of test X-axis is number of processes",
            "Record size = 64 kBytes",
            "Output is in kBytes/sec",
            "Initial write",
            "Rewrite"
        ]
    );
    let columns: Vec<u16> =
        cells.iter().filter(|(_, c)| matches!(c, Cell::Number(_))).map(|(p, _)| p.1).collect();
    assert_eq!(columns, [2, 3, 2, 3]);
}

#[test]
fn a_worksheet_that_cannot_be_written_is_told_before_anything_is_measured() {
    let (fathom, outcome) = iozone("-a -g 64k -i 0 -b missing/out.wks");
    assert_eq!(outcome.stdout, "");
    let about_it: Vec<&str> = outcome.stderr.lines().filter(|l| l.contains("missing/")).collect();
    assert_eq!(about_it.len(), 1, "{}", outcome.stderr);
    assert!(
        about_it[0]
            .starts_with("error: -b: missing/out.wks cannot be written: there is no directory missing"),
        "{about_it:?}"
    );
    assert_eq!(outcome.code, Some(255), "as IOzone 3.489 ends without its worksheet");
    assert!(names_in(fathom.work()).is_empty());
}

#[test]
fn an_old_worksheet_is_replaced() {
    let fathom = Fathom::new();
    fs::write(fathom.work().join("out.wks"), vec![b'x'; 1 << 20]).unwrap();
    let _ = fathom.run_line("iozone -s 64k -i 0 -b out.wks").expect_code(0);
    let _ = read(&fs::read(fathom.work().join("out.wks")).unwrap());
}

#[test]
fn an_xlsx_of_the_users_is_left_alone_and_one_of_ours_is_renewed() {
    let fathom = Fathom::new();
    let xlsx = fathom.work().join("out.xlsx");
    fs::write(&xlsx, "my own table").unwrap();
    let outcome = fathom.run_line("iozone -s 64k -i 0 -b out.wks").expect_code(0);
    assert_eq!(fs::read_to_string(&xlsx).unwrap(), "my own table");
    assert!(
        outcome.stderr.contains("out.xlsx exists and was not made by fathom; it is left as it is"),
        "{}",
        outcome.stderr
    );
    fs::remove_file(&xlsx).unwrap();
    let _ = fathom.run_line("iozone -s 64k -i 0 -b out.wks").expect_code(0);
    let first = fs::read(&xlsx).unwrap();
    let outcome = fathom.run_line("iozone -a -g 64k -i 0 -b out.wks").expect_code(0);
    assert_ne!(fs::read(&xlsx).unwrap(), first, "{}", outcome.stderr);
}
