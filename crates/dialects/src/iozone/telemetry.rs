//! Telemetry files (-X, -Y): lines with offset, length and optionally milliseconds of computing before the operation. Empty
//! lines and those starting with `#` are ignored. The caller provides the text; errors give line and column.

use fathom_workload::{Diagnostic, Duration, ListedOp};
use std::ops::Range;

/// A list of operations to replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Telemetry {
    /// Operations in file order.
    pub operations: Vec<ListedOp>,
    /// Whether every line includes a compute time.
    pub compute: bool,
}

impl Telemetry {
    /// Smallest file size in kB that contains every operation.
    #[must_use]
    pub fn file_kb(&self) -> u64 {
        let end = self.operations.iter().map(|o| o.offset.saturating_add(o.bytes.into())).max();
        end.unwrap_or(0).div_ceil(1024)
    }

    /// Whether every operation is aligned to `unit` bytes.
    #[must_use]
    pub fn aligned(&self, unit: u64) -> bool {
        let fits = |o: &ListedOp| o.offset.is_multiple_of(unit) && u64::from(o.bytes).is_multiple_of(unit);
        self.operations.iter().all(fits)
    }
}

/// Limit on a single operation.
const LARGEST_BYTES: u64 = super::options::MAX_RECORD_KB << 10;
/// Limit on the compute time; more is an error in the file.
pub(super) const LONGEST_MS: u64 = 3_600_000;

/// Parses a telemetry file.
///
/// # Errors
/// The first malformed line, with its position.
pub fn parse(text: &str) -> Result<Telemetry, Diagnostic> {
    let mut telemetry = Telemetry { operations: Vec::new(), compute: true };
    let mut start = 0;
    for line in text.split('\n') {
        if !line.starts_with('#') && !line.trim().is_empty() {
            let (operation, compute) = read_line(line, start)?;
            telemetry.operations.push(operation);
            telemetry.compute &= compute;
        }
        start += line.len() + 1;
    }
    if telemetry.operations.is_empty() {
        let help = Some("write lines of offset, length and, if wanted, milliseconds, in bytes".into());
        return Err(Diagnostic { span: None, message: "the file lists no operation".into(), help });
    }
    if !telemetry.compute {
        // The banner announces no computing in this case.
        telemetry.operations.iter_mut().for_each(|op| op.think = Duration(0));
    }
    Ok(telemetry)
}

/// Parses a line that starts at byte `start` of the text.
fn read_line(line: &str, start: usize) -> Result<(ListedOp, bool), Diagnostic> {
    let words = words_of(line, start);
    let number = |n: usize, name: &str, least: u64, most: u64| -> Result<u64, Diagnostic> {
        let end = start + line.trim_end().len();
        let Some((word, span)) = words.get(n) else {
            return Err(problem(end..end, format!("the {name} is missing")));
        };
        let value = word.parse().ok().filter(|v| (least..=most).contains(v));
        value.ok_or_else(|| {
            problem(span.clone(), format!("{word:?} is no {name}: a whole number from {least} to {most}"))
        })
    };
    let offset = number(0, "offset in bytes", 0, i64::MAX as u64 - LARGEST_BYTES)?;
    let bytes = number(1, "length in bytes", 1, LARGEST_BYTES)?;
    let compute = words.len() > 2;
    let think_ms = if compute { number(2, "computing time in ms", 0, LONGEST_MS)? } else { 0 };
    if let Some((word, span)) = words.get(3) {
        return Err(problem(span.clone(), format!("{word:?} is one number too many")));
    }
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let think = Duration(think_ms * 1_000_000);
    Ok((ListedOp { offset, bytes, think, ..ListedOp::default() }, compute))
}

fn problem(span: Range<usize>, message: String) -> Diagnostic {
    let help = Some("a line is: offset length [milliseconds], as whole numbers".into());
    Diagnostic { span: Some(span), message, help }
}

/// The words of a line with their byte ranges in the text.
fn words_of(line: &str, start: usize) -> Vec<(&str, Range<usize>)> {
    line.split_whitespace()
        .map(|word| {
            // split_whitespace yields slices of `line`, so the difference of the pointers is the offset in it.
            let at = start + (word.as_ptr() as usize - line.as_ptr() as usize);
            (word, at..at + word.len())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn comments_and_empty_lines_are_passed_over() {
        let t = parse("# c\n\n0 4096\n4096 8192 1\r\n").unwrap();
        assert_eq!(t.operations.len(), 2);
        assert_eq!(t.operations[1], ListedOp { offset: 4096, bytes: 8192, ..ListedOp::default() });
        assert!(!t.compute, "not every line has a third column");
        assert_eq!(t.file_kb(), 12);
        assert!(t.aligned(4096) && !t.aligned(8192));
    }

    #[test]
    fn errors_name_their_place() {
        let text = "0 4096\n# c\n0 abc\n";
        let error = parse(text).unwrap_err();
        assert_eq!(error.line_column(text), Some((3, 3)));
        assert!(error.message.contains("\"abc\" is no length"), "{}", error.message);
        let text = "0 4096\n4096\n";
        assert_eq!(parse(text).unwrap_err().line_column(text), Some((2, 5)));
        assert!(parse("").is_err());
        assert!(parse("0 4096 1 2").is_err());
        assert!(parse("0 0").is_err());
        assert!(parse("9223372036854775807 4096").is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,200}") {
            if let Err(e) = parse(&text) {
                let _ = e.render("f", &text);
            }
        }

        #[test]
        fn lists_are_read_back(list in prop::collection::vec((0u64..1 << 40, 1u32..1 << 20, 0u64..1000), 1..20)) {
            let text: String = list.iter().map(|(o, b, t)| format!("{o} {b} {t}\n")).collect();
            let read = parse(&text).unwrap();
            prop_assert!(read.compute);
            let again: Vec<_> =
                read.operations.iter().map(|o| (o.offset, o.bytes, o.think.0 / 1_000_000)).collect();
            prop_assert_eq!(again, list);
        }
    }
}
