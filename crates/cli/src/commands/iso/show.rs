//! `fathom iso ls`, `stat` and `cat`: print what is in an image.

use super::backend::ImageFile;
use super::options::{Cat, Ls, Stat};
use super::{Opened, find, open, open_under, policy_of, reader, shown, tell_counters};
use crate::console;
use crate::exit;
use anyhow::Context as _;
use fathom_isofs::format::date::Date;
use fathom_isofs::reader::Reader;
use fathom_isofs::{Entry, Kind, Node, Step, Walk};
use serde_json::json;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;

/// Name and version of the JSON format.
const SCHEMA: &str = "fathom-iso/1";

/// Bytes read and written at a time.
const PIECE: usize = 256 << 10;

pub fn list(options: &Ls) -> anyhow::Result<ExitCode> {
    let image = open(&options.source)?;
    let node = find(&image, &options.source, &options.path)?;
    if options.recursive && node.is_directory() {
        return list_below(&image, options, node);
    }
    let entries = if node.is_directory() {
        let mut listing = image.read_dir(&node).with_context(|| options.path.display().to_string())?;
        listing.entries.sort_by(|a, b| a.name.cmp(&b.name));
        listing.entries
    } else {
        vec![Entry { name: options.path.as_os_str().as_bytes().to_vec(), node }]
    };
    let rows = entries.iter().map(|entry| row(&image, &entry.name, &entry.node, options.long));
    console::out(&rows.collect::<String>());
    Ok(ExitCode::SUCCESS)
}

/// Prints row by row, so that memory does not grow with the image.
fn list_below(image: &Opened, options: &Ls, node: Node) -> anyhow::Result<ExitCode> {
    let mut walk = Walk::below(image, node);
    let mut code = exit::DONE;
    while let Some(step) = walk.step() {
        match step {
            Step::File { path, node, .. } => console::out(&row(image, path, node, options.long)),
            Step::Failed { path, error } => {
                console::error(&format!("{}: {error}", shown(path)));
                code = exit::FAILED;
            }
        }
    }
    Ok(ExitCode::from(code))
}

fn row(image: &Opened, name: &[u8], node: &Node, long: bool) -> String {
    let name = shown(name);
    if !long {
        return name + "\n";
    }
    let size = match node.kind() {
        Kind::CharDevice | Kind::BlockDevice => format!("{}, {}", node.device().0, node.device().1),
        _ => node.size().to_string(),
    };
    let target = match image.read_link(node) {
        Ok(target) => format!(" -> {}", shown(&target)),
        Err(_) => String::new(),
    };
    format!(
        "{} {:>3} {:>6} {:>6} {size:>12} {} {name}{target}\n",
        mode_text(node),
        node.links(),
        node.uid(),
        node.gid(),
        date_text(node.times().modified),
    )
}

