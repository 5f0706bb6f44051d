//! `cargo xtask bpf`: compiles the programs that count requests in the kernel. What comes out is committed, so that building fathom
//! needs no compiler for BPF; a test of `fathom-observe` fails where it is older than its source.

use anyhow::{Context as _, Result, ensure};
use std::path::Path;
use std::process::Command;

const DIR: &str = "crates/observe/src/block/bpf";

/// Compiles `requests.bpf.c`, with `$CLANG` and `$LLVM_STRIP` or what is in the path.
pub fn run(root: &Path) -> Result<()> {
    let dir = root.join(DIR);
    let tool = |variable: &str, usual: &str| std::env::var(variable).unwrap_or_else(|_| usual.into());
    let clang = tool("CLANG", "clang");
    // Where Debian keeps <asm/types.h>.
    let include = format!("-I/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    let target = format!("-D__TARGET_ARCH_{}", if cfg!(target_arch = "aarch64") { "arm64" } else { "x86" });
    let compile = ["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror", &target, &include];
    let files = ["-c", "requests.bpf.c", "-o", "requests.bpf.o"];
    ran(Command::new(&clang).args(compile).args(files).current_dir(&dir), "clang and libbpf-dev are needed")?;
    let strip = tool("LLVM_STRIP", "llvm-strip");
    ran(Command::new(&strip).args(["-g", "requests.bpf.o"]).current_dir(&dir), "llvm is needed")?;
    let sum = Command::new("sha256sum").arg("requests.bpf.c").current_dir(&dir).output()?;
    ensure!(sum.status.success(), "sha256sum: {}", String::from_utf8_lossy(&sum.stderr));
    let text = String::from_utf8(sum.stdout)?;
    let hash = text.split_whitespace().next().context("sha256sum printed nothing")?;
    std::fs::write(dir.join("requests.bpf.sha256"), format!("{hash}\n"))?;
    Ok(())
}

fn ran(command: &mut Command, needed: &str) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("{name} could not be started: {needed}"))?;
    ensure!(status.success(), "{name} failed: {needed}");
    Ok(())
}
