//! Longest request to a device: the kernel's limit of one command. A longer one would be split below the elevator, and
//! the counters would not match what the device got.

use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

/// ioctl: longest request of a block device, in sectors of 512 bytes.
const BLKSECTGET: libc::Ioctl = 0x1267;
/// Limit for a device that reports none.
const UNTOLD: u32 = 16 << 10;
/// Requests consist of pages, so no policy can have a smaller limit.
const PAGE: u32 = 4096;

/// The longest request under a policy that allows `wished` bytes: for a device at most its own limit. Files have no
/// limit.
pub fn held(image: &Path, wished: u32) -> u32 {
    let number = fs::metadata(image).ok().filter(|about| about.file_type().is_block_device());
    let Some(number) = number.map(|about| about.rdev()) else { return wished };
    let sys = format!("/sys/dev/block/{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
    let asked = File::open(image).ok().and_then(|device| asked(&device));
    wished.min(longest(Path::new(&sys), asked))
}

/// The smaller of what sysfs and the device report, in bytes.
fn longest(sys: &Path, asked: Option<u32>) -> u32 {
    // A partition uses the queue of its disk.
    let files = ["queue", "../queue"].map(|queue| sys.join(queue).join("max_sectors_kb"));
    let reported = files.iter().find_map(|file| fs::read_to_string(file).ok()?.trim().parse::<u32>().ok());
    let reported = reported.map(|kib| kib.saturating_mul(1024));
    let least = reported.into_iter().chain(asked).filter(|&bytes| bytes > 0).min();
    least.map_or(UNTOLD, |bytes| (bytes - bytes % PAGE).max(PAGE))
}

/// The device's limit in bytes.
fn asked(device: &File) -> Option<u32> {
    let mut sectors: libc::c_ushort = 0;
    // SAFETY: the descriptor is open, and the kernel writes an unsigned short, which lives through the call.
    let done = unsafe { libc::ioctl(device.as_raw_fd(), BLKSECTGET, &raw mut sectors) };
    (done == 0).then(|| u32::from(sectors) * 512)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_no_longer_than_the_device_takes() {
        let dir = tempfile::tempdir().unwrap();
        let disk = dir.path().join("sda");
        fs::create_dir_all(disk.join("queue")).unwrap();
        fs::create_dir_all(disk.join("sda1")).unwrap();
        let say = |kib: &str| fs::write(disk.join("queue/max_sectors_kb"), kib).unwrap();
        assert_eq!(longest(&disk, None), 16 << 10, "a device that says nothing");
        assert_eq!(longest(&disk, Some(127 << 10)), 124 << 10, "whole pages");
        say("1280\n");
        assert_eq!(longest(&disk, None), 1280 << 10);
        assert_eq!(longest(&disk, Some(0)), 1280 << 10);
        assert_eq!(longest(&disk, Some(128 << 10)), 128 << 10, "the smaller of the two");
        assert_eq!(
            longest(&disk.join("sda1"), Some(2 << 20)),
            1280 << 10,
            "a partition is a part of its disk"
        );
        say("2\n");
        assert_eq!(longest(&disk, None), 4096);
    }

    #[test]
    fn a_file_has_no_limit_of_its_own() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(held(file.path(), 16 << 20), 16 << 20);
        assert_eq!(held(Path::new("/no/such/image"), 5000), 5000);
        assert_eq!(asked(file.as_file()), None);
    }
}
