//! `cargo xtask bench observe-read-ahead`: a file of 1 GiB is read sequentially, cold, from a loop device under several settings of
//! read_ahead_kb. Printed for each: how many requests of which size reached the device, by fathom's events, by the device's own
//! counters, and by bpftrace inside the kernel. The three must agree exactly.

use super::in_kernel::InKernel;
use super::record::RepetitionRecord;
use crate::bench::dropin::{child, write_json};
use crate::bench::loop_disk::LoopDisk;
use crate::bench::machine::Machine;
use crate::bench::options::Options;
use crate::bench::{files, interrupt, progress};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// KiB of read-ahead: none, a page, the report's sizes, the default, and more than any request.
const SETTINGS: [u32; 5] = [0, 4, 16, 128, 4096];
/// Read at once, as in the report.
const RECORD_BYTES: u64 = 16 << 10;
const LIMIT: Duration = Duration::from_secs(900);

/// One setting.
struct Row {
    read_ahead_kb: u32,
    events: u64,
    sizes: Vec<(u64, u64)>,
    counters: u64,
    in_kernel: Option<u64>,
    same_sizes: Option<bool>,
    bytes: u64,
    lost: u64,
    text: String,
}

impl Row {
    /// Whether all counts are the same and nothing was lost.
    fn agrees(&self) -> bool {
        self.lost == 0
            && self.events == self.counters
            && self.in_kernel.is_none_or(|n| n == self.events)
            && self.same_sizes != Some(false)
    }
}

/// Runs it; true if every count agrees.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    options.refuse("observe-read-ahead", &["--seconds", "--rounds", "--gate"])?;
    interrupt::note();
    let fathom = crate::bench::built(root)?;
    let machine = Machine::seen(root);
    let bytes = if *options == Options::default() { 1 << 30 } else { options.file_mib << 20 };
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    progress("a disk and a file are made");
    let mut disk = LoopDisk::made(dir.path(), bytes + (256 << 20), &["ext4", "ext3"])?;
    let file = disk.dir().join("largefile");
    files::random(&file, bytes)?;
    std::fs::write(dir.path().join("read.toml"), workload(&file, bytes))?;
    let mut rows = Vec::new();
    for kb in SETTINGS.into_iter().filter(|kb| options.wants(&kb.to_string())) {
        progress(&format!("read-ahead of {kb} KiB"));
        disk.forget()?;
        disk.read_ahead(kb)?;
        // Extents and inode are looked up before anything is counted.
        files::warm(&file)?;
        files::evict(&file)?;
        rows.push(one(&fathom, dir.path(), &disk, kb)?);
    }
    progress("");
    println!("{}", machine.line());
    println!(
        "{} MiB read in records of 16 KiB, cold, {} on a loop device; requests by fathom's events, by the device's counters, in the kernel\n",
        bytes >> 20,
        disk.file_system()
    );
    println!(
        "| read_ahead_kb | requests (events) | counters | bpftrace | mean size KiB | agree |\n|---|---|---|---|---|---|"
    );
    for row in &rows {
        println!(
            "| {} | {} | {} | {} | {:.1} | {} |",
            row.read_ahead_kb,
            row.events,
            row.counters,
            row.in_kernel.map_or_else(|| "not installed".into(), |n| n.to_string()),
            row.bytes as f64 / 1024.0 / row.events.max(1) as f64,
            if row.agrees() { "exactly" } else { "NO" },
        );
    }
    for row in &rows {
        println!("\nread_ahead_kb = {}\n{}", row.read_ahead_kb, row.text);
    }
    if let Some(path) = &options.json {
        let of = |row: &Row| {
            json!({"read_ahead_kb": row.read_ahead_kb, "events": row.events, "counters": row.counters,
                   "in_kernel": row.in_kernel, "lost": row.lost, "bytes": row.bytes, "sizes": row.sizes})
        };
        let rows: Vec<Value> = rows.iter().map(of).collect();
        write_json(
            path,
            &json!({"schema": "fathom-bench-read-ahead/1", "machine": machine.json(), "rows": rows}),
        )?;
    }
    Ok(rows.iter().all(Row::agrees))
}

/// A cold sequential read of a file that is there.
fn workload(file: &Path, bytes: u64) -> String {
    format!(
        "name = \"read-ahead\"\nseed = 1\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [{file:?}] }}\nsize = {{ fixed = {bytes} }}\n\
         existing = \"reuse\"\n[[phase]]\nname = \"read\"\ncache = \"cold\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
         [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"read\"\nrecord = {{ fixed = {RECORD_BYTES} }}\n"
    )
}

fn one(fathom: &Path, dir: &Path, disk: &LoopDisk, read_ahead_kb: u32) -> Result<Row> {
    let store = dir.join("store.db");
    let own = |command: &mut Command| {
        command.env("FATHOM_STORE", &store).env("XDG_STATE_HOME", dir.join("state"));
    };
    let in_kernel = InKernel::started(disk.device.path())?;
    let mut command = Command::new(fathom);
    own(&mut command);
    command.args(["--observe", "events", "run", "--json"]).arg(dir.join("read.toml"));
    let ended = child::run(&mut command, LIMIT)?;
    ensure!(ended.output.status.success(), "fathom: {}", child::printed(&ended));
    let in_kernel = in_kernel.map(InKernel::stopped).transpose()?;
    let record: Value = serde_json::from_slice(&ended.output.stdout).context("fathom printed no record")?;
    let seen = RepetitionRecord::first(&record)?;
    let block = seen.block().context("no events were watched")?;
    let sizes = seen.read_sizes();
    let mut show = Command::new(fathom);
    own(&mut show);
    show.args(["show", "last", "--block"]);
    let shown = child::run(&mut show, LIMIT)?;
    Ok(Row {
        read_ahead_kb,
        events: seen.reads("issued").unwrap_or(0),
        counters: seen.counted_reads()?,
        bytes: seen.counted_bytes()?,
        in_kernel: in_kernel.as_ref().map(|sizes| sizes.values().sum()),
        same_sizes: in_kernel.map(|theirs| theirs.into_iter().eq(sizes.iter().copied())),
        lost: block["lost"].as_u64().unwrap_or(0),
        text: String::from_utf8_lossy(&shown.output.stdout).into_owned(),
        sizes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row {
            read_ahead_kb: 4,
            events: 9,
            sizes: vec![(4096, 9)],
            counters: 9,
            in_kernel: Some(9),
            same_sizes: Some(true),
            bytes: 36_864,
            lost: 0,
            text: String::new(),
        }
    }

    #[test]
    fn one_request_more_or_less_is_no_agreement() {
        assert!(row().agrees());
        assert!(Row { in_kernel: None, same_sizes: None, ..row() }.agrees());
        assert!(!Row { counters: 10, ..row() }.agrees());
        assert!(!Row { in_kernel: Some(8), ..row() }.agrees());
        assert!(!Row { same_sizes: Some(false), ..row() }.agrees());
        assert!(!Row { lost: 1, ..row() }.agrees());
    }

    #[test]
    fn the_workload_is_toml() {
        let value: toml::Value = toml::from_str(&workload(Path::new("/d/f"), 1 << 20)).unwrap();
        assert_eq!(value["phase"][0]["cache"].as_str(), Some("cold"));
    }
}
