//! The manual page `docs/filebench.md` against the program: its tables have every flowop type,
//! every attribute and every option, and no others, and its example is accepted.

use crate::personalities::constructs::{attributes_of, flowop_types};
use fathom_testkit::Fathom;
use std::collections::BTreeSet;

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
fn the_page_has_every_attribute_of_a_flowop() {
    let mut written = first_column(&page(), "attributes");
    let mut known = attributes_of("define process name=p { thread name=t { flowop read ");
    written.sort();
    known.sort();
    assert_eq!(written, known);
}

/// The options of a text: words that begin with a hyphen, without what follows them.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| c.is_whitespace() || "`|,;:[]{}<>".contains(c));
    let options = words.filter(|w| w.starts_with('-') && w.bytes().any(|b| b.is_ascii_lowercase()));
    options.map(String::from).collect()
}

#[test]
fn the_page_has_every_option_of_the_help() {
    let fathom = Fathom::with_binary(env!("CARGO_BIN_EXE_fathom"));
    let help = fathom.run_line("filebench -h").expect_code(0).stdout;
    let page = page();
    let (_, rest) = page.split_once("\n## Options\n").expect("a chapter on options");
    let (table, _) = rest.split_once("\n\n`fathom run").expect("the end of the table");
    assert_eq!(options(table), options(&help));
}

/// Runs `--check` on the first command of a text that runs one of our scripts; returns its output.
fn checked(text: &str) -> String {
    let line = text.lines().find(|l| l.starts_with("fathom filebench -f examples/")).expect("an example");
    let fathom = Fathom::with_binary(env!("CARGO_BIN_EXE_fathom"));
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    std::os::unix::fs::symlink(root, fathom.work().join("examples")).expect("a link to the examples");
    fathom.run(line.split_whitespace().skip(1).chain(["--check"])).expect_code(0).stdout
}

#[test]
fn the_example_of_the_page_is_accepted() {
    let printed = checked(&page());
    assert!(printed.contains("time = \"120s\""), "{printed}");
    assert!(printed.contains("/mnt/data/maildir") && printed.contains("entries = 50000"), "{printed}");
}

#[test]
fn the_page_names_every_personality() {
    let page = page();
    for p in &crate::personalities::list::ALL {
        assert!(page.contains(&format!("examples/filebench/{}.f", p.name)), "{}", p.name);
    }
}
