//! The -b worksheet: BIFF2, the oldest binary Excel format, with the four record types that IOzone writes. All numbers are
//! little-endian; a record is its type (u16), its length (u16) and its body.
//!
//! ```text
//! BOF     kind 0x09, 4 bytes: 02 00 10 00
//! LABEL   kind 0x04, 264 bytes: row u16, column u16, 3 zero bytes, length u8, text in a field of 256 bytes
//! NUMBER  kind 0x03, 15 bytes: row u16, column u16, 3 zero bytes, IEEE double
//! EOF     kind 0x0a, 0 bytes
//! ```
//!
//! IOzone leaves the last byte of a text field undefined; here it is 0.

/// Longest cell text in bytes; the rest is cut off.
pub const LONGEST_TEXT: usize = 254;
const FIELD: usize = 256;
/// The first bytes of a worksheet.
pub const BEGINNING: [u8; 2] = [0x09, 0x00];
const BOF: u16 = 0x09;
const LABEL: u16 = 0x04;
const NUMBER: u16 = 0x03;
const EOF: u16 = 0x0a;

/// Contents of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum WorksheetCell {
    /// Text; see [`LONGEST_TEXT`].
    Text(String),
    /// A number.
    Number(f64),
}

/// A cell with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetCell {
    /// Row number, from 0.
    pub row: u32,
    /// Column number, from 0.
    pub column: u32,
    /// Text or number.
    pub value: WorksheetCell,
}

/// A sheet: its cells in writing order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// Cells in writing order.
    pub cells: Vec<SheetCell>,
}

impl Sheet {
    pub(super) fn text(&mut self, row: u32, column: u32, text: &str) {
        self.cells.push(SheetCell { row, column, value: WorksheetCell::Text(text.into()) });
    }

    pub(super) fn number(&mut self, row: u32, column: u32, number: f64) {
        self.cells.push(SheetCell { row, column, value: WorksheetCell::Number(number) });
    }
}

/// Why a sheet cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorksheetError {
    /// The format counts rows and columns in 16 bits.
    #[error(
        "row {row}, column {column} is outside a BIFF2 sheet, which ends at 65535; ask for fewer sizes or use the xlsx file"
    )]
    TooLarge {
        /// Row number.
        row: u32,
        /// Column number.
        column: u32,
    },
    /// Not a BIFF2 sheet.
    #[error("byte {at} of the worksheet: {problem}")]
    Malformed {
        /// Offset in the file.
        at: usize,
        /// Description of the problem.
        problem: String,
    },
}

/// Encodes a sheet.
///
/// # Errors
/// A row or column number above 65535.
pub fn write(sheet: &Sheet) -> Result<Vec<u8>, WorksheetError> {
    let mut bytes = Vec::with_capacity(sheet.cells.len() * 20 + 16);
    record(&mut bytes, BOF, &[0x02, 0x00, 0x10, 0x00]);
    for cell in &sheet.cells {
        let outside = WorksheetError::TooLarge { row: cell.row, column: cell.column };
        let (Ok(row), Ok(column)) = (u16::try_from(cell.row), u16::try_from(cell.column)) else {
            return Err(outside);
        };
        let mut body = Vec::with_capacity(FIELD + 8);
        body.extend(row.to_le_bytes());
        body.extend(column.to_le_bytes());
        body.extend([0; 3]);
        match &cell.value {
            WorksheetCell::Text(text) => {
                let text = cut(text);
                body.push(text.len() as u8);
                body.extend(text.as_bytes());
                body.resize(FIELD + 8, 0);
                record(&mut bytes, LABEL, &body);
            }
            WorksheetCell::Number(number) => {
                body.extend(number.to_le_bytes());
                record(&mut bytes, NUMBER, &body);
            }
        }
    }
    record(&mut bytes, EOF, &[]);
    Ok(bytes)
}

fn record(bytes: &mut Vec<u8>, kind: u16, body: &[u8]) {
    bytes.extend(kind.to_le_bytes());
    bytes.extend((body.len() as u16).to_le_bytes());
    bytes.extend(body);
}

