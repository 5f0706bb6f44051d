//! The cases of `bench isofs`: who takes part, which images are needed, and one sample of one contender, always on a fresh mount.

use super::mounted::Mounted;
use super::{Site, Who, images, reading};
use crate::bench::dropin::child;
use anyhow::{Context as _, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What a sample gives: values by the name of their measure.
pub type Values = Vec<(&'static str, f64)>;

/// One comparison.
pub struct Case {
    pub name: &'static str,
    pub contenders: &'static [Who],
    /// Makes what is needed, before the first round.
    pub prepare: fn(&Site) -> Result<()>,
    pub measure: fn(&Site, Who) -> Result<Values>,
}

use Who::{Bsdtar, Fathom, Fuseiso, Image, SevenZip, Source};

pub const CASES: &[Case] = &[
    Case {
        name: "P1 P3 sequential 128K",
        contenders: &[Fathom, Fuseiso, Image],
        prepare: large,
        measure: two_passes,
    },
    Case { name: "P2 sequential 8K", contenders: &[Fathom, Fuseiso], prepare: large, measure: pass_8k },
    Case { name: "P2 sequential 2K", contenders: &[Fathom, Fuseiso], prepare: large, measure: pass_2k },
    Case { name: "P4 streams", contenders: &[Fathom, Fuseiso], prepare: large, measure: streams },
    Case { name: "P5 random", contenders: &[Fathom, Fuseiso], prepare: large, measure: random },
    Case { name: "P6 find", contenders: &[Fathom, Fuseiso], prepare: small, measure: find },
    Case { name: "P7 tar", contenders: &[Fathom, Fuseiso], prepare: small, measure: tar },
    Case { name: "P8 file to a pipe", contenders: &[Fathom, Bsdtar, SevenZip], prepare: large, measure: cat },
    Case {
        name: "P8 files to disk",
        contenders: &[Fathom, Bsdtar, SevenZip, Source],
        prepare: small,
        measure: extract,
    },
    Case { name: "P9 mount of a DVD", contenders: &[Fathom, Fuseiso], prepare: dvd, measure: mount },
    Case { name: "P10 zisofs", contenders: &[Fathom, Fuseiso], prepare: packed, measure: zisofs },
    Case { name: "P11 calls", contenders: &[Fathom, Fuseiso], prepare: large, measure: calls },
];

const LIMIT: Duration = Duration::from_secs(600);
const K: usize = 1 << 10;

fn large(site: &Site) -> Result<()> {
    images::large(site).map(drop)
}

fn small(site: &Site) -> Result<()> {
    images::small(site).map(drop)
}

fn packed(site: &Site) -> Result<()> {
    images::packed(site).map(drop)
}

fn dvd(site: &Site) -> Result<()> {
    images::dvd(site).map(drop)
}

fn two_passes(site: &Site, who: Who) -> Result<Values> {
    let image = images::large(site)?;
    if who == Image {
        let both = [reading::sequential(&image, 128 * K)?, reading::sequential(&image, 128 * K)?];
        return Ok(vec![("first 128K", both[0]), ("again 128K", both[1])]);
    }
    let mount = Mounted::by(who, site, &image)?;
    let file = mount.on.join(images::BIG);
    let first = reading::sequential(&file, 128 * K)?;
    Ok(vec![("first 128K", first), ("again 128K", reading::sequential(&file, 128 * K)?)])
}

fn pass_8k(site: &Site, who: Who) -> Result<Values> {
    Ok(vec![("first 8K", pass(site, who, 8 * K)?)])
}

fn pass_2k(site: &Site, who: Who) -> Result<Values> {
    Ok(vec![("first 2K", pass(site, who, 2 * K)?)])
}

fn pass(site: &Site, who: Who, record: usize) -> Result<f64> {
    let mount = Mounted::by(who, site, &images::large(site)?)?;
    reading::sequential(&mount.on.join(images::BIG), record)
}

fn streams(site: &Site, who: Who) -> Result<Values> {
    let image = images::large(site)?;
    let one = reading::sequential(&Mounted::by(who, site, &image)?.on.join(images::FOUR[0]), 128 * K)?;
    let mount = Mounted::by(who, site, &image)?;
    let paths: Vec<PathBuf> = images::FOUR.iter().map(|name| mount.on.join(name)).collect();
    Ok(vec![("1 stream", one), ("4 streams", reading::at_once(&paths, 128 * K)?)])
}

fn random(site: &Site, who: Who) -> Result<Values> {
    let image = images::large(site)?;
    let mut values = Values::new();
    for (record, reads, rate, p99) in [
        (2 * K, 8000, "random 2K", "random 2K p99"),
        (8 * K, 8000, "random 8K", "random 8K p99"),
        (64 * K, 1500, "random 64K", "random 64K p99"),
    ] {
        let mount = Mounted::by(who, site, &image)?;
        let (per_s, latency) = reading::random(&mount.on.join(images::BIG), record, reads)?;
        values.extend([(rate, per_s), (p99, latency)]);
    }
    Ok(values)
}

fn find(site: &Site, who: Who) -> Result<Values> {
    let mount = Mounted::by(who, site, &images::small(site)?)?;
    let mut command = Command::new("find");
    command.arg(&mount.on).args(["-printf", "%s %m\n"]);
    let ended = child::run(&mut command, LIMIT)?;
    let lines = ended.output.stdout.iter().filter(|&&byte| byte == b'\n').count();
    ensure!(
        ended.output.status.success() && lines == 10_101,
        "find saw {lines} files: {}",
        child::printed(&ended).lines().last().unwrap_or("")
    );
    Ok(vec![("find", ended.wall_ns / 1e9)])
}

fn tar(site: &Site, who: Who) -> Result<Values> {
    let mount = Mounted::by(who, site, &images::small(site)?)?;
    // To /dev/null itself tar writes nothing and reads nothing.
    let seconds = shell("tar -C \"$1\" -cf - . | cat > /dev/null", &[&mount.on])?;
    Ok(vec![("tar", seconds)])
}

fn cat(site: &Site, who: Who) -> Result<Values> {
    let image = images::large(site)?;
    let script = match who {
        Fathom => "\"$2\" iso cat \"$1\" /big | cat > /dev/null",
        Bsdtar => "bsdtar -xOf \"$1\" big | cat > /dev/null",
        SevenZip => "7z e -so \"$1\" big | cat > /dev/null",
        other => bail!("{} does not do that", other.name()),
    };
    Ok(vec![("cat", shell(script, &[&image, &site.fathom])?)])
}

/// Extracts into a new directory each time, and removes none before the end: ext4 without a journal does not reuse inodes freed in the
/// last minutes and scans all of them for every new file. After the removal of 10,000 files, creating others takes ten times as long.
fn extract(site: &Site, who: Who) -> Result<Values> {
    let image = images::small(site)?;
    let into = tempfile::Builder::new().prefix("out-").tempdir_in(&site.dir)?.keep();
    // What was made before is not to be written back meanwhile.
    shell("sync -f \"$1\"", &[&site.dir])?;
    let script = match who {
        Fathom => "\"$2\" iso extract \"$1\" \"$3/x\"",
        Bsdtar => "mkdir \"$3/x\" && bsdtar -C \"$3/x\" -xf \"$1\"",
        SevenZip => "7z x -o\"$3/x\" \"$1\"",
        Source => "cp -r \"$4\" \"$3/x\"",
        other => bail!("{} does not do that", other.name()),
    };
    Ok(vec![("extract", shell(script, &[&image, &site.fathom, &into, &images::small_source(site)])?)])
}

fn mount(site: &Site, who: Who) -> Result<Values> {
    let mount = Mounted::by(who, site, &images::dvd(site)?)?;
    let mut values = vec![("mount", mount.took.as_secs_f64())];
    let program = if who == Fathom { site.fathom.clone() } else { PathBuf::from("fuseiso") };
    if who == Fathom {
        values.push(("resident", mount.resident_mib(&program)?));
        shell("find \"$1\" -printf '%s\n' > /dev/null", &[&mount.on])?;
        values.push(("resident after find", mount.resident_mib(&program)?));
    }
    Ok(values)
}

fn zisofs(site: &Site, who: Who) -> Result<Values> {
    let image = images::packed(site)?;
    let one = reading::sequential(&Mounted::by(who, site, &image)?.on.join(images::PACKED[0]), 128 * K)?;
    let mount = Mounted::by(who, site, &image)?;
    let paths: Vec<PathBuf> = images::PACKED.iter().map(|name| mount.on.join(name)).collect();
    Ok(vec![("zisofs", one), ("zisofs 2 streams", reading::at_once(&paths, 128 * K)?)])
}

/// Reads of the image in a first pass, counted by strace.
fn calls(site: &Site, who: Who) -> Result<Values> {
    let image = images::large(site)?;
    let on = site.dir.join("on");
    fs::create_dir_all(&on)?;
    let log = site.dir.join("strace");
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-y", "-D", "-e", "trace=read,pread64,readv,preadv,preadv2,lseek", "-o"])
        .arg(&log);
    match who {
        Fathom => command.arg(&site.fathom).args(["mount", "--daemon"]).arg(&image).arg(&on),
        _ => command.arg("fuseiso").arg(&image).arg(&on),
    };
    let before = |log: &Path| {
        fs::read_to_string(log).unwrap_or_default().lines().filter(|line| is_of(line, &image)).count()
    };
    let mount = Mounted::as_said(&mut command, on)?;
    let opened = before(&log);
    let file = mount.on.join(images::BIG);
    reading::sequential(&file, 128 * K)?;
    let pieces = file.metadata()?.len() as f64 / (128 * K) as f64;
    drop(mount);
    let all = fs::read_to_string(&log).context("strace wrote nothing")?;
    let calls = all.lines().filter(|line| is_of(line, &image)).count() - opened;
    Ok(vec![("reads each 128K", calls as f64 / pieces)])
}

/// Whether a line of strace is about this file. A call that was interrupted by another's line stands there twice.
fn is_of(line: &str, image: &Path) -> bool {
    !line.contains("resumed>") && line.contains(&format!("<{}>", image.display()))
}

/// Seconds that a script took; its words are $1 and so on.
fn shell(script: &str, words: &[&Path]) -> Result<f64> {
    let mut command = Command::new("bash");
    command.args(["-o", "pipefail", "-ec", script, "bench"]).args(words);
    let begun = Instant::now();
    let ended = child::run(&mut command, LIMIT)?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(ended.output.status.success(), "{script}: {}", child::printed(&ended));
    Ok(seconds)
}
