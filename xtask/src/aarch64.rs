//! `cargo xtask aarch64`: tests the simulator on a second architecture. It cross-compiles the tests that compare the simulator's
//! output with hashes and runs them in qemu's user emulation. The hashes are part of the source, so the tests fail unless both
//! architectures produce the same bytes.

use crate::steps::{cargo, succeeds};
use anyhow::{Result, bail};
use std::path::Path;
use std::process::{Command, Stdio};

const TARGET: &str = "aarch64-unknown-linux-gnu";
/// Compiler, emulator and libraries of the target, from Debian's gcc-aarch64-linux-gnu and qemu-user-static.
const GCC: &str = "aarch64-linux-gnu-gcc";
const QEMU: &str = "qemu-aarch64-static";
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";
/// Crates, and the tests of each to run.
const TESTS: [(&str, &str); 1] = [("fathom-sim", "unchanged")];

/// Compiles and runs the tests. Returns whether every hash matches.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let mut missing: Vec<String> = [(GCC, "gcc-aarch64-linux-gnu"), (QEMU, "qemu-user-static")]
        .into_iter()
        .filter(|(program, _)| !answers(program))
        .map(|(_, package)| format!("apt install {package}"))
        .collect();
    if !has_target() {
        missing.push(format!("rustup target add {TARGET}"));
    }
    if !missing.is_empty() {
        bail!(
            "`aarch64` compiles for another architecture and emulates it; it needs: {}",
            missing.join("; ")
        );
    }
    let mut good = true;
    for (package, test) in TESTS {
        let mut command = cargo(root);
        command.args(["test", "--package", package, "--test", test, "--target", TARGET]);
        command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", GCC);
        command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", format!("{QEMU} -L {LIBRARIES}"));
        command.env("CC_aarch64_unknown_linux_gnu", GCC);
        good &= succeeds(&mut command)?;
    }
    Ok(good)
}

fn answers(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Whether the compiler has the standard library of the target.
fn has_target() -> bool {
    let asked = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    asked.is_ok_and(|out| Path::new(String::from_utf8_lossy(&out.stdout).trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_does_not_answer() {
        assert!(answers("rustc") && !answers("no-such-program-of-fathom"));
    }
}
