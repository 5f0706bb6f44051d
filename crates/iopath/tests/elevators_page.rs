//! docs/elevators.md matches the tables in the code: its two tables are generated from them, and a differing line is shown with the
//! expected text.

use fathom_iopath::elevator::{self, Elevator};
use fathom_iopath::{Tunable, Unit};
use std::fmt::Write as _;

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/elevators.md");
    std::fs::read_to_string(path).expect("docs/elevators.md is there")
}

fn holds(table: &str) {
    let page = page();
    assert!(page.contains(table), "docs/elevators.md should have, and has not:\n{table}");
}

#[test]
fn the_kernels_of_each_set_of_rules() {
    let mut table = String::from("| name | the rules of |\n|---|---|\n");
    for full in elevator::known() {
        let kernels = elevator::kernels(full).expect("it is known");
        writeln!(table, "| `{full}` | {kernels} |").expect("a string takes it");
    }
    holds(&table);
}

#[test]
fn the_tunables() {
    // Elevators with the same table share one.
    let mut tables: Vec<(Vec<&str>, &[Tunable])> = Vec::new();
    for full in elevator::known() {
        let rows = elevator::by_name(full).expect("it is known").tunables().table;
        match tables.iter_mut().find(|(_, known)| *known == rows) {
            _ if rows.is_empty() => {}
            Some((names, _)) => names.push(full),
            None => tables.push((vec![full], rows)),
        }
    }
    let mut text = String::new();
    for (names, rows) in tables {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        writeln!(text, "{}\n\n| tunable | default | range | |\n|---|---|---|---|", names.join(", "))
            .expect("a string takes it");
        for row in rows {
            let range = match row.unit {
                Unit::Switch => "0 or 1".to_string(),
                Unit::Number => format!("{} to {}", row.min, row.max),
                unit => format!("{} to {} {unit}", row.min, row.max),
            };
            writeln!(text, "| `{}` | {} | {range} | {} |", row.name, row.default, row.doc)
                .expect("a string takes it");
        }
        text.push('\n');
    }
    holds(&text);
}
