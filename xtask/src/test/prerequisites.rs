//! What the tests need beside Rust: programs and tracefs, looked for, installed where that is possible without a question (root or passwordless sudo,
//! and apt-get), otherwise named with the line to type and the tests that will skip. A missing tool is never a failure; a
//! missing rustfmt or clippy is, because the steps after this one need them.

use crate::steps::{cargo, succeeds};
use anyhow::Result;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program some tests need.
struct Tool {
    /// Any of these will do.
    programs: &'static [&'static str],
    /// Debian's package.
    package: &'static str,
    /// What skips without it.
    tests: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool {
        programs: &["mkfs.ext4"],
        package: "e2fsprogs",
        tests: "tests on an ext4 loop device (full disk, read-only, kill tests)",
    },
    Tool { programs: &["mkfs.xfs"], package: "xfsprogs", tests: "tests on an XFS loop device" },
    Tool { programs: &["losetup"], package: "mount", tests: "tests on any loop device" },
    Tool { programs: &["mkfs.btrfs"], package: "btrfs-progs", tests: "tests on a Btrfs loop device" },
    Tool {
        programs: &["blktrace"],
        package: "blktrace",
        tests: "tests that see and print requests as blktrace does",
    },
    Tool { programs: &["fuseiso"], package: "fuseiso", tests: "tests on a file system of a program" },
    Tool {
        programs: &["fusermount3", "fusermount"],
        package: "fuse3",
        tests: "tests of an image mounted by an ordinary user",
    },
    Tool { programs: &["genisoimage"], package: "genisoimage", tests: "tests that read its ISO 9660 images" },
    Tool { programs: &["xorriso"], package: "xorriso", tests: "tests that read its ISO 9660 images" },
    Tool { programs: &["fio"], package: "fio", tests: "tests that run fio beside ours" },
    Tool {
        programs: &["bc"],
        package: "bc",
        tests: "tests of sums in job files, for which fio itself calls it",
    },
    Tool { programs: &["sysbench"], package: "sysbench", tests: "tests that run SysBench beside ours" },
    Tool { programs: &["strace"], package: "strace", tests: "tests of the order of system calls" },
    Tool {
        programs: &["chromium", "chromium-browser", "google-chrome"],
        package: "chromium",
        tests: "tests that open the HTML page in a browser",
    },
    Tool {
        programs: &["sqlite3"],
        package: "sqlite3",
        tests: "tests that read the store with SQLite's own shell",
    },
    Tool {
        programs: &["valgrind"],
        package: "valgrind",
        tests: "tests that count the instructions of an operation",
    },
    Tool { programs: &["git"], package: "git", tests: "`cargo xtask fresh`" },
];

/// Parts of the Rust toolchain that a minimal rustup profile leaves out.
const COMPONENTS: [(&str, &str); 2] = [("fmt", "rustfmt"), ("clippy", "clippy")];

/// Looks, installs if allowed and possible, reports. Fails only if rustfmt or clippy cannot be had.
pub(crate) fn provide(no_install: bool) -> Result<bool> {
    provide_tools(no_install);
    provide_tracefs(no_install);
    provide_components(no_install)
}

fn provide_tools(no_install: bool) {
    let wanted = missing(TOOLS, is_installed);
    if wanted.is_empty() {
        return;
    }
    if !no_install && let Some(apt) = Apt::usable() {
        apt.install(&packages(&wanted));
    }
    let still = missing(TOOLS, is_installed);
    if !still.is_empty() {
        eprint!("{}", report(&still));
    }
}

/// Where the kernel exposes block events. A minimal system does not mount it at boot.
const TRACEFS: &str = "/sys/kernel/tracing";

/// Mounts tracefs if it is missing and we are root. Without it, tests of block events are skipped.
fn provide_tracefs(no_install: bool) {
    if no_install || !is_root() || Path::new(TRACEFS).join("events").exists() || !Path::new(TRACEFS).exists()
    {
        return;
    }
    eprintln!("mounting tracefs on {TRACEFS}");
    if !succeeds(Command::new("mount").args(["-t", "tracefs", "tracefs", TRACEFS])).unwrap_or(false) {
        eprintln!("warning: tracefs could not be mounted; tests of block events will skip");
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}

fn missing(tools: &[Tool], installed: impl Fn(&str) -> bool) -> Vec<&Tool> {
    tools.iter().filter(|tool| !tool.programs.iter().any(|program| installed(program))).collect()
}

fn packages(tools: &[&Tool]) -> Vec<&'static str> {
    tools.iter().map(|tool| tool.package).collect()
}

