//! Character devices without contents: data written to `/dev/null`, `/dev/zero` and `/dev/full` are discarded, so any user may
//! work on them, and they have any requested size. Other character devices are refused: writing to one may do anything.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

/// Major number of the kernel's memory devices.
const MAJOR: u32 = 1;
/// Minor numbers of null, zero and full.
const MINORS: [u32; 3] = [3, 5, 7];

/// Whether it is one of them, by its number, as the name proves nothing.
#[must_use]
pub fn is_bottomless(found: &Metadata) -> bool {
    let number = found.rdev();
    found.file_type().is_char_device()
        && libc::major(number) == MAJOR
        && MINORS.contains(&libc::minor(number))
}

#[cfg(test)]
mod tests {
    use super::is_bottomless;

    #[test]
    fn devices_are_recognized_by_number() {
        let is = |path: &str| std::fs::metadata(path).map(|found| is_bottomless(&found)).ok();
        for device in ["/dev/null", "/dev/zero", "/dev/full"] {
            assert_ne!(is(device), Some(false), "{device}");
        }
        for other in ["/dev/random", "/dev/urandom", "/dev/tty", "/dev/kmsg", "/dev", "/proc/self/exe"] {
            assert_ne!(is(other), Some(true), "{other}");
        }
    }
}
