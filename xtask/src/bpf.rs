//! `cargo xtask bpf`: compiles the programs that run in the kernel. What comes out is committed, so that building fathom needs no
//! compiler for BPF; tests of `fathom-observe` fail where it is older than its source.

use anyhow::{Context as _, Result, ensure};
use std::path::Path;
use std::process::Command;

/// Directories and the names of their sources without `.bpf.c`.
const SOURCES: [(&str, &str); 2] =
    [("crates/observe/src/block/bpf", "requests"), ("crates/observe/src/stacks", "sleeps")];

/// Compiles the sources, with `$CLANG` and `$LLVM_STRIP` or what is in the path.
pub fn run(root: &Path) -> Result<()> {
    SOURCES.iter().try_for_each(|(dir, name)| one(&root.join(dir), name))
}

fn one(dir: &Path, name: &str) -> Result<()> {
    let (source, object) = (format!("{name}.bpf.c"), format!("{name}.bpf.o"));
    let tool = |variable: &str, usual: &str| std::env::var(variable).unwrap_or_else(|_| usual.into());
    let clang = tool("CLANG", "clang");
    // Where Debian keeps <asm/types.h>.
    let include = format!("-I/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    let target = format!("-D__TARGET_ARCH_{}", if cfg!(target_arch = "aarch64") { "arm64" } else { "x86" });
    let compile = ["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror", &target, &include];
    let files = ["-c", &source, "-o", &object];
    ran(Command::new(&clang).args(compile).args(files).current_dir(dir), "clang and libbpf-dev are needed")?;
    let strip = tool("LLVM_STRIP", "llvm-strip");
    ran(Command::new(&strip).args(["-g", &object]).current_dir(dir), "llvm is needed")?;
    let sum = Command::new("sha256sum").arg(&source).current_dir(dir).output()?;
    ensure!(sum.status.success(), "sha256sum: {}", String::from_utf8_lossy(&sum.stderr));
    let text = String::from_utf8(sum.stdout)?;
    let hash = text.split_whitespace().next().context("sha256sum printed nothing")?;
    std::fs::write(dir.join(format!("{name}.bpf.sha256")), format!("{hash}\n"))?;
    Ok(())
}

fn ran(command: &mut Command, needed: &str) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("{name} could not be started: {needed}"))?;
    ensure!(status.success(), "{name} failed: {needed}");
    Ok(())
}