/// What is missing, what skips without it, and the line to type.
fn report(tools: &[&Tool]) -> String {
    let mut text = String::new();
    for tool in tools {
        let (program, package) = (tool.programs[0], tool.package);
        text += &format!(
            "warning: {program} (package {package}) is not installed; these will skip: {}\n",
            tool.tests
        );
    }
    let packages = packages(tools).join(" ");
    text += &format!(
        "to have them: sudo apt-get update && sudo apt-get install --no-install-recommends {packages}\n"
    );
    text
}

/// On PATH, or in the sbin directories, which Debian leaves out of an ordinary user's PATH.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let sbin = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(sbin).any(|dir| dir.join(program).is_file())
}

/// A way to call apt-get without being asked anything.
struct Apt {
    through_sudo: bool,
}

impl Apt {
    fn usable() -> Option<Self> {
        if !is_installed("apt-get") {
            return None;
        }
        let root = is_root();
        (root || passwordless_sudo()).then_some(Self { through_sudo: !root })
    }

    fn command(&self) -> Command {
        // `env` goes inside sudo, which drops the caller's environment.
        let words: &[&str] = if self.through_sudo { &["sudo", "-n", "env"] } else { &["env"] };
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet", "--yes"]);
        for setting in
            ["DPkg::Lock::Timeout=120", "Acquire::Retries=2", "Acquire::http::Timeout=30", "Dpkg::Use-Pty=0"]
        {
            command.args(["-o", setting]);
        }
        // apt's chatter is progress, and stdout is for the tests.
        command.stdin(Stdio::null()).stdout(std::io::stderr());
        command
    }

    /// All at once, and if that fails one by one, so that one package that cannot be had does not take the others along.
    fn install(&self, packages: &[&str]) {
        eprintln!("installing {}", packages.join(" "));
        self.get(&["update"]);
        if self.get(&[&["install", "--no-install-recommends"], packages].concat()) || packages.len() == 1 {
            return;
        }
        for package in packages {
            self.get(&["install", "--no-install-recommends", package]);
        }
    }

    fn get(&self, args: &[&str]) -> bool {
        let done = succeeds(self.command().args(args)).unwrap_or(false);
        if !done {
            eprintln!("warning: apt-get {} failed", args.join(" "));
        }
        done
    }
}

fn passwordless_sudo() -> bool {
    let tried = Command::new("sudo")
        .args(["-n", "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// rustfmt and clippy, added through rustup if they are missing.
fn provide_components(no_install: bool) -> Result<bool> {
    let mut good = true;
    for (subcommand, component) in COMPONENTS {
        if has_component(subcommand) {
            continue;
        }
        let mut add = Command::new("rustup");
        add.args(["component", "add", component]).stdin(Stdio::null());
        let tried = !no_install && succeeds(&mut add).unwrap_or(false);
        if !tried || !has_component(subcommand) {
            eprintln!("cargo {subcommand} is missing. Type: rustup component add {component}");
            good = false;
        }
    }
    Ok(good)
}

fn has_component(subcommand: &str) -> bool {
    let mut ask = cargo(Path::new("."));
    ask.args([subcommand, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    ask.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_reported_when_all_is_there() {
        assert!(missing(TOOLS, |_| true).is_empty());
    }

    #[test]
    fn one_of_several_programs_is_enough() {
        let left = missing(TOOLS, |program| program == "google-chrome");
        assert_eq!(left.len(), TOOLS.len() - 1);
        assert!(!packages(&left).contains(&"chromium"));
    }

    #[test]
    fn a_report_names_package_tests_and_the_line_to_type() {
        let left = missing(TOOLS, |program| program != "strace" && program != "sqlite3");
        let text = report(&left);
        assert!(text.contains("strace (package strace)") && text.contains("order of system calls"), "{text}");
        assert!(text.ends_with("apt-get install --no-install-recommends strace sqlite3\n"), "{text}");
    }

    #[test]
    fn programs_are_found() {
        assert!(is_installed("sh") && !is_installed("no-such-program-anywhere"));
    }
}
