//! How files are read in `bench isofs`: from end to end, at random places, by several threads. Files of a mount, and the image itself.

use crate::bench::spread::Random;
use anyhow::{Result, ensure};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Reads a file from its beginning to its end; MB/s.
pub fn sequential(path: &Path, record: usize) -> Result<f64> {
    let file = File::open(path)?;
    let mut buffer = vec![0; record];
    let (mut at, begun) = (0, Instant::now());
    loop {
        match file.read_at(&mut buffer, at)? {
            0 => break,
            n => at += n as u64,
        }
    }
    ensure!(at > 0, "{} is empty", path.display());
    Ok(at as f64 / 1e6 / begun.elapsed().as_secs_f64())
}

/// Several files at once, a thread each; MB/s of all together.
pub fn at_once(paths: &[PathBuf], record: usize) -> Result<f64> {
    let mut bytes = 0;
    for path in paths {
        bytes += path.metadata()?.len();
    }
    let begun = Instant::now();
    std::thread::scope(|scope| -> Result<()> {
        let readers: Vec<_> =
            paths.iter().map(|path| scope.spawn(move || sequential(path, record))).collect();
        for reader in readers {
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(())
    })?;
    Ok(bytes as f64 / 1e6 / begun.elapsed().as_secs_f64())
}

/// Four threads at random places of a file; reads a second, and the latency in microseconds that 99 of 100 stay below.
pub fn random(path: &Path, record: usize, reads_each: u64) -> Result<(f64, f64)> {
    let places = path.metadata()?.len() / record as u64;
    let begun = Instant::now();
    let mut latencies = std::thread::scope(|scope| -> Result<Vec<f64>> {
        let one = |seed: u64| {
            let file = File::open(path)?;
            let mut random = Random(seed);
            let (mut buffer, mut latencies) = (vec![0; record], Vec::new());
            for _ in 0..reads_each {
                let at = random.below(places) * record as u64;
                let asked = Instant::now();
                let got = file.read_at(&mut buffer, at)?;
                latencies.push(asked.elapsed().as_secs_f64() * 1e6);
                ensure!(got == record, "{got} bytes at {at} of {}", path.display());
            }
            Ok(latencies)
        };
        let readers: Vec<_> = (1..=4).map(|n| scope.spawn(move || one(n * 0x9e37_79b9))).collect();
        let mut all = Vec::new();
        for reader in readers {
            all.extend(reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(all)
    })?;
    let per_s = latencies.len() as f64 / begun.elapsed().as_secs_f64();
    latencies.sort_by(f64::total_cmp);
    Ok((per_s, latencies[latencies.len() * 99 / 100]))
}
