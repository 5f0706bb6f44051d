//! `cargo xtask bench sysbench-2004`: the command of the page of 2004 on random file I/O under Linux's schedulers, as it was written,
//! by fathom's drop-in, on a loop device under each scheduler of today. Prints the page's table: total time in seconds.

use super::dropin::{child, write_json};
use super::interrupt;
use super::loop_disk::LoopDisk;
use super::machine::Machine;
use super::options::Options;
use super::progress;
use super::spread::{Random, Spread};
use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The page's command, without the program's name and the last word.
const COMMAND: &str = "--num-threads=16 --test=fileio --file-total-size=3G --file-test-mode=rndrw";
/// The set's 3 GiB, and room for the file system's own.
const DISK_BYTES: u64 = 4 << 30;
/// In the order of the table.
const SCHEDULERS: [&str; 4] = ["none", "mq-deadline", "kyber", "bfq"];
const ROUNDS: usize = 5;
const SEED: u64 = 0x0be7_c4ed_5eed_2004;
const LIMIT: Duration = Duration::from_secs(3600);

/// What a run printed.
#[derive(Clone, Debug, PartialEq)]
struct Figures {
    total_s: f64,
    /// "6000 reads, 4000 writes, 12800 Other = 22800 Total" or the like.
    performed: String,
}

/// Runs the bench. There is nothing to pass or miss: it is true when every scheduler was measured.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    options.refuse("sysbench-2004", &["--seconds", "--file-mib", "--gate"])?;
    interrupt::note();
    let fathom = super::built(root)?;
    let machine = Machine::seen(root);
    let rounds = options.rounds.unwrap_or(ROUNDS);
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    progress("a disk of 4 GiB is made");
    let mut disk = LoopDisk::made(dir.path(), DISK_BYTES, &["ext3", "ext4"])?;
    let (offered, _) = disk.device.schedulers()?;
    let chosen: Vec<&str> = SCHEDULERS.into_iter().filter(|s| options.wants(s)).collect();
    let (mut order, absent): (Vec<&str>, Vec<&str>) =
        chosen.iter().partition(|s| offered.iter().any(|o| o == *s));
    ensure!(!order.is_empty(), "the kernel offers none of {chosen:?} for {}", offered.join(", "));
    progress("the set of 3 GiB is prepared");
    invoke(&fathom, dir.path(), disk.dir(), "prepare")?;

    let mut measured: Vec<(&str, Vec<Figures>)> = order.iter().map(|s| (*s, Vec::new())).collect();
    let mut orders = Vec::new();
    let mut random = Random(SEED);
    for round in 0..rounds {
        random.shuffle(&mut order);
        orders.push(order.clone());
        for scheduler in &order {
            progress(&format!("round {} of {rounds}: {scheduler}", round + 1));
            disk.forget()?;
            disk.device.schedule(scheduler)?;
            let text = invoke(&fathom, dir.path(), disk.dir(), "run")?;
            let figures = figures(&text).with_context(|| format!("no total time in: {text}"))?;
            measured
                .iter_mut()
                .filter(|(s, _)| s == scheduler)
                .for_each(|(_, all)| all.push(figures.clone()));
        }
    }
    progress("");
    println!("{}", machine.line());
    println!("{}", about(&disk, rounds)?);
    println!("    sysbench {COMMAND} run\n");
    print!("{}", page(&measured, &absent, &machine.kernel));
    print!("{}", details(&measured));
    if let Some(path) = &options.json {
        let of = |(scheduler, all): &(&str, Vec<Figures>)| {
            let totals: Vec<f64> = all.iter().map(|f| f.total_s).collect();
            let performed: Vec<&str> = all.iter().map(|f| f.performed.as_str()).collect();
            json!({"scheduler": scheduler, "total_time_s": totals, "performed": performed})
        };
        let value = json!({
            "schema": "fathom-bench-sysbench-2004/1", "machine": machine.json(), "command": COMMAND, "rounds": rounds,
            "seed": SEED, "order": orders, "file_system": disk.file_system(), "direct": disk.device.direct,
            "schedulers": measured.iter().map(of).collect::<Vec<_>>(),
        });
        write_json(path, &value)?;
    }
    Ok(absent.is_empty())
}

