//! Parses the options of the fileio test and checks them in SysBench's order. Unknown options are reported here.

use super::options::{Dialect, FileioCommand, Flags, IoMode, Mode, SysbenchOptions};
use super::table::{OptionGroup, find};
use super::values::{number, real, size, switch, unknown};
use super::words::Given;
use super::{SysbenchExit, help};

/// Values to check after all are parsed.
struct FileioChecks<'a> {
    files: i32,
    mode: &'a str,
    io_mode: &'a str,
    backlog: i32,
    flags: &'a str,
    fsync_freq: i32,
    fsync_mode: &'a str,
    merged: i32,
}

/// Parses and checks the options of fileio.
///
/// # Errors
/// An unknown option, a malformed value, or the first check that fails.
pub(super) fn read(o: &mut SysbenchOptions, options: &[Given], command: &str) -> Result<(), SysbenchExit> {
    let mut later = FileioChecks {
        files: 128,
        mode: "",
        io_mode: "sync",
        backlog: 128,
        flags: "",
        fsync_freq: 100,
        fsync_mode: "fsync",
        merged: 0,
    };
    for given in options {
        let Some(row) = find(&given.name, o.dialect == Dialect::Old) else {
            return Err(unknown(given));
        };
        if row.part == OptionGroup::FileIo {
            one(o, &mut later, given, row.name)?;
        }
    }
    o.command = match command {
        "prepare" => FileioCommand::Prepare,
        "run" => FileioCommand::Run,
        "cleanup" => FileioCommand::Cleanup,
        other => return Err(SysbenchExit::complaint(format_args!("Unknown command: {other}"))),
    };
    check(o, &later)
}

fn one<'a>(
    o: &mut SysbenchOptions,
    later: &mut FileioChecks<'a>,
    given: &'a Given,
    name: &str,
) -> Result<(), SysbenchExit> {
    match name {
        "file-num" => later.files = number(given)?,
        "file-block-size" => o.block_bytes = size(given),
        "file-total-size" => o.total_bytes = size(given),
        "file-test-mode" => later.mode = given.text(),
        "file-io-mode" => later.io_mode = given.text(),
        "file-async-backlog" => later.backlog = number(given)?,
        "file-extra-flags" => later.flags = given.text(),
        "file-fsync-freq" => later.fsync_freq = number(given)?,
        "file-fsync-all" => o.fsync_all = switch(given)?,
        "file-fsync-end" => o.fsync_end = switch(given)?,
        "file-fsync-mode" => later.fsync_mode = given.text(),
        "file-merged-requests" => later.merged = number(given)?,
        "file-rw-ratio" => o.rw_ratio = real(given),
        _ => {}
    }
    Ok(())
}

/// Limit on asynchronous requests, whose buffers are allocated before the start.
const MOST_BACKLOG: i32 = 65536;

fn check(o: &mut SysbenchOptions, later: &FileioChecks<'_>) -> Result<(), SysbenchExit> {
    let invalid = |name: &str, value: &dyn std::fmt::Display| {
        SysbenchExit::fatal(format_args!("Invalid value for {name}: {value}"))
    };
    o.files = positive(later.files).ok_or_else(|| invalid("file-num", &later.files))?;
    if o.total_bytes == 0 {
        return Err(invalid("file-total-size", &0));
    }
    if o.file_bytes() == 0 {
        return Err(invalid("file-total-size", &o.total_bytes).because(format_args!(
            "{} bytes are less than one for each of {} files",
            o.total_bytes, o.files
        )));
    }
    if o.command == FileioCommand::Run {
        if later.mode.is_empty() {
            let header = if o.verbosity >= 3 { "\nfileio options:\n" } else { "\n" };
            let mut exit = SysbenchExit::fatal("Missing required argument: --file-test-mode");
            exit.stdout += &format!("{header}{}\n", help::fileio_options(o.dialect));
            return Err(exit);
        }
        o.mode = Mode::named(later.mode).ok_or_else(|| {
            SysbenchExit::fatal(format_args!("Invalid IO operations mode: {}.", later.mode))
        })?;
    }
    o.io_mode = match later.io_mode {
        "sync" => IoMode::Sync,
        "async" => IoMode::Async,
        "mmap" => IoMode::Mmap,
        other => return Err(SysbenchExit::fatal(format_args!("unknown I/O mode: {other}"))),
    };
    o.merged = u32::try_from(later.merged)
        .map_err(|_| invalid("file-merged-requests", &format_args!("{}.", later.merged)))?;
    if o.block_bytes == 0 || o.block_bytes > i32::MAX as u64 {
        return Err(invalid("file-block-size", &format_args!("{}.", o.block_bytes)));
    }
    o.flags = flags(later.flags)?;
    o.fsync_freq = u32::try_from(later.fsync_freq)
        .map_err(|_| invalid("file-fsync-freq", &format_args!("{}.", later.fsync_freq)))?;
    o.data_only = match later.fsync_mode {
        "fsync" => false,
        "fdatasync" => true,
        other => return Err(SysbenchExit::fatal(format_args!("Invalid fsync mode: {other}."))),
    };
    if o.rw_ratio < 0.0 {
        return Err(invalid("--file-rw-ratio", &format_args!("{:.6}.", o.rw_ratio)));
    }
    // SysBench checks this when a run begins.
    if o.io_mode == IoMode::Async && o.command == FileioCommand::Run {
        let backlog = positive(later.backlog).filter(|_| later.backlog <= MOST_BACKLOG);
        o.backlog = backlog.ok_or_else(|| {
            SysbenchExit::fatal(format_args!("Invalid value of file-async-backlog: {}", later.backlog))
        })?;
    }
    if o.validate && o.block_bytes <= 12 {
        return Err(SysbenchExit::fatal("Block size is too small for validation")
            .because("--validate keeps 12 bytes of each block for its checksum and its place; give a larger --file-block-size"));
    }
    if o.validate && o.command == FileioCommand::Run && !o.file_bytes().is_multiple_of(o.block_bytes) {
        // SysBench would run and report damaged blocks where a request is cut off at the end of a file.
        return Err(SysbenchExit::fatal("Files are not a multiple of the block size, as validation needs").because(format_args!(
            "each of the {} files has {} bytes, blocks have {}; choose --file-total-size so that it goes up",
            o.files,
            o.file_bytes(),
            o.block_bytes
        )));
    }
    if o.fsync_all {
        o.fsync_freq = 0;
        o.fsync_end = false;
    }
    Ok(())
}

fn positive(n: i32) -> Option<u32> {
    u32::try_from(n).ok().filter(|&n| n > 0)
}

fn flags(text: &str) -> Result<Flags, SysbenchExit> {
    let mut flags = Flags::default();
    for word in text.split(',').filter(|w| !w.is_empty()) {
        match word {
            "sync" => flags.sync = true,
            "dsync" => flags.dsync = true,
            "direct" => flags.direct = true,
            other => {
                return Err(SysbenchExit::fatal(format_args!("Invalid value for file-extra-flags: {other}")));
            }
        }
    }
    Ok(flags)
}
