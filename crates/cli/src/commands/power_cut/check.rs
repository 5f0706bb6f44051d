//! `fathom power-cut check`: reads the files and says whether everything is there that the journal acknowledges.

use super::journal::Journal;
use super::judge::{Instead, Judge, Loss, State};
use super::options::CheckFiles;
use super::plan::Plan;
use super::sector::{self, FoundSector};
use super::write::boot_id;
use crate::exit::{CHECK, Usage};
use crate::{console, input};
use anyhow::Context as _;
use serde::Serialize;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::ExitCode;

/// Losses that the text names one by one.
const NAMED: usize = 10;

/// The result of a check.
#[derive(Debug, Default, Serialize)]
struct Outcome {
    /// Acknowledgements in the journal.
    syncs: usize,
    /// Writes that they cover.
    writes: u64,
    /// Blocks with their last acknowledged write.
    kept: u64,
    /// Blocks with a later write, which was in flight.
    newer: u64,
    /// Blocks with a part of such a write.
    torn: u64,
    /// Blocks whose acknowledged write is not there.
    lost: Vec<LostBlock>,
    /// Files of which the journal has no acknowledgement.
    not_begun: u32,
    /// Whether the machine was restarted in between, if that is known.
    restarted: Option<bool>,
}

#[derive(Debug, Serialize)]
struct LostBlock {
    file: u32,
    offset: u64,
    #[serde(flatten)]
    loss: Loss,
    /// Number of the sync, among those of the file, that had acknowledged it, and when it returned.
    sync: usize,
    sync_ms: u64,
}

