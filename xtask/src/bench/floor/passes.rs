//! The physical floor: the least loop around the same system call on the same kind of file. Nothing is recorded, the clock is read twice
//! a pass. What a benchmark program takes beyond this is its own cost.

use anyhow::{Context as _, Result};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

/// Nanoseconds per operation of the six tests, in IOzone's column order: write, rewrite, read, reread, random read, random write.
pub fn measure(path: &Path, file_bytes: u64, record_bytes: usize) -> Result<[f64; 6]> {
    let records = file_bytes / record_bytes as u64;
    let mut buffer = vec![0u8; record_bytes];
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .context("the floor's file")?;
    let mut times = [0.0; 6];
    for time in &mut times[..2] {
        file.seek(SeekFrom::Start(0))?;
        let start = Instant::now();
        for _ in 0..records {
            file.write_all(&buffer)?;
        }
        *time = per_op(start, records);
        file.sync_all()?;
    }
    for time in &mut times[2..4] {
        file.seek(SeekFrom::Start(0))?;
        let start = Instant::now();
        for _ in 0..records {
            file.read_exact(&mut buffer)?;
        }
        *time = per_op(start, records);
    }
    let order = order(records);
    let start = Instant::now();
    for &record in &order {
        file.read_exact_at(&mut buffer, record * record_bytes as u64)?;
    }
    times[4] = per_op(start, records);
    let start = Instant::now();
    for &record in &order {
        file.write_all_at(&buffer, record * record_bytes as u64)?;
    }
    times[5] = per_op(start, records);
    drop(file);
    std::fs::remove_file(path).context("the floor's file")?;
    Ok(times)
}

fn per_op(start: Instant, records: u64) -> f64 {
    start.elapsed().as_nanos() as f64 / records as f64
}

/// Some order that visits every record once; which one does not matter to the floor.
fn order(records: u64) -> Vec<u64> {
    let mut order: Vec<u64> = (0..records).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for i in (1..order.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(i, (state % (i as u64 + 1)) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_a_permutation() {
        let mut seen = order(1000);
        assert_ne!(seen, (0..1000).collect::<Vec<_>>());
        seen.sort_unstable();
        assert_eq!(seen, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn the_floor_has_six_figures_and_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("floor");
        let times = measure(&path, 1 << 20, 65536).unwrap();
        assert!(times.iter().all(|&t| t > 0.0), "{times:?}");
        assert!(!path.exists());
    }
}
