//! Converts file attributes and this crate's errors to those of the FUSE protocol.

use crate::error::Error;
use crate::format::date::Date;
use crate::node::{Kind, Node};
use fuser::{Errno, FileAttr, FileType, INodeNo};
use std::time::{Duration, SystemTime};

pub(super) fn kind_of(node: &Node) -> FileType {
    match node.kind() {
        Kind::File => FileType::RegularFile,
        Kind::Directory => FileType::Directory,
        Kind::Link => FileType::Symlink,
        Kind::CharDevice => FileType::CharDevice,
        Kind::BlockDevice => FileType::BlockDevice,
        Kind::Fifo => FileType::NamedPipe,
        Kind::Socket => FileType::Socket,
    }
}

pub(super) fn attributes(number: u64, node: &Node) -> FileAttr {
    let times = node.times();
    // The kernel rejects larger sizes, and the whole directory with them.
    let size = node.size().min(i64::MAX.unsigned_abs());
    FileAttr {
        ino: INodeNo(number),
        size,
        blocks: size.div_ceil(512),
        atime: time_of(times.accessed, times.modified),
        mtime: time_of(times.modified, times.modified),
        ctime: time_of(times.changed, times.modified),
        crtime: time_of(times.created, times.modified),
        kind: kind_of(node),
        perm: u16::try_from(node.mode() & 0o7777).unwrap_or(0),
        nlink: node.links(),
        uid: node.uid(),
        gid: node.gid(),
        rdev: device_of(node.device()),
        blksize: 4096,
        flags: 0,
    }
}

/// Major and minor as the kernel packs them into 32 bits.
fn device_of((major, minor): (u32, u32)) -> u32 {
    (minor & 0xff) | ((major & 0xfff) << 8) | ((minor & 0xfff00) << 12)
}

/// A date; if it is unset, another one, or 1970.
fn time_of(date: Date, otherwise: Date) -> SystemTime {
    let Some(moment) = date.moment().or_else(|| otherwise.moment()) else { return SystemTime::UNIX_EPOCH };
    let seconds = Duration::from_secs(moment.seconds.unsigned_abs());
    let whole = if moment.seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(seconds)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(seconds)
    };
    whole
        .and_then(|at| at.checked_add(Duration::from_nanos(moment.nanos.into())))
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

pub(super) fn errno_of(error: &Error) -> Errno {
    match error {
        Error::Loop { .. } => Errno::ELOOP,
        Error::Unsupported { .. } => Errno::EOPNOTSUPP,
        Error::Kind { .. } => Errno::EINVAL,
        Error::Limit { .. } => Errno::EFBIG,
        Error::Io { .. } | Error::Volume { .. } | Error::Strict(_) | Error::Data { .. } => Errno::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;
    use crate::format::date::Moment;

    #[test]
    fn device_numbers_are_packed_as_the_kernel_unpacks_them() {
        assert_eq!(device_of((1, 3)), 0x103);
        // 20 bits of minor, 12 of major: the low byte of the minor first, the rest above the major.
        assert_eq!(device_of((0xfff, 0xfffff)), u32::MAX);
        assert_eq!(device_of((8, 0x100)), 0x10_0800);
    }

    #[test]
    fn dates_that_are_unset_are_the_files_own_or_1970() {
        let date = Date::Exact(Moment { seconds: 10, nanos: 5 });
        let at = |seconds, nanos| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos);
        assert_eq!(time_of(date, Date::Unset), at(10, 5));
        assert_eq!(time_of(Date::Unset, date), at(10, 5));
        assert_eq!(time_of(Date::Unset, Date::Unset), SystemTime::UNIX_EPOCH);
    }

    #[test]
    fn errors_have_the_numbers_of_a_mount() {
        let at = Place { lbn: 0, offset: 0 };
        assert_eq!(errno_of(&Error::Loop { at }), Errno::ELOOP);
        assert_eq!(errno_of(&Error::Data { at, what: String::new() }), Errno::EIO);
        assert_eq!(errno_of(&Error::Unsupported { at, what: String::new() }), Errno::EOPNOTSUPP);
    }
}