pub fn run(options: &CheckFiles) -> anyhow::Result<ExitCode> {
    let shown = options.journal.display();
    let text = input::read(&options.journal).map_err(|e| Usage(format!("cannot read {shown}: {e}")))?;
    let journal =
        Journal::parse(&String::from_utf8_lossy(&text)).map_err(|why| Usage(format!("{shown}: {why}")))?;
    let mut plan = journal.plan.clone();
    if let Some(dir) = &options.dir {
        plan.dir.clone_from(dir);
    }
    if !plan.dir.is_dir() {
        return Err(Usage(format!(
            "{} is not there; mount its file system, or name the directory with the files (--dir)",
            plan.dir.display()
        ))
        .into());
    }
    let outcome = compared(&plan, &journal)?;
    if options.json {
        console::out(&(serde_json::to_string_pretty(&outcome)? + "\n"));
    } else {
        console::out(&text_of(&plan, &outcome));
    }
    if !outcome.lost.is_empty() {
        return Ok(ExitCode::from(CHECK));
    }
    if options.remove {
        remove(&plan)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn compared(plan: &Plan, journal: &Journal) -> anyhow::Result<Outcome> {
    let now = boot_id();
    let mut outcome = Outcome {
        syncs: journal.syncs(),
        writes: journal.writes(),
        restarted: (!now.is_empty() && !plan.boot.is_empty()).then(|| now != plan.boot),
        ..Outcome::default()
    };
    for file in 0..plan.files {
        let Some(acknowledged) = journal.last(file) else {
            outcome.not_begun += 1;
            continue;
        };
        let path = plan.path(file);
        let judge = Judge::new(plan, file, acknowledged);
        let open = opened(&path).map_err(|e| Usage(format!("cannot read {}: {e}", path.display())))?;
        for block in 0..judge.blocks() {
            let state = match block_of(open.as_ref(), block, plan.block) {
                Ok(bytes) => judge.block(block, &bytes),
                Err(_) => State::Lost(judge.unreadable(block)),
            };
            match state {
                State::Kept => outcome.kept += 1,
                State::Newer => outcome.newer += 1,
                State::Torn => outcome.torn += 1,
                State::Lost(loss) => {
                    let (sync, by) =
                        journal.acknowledged(file, loss.write).context("the journal has no such write")?;
                    let offset = block * plan.block;
                    outcome.lost.push(LostBlock { file, offset, loss, sync, sync_ms: by.ms });
                }
            }
        }
    }
    Ok(outcome)
}

/// The file, read from the storage as far as the kernel agrees to drop its pages; `None` if it is not there.
fn opened(path: &Path) -> io::Result<Option<File>> {
    let file = match File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    Ok(Some(file))
}

/// The bytes of a block, fewer at the end of the file.
fn block_of(file: Option<&File>, block: u64, size: u64) -> io::Result<Vec<u8>> {
    let Some(file) = file else { return Ok(Vec::new()) };
    let mut bytes = vec![0; size as usize];
    let mut read = 0;
    while read < bytes.len() {
        match file.read_at(&mut bytes[read..], block * size + read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}

fn text_of(plan: &Plan, outcome: &Outcome) -> String {
    let mut text = String::new();
    let (syncs, writes) = (
        console::counted(outcome.syncs as u64, "acknowledgement"),
        console::counted(outcome.writes, "write"),
    );
    let lost = outcome.lost.len();
    let _ = match lost {
        0 if outcome.writes == 0 => {
            writeln!(text, "Nothing had been acknowledged yet, so nothing can be lost.")
        }
        0 => writeln!(text, "OK: every acknowledged write is there ({syncs}, {writes})."),
        _ => writeln!(
            text,
            "LOST: {} without acknowledged data ({syncs}, {writes}).",
            console::counted(lost as u64, "block")
        ),
    };
    for one in outcome.lost.iter().take(NAMED) {
        let _ = writeln!(text, "  {}", lost_words(plan, one));
    }
    if lost > NAMED {
        let _ = writeln!(text, "  ... and {} more (--json has all)", lost - NAMED);
    }
    let unsynced = |one: &LostBlock| {
        let old = matches!(one.loss.instead, Instead::Older(_) | Instead::Missing | Instead::Foreign);
        one.loss.write > 0 && old
    };
    if lost > 0 && plan.sync == super::options::Sync::None && outcome.lost.iter().all(unsynced) {
        text += "These writes were not synced, so their loss breaks no promise.\n";
    } else if lost > 0 {
        text += "The file system, a layer below it, or the device's cache did not keep what it had acknowledged.\n";
    }
    if outcome.newer + outcome.torn > 0 {
        let _ = writeln!(
            text,
            "{} held later writes that were in flight, {} of them in part; that is allowed.",
            console::counted(outcome.newer + outcome.torn, "block"),
            outcome.torn
        );
    }
    if outcome.not_begun > 0 {
        let _ = writeln!(
            text,
            "{} not checked: no acknowledgement in the journal.",
            console::counted(outcome.not_begun.into(), "file")
        );
    }
    if outcome.restarted == Some(false) {
        text += "This machine was not restarted since: what was read may come from its page cache.\n";
    }
    text
}

fn lost_words(plan: &Plan, lost: &LostBlock) -> String {
    let path = plan.path(lost.file);
    let instead = match lost.loss.instead {
        Instead::Older(0) => "what was there at the start".to_owned(),
        Instead::Older(write) => format!("write {write}"),
        Instead::Missing => "nothing: the file is missing or ends before".to_owned(),
        Instead::Foreign => "zeros, or data that was not written by this run".to_owned(),
        Instead::Damaged => "a sector whose checksum is wrong".to_owned(),
        Instead::Misplaced => "data that belongs to another place".to_owned(),
        Instead::Unreadable => "nothing: it cannot be read".to_owned(),
        Instead::Mixed => "parts of several writes".to_owned(),
    };
    let expected = match lost.loss.write {
        0 => "the layout".to_owned(),
        write => format!("write {write}"),
    };
    let by = match lost.loss.write {
        0 => "fsync".to_owned(),
        _ => format!("{} (number {} of this file)", plan.sync.call(), lost.sync),
    };
    format!(
        "{} at offset {}: {instead}, in place of {expected}, after {by} had returned {:.3} s from the start",
        path.display(),
        lost.offset,
        lost.sync_ms as f64 / 1e3
    )
}

/// Removes the files that this run wrote, and the directory if nothing else is in it.
fn remove(plan: &Plan) -> anyhow::Result<()> {
    let mut left = false;
    for file in 0..plan.files {
        let path = plan.path(file);
        for path in [path.with_extension(format!("{file}.new")), path] {
            let Some(open) = opened(&path).with_context(|| format!("cannot read {}", path.display()))? else {
                continue;
            };
            if is_of_run(&open, plan)? {
                std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            } else {
                console::note(&format!(
                    "{} is left: it does not begin with data of this run",
                    path.display()
                ));
                left = true;
            }
        }
    }
    if left {
        return Ok(());
    }
    std::fs::remove_dir(&plan.dir).with_context(|| format!("cannot remove {}", plan.dir.display()))
}

/// Whether a file is empty, or a sector of its first block was written by this run.
fn is_of_run(file: &File, plan: &Plan) -> io::Result<bool> {
    let bytes = block_of(Some(file), 0, plan.block)?;
    let ours = |sector: &[u8]| sector::read(sector, plan.run) != FoundSector::Foreign;
    Ok(bytes.is_empty() || bytes.chunks(sector::SECTOR).any(ours))
}
