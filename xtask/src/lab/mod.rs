//! `cargo xtask lab`: fathom on devices and kernels that this machine does not have. Boots Debian's kernel in QEMU with an initial RAM
//! disk of busybox, the kernel's modules, fathom and the guest's tests (guest/*.sh), and reports how each ended. QEMU emulates
//! (`-accel tcg`), so function, order and counts mean something there, but times do not. Nothing is left on the host but the kernel in
//! the cache.

mod boot;
mod cuts;
mod kernel;
mod ramdisk;
mod table;

use crate::steps::{Steps, cargo, succeeds, target_directory};
use anyhow::{Context, Result, bail};
use boot::Outcome;
use kernel::Kernel;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A test that runs in the guest.
struct GuestTest {
    name: &'static str,
    script: &'static str,
    /// Programs of the host that it calls besides busybox.
    programs: &'static [&'static str],
}

const TESTS: [GuestTest; 11] = [
    GuestTest { name: "boot", script: include_str!("guest/boot.sh"), programs: &[] },
    GuestTest { name: "nvme", script: include_str!("guest/nvme.sh"), programs: &["mkfs.ext4"] },
    GuestTest { name: "commands", script: include_str!("guest/commands.sh"), programs: &["fio"] },
    GuestTest { name: "dm", script: include_str!("guest/dm.sh"), programs: &["mkfs.ext4", "dmsetup"] },
    GuestTest { name: "lost", script: include_str!("guest/lost.sh"), programs: &["mkfs.ext4", "dmsetup"] },
    GuestTest { name: "md", script: include_str!("guest/md.sh"), programs: &["mkfs.ext4", "mdadm"] },
    GuestTest { name: "tcp", script: include_str!("guest/tcp.sh"), programs: &["mkfs.ext4"] },
    GuestTest { name: "zram", script: include_str!("guest/zram.sh"), programs: &["mkfs.ext4"] },
    GuestTest { name: "zoned", script: include_str!("guest/zoned.sh"), programs: &["fio"] },
    GuestTest { name: "scsi", script: include_str!("guest/scsi.sh"), programs: &["mkfs.ext4"] },
    GuestTest {
        name: "filesystems",
        script: include_str!("guest/filesystems.sh"),
        programs: &["mkfs.f2fs", "mkfs.btrfs", "mkfs.xfs"],
    },
];

/// Runs only if it is named, because it boots again and again.
const CUT: GuestTest =
    GuestTest { name: "cut", script: include_str!("guest/cut.sh"), programs: &["mkfs.ext4"] };
/// How often it cuts the power unless told otherwise.
const CUTS: u32 = 5;

/// Size of the guest's NVMe disk.
const DISK_BYTES: u64 = 1 << 30;

/// What the host needs, with Debian's packages.
const NEEDED: [(&str, &str); 5] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("busybox", "busybox"),
    ("depmod", "kmod"),
    ("dpkg-deb", "dpkg"),
    ("apt-get", "apt"),
];

/// What to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Names of tests; empty for all.
    tests: Vec<String>,
    /// The fathom to test; else the release build is made.
    binary: Option<PathBuf>,
    /// How many power cuts to survive.
    cuts: Option<u32>,
    /// Whether every part of fathom runs on every kind of device.
    table: bool,
}

impl Options {
    pub(crate) fn parse(args: &[String]) -> std::result::Result<Self, String> {
        let mut options = Self::default();
        let mut words = args.iter();
        let (mut cut, mut times) = (false, None);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--binary" => options.binary = Some(words.next().ok_or("`--binary` takes a path.")?.into()),
                "--times" => {
                    let number = words.next().and_then(|word| word.parse().ok()).filter(|number| *number > 0);
                    times = Some(number.ok_or("`--times` takes a number of power cuts, 1 or more.")?);
                }
                "--table" => options.table = true,
                name if name == CUT.name => cut = true,
                name if TESTS.iter().any(|test| test.name == name) => options.tests.push(name.into()),
                other => {
                    let names: Vec<&str> = TESTS.iter().map(|test| test.name).collect();
                    return Err(format!(
                        "`lab` takes --binary PATH, --table and tests ({}, or cut with --times N), not {other:?}.",
                        names.join(", ")
                    ));
                }
            }
        }
        if times.is_some() && !cut {
            return Err("`--times` belongs to the test `cut`.".into());
        }
        if cut && (options.table || !options.tests.is_empty()) {
            return Err("`cut` boots again and again, and runs alone.".into());
        }
        options.cuts = cut.then_some(times.unwrap_or(CUTS));
        Ok(options)
    }
}

