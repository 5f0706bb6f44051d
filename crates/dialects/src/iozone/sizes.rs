//! File and record sizes of a table: single run, lists, auto mode with limits and crossover.

use super::IozoneExit;
use super::exit::size_error;
use super::options::{IozoneOptions, MAX_RECORD_KB};

/// Larger files skip records below [`CROSSOVER_RECORD_KB`].
const CROSSOVER_FILE_KB: u64 = 16384;
/// Records smaller than this are skipped above [`CROSSOVER_FILE_KB`].
const CROSSOVER_RECORD_KB: u64 = 64;

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Combination {
    /// File size in kB.
    pub file_kb: u64,
    /// Record size in kB; 0 if a telemetry file determines it.
    pub record_kb: u64,
}

/// Sizes of the table and the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// Rows in order.
    pub rows: Vec<Combination>,
    /// File sizes in kB: rows of the report.
    pub files_kb: Vec<u64>,
    /// Record sizes in kB: columns of the report.
    pub records_kb: Vec<u64>,
    /// Combinations skipped by the crossover; the report shows 0 for them.
    pub crossed: Vec<Combination>,
}

impl Grid {
    /// Cells of a report row: all combinations of this file size in order of record size, and whether each is run or skipped.
    pub fn cells(&self, file_kb: u64) -> impl Iterator<Item = (Combination, bool)> + '_ {
        let mut cells: Vec<(Combination, bool)> =
            self.rows.iter().map(|&c| (c, true)).chain(self.crossed.iter().map(|&c| (c, false))).collect();
        cells.retain(|(c, _)| c.file_kb == file_kb);
        cells.sort();
        cells.into_iter()
    }
}

/// The sizes for a command line.
///
/// # Errors
/// Record sizes larger than their file (exit 23).
pub(super) fn grid(o: &IozoneOptions, page_kb: u64) -> Result<Grid, IozoneExit> {
    let files_kb = files(o, page_kb);
    let records_kb = records(o);
    if o.telemetry() {
        let rows = vec![Combination { file_kb: files_kb.first().copied().unwrap_or(0), record_kb: 0 }];
        return Ok(Grid { rows, files_kb, records_kb, crossed: Vec::new() });
    }
    let mut grid = Grid { files_kb, records_kb, ..Grid::default() };
    if !o.auto {
        let one = Combination {
            file_kb: grid.files_kb.first().copied().unwrap_or(512),
            record_kb: o.record_kb.first().copied().unwrap_or(4),
        };
        fits(one)?;
        grid.rows.push(one);
        return Ok(grid);
    }
    if let ([record_kb], Some(&file_kb)) = (o.record_kb.as_slice(), grid.files_kb.first()) {
        fits(Combination { file_kb, record_kb: *record_kb })?;
    }
    for &file_kb in &grid.files_kb {
        for &record_kb in grid.records_kb.iter().filter(|&&r| r <= file_kb) {
            let combination = Combination { file_kb, record_kb };
            let small = file_kb > CROSSOVER_FILE_KB && record_kb < CROSSOVER_RECORD_KB;
            if small && !o.no_crossover {
                grid.crossed.push(combination);
            } else {
                grid.rows.push(combination);
            }
        }
    }
    Ok(grid)
}

/// Checks that a record is not larger than its file.
pub(super) fn fits(c: Combination) -> Result<(), IozoneExit> {
    if c.record_kb > c.file_kb {
        let bytes = c.record_kb.saturating_mul(1024);
        return Err(size_error(&format!("record length {bytes} is greater than filesize {} kB", c.file_kb)));
    }
    Ok(())
}

/// -s, sorted (IOzone drops entries of an unsorted list); else doubling from -n to -g in auto mode, else 512 kB.
fn files(o: &IozoneOptions, page_kb: u64) -> Vec<u64> {
    if !o.file_kb.is_empty() {
        return sorted(&o.file_kb);
    }
    if !o.auto {
        return vec![512];
    }
    let first = o.min_file_kb.unwrap_or(64).max(page_kb).max(4);
    steps(first, o.max_file_kb.unwrap_or(524_288), o.multiplier.unwrap_or(2))
}