/// As in `ls -l`.
fn mode_text(node: &Node) -> String {
    let kind = match node.kind() {
        Kind::File => '-',
        Kind::Directory => 'd',
        Kind::Link => 'l',
        Kind::CharDevice => 'c',
        Kind::BlockDevice => 'b',
        Kind::Fifo => 'p',
        Kind::Socket => 's',
    };
    let mode = node.mode();
    let mut text = String::from(kind);
    for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
        let bits = mode >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push(match (mode & special != 0, bits & 1 != 0) {
            (true, true) => letter,
            (true, false) => letter.to_ascii_uppercase(),
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    text
}

fn date_text(date: Date) -> String {
    let moment = date.moment().and_then(|m| jiff::Timestamp::from_second(m.seconds).ok());
    moment.map_or_else(|| "-".repeat(20), |at| at.to_string())
}

fn date_json(date: Date) -> serde_json::Value {
    date.moment().map_or(serde_json::Value::Null, |m| m.seconds.into())
}

pub fn stat(options: &Stat) -> anyhow::Result<ExitCode> {
    let image = open(&options.source)?;
    let properties = match &options.path {
        None => volume(&image),
        Some(path) => file(&image, &find(&image, &options.source, path)?),
    };
    if options.json {
        console::out_raw(&(serde_json::to_string_pretty(&properties)? + "\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for (key, value) in properties.as_object().into_iter().flatten().filter(|(key, _)| *key != "schema") {
        let value = match value {
            serde_json::Value::String(text) => shown(text.as_bytes()),
            other => other.to_string(),
        };
        let _ = writeln!(text, "{:<24} {value}", key.replace('_', " "));
    }
    console::out(&text);
    Ok(ExitCode::SUCCESS)
}

fn volume(image: &Opened) -> serde_json::Value {
    let info = image.info();
    let names: Vec<String> = info.namespaces.iter().map(|n| format!("{n:?}")).collect();
    json!({
        "schema": SCHEMA,
        "volume_id": info.volume_id,
        "system_id": info.system_id,
        "application_id": info.application_id,
        "format": if info.high_sierra { "High Sierra" } else { "ISO 9660" },
        "block_bytes": info.block,
        "volume_blocks": info.blocks,
        "image_bytes": image.bytes(),
        "sector_bytes": image.layout().sector(),
        "created_unix_s": date_json(info.created),
        "modified_unix_s": date_json(info.modified),
        "trees": names,
        "tree": format!("{:?}", info.namespace),
        "joliet_level": info.joliet_level,
        "udf": info.udf,
        "session_sector": info.session,
        "boot_images": info.boot.iter().map(|b| json!({
            "platform": b.platform,
            "media": format!("{:?}", b.media),
            "bootable": b.bootable,
            "block": b.lbn,
            "bytes": b.bytes(),
        })).collect::<Vec<_>>(),
    })
}

fn file(image: &Opened, node: &Node) -> serde_json::Value {
    let extents = node.extents().map(|extents| extents.sections());
    json!({
        "schema": SCHEMA,
        "kind": format!("{:?}", node.kind()),
        "mode": mode_text(node),
        "links": node.links(),
        "uid": node.uid(),
        "gid": node.gid(),
        "size_bytes": node.size(),
        "inode": node.inode(),
        "device": [node.device().0, node.device().1],
        "modified_unix_s": date_json(node.times().modified),
        "accessed_unix_s": date_json(node.times().accessed),
        "changed_unix_s": date_json(node.times().changed),
        "created_unix_s": date_json(node.times().created),
        "target": image.read_link(node).ok().map(|target| shown(&target)),
        "record": node.record().to_string(),
        "compressed": node.is_packed(),
        "sections": extents.map(|sections| sections.iter().map(|s| json!({
            "block": s.lbn, "bytes": s.bytes, "unit_blocks": s.unit, "gap_blocks": s.gap,
        })).collect::<Vec<_>>()),
    })
}

pub fn cat(options: &Cat) -> anyhow::Result<ExitCode> {
    let policy = policy_of(&options.source, &options.reading)?;
    let reader = reader(open_under(&options.source, &policy)?, &policy)?;
    let done = cat_all(options, &reader);
    if options.counters {
        tell_counters(&reader, &policy)?;
    }
    done
}

fn cat_all(options: &Cat, reader: &Reader<ImageFile>) -> anyhow::Result<ExitCode> {
    // Not the standard library's stdout: it scans for line ends, and the data may be binary.
    let stdout = std::io::stdout().as_fd().try_clone_to_owned().context("stdout cannot be written")?;
    widen(&stdout);
    let mut stdout = File::from(stdout);
    let mut piece = vec![0; PIECE];
    for path in &options.paths {
        let node = find(reader.image(), &options.source, path)?;
        // Without a policy nothing is cached: every byte is needed once.
        let file = (options.reading.is_asked() || options.counters).then(|| reader.open(&node));
        let mut offset = 0;
        loop {
            let read = match &file {
                Some(file) => file.read_at(offset, &mut piece),
                None => reader.image().read_at(&node, offset, &mut piece),
            };
            let n = read.with_context(|| path.display().to_string())?;
            if n == 0 {
                break;
            }
            offset += n as u64;
            match stdout.write_all(&piece[..n]) {
                // A closed pipe (`| head`) is no error.
                Err(e) if e.kind() == ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
                written => written.context("stdout cannot be written")?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Enlarges a pipe to the write size, so that its reader wakes less often. Anything else stays as it is.
fn widen(stdout: &OwnedFd) {
    let bytes = libc::c_int::try_from(PIECE).unwrap_or(libc::c_int::MAX);
    // SAFETY: the descriptor is open, and the call takes a number.
    let _ = unsafe { libc::fcntl(stdout.as_raw_fd(), libc::F_SETPIPE_SZ, bytes) };
}
