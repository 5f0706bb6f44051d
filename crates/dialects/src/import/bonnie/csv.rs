//! bonnie++'s CSV line: 27 fields in 1.0, 48 from 1.96, 50 with the number of seeks from 1.98.

use super::{Block, Lines, Run};

/// Number of tests in each half.
const HALF: usize = 6;

impl Run {
    /// Reads a CSV line. Returns whether it is one.
    pub(super) fn csv(&mut self, lines: &Lines, n: usize, block: &mut Block) -> bool {
        let line = lines.trimmed(n);
        // A line that was wrapped may go on with digits, or with the fields that are missing.
        let next = lines.trimmed(n + 1);
        if !next.is_empty() && next.chars().all(|c| c.is_ascii_digit() || ".,+mus".contains(c)) {
            return false;
        }
        let fields: Vec<&str> = line.split(',').collect();
        let layout = CsvLayout::of(&fields);
        let Some(layout) = layout else { return false };
        let pair_fits = |at: usize| is_value(fields[at]) && is_value(fields[at + 1]);
        let fits = (0..HALF).all(|t| pair_fits(layout.sizes + 2 * t) && pair_fits(layout.files + 2 * t));
        let count = (0..HALF).filter(|t| !fields[layout.sizes + 2 * t].is_empty()).count()
            + (0..HALF).filter(|t| !fields[layout.files + 2 * t].is_empty()).count();
        // After a table it may belong to the same run or to another.
        let (name, size) = (fields[layout.size - layout.after_name], fields[layout.size]);
        let is_other = self.named.as_ref().is_some_and(|named| {
            let name_in_table = named.split([' ', '\t']).next().unwrap_or("");
            !name.starts_with(name_in_table) && !named.starts_with(name) || !named.contains(size)
        });
        if !fits || count == 0 || is_other {
            return false;
        }
        if let Some(version) = layout.version {
            self.version = fields[version].into();
        }
        self.file_bytes(fields[layout.size]);
        self.files(fields[layout.number]);
        for test in 0..HALF {
            for (first, at) in [(0, layout.sizes), (HALF, layout.files)] {
                let (rate, cpu) = (fields[at + 2 * test], fields[at + 2 * test + 1]);
                if !rate.is_empty() {
                    self.rate(first + test, rate, n);
                    self.cpu(first + test, cpu, n);
                }
            }
        }
        for (test, word) in layout.latencies.iter().flat_map(|&at| fields[at..].iter().enumerate()) {
            if !word.is_empty() && !self.latency(test, word, n) {
                block.partly.push(n);
            }
        }
        true
    }
}

fn is_value(field: &str) -> bool {
    field.is_empty() || field.starts_with("++") || super::number(field).is_some()
}

/// Positions of the fields.
struct CsvLayout {
    version: Option<usize>,
    /// Distance of the size from the name.
    after_name: usize,
    size: usize,
    sizes: usize,
    number: usize,
    files: usize,
    latencies: Option<usize>,
}

impl CsvLayout {
    fn of(fields: &[&str]) -> Option<Self> {
        let is_new = fields.first().is_some_and(|f| f.starts_with("1.9"));
        Some(match fields.len() {
            27 if !is_new => Self {
                version: None,
                after_name: 1,
                size: 1,
                sizes: 2,
                number: 14,
                files: 15,
                latencies: None,
            },
            48 if is_new => Self {
                version: Some(1),
                after_name: 3,
                size: 5,
                sizes: 7,
                number: 19,
                files: 24,
                latencies: Some(36),
            },
            50 if is_new => Self {
                version: Some(1),
                after_name: 3,
                size: 5,
                sizes: 9,
                number: 21,
                files: 26,
                latencies: Some(38),
            },
            _ => return None,
        })
    }
}
