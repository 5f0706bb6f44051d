//! Any document as a workbook: its sentences on the first sheet, and a sheet for each table.

use super::{Done, WriteError, fit};
use crate::document::{Document, Part, Table, Tone, flat, shown};
use crate::printable::clean;
use fathom_record::imported::units as recorded;
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Format, FormatAlign, Workbook, Worksheet, XlsxError};
use std::collections::HashSet;

/// Longest name of a sheet that spreadsheets accept.
const LONGEST_NAME: usize = 31;
/// Width of a column of sentences, in characters.
const SENTENCE: usize = 100;
/// Height of a line, in points.
const LINE: f64 = 15.0;

/// The workbook as the bytes of a file.
///
/// # Errors
/// If the workbook cannot be built.
pub fn document(document: &Document) -> Result<Vec<u8>, WriteError> {
    let mut book = Workbook::new();
    // No clock: the same document always gives the same bytes.
    book.set_properties(&DocProperties::new().set_creation_datetime(&ExcelDateTime::default()));
    Ok(build(&mut book, document).and_then(|()| book.save_to_buffer())?)
}

fn build(book: &mut Workbook, document: &Document) -> Done {
    let mut names = Names::default();
    let first = book.add_worksheet().set_name(names.unique("Answer"))?;
    first.set_column_width(0, SENTENCE as f64)?;
    first.set_landscape().set_print_fit_to_pages(1, 0);
    let bold = Format::new().set_bold();
    first.write_with_format(0, 0, clean(&document.title), &bold)?;
    first.write(1, 0, clean(&document.lead))?;
    let mut row = sentences(first, 3, &document.parts)?;
    let tables: Vec<_> = document
        .tables()
        .into_iter()
        .map(|(above, table)| {
            let name = names.unique(&table.caption);
            let says_it = above.is_empty() || table.caption.starts_with(&above);
            let caption = if says_it { table.caption.clone() } else { format!("{above}: {}", table.caption) };
            (name, caption, table)
        })
        .collect();
    for (name, caption, _) in &tables {
        row += 1;
        first.write(row, 0, format!("Sheet \u{201c}{}\u{201d}: {}", clean(name), clean(caption)))?;
    }
    tables.iter().try_for_each(|(name, caption, table)| {
        self::table(book.add_worksheet().set_name(name)?, caption, table)
    })
}

/// Writes everything but tables and pictures, that of details too; returns the row below.
fn sentences(sheet: &mut Worksheet, top: u32, parts: &[Part]) -> Result<u32, XlsxError> {
    let bold = Format::new().set_bold();
    let wrap = Format::new().set_text_wrap().set_align(FormatAlign::Top);
    let mut row = top;
    let mut put = |words: &str, format: &Format| {
        let lines = words.chars().count().div_ceil(SENTENCE).max(1);
        sheet.write_with_format(row, 0, clean(words), format)?.set_row_height(row, LINE * lines as f64)?;
        row += 1;
        Ok::<(), XlsxError>(())
    };
    let has_words =
        |part: &Part| matches!(part, Part::Text(..) | Part::List(_) | Part::Tiles(_) | Part::Cards(_));
    for part in shown(&flat(parts), has_words) {
        match part {
            Part::Heading(_, words) | Part::Text(Tone::Trouble | Tone::Label, words) => put(words, &bold)?,
            Part::Text(_, words) => put(words, &wrap)?,
            Part::List(items) => items.iter().try_for_each(|item| put(item, &wrap))?,
            Part::Tiles(tiles) => {
                for tile in tiles {
                    let words = [&tile.what, &tile.figure, &tile.beside].map(String::as_str);
                    put(&words.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(": "), &wrap)?;
                }
            }
            Part::Cards(cards) => {
                cards.iter().try_for_each(|(figure, what)| put(&format!("{figure} {what}"), &wrap))?;
            }
            _ => {}
        }
    }
    Ok(row)
}

fn table(sheet: &mut Worksheet, caption: &str, table: &Table) -> Done {
    let bold = Format::new().set_bold();
    let right = Format::new().set_align(FormatAlign::Right);
    let beside = Format::new().set_bold().set_align(FormatAlign::Right);
    sheet.write_with_format(0, 0, clean(caption), &bold)?;
    for (column, head) in (0u16..).zip(&table.heads) {
        let is_figure = table.rows.iter().any(|row| {
            let cell = row.get(usize::from(column));
            cell.is_some_and(|cell| column > 0 && !cell.is_words)
        });
        sheet.write_with_format(2, column, clean(head), if is_figure { &beside } else { &bold })?;
    }
    for (at, row) in (3u32..).zip(&table.rows) {
        for (column, cell) in (0u16..).zip(row) {
            let words = if cell.is_words || column == 0 { Format::new() } else { right.clone() };
            let strong = |format: Format| if cell.is_strong { format.set_bold() } else { format };
            match &cell.value {
                Some((value, unit)) if value.is_finite() => {
                    let (value, unit) = scaled(*value, unit);
                    sheet.write_with_format(at, column, value, &strong(number(value, unit)))?
                }
                _ => sheet.write_with_format(at, column, clean(&cell.in_one_line()), &strong(words))?,
            };
        }
    }
    sheet.set_freeze_panes(3, 1)?;
    fit(sheet, table.heads.len())?;
    // Fitting does not know that bold text is wider.
    for column in 0..table.heads.len() {
        let strong = table.rows.iter().filter_map(|row| row.get(column)).filter(|cell| cell.is_strong);
        if let Some(letters) = strong.map(|cell| cell.in_one_line().chars().count()).max() {
            let widest = table
                .rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.in_one_line().chars().count());
            let letters = widest.max().unwrap_or(0).max(letters + letters / 8);
            sheet.set_column_width(column as u16, letters as f64 + 2.0)?;
        }
    }
    Ok(())
}

