//! Tables as spreadsheets and scripts write them: a line of headings, and rows with the same number of fields, separated by commas,
//! semicolons or TABs. One of the headings must name a quantity, so that a list in prose is not mistaken for a table.

use super::super::context::Context;
use super::super::lines::{Lines, decimal, fields};
use super::{Block, MOST_CELLS, Meaning, TableCells, TextRow, is_gap, of_cells, scaled};

/// Maximum number of lines that do not fit the headings before the first line that does.
const FEW: usize = 8;

pub(super) fn parse(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    let separator = ['\t', ';', ','].into_iter().find(|&c| lines.at(at).contains(c))?;
    let row_of = |n: usize| -> Vec<String> {
        let row = fields(lines.at(n), separator);
        row.iter().map(|field| field.trim().to_owned()).collect()
    };
    let heads = row_of(at);
    if heads.iter().skip(1).any(String::is_empty)
        || heads.iter().any(|head| scaled(head).is_some())
        || !heads.iter().any(|head| Meaning::of_heading(head).is_some())
    {
        return None;
    }
    let has_figures = |row: &[String]| {
        row.iter().any(|cell| !is_gap(cell) && (scaled(cell).is_some() || is_decimal_comma(cell)))
    };
    // The headings of the next table.
    let is_heading = |row: &[String]| {
        !has_figures(row)
            && row.iter().skip(1).all(|cell| !is_gap(cell))
            && row.iter().skip(1).any(|cell| Meaning::of_heading(cell).is_some())
    };
    let (mut rows, mut partly): (Vec<TextRow>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut last, mut is_unclear) = (at, false);
    for n in at + 1..lines.len() {
        if !lines.at(n).contains(separator) {
            break;
        }
        let row = row_of(n);
        let is_repeated = !heads[0].is_empty() && row[0] == heads[0];
        if is_heading(&row) || is_repeated && !has_figures(&row) {
            break;
        }
        // Headings may be numbers, too.
        is_unclear |= is_repeated;
        let fits = row.len() == heads.len();
        if rows.is_empty() && (fits && !has_figures(&row) || partly.len() > FEW) {
            return None;
        }
        if fits && !is_unclear && rows.len() * heads.len() < MOST_CELLS {
            rows.push((n, row));
        } else {
            partly.push(n);
        }
        last = n;
    }
    of_cells(lines, TableCells { at, last, heads, rows, partly, has_semicolons: separator == ';' }, context)
}

/// "12,5": with three digits behind it the comma might group them.
pub(super) fn is_decimal_comma(cell: &str) -> bool {
    behind_comma(cell).is_some_and(|digits| digits != 3)
}

/// "12,345": the comma might be that of decimals, or group digits.
pub(super) fn may_be_decimal_comma(cell: &str) -> bool {
    behind_comma(cell) == Some(3)
}

/// The number of digits behind the only comma of a number.
fn behind_comma(cell: &str) -> Option<usize> {
    let number = cell.split(' ').next().unwrap_or(cell);
    let number = number.trim_end_matches(|c: char| c.is_alphabetic() || "/%".contains(c));
    let (_, digits) = number.split_once(',')?;
    decimal(number).map(|_| digits.len())
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