/// What lies beneath.
fn about(disk: &LoopDisk, rounds: usize) -> Result<String> {
    let value = |name: &str| disk.device.queue_file(name).map(|text| text.trim().to_owned());
    Ok(format!(
        "{} on a loop device of 4 GiB, {} I/O to its file, read-ahead {} KiB, {} requests; remounted before each run, \
         so that nothing is cached; medians of {rounds} interleaved rounds in an order drawn from seed {SEED:#x}",
        disk.file_system(),
        if disk.device.direct { "direct" } else { "buffered" },
        value("read_ahead_kb")?,
        value("nr_requests")?,
    ))
}

/// The page's command with another last word, in the directory of the set.
fn invoke(fathom: &Path, own: &Path, set: &Path, word: &str) -> Result<String> {
    let mut command = Command::new(fathom);
    command.arg("sysbench").args(COMMAND.split(' ')).arg(word).current_dir(set);
    command.env("FATHOM_STORE", own.join("store.db")).env("XDG_STATE_HOME", own.join("state"));
    let ended = child::run(&mut command, LIMIT)?;
    ensure!(ended.output.status.success(), "{word}: {}", child::printed(&ended));
    Ok(child::printed(&ended))
}

/// Total time and counts, as 0.4 prints them.
fn figures(text: &str) -> Option<Figures> {
    let after = |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim);
    let total_s = after("total time:")?.trim_end_matches('s').parse().ok()?;
    Some(Figures { total_s, performed: after("Operations performed:")?.to_owned() })
}

fn totals(all: &[Figures]) -> Option<Spread> {
    Spread::of(&all.iter().map(|f| f.total_s).collect::<Vec<_>>())
}

/// The table as the page has it: a row per scheduler, a column per kernel, seconds with four decimals.
fn page(measured: &[(&str, Vec<Figures>)], absent: &[&str], kernel: &str) -> String {
    let mut text = format!(
        "Values represent the number of seconds required for the test to complete (lower is better).\n\n\
         | | {kernel} |\n|---|---|\n"
    );
    for (scheduler, all) in measured {
        let cell = totals(all).map_or_else(String::new, |s| format!("{:.4}", s.median));
        text += &format!("| {scheduler} scheduler | {cell} |\n");
    }
    text.extend(absent.iter().map(|s| format!("| {s} scheduler | not in this kernel |\n")));
    text
}

/// Range of the rounds, and what was done.
fn details(measured: &[(&str, Vec<Figures>)]) -> String {
    let mut text = "\n| | median s | min | max | operations performed |\n|---|---|---|---|---|\n".to_owned();
    for (scheduler, all) in measured {
        let Some(s) = totals(all) else { continue };
        let mut performed: Vec<&str> = all.iter().map(|f| f.performed.as_str()).collect();
        performed.dedup();
        let performed = performed.join("; ");
        text += &format!("| {scheduler} | {:.4} | {:.4} | {:.4} | {performed} |\n", s.median, s.min, s.max);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total\nRead 93.75Mb\n\
                          Test execution summary:\n    total time:                          52.7348s\n    total number of events:              10000\n";

    #[test]
    fn total_time_and_counts_are_read() {
        let got = figures(OUTPUT).unwrap();
        assert_eq!(
            (got.total_s, got.performed.as_str()),
            (52.7348, "6000 Read, 4000 Write, 12800 Other = 22800 Total")
        );
        assert_eq!(figures("FATAL: Cannot open file\n"), None);
    }

    #[test]
    fn the_table_has_the_pages_form() {
        let run = |total_s| Figures { total_s, performed: "6000 reads".into() };
        let measured = [("none", vec![run(3.0), run(1.0), run(2.25)]), ("bfq", vec![run(9.0)])];
        let text = page(&measured, &["kyber"], "6.18");
        assert!(
            text.contains("| | 6.18 |\n|---|---|\n| none scheduler | 2.2500 |\n| bfq scheduler | 9.0000 |\n"),
            "{text}"
        );
        assert!(text.contains("| kyber scheduler | not in this kernel |"), "{text}");
        assert!(details(&measured).contains("| none | 2.2500 | 1.0000 | 3.0000 | 6000 reads |"));
    }
}