/// In the units of the other sheets: MiB/s and microseconds.
fn scaled(value: f64, unit: &str) -> (f64, &str) {
    match unit {
        recorded::BYTES_PER_S => (value / 1_048_576.0, "MiB/s"),
        recorded::NS => (value / 1e3, "us"),
        unit => (value, unit),
    }
}

/// The number stays a number; its unit is part of its format.
fn number(value: f64, unit: &str) -> Format {
    let unit: String = unit.chars().filter(|c| *c != '"').collect();
    let unit = if unit.is_empty() { unit } else { format!("\" {}\"", clean(&unit)) };
    Format::new().set_num_format(digits(value) + &unit).set_align(FormatAlign::Right)
}

/// Digits as a spreadsheet's format.
fn digits(value: f64) -> String {
    const LEAST: i32 = 4;
    let whole = value.abs().max(f64::MIN_POSITIVE).log10().floor() as i32 + 1;
    if value.fract() == 0.0 || whole >= LEAST {
        return "#,##0".into();
    }
    format!("0.{}", "0".repeat((LEAST - whole).clamp(1, 9) as usize))
}

/// Names of sheets: short, without the characters that spreadsheets refuse, and different from each other in any case.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    fn unique(&mut self, words: &str) -> String {
        let allowed = |c: char| if "[]:*?/\\'".contains(c) || c.is_control() { ' ' } else { c };
        let plain: String = words.chars().map(allowed).collect();
        let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        let plain = if plain.is_empty() { "Table".into() } else { plain };
        let mut numbered = (1..).map(|number| shortened(&plain, number));
        numbered.find(|name| self.0.insert(name.to_lowercase())).unwrap_or(plain.clone())
    }
}

/// A name with a number, if it is not the first of its kind. Excel counts in UTF-16.
fn shortened(plain: &str, number: usize) -> String {
    let end = if number == 1 { String::new() } else { format!(" {number}") };
    let mut room = LONGEST_NAME - end.len();
    let fits = |c: &char| {
        let left = room.checked_sub(c.len_utf16());
        room = left.unwrap_or(0);
        left.is_some()
    };
    let name: String = plain.chars().take_while(fits).collect();
    name.trim_end().to_owned() + &end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Cell;

    #[test]
    fn sheets_have_names_that_spreadsheets_accept() {
        let mut names = Names::default();
        let long = "Changes of the environment without a change of the figure";
        assert_eq!(names.unique(long), "Changes of the environment with");
        assert_eq!(names.unique(&long.to_uppercase()), "CHANGES OF THE ENVIRONMENT WI 2");
        assert_eq!(names.unique("a/b: [c]"), "a b c");
        assert_eq!(names.unique("'"), "Table");
        assert_eq!(names.unique(""), "Table 2");
        assert!(names.unique(&"\u{1f4be}".repeat(40)).encode_utf16().count() <= LONGEST_NAME);
    }

    #[test]
    fn numbers_keep_four_digits() {
        for (value, format) in [
            (0.0, "#,##0"),
            (12.0, "#,##0"),
            (4096.5, "#,##0"),
            (123.4, "0.0"),
            (0.9742, "0.0000"),
            (0.0002, "0.0000000"),
        ] {
            assert_eq!(digits(value), format, "{value}");
        }
        assert_eq!(scaled(3_145_728.0, recorded::BYTES_PER_S), (3.0, "MiB/s"));
        assert_eq!(scaled(1500.0, recorded::NS), (1.5, "us"));
    }

    proptest::proptest! {
        #[test]
        fn any_words_become_a_workbook(title: String, caption: String, text: String, value: f64) {
            let mut report = Document::new(title, text.clone());
            for _ in 0..2 {
                let mut table = Table::new(caption.clone(), &["what", "figure"]);
                table.rows.push(vec![Cell::words(text.clone()), Cell::figure(text.clone()).of(Some(value), "\"x")]);
                report.table(table);
            }
            report.list(vec![text]);
            proptest::prop_assert!(document(&report).is_ok());
        }
    }
}