/// Boots the guest and runs the tests; whether all passed.
pub(crate) fn run(root: &Path, options: &Options) -> Result<bool> {
    let missing = missing_packages();
    if !missing.is_empty() {
        bail!("`lab` emulates a machine; it needs: apt install {}", missing.join(" "));
    }
    let mut steps = Steps::default();
    let mut kernel = None;
    steps.take("kernel", || {
        kernel = Some(Kernel::cached()?);
        Ok(true)
    });
    let Some(kernel) = kernel else { return Ok(false) };
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => {
            let mut build = cargo(root);
            build.args(["build", "--release", "--package", "fathom"]);
            if !steps.take("fathom", || succeeds(&mut build)) {
                return Ok(false);
            }
            target_directory(root).join("release/fathom")
        }
    };
    let dir = tempfile::tempdir()?;
    let disk = disk_in(dir.path())?;
    if let Some(times) = options.cuts {
        return Ok(steps.take(&format!("{times} power cuts ({})", kernel.version), || {
            let ramdisk = ramdisk::make(dir.path(), &kernel, &binary, &[&CUT])?;
            cuts::run(&kernel, &ramdisk, &disk, times)
        }));
    }
    let (mut tests, mut skipped) = (Vec::new(), Vec::new());
    for test in TESTS.iter().filter(|t| options.tests.is_empty() || options.tests.iter().any(|n| n == t.name))
    {
        match test.programs.iter().find(|program| found(program).is_none()) {
            Some(program) => skipped.push(format!("SKIPPED {}: needs {program}", test.name)),
            None => tests.push(test),
        }
    }
    let mut outcome = Outcome::default();
    steps.take(&format!("guest ({})", kernel.version), || {
        let mut ramdisk = ramdisk::make(dir.path(), &kernel, &binary, &tests)?;
        if options.table {
            ramdisk = ramdisk::with_file(&ramdisk, "table", "")?;
        }
        outcome = boot::run(&kernel, &ramdisk, &disk)?;
        Ok(true)
    });
    print!("{}", outcome.table.markdown());
    let mut good = steps.failed().is_empty() && outcome.table.good();
    for test in tests {
        let code = outcome.ended.iter().find(|(name, _)| name == test.name).map(|(_, code)| *code);
        good &= code == Some(0);
        println!("{} {}", if code == Some(0) { "ok    " } else { "FAILED" }, test.name);
    }
    skipped.iter().for_each(|line| println!("{line}"));
    Ok(good)
}

/// Packages of which the host needs a program.
fn missing_packages() -> Vec<&'static str> {
    NEEDED.iter().filter(|(program, _)| found(program).is_none()).map(|(_, package)| *package).collect()
}

/// A file that is the guest's NVMe disk.
fn disk_in(dir: &Path) -> Result<PathBuf> {
    let disk = dir.join("nvme");
    File::create(&disk)?.set_len(DISK_BYTES)?;
    Ok(disk)
}

/// The path of a program.
fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    // Administrators' programs are not in every user's path.
    let dirs = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    dirs.map(|dir| dir.join(program)).find(|path| path.is_file())
}

/// What a command printed; an error if it failed.
fn said(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out =
        command.stdin(Stdio::null()).output().with_context(|| format!("{name} could not be started"))?;
    if !out.status.success() {
        bail!("{name}: {}", String::from_utf8_lossy(&out.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> std::result::Result<Options, String> {
        Options::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn tests_are_named() {
        let options = parse("nvme --binary x boot").unwrap();
        let tests = vec!["nvme".into(), "boot".into()];
        assert_eq!(options, Options { tests, binary: Some("x".into()), cuts: None, table: false });
        assert!(parse("dm --table").unwrap().table);
        assert_eq!(parse("cut").unwrap().cuts, Some(CUTS));
        assert_eq!(parse("cut --times 200").unwrap().cuts, Some(200));
        for wrong in ["cut --times no", "cut --times 0", "--times 3", "nvme cut", "cut --table"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse("nvm").unwrap_err().contains("boot, nvme, commands, dm"));
        assert!(parse("--binary").is_err());
    }

    /// Smoke test: the kernel boots, and fathom runs there.
    #[test]
    fn fathom_runs_in_the_guest() {
        let skip = |reason: &str| fathom_testkit::skip("fathom_runs_in_the_guest", reason);
        let missing = missing_packages();
        if !missing.is_empty() {
            return skip(&format!("needs {}", missing.join(", ")));
        }
        let Some(kernel) = Kernel::in_cache() else {
            return skip("the kernel is not in the cache; `cargo xtask lab boot` fetches it");
        };
        // Built by the other steps of `cargo xtask test`; alone, it may be older than the source.
        let binary =
            target_directory(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()).join("debug/fathom");
        if !binary.is_file() {
            return skip("fathom is not built");
        }
        let dir = fathom_testkit::TestDir::new();
        let ramdisk = ramdisk::make(dir.path(), &kernel, &binary, &[&TESTS[0]]).unwrap();
        let outcome = boot::run(&kernel, &ramdisk, &disk_in(dir.path()).unwrap()).unwrap();
        assert_eq!(outcome.ended, [("boot".to_owned(), 0)]);
    }

    #[test]
    fn a_failed_program_is_an_error() {
        assert!(said(Command::new("ls").arg("/no/such/directory")).is_err());
        assert!(found("sh").is_some() && found("no-such-program-of-fathom").is_none());
    }
}
