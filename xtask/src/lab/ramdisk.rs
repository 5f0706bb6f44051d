//! The guest's root: busybox, the kernel's modules, fathom, the tests and the programs they call, each with its libraries, as one
//! archive in the form that the kernel unpacks at boot.

use super::kernel::Kernel;
use super::{GuestTest, found, said};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Modules for the guest, below the kernel's directory: all of a package would be unpacked into memory at each boot.
const MODULES: [&str; 15] = [
    "arch/x86/crypto",
    "block",
    "crypto",
    "drivers/block",
    "drivers/md",
    "drivers/nvme",
    "drivers/scsi/scsi_common.ko",
    "drivers/scsi/scsi_debug.ko",
    "drivers/scsi/scsi_mod.ko",
    "drivers/scsi/sd_mod.ko",
    "drivers/virtio",
    "fs",
    "lib",
    "mm",
    "net/9p",
];

/// Makes the archive in a directory.
pub(super) fn make(dir: &Path, kernel: &Kernel, fathom: &Path, tests: &[&GuestTest]) -> Result<PathBuf> {
    let root = dir.join("root");
    for made in ["bin", "dev", "lab", "mnt", "proc", "sys", "tmp"] {
        fs::create_dir_all(root.join(made))?;
    }
    let busybox = found("busybox").context("busybox is needed")?;
    program(&root, &busybox, "busybox")?;
    program(&root, fathom, "fathom")?;
    for name in tests.iter().flat_map(|test| test.programs) {
        program(&root, &found(name).with_context(|| format!("{name} is needed"))?, name)?;
    }
    for test in tests {
        fs::write(root.join("lab").join(format!("{}.sh", test.name)), test.script)?;
    }
    fs::write(root.join("lab/functions"), include_str!("guest/functions"))?;
    fs::write(root.join("init"), include_str!("guest/init.sh"))?;
    fs::set_permissions(root.join("init"), fs::Permissions::from_mode(0o755))?;
    modules(&root, kernel)?;
    pack(&root, &busybox, &dir.join("ramdisk"))
}

/// A copy of an archive with one more file in /lab: the kernel unpacks archives that follow each other.
pub(super) fn with_file(archive: &Path, name: &str, text: &str) -> Result<PathBuf> {
    let root = archive.with_extension("more");
    fs::create_dir_all(root.join("lab"))?;
    fs::write(root.join("lab").join(name), text)?;
    let more = pack(&root, &found("busybox").context("busybox is needed")?, &archive.with_extension("part"))?;
    let both = archive.with_extension("both");
    fs::copy(archive, &both)?;
    std::io::copy(&mut File::open(more)?, &mut File::options().append(true).open(&both)?)?;
    Ok(both)
}

/// Copies a program into /bin, and its libraries to where it looks for them.
fn program(root: &Path, path: &Path, name: &str) -> Result<()> {
    fs::copy(path, root.join("bin").join(name))
        .with_context(|| format!("{} cannot be copied", path.display()))?;
    // ldd fails for a static program, which needs nothing.
    let libraries = Command::new("ldd").arg(path).stdin(Stdio::null()).output()?.stdout;
    for library in libraries_of(&String::from_utf8_lossy(&libraries)) {
        let target = root.join(library.trim_start_matches('/'));
        fs::create_dir_all(target.parent().unwrap_or(root))?;
        fs::copy(library, &target).with_context(|| format!("{library} cannot be copied"))?;
    }
    Ok(())
}

/// The paths in what ldd prints.
fn libraries_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let path = line.rsplit_once("=> ").map_or(line, |(_, path)| path);
        path.trim().split(' ').next().filter(|path| path.starts_with('/'))
    })
}

fn modules(root: &Path, kernel: &Kernel) -> Result<()> {
    let target = root.join("lib/modules").join(&kernel.version);
    for name in MODULES {
        let (from, to) = (kernel.modules.join("kernel").join(name), target.join("kernel").join(name));
        fs::create_dir_all(to.parent().unwrap_or(&target))?;
        if from.exists() {
            said(Command::new("cp").arg("-r").arg(from).arg(to))?;
        }
    }
    for list in ["modules.order", "modules.builtin"] {
        fs::copy(kernel.modules.join(list), target.join(list))
            .with_context(|| format!("{list} cannot be copied"))?;
    }
    let depmod = found("depmod").context("depmod is needed")?;
    said(Command::new(depmod).arg("-b").arg(root).arg(&kernel.version)).map(drop)
}

/// Packs a directory.
fn pack(root: &Path, busybox: &Path, archive: &Path) -> Result<PathBuf> {
    let list = said(Command::new("find").arg(".").current_dir(root))?;
    let names = root.with_extension("list");
    fs::write(&names, list)?;
    let mut command = Command::new(busybox);
    // The guest is root, who trusts no directory of the user that packed them.
    command.args(["cpio", "-o", "-H", "newc", "-R", "0:0"]).current_dir(root);
    command.stdin(File::open(names)?).stdout(File::create(archive)?).stderr(Stdio::null());
    if !command.status().context("busybox could not be started")?.success() {
        bail!("busybox cpio could not pack {}", root.display());
    }
    Ok(archive.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_those_with_a_path() {
        let text = "\tlinux-vdso.so.1 (0x7fff)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x7f12)\n\t/lib64/ld-linux-x86-64.so.2 (0x7f34)\n\tlibno.so => not found\n";
        assert_eq!(
            libraries_of(text).collect::<Vec<_>>(),
            ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"]
        );
        assert_eq!(libraries_of("\tnot a dynamic executable\n").count(), 0);
    }
}
