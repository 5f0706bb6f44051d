//! The manual page `docs/filebench.md` against the program: its tables have every flowop type and every attribute, and no others.

use crate::constructs::flowop_types;

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/filebench.md");
    std::fs::read_to_string(path).expect("the manual page")
}

/// The words in `code` of the first column of the table between two marks.
fn first_column(page: &str, mark: &str) -> Vec<String> {
    let (_, rest) = page.split_once(&format!("<!-- {mark}: begin -->")).expect("the table begins");
    let (table, _) = rest.split_once(&format!("<!-- {mark}: end -->")).expect("the table ends");
    let cells = table.lines().filter_map(|l| l.strip_prefix('|')?.split('|').next()).map(str::to_owned);
    cells.flat_map(|c| c.split('`').skip(1).step_by(2).map(String::from).collect::<Vec<_>>()).collect()
}

#[test]
fn the_page_has_every_flowop() {
    let mut written = first_column(&page(), "flowops");
    let mut known = flowop_types();
    written.sort();
    known.sort();
    assert_eq!(written, known);
}

#[test]
fn the_page_names_every_personality() {
    let page = page();
    for p in &crate::list::ALL {
        assert!(page.contains(&format!("examples/filebench/{}.f", p.name)), "{}", p.name);
    }
}
