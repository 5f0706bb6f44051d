//! Tables as spreadsheets and scripts write them: a line of headings, and rows with the same number of fields between commas, semicolons
//! or TABs. One of the headings names a quantity, so that a list in prose is none.

use super::super::context::Context;
use super::super::lines::{Lines, decimal, fields};
use super::{Block, LONGEST, Meaning, Row, is_gap, of_cells, scaled};

pub(super) fn parse(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    let separator = ['\t', ';', ','].into_iter().find(|&c| lines.at(at).contains(c))?;
    let row_of = |n: usize| -> Vec<String> {
        let row = fields(lines.at(n), separator);
        row.iter().map(|field| field.trim().to_owned()).collect()
    };
    let heads = row_of(at);
    if heads.iter().skip(1).any(String::is_empty) || heads.iter().any(|head| scaled(head).is_some()) {
        return None;
    }
    let (mut rows, mut partly): (Vec<Row>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut last = at;
    for n in at + 1..lines.len().min(at + LONGEST) {
        if !lines.at(n).contains(separator) {
            break;
        }
        let row = row_of(n);
        if row.len() == heads.len() {
            rows.push((n, row));
        } else {
            partly.push(n);
        }
        last = n;
    }
    let has_figures = |(_, row): &Row| {
        row.iter().any(|cell| !is_gap(cell) && (scaled(cell).is_some() || is_decimal_comma(cell)))
    };
    if !heads.iter().any(|head| Meaning::of_heading(head).is_some()) || !rows.first().is_some_and(has_figures)
    {
        return None;
    }
    // Semicolons stand where a comma is that of decimals. In "12,345" it may group digits all the same, if no other number tells.
    if separator == ';' && !rows.iter().flat_map(|(_, row)| row).any(|cell| is_decimal_comma(cell)) {
        let is_clear = |(_, row): &Row| !row.iter().any(|cell| cell.contains(',') && scaled(cell).is_some());
        partly.extend(rows.iter().filter(|row| !is_clear(row)).map(|(n, _)| *n));
        rows.retain(is_clear);
    }
    let mut block = of_cells(lines, at, last, &heads, &rows, context)?;
    block.partly.append(&mut partly);
    block.partly.sort_unstable();
    Some(block)
}

/// "12,5": with three digits behind it the comma might group them.
pub(super) fn is_decimal_comma(cell: &str) -> bool {
    let number = cell.split(' ').next().unwrap_or(cell);
    let number = number.trim_end_matches(|c: char| c.is_alphabetic() || "/%".contains(c));
    let decimals = number.split_once(',').map_or(0, |(_, decimals)| decimals.len());
    decimal(number).is_some() && decimals > 0 && decimals != 3
}

/// A cell with a point before its decimals; `None` if it is not clear what its signs are.
pub(super) fn with_point(cell: &str, has_decimal_commas: bool) -> Option<String> {
    if !has_decimal_commas {
        return Some(cell.to_owned());
    }
    let starts_with_digit = cell.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
    if starts_with_digit && cell.contains('.') {
        return None;
    }
    Some(cell.replace(',', "."))
}