/// -r, sorted; else doubling from -y to -q.
fn records(o: &IozoneOptions) -> Vec<u64> {
    if !o.record_kb.is_empty() {
        return sorted(&o.record_kb);
    }
    let last = o.max_record_kb.unwrap_or(MAX_RECORD_KB);
    steps(o.min_record_kb.unwrap_or(4), last, o.multiplier.unwrap_or(2))
}

fn sorted(list: &[u64]) -> Vec<u64> {
    let mut list = list.to_vec();
    list.sort_unstable();
    list.dedup();
    list
}

fn steps(first: u64, last: u64, factor: u64) -> Vec<u64> {
    std::iter::successors(Some(first.max(1)), |&kb| kb.checked_mul(factor.max(2)))
        .take_while(|&kb| kb <= last)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(line: &str) -> Vec<(u64, u64)> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let o = crate::iozone::parse::parse(&args, "").unwrap();
        grid(&o, 4).unwrap().rows.iter().map(|c| (c.file_kb, c.record_kb)).collect()
    }

    #[test]
    fn a_plain_call_is_one_row() {
        assert_eq!(rows("-i 0"), [(512, 4)]);
        assert_eq!(rows("-n 64 -g 128 -i 0"), [(512, 4)]);
        assert_eq!(rows("-s 1.5m -r 4q"), [(1024, 4)]);
        assert_eq!(rows("-s -5 -r -5"), [(512, 4)]);
    }

    #[test]
    fn auto_doubles_from_the_smallest() {
        assert_eq!(rows("-a -g 64k"), [(64, 4), (64, 8), (64, 16), (64, 32), (64, 64)]);
        let sizes: Vec<u64> = rows("-a -n 100k -g 200k -q 4k").iter().map(|r| r.0).collect();
        assert_eq!(sizes, [100, 200]);
        assert_eq!(rows("-a -g 64 -y 3 -q 100"), [(64, 3), (64, 6), (64, 12), (64, 24), (64, 48)]);
        assert_eq!(rows("-a -n 1 -g 8"), [(4, 4), (8, 4), (8, 8)]);
        assert!(rows("-a -n 100 -g 50").is_empty());
        assert_eq!(rows("-a -+x 4 -g 256").len(), 3 + 4);
    }

    #[test]
    fn the_crossover_leaves_out_small_records_of_large_files() {
        let all = rows("-Ra -n 16m -g 32m -i 0");
        assert_eq!(all.iter().filter(|r| r.0 == 16384).count(), 13);
        let large: Vec<u64> = all.iter().filter(|r| r.0 == 32768).map(|r| r.1).collect();
        assert_eq!((large.len(), large[0]), (9, 64));
        assert_eq!(rows("-az -n 32m -g 32m").len(), 13);
        assert_eq!(rows("-a -n 32m -g 32m -r 4 -r 8").len(), 2);
    }

    #[test]
    fn lists_switch_auto_on_and_lose_no_entry() {
        assert_eq!(rows("-s 1m -r 64k -r 256k -r 128k"), [(1024, 64), (1024, 128), (1024, 256)]);
        assert_eq!(rows("-s 64 -s 128 -i 11").len(), 5 + 6);
        assert_eq!(rows("-r 64 -r 128 -g 128"), [(64, 64), (128, 64), (128, 128)]);
    }

    #[test]
    fn a_record_larger_than_the_file_is_an_error() {
        for line in ["-s 64 -r 128", "-a -r 128 -s 64", "-a -r 128 -g 256"] {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let exit = grid(&crate::iozone::parse::parse(&args, "").unwrap(), 4).unwrap_err();
            assert_eq!(exit.code, 23);
            assert_eq!(exit.stdout, "Error: record length 131072 is greater than filesize 64 kB\n ");
        }
    }
}
