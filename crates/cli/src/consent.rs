//! What may be written although fathom did not make it and no option names it: paths in the environment variable, and
//! blank disks.

use glob::{MatchOptions, Pattern};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path};
use std::process::{Command, Stdio};

/// `PATH[:PATH...]`; each may be a pattern such as `/dev/loop*`.
const VARIABLE: &str = "FATHOM_ALLOW_WRITE";
/// A star matches part of one path component.
const MATCH: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// Whether the environment allows writing a path.
pub fn is_in_the_environment(path: &Path) -> bool {
    let Some(allowed) = std::env::var_os(VARIABLE) else { return false };
    let path = fathom_state::absolute(path);
    // It would lead out of the pattern's directory.
    if path.components().any(|part| part == Component::ParentDir) {
        return false;
    }
    std::env::split_paths(&allowed).filter(|one| !one.as_os_str().is_empty()).any(|one| {
        let one = fathom_state::absolute(&one);
        let pattern =
            one.to_str().filter(|text| !text.contains("**")).and_then(|text| Pattern::new(text).ok());
        one == path || pattern.is_some_and(|pattern| pattern.matches_path_with(&path, MATCH))
    })
}

/// Where distributions install blkid; a look-up by name could find another program.
const PROBES: [&str; 4] = ["/usr/sbin/blkid", "/sbin/blkid", "/usr/bin/blkid", "/bin/blkid"];
/// blkid's exit code if it finds nothing it knows.
const NOTHING_KNOWN: i32 = 2;
/// Signatures lie in the first and last bytes of a device.
const EDGE: u64 = 2 << 20;

/// Whether a block device is a disk without a signature that libblkid knows (partition table, file system, part of a
/// RAID or LVM, swap), is neither a partition nor a logical volume, and is not in use. Data without a signature is not
/// detected. If blkid is unavailable, nothing counts as blank.
pub fn is_blank_device(path: &Path) -> bool {
    is_a_disk(path) && can_be_read(path).is_ok() && has_no_signature(path)
}

/// Excludes logical volumes and opened dm-crypt devices, which often hold data without a signature.
fn is_a_disk(path: &Path) -> bool {
    let about = path.symlink_metadata().ok().filter(|about| about.file_type().is_block_device());
    about.is_some_and(|about| {
        let (major, minor) = (rustix::fs::major(about.rdev()), rustix::fs::minor(about.rdev()));
        let sys = format!("/sys/dev/block/{major}:{minor}");
        let has = |name: &str| Path::new(&sys).join(name).exists();
        Path::new(&sys).exists() && !has("dm") && !has("partition")
    })
}

/// Checks that the device is not mounted, used as swap or below another device, and is readable at both ends: blkid
/// finds nothing on what it cannot read.
fn can_be_read(path: &Path) -> std::io::Result<()> {
    let flags = libc::O_EXCL | libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let mut device = std::fs::File::options().read(true).custom_flags(flags).open(path)?;
    let end = device.seek(SeekFrom::End(0))?;
    let mut edge = vec![0; end.min(EDGE) as usize];
    for from in [0, end.saturating_sub(EDGE)] {
        let _ = device.seek(SeekFrom::Start(from))?;
        device.read_exact(&mut edge)?;
    }
    Ok(())
}

fn has_no_signature(path: &Path) -> bool {
    let Some(probe) = PROBES.iter().find(|probe| Path::new(probe).exists()) else { return false };
    let asked = Command::new(probe)
        .arg("--probe")
        .arg(path)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .env_clear()
        .output();
    asked.is_ok_and(|output| output.status.code() == Some(NOTHING_KNOWN) && output.stdout.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_blank_device() {
        assert!(!is_blank_device(Path::new("/dev/null")));
        assert!(!is_blank_device(Path::new("/etc/passwd")));
        assert!(!is_blank_device(Path::new("/dev/none")));
    }
}