/// Truncates text to the field, at a character boundary.
fn cut(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Reads a sheet written by [`write()`] or IOzone. Other record types are skipped.
///
/// # Errors
/// A file that does not start as a BIFF2 sheet, ends inside a record, or lacks the end record.
pub fn read(bytes: &[u8]) -> Result<Sheet, WorksheetError> {
    let mut sheet = Sheet::default();
    let mut at = 0;
    loop {
        let (kind, body) = next_record(bytes, at)?;
        if at == 0 && kind != BOF {
            return Err(malformed(0, "it does not begin with a BIFF2 beginning-of-file record"));
        }
        match kind {
            EOF => return Ok(sheet),
            LABEL | NUMBER => sheet.cells.push(cell(at, kind, body)?),
            _ => {}
        }
        at += 4 + body.len();
    }
}

fn next_record(bytes: &[u8], at: usize) -> Result<(u16, &[u8]), WorksheetError> {
    let ends = || malformed(at, "the file ends inside a record or without an end record");
    let head = bytes.get(at..at + 4).ok_or_else(ends)?;
    let length = usize::from(u16::from_le_bytes([head[2], head[3]]));
    let body = bytes.get(at + 4..at + 4 + length).ok_or_else(ends)?;
    Ok((u16::from_le_bytes([head[0], head[1]]), body))
}

fn cell(at: usize, kind: u16, body: &[u8]) -> Result<SheetCell, WorksheetError> {
    let short = || malformed(at, "the record is too short for its kind");
    let (place, contents) = body.split_at_checked(7).ok_or_else(short)?;
    let row = u32::from(u16::from_le_bytes([place[0], place[1]]));
    let column = u32::from(u16::from_le_bytes([place[2], place[3]]));
    let value = if kind == LABEL {
        let (&length, text) = contents.split_first().ok_or_else(short)?;
        let text = text.get(..usize::from(length)).ok_or_else(short)?;
        WorksheetCell::Text(String::from_utf8_lossy(text).into_owned())
    } else {
        let number = contents.get(..8).and_then(|b| b.try_into().ok()).ok_or_else(short)?;
        WorksheetCell::Number(f64::from_le_bytes(number))
    };
    Ok(SheetCell { row, column, value })
}

fn malformed(at: usize, problem: &str) -> WorksheetError {
    WorksheetError::Malformed { at, problem: problem.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bytes_are_iozones() {
        let mut sheet = Sheet::default();
        sheet.text(0, 0, "iozone -a ");
        sheet.number(4, 1, 4.0);
        let bytes = write(&sheet).unwrap();
        assert_eq!(bytes[..8], [0x09, 0, 4, 0, 2, 0, 0x10, 0]);
        assert_eq!(bytes[8..20], [4, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 10]);
        assert_eq!(&bytes[20..30], b"iozone -a ");
        assert_eq!(bytes[8 + 4 + 264..][..11], [3, 0, 15, 0, 4, 0, 1, 0, 0, 0, 0]);
        assert_eq!(bytes[bytes.len() - 4..], [0x0a, 0, 0, 0]);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let mut sheet = Sheet::default();
        sheet.text(0, 0, &"\u{e9}".repeat(200));
        let WorksheetCell::Text(text) = &read(&write(&sheet).unwrap()).unwrap().cells[0].value else {
            panic!()
        };
        assert_eq!(text.len(), 254);
        sheet.text(0, 0, &format!("a{}", "\u{e9}".repeat(200)));
        let WorksheetCell::Text(text) = &read(&write(&sheet).unwrap()).unwrap().cells[1].value else {
            panic!()
        };
        assert_eq!(text.len(), 253);
    }

    #[test]
    fn a_sheet_ends_at_65535() {
        let mut sheet = Sheet::default();
        sheet.number(65536, 0, 1.0);
        assert!(write(&sheet).unwrap_err().to_string().contains("row 65536"));
    }

    fn value() -> impl Strategy<Value = WorksheetCell> {
        prop_oneof![
            "[ -~]{0,254}".prop_map(WorksheetCell::Text),
            (-1e300f64..1e300).prop_map(WorksheetCell::Number),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(cells in prop::collection::vec((0u32..65536, 0u32..65536, value()), 0..20)) {
            let cells = cells.into_iter().map(|(row, column, value)| SheetCell { row, column, value }).collect();
            let sheet = Sheet { cells };
            prop_assert_eq!(read(&write(&sheet).unwrap()), Ok(sheet));
        }

        #[test]
        fn no_bytes_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..400), genuine in any::<bool>()) {
            if genuine {
                bytes.splice(0..0, [0x09, 0, 4, 0, 2, 0, 0x10, 0]);
            }
            let _ = read(&bytes);
        }
    }
}
