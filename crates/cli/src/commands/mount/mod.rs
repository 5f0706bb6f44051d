//! `fathom mount`: mounts an image. Starts the parts in the one order that cannot hang: the image is opened and the
//! guard started before the connection to the kernel exists; afterwards this process neither touches the directory nor
//! starts programs.

mod daemon;
pub mod guard;
pub mod options;
pub mod point;
mod signals;

use super::iso::backend::ImageFile;
use super::iso::reading::Bundle;
use super::iso::{open_under, policy_of, reading};
use crate::console;
use crate::exit::Usage;
use anyhow::Context as _;
use fathom_isofs::mount::{Cache, DirOrder, Mounting, mount};
use fathom_isofs::reader::{Medium, Policy, Reader};
use options::Mount;
use point::Point;
use std::process::ExitCode;
use std::sync::Arc;

/// Kernel read-ahead when the kernel caches. 256 KiB was fastest for an image in memory; on a disc a seek costs as much
/// as half a megabyte.
const READ_AHEAD_KIB: u32 = 256;
const READ_AHEAD_DISC_KIB: u32 = 512;

pub fn run(options: &Mount) -> anyhow::Result<ExitCode> {
    let background = daemon::is_background();
    if options.daemon && options.counters {
        return Err(Usage(
            "--counters prints to the terminal at the end, which --daemon gives up; leave one of them out"
                .into(),
        )
        .into());
    }
    if options.daemon && !background {
        return daemon::start();
    }
    let policy = policy(options)?;
    let image = open_under(&options.source, &policy)?;
    let reader = Reader::new(Arc::new(image), &policy).map_err(|e| Usage(e.to_string()))?;
    let point = Point::ready(&options.on)?;
    point::helper_there()?;
    let source = std::path::absolute(&options.source.image).unwrap_or_else(|_| options.source.image.clone());
    let optical = reading::medium_of(&options.source.image) == Medium::Optical;
    let today = options.reading.policy.is_none_or(|policy| policy == Bundle::Modern);
    let how = Mounting {
        name: source.display().to_string(),
        cache: if options.reading.is_asked() { Cache::Own } else { Cache::Kernel },
        workers: options.workers.into(),
        others: options.allow_other,
        look: !optical,
        order: options.dir_order.map_or_else(|| order_on(optical && today), DirOrder::from),
        metadata: options.metadata.map_or_else(|| metadata_on(optical && today), |bytes| bytes.0),
        small_files: policy.small_files,
    };
    // From here on the order matters; see above.
    if background {
        daemon::detach();
    }
    let guard = guard::Guard::start()?;
    abort_on_panic();
    let signals = signals::Blocked::new();
    fathom_state::go(std::path::Path::new("/")).context("/ cannot be the working directory")?;
    let mounted =
        mount(reader.clone(), point.on(&point.name()), &how).with_context(|| cannot(&options.on))?;
    let shown = options.on.display();
    let ours = point.which();
    if let Some(ours) = ours.filter(|_| how.cache == Cache::Kernel) {
        point::read_ahead(ours, if optical { READ_AHEAD_DISC_KIB } else { READ_AHEAD_KIB });
    }
    let watching =
        ours.context("the kernel's table does not show the mount").and_then(|ours| guard.watch(ours));
    let watching = match watching {
        Ok(watching) => Arc::new(watching),
        // Otherwise the mount would be left behind.
        Err(error) => {
            let _ = ours.map(point::MountId::unmount);
            return Err(error);
        }
    };
    if background {
        daemon::say_mounted();
    } else {
        console::note(&format!("mounted on {shown}; Ctrl-C or `umount {shown}` ends it"));
    }
    let last_words = {
        let (asked, shared_reader, counters) = (policy.clone(), reader.clone(), options.counters);
        move || {
            if counters {
                tell(&asked, &shared_reader);
            }
        }
    };
    let (end, over, shared_reader) = (last_words.clone(), watching.clone(), reader.clone());
    signals.answer(
        move || tell(&policy, &shared_reader),
        // Fails if it was unmounted meanwhile, or something is mounted over it.
        move || _ = ours.map(point::MountId::unmount),
        move || {
            end();
            over.over();
        },
    )?;
    let ended = mounted.wait();
    last_words();
    watching.over();
    match ended {
        // When the mount is gone the kernel closes the connection, with one of several errors.
        Err(error) if ours.is_some_and(point::MountId::is_up) => {
            Err(error).with_context(|| format!("{shown}: the connection to the kernel broke"))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn policy(options: &Mount) -> Result<Policy, Usage> {
    let mut policy = policy_of(&options.source, &options.reading)?;
    let Some(bytes) = options.small_files.map(|bytes| bytes.0) else { return Ok(policy) };
    if bytes > 0 && !options.reading.is_asked() {
        let why = "--small-files needs fathom's cache, and without --policy the kernel caches contents; add --policy modern, or leave it out";
        return Err(Usage(why.into()));
    }
    policy.small_files = bytes;
    policy.check().map_err(|e| Usage(format!("--small-files: {e}")))?;
    Ok(policy)
}

/// Pays off on a disc, where seeks are slow; elsewhere directories are read on demand.
const METADATA_BYTES: u64 = 64 << 20;

fn order_on(disc: bool) -> DirOrder {
    if disc { DirOrder::Lbn } else { DirOrder::Disk }
}

fn metadata_on(disc: bool) -> u64 {
    if disc { METADATA_BYTES } else { 0 }
}

fn cannot(on: &std::path::Path) -> String {
    let how = if rustix::process::geteuid().is_root() {
        "root needs /dev/fuse (the kernel's module fuse)"
    } else {
        "an ordinary user needs the program fusermount3 (package fuse3), access to /dev/fuse, and a directory that belongs to that user"
    };
    format!("{}: the image could not be mounted; {how}", on.display())
}

/// Prints the counters in one piece.
fn tell(policy: &Policy, reader: &Reader<ImageFile>) {
    let backend = reader.image().source().report();
    let counted = reading::report(policy, &reader.counters(), backend).to_string() + "\n";
    console::error_raw(&counted);
}

/// A dead worker would leave a program waiting for its answer. If the whole process dies, the kernel answers.
fn abort_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        mount: Mount,
    }

    fn asked(words: &[&str]) -> Result<Policy, String> {
        let words = ["x", "image", "dir"].iter().chain(words);
        policy(&<Line as clap::Parser>::try_parse_from(words).unwrap().mount).map_err(|e| e.to_string())
    }

    #[test]
    fn small_files_ask_for_a_cache_of_our_own() {
        assert!(asked(&["--small-files", "64KiB"]).unwrap_err().contains("add --policy modern"));
        assert!(asked(&["--small-files", "0"]).is_ok());
        let policy = asked(&["--small-files", "64KiB", "--policy", "seed"]).unwrap();
        assert_eq!(policy.small_files, 64 << 10);
        assert!(
            asked(&["--small-files", "1GiB", "--policy", "seed"]).unwrap_err().contains("small files of")
        );
    }

    #[test]
    fn defaults_are_those_of_the_help() {
        assert_eq!((order_on(true), order_on(false)), (DirOrder::Lbn, DirOrder::Disk));
        assert_eq!((metadata_on(true), metadata_on(false)), (64 << 20, 0));
    }
}
