//! `cargo xtask bench iozone`: the same command line to IOzone and to fathom's drop-in, interleaved, on the page cache. Prints medians,
//! ratios, and each program's own cost per operation: what it takes beyond the floor, and fathom's generator without any call.

use super::{built, floor::passes, peers::find, spread::Spread};
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE_BYTES: u64 = 64 << 20;
const RECORDS_KIB: [usize; 3] = [4, 64, 1024];
const TESTS: [&str; 6] = ["write", "rewrite", "read", "reread", "random read", "random write"];

pub fn run(root: &Path, rounds: usize) -> Result<bool> {
    let Some(iozone) = find("iozone") else {
        eprintln!(
            "IOzone is not installed. It is in Debian's non-free archive (package iozone3); fathom does not need it."
        );
        return Ok(false);
    };
    let fathom = built(root)?;
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    println!(
        "IOzone {} and fathom on the page cache, 64 MiB file, {rounds} interleaved rounds; MiB/s, median [min-max]",
        version(&iozone)
    );
    for record_kib in RECORDS_KIB {
        let mut ours = vec![Vec::new(); 6];
        let mut theirs = vec![Vec::new(); 6];
        let mut floors = vec![Vec::new(); 6];
        for round in 0..rounds {
            // Who goes first changes from round to round, so that a drift of the machine falls on both.
            for turn in 0..2 {
                let (program, into): (Vec<PathBuf>, &mut Vec<Vec<f64>>) = if (round + turn) % 2 == 0 {
                    (vec![fathom.clone(), "iozone".into()], &mut ours)
                } else {
                    (vec![iozone.clone()], &mut theirs)
                };
                for (column, kib_per_s) in into.iter_mut().zip(row(&program, dir.path(), record_kib)?) {
                    column.push(kib_per_s / 1024.0);
                }
            }
            let times = passes::measure(&dir.path().join("floor"), FILE_BYTES, record_kib << 10)?;
            for (column, ns) in floors.iter_mut().zip(times) {
                column.push(ns);
            }
        }
        print_table(record_kib, &ours, &theirs, &floors);
    }
    println!(
        "\nfathom's generator alone (null back-end, clock and histogram on): {:.0} ns an operation",
        generator_ns(&fathom, dir.path())?
    );
    Ok(true)
}

fn print_table(record_kib: usize, ours: &[Vec<f64>], theirs: &[Vec<f64>], floors: &[Vec<f64>]) {
    println!(
        "\nrecord {record_kib} KiB       {:>24} {:>24}  {:>7}   beyond the floor, ns/op: fathom  IOzone",
        "fathom", "IOzone", "ratio"
    );
    let ns_of = |mib_per_s: f64| record_kib as f64 / 1024.0 / mib_per_s * 1e9;
    for (i, test) in TESTS.iter().enumerate() {
        let spreads = (Spread::of(&ours[i]), Spread::of(&theirs[i]), Spread::of(&floors[i]));
        let (Some(a), Some(b), Some(c)) = spreads else { continue };
        let cell = |s: Spread| format!("{:.0} [{:.0}-{:.0}]", s.median, s.min, s.max);
        println!(
            "{test:<18} {:>24} {:>24}  {:>7.3} {:>33.0} {:>7.0}",
            cell(a),
            cell(b),
            a.median / b.median,
            ns_of(a.median) - c.median,
            ns_of(b.median) - c.median
        );
    }
}

/// The six values, KiB/s, of one run.
fn row(program: &[PathBuf], dir: &Path, record_kib: usize) -> Result<Vec<f64>> {
    let words = format!("-s 64m -r {record_kib}k -i 0 -i 1 -i 2 -f bench.tmp");
    let output = Command::new(&program[0])
        .args(&program[1..])
        .args(words.split(' '))
        .current_dir(dir)
        .env("FATHOM_STORE", dir.join("store.db"))
        .output()
        .with_context(|| format!("{}", program[0].display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    values(&text, record_kib).with_context(|| {
        format!("{} printed no row for record size {record_kib}:\n{text}", program[0].display())
    })
}

/// The values of the table row that begins with the file size and this record size.
fn values(text: &str, record_kib: usize) -> Option<Vec<f64>> {
    text.lines().find_map(|line| {
        let numbers: Vec<f64> =
            line.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        (numbers.len() == 8 && numbers[1] == record_kib as f64).then(|| numbers[2..].to_vec())
    })
}

fn generator_ns(fathom: &Path, dir: &Path) -> Result<f64> {
    const WORKLOAD: &str = r#"
        name = "generator"
        repetitions = 5
        [[fileset]]
        name = "f"
        files = { list = ["never-made"] }
        size = { fixed = "64MiB" }
        [[phase]]
        name = "null"
        [[phase.group]]
        name = "g"
        [[phase.group.thread]]
        [phase.group.thread.program.stream]
        fileset = "f"
        direction = "read"
        access = "uniform"
        record = { fixed = "4KiB" }
        amount = { operations = 5000000 }
        backend = "null"
    "#;
    let file = dir.join("generator.toml");
    std::fs::write(&file, WORKLOAD)?;
    let output = Command::new(fathom).args(["--no-store", "run", "--json"]).arg(&file).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    // Each repetition's worker has "elapsed_ns" inside "workers"; the repetition's own comes first.
    let mut times: Vec<f64> = text
        .split("\"workers\"")
        .skip(1)
        .filter_map(|part| {
            part.split_once("\"elapsed_ns\": ")?.1.split([',', '\n']).next()?.trim().parse().ok()
        })
        .map(|ns: f64| ns / 5e6)
        .collect();
    if times.is_empty() {
        bail!("fathom printed no figures for the null back-end: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(super::spread::median(&mut times))
}

fn version(iozone: &Path) -> String {
    let output =
        Command::new(iozone).arg("-v").output().map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    let text = output.unwrap_or_default();
    text.lines()
        .find_map(|l| l.split_once("Revision: ")?.1.split(' ').next().map(str::to_owned))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_is_found_among_other_lines() {
        let text =
            "\tkB  reclen write\n           65536       4  1 2 3 4 5 6         \n\niozone test complete.\n";
        assert_eq!(values(text, 4), Some(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert_eq!(values(text, 64), None);
    }
}
