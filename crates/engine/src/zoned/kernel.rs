//! What the kernel says about a zoned block device (linux/blkzoned.h), and resetting its zones.

use rustix::io::Errno;
use rustix::ioctl::opcode;
use std::fs::File;
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Bytes of a sector in all of these calls.
const SECTOR: u64 = 512;
/// Zones asked for at a time.
const CHUNK: u32 = 512;
/// BLK_ZONE_REP_CAPACITY: the report has the writable part of each zone.
const HAS_CAPACITY: u32 = 1;
/// BLK_ZONE_TYPE_CONVENTIONAL.
const CONVENTIONAL: u8 = 1;

const REPORT: rustix::ioctl::Opcode = opcode::read_write::<[u64; 2]>(0x12, 130);
const RESET: rustix::ioctl::Opcode = opcode::write::<[u64; 2]>(0x12, 131);
const COUNT: rustix::ioctl::Opcode = opcode::read::<u32>(0x12, 133);

/// `struct blk_zone`.
#[repr(C)]
#[derive(Clone, Copy)]
struct KernelZone {
    start: u64,
    length: u64,
    write_pointer: u64,
    kind: u8,
    condition: u8,
    non_sequential: u8,
    needs_reset: u8,
    reserved: [u8; 4],
    capacity: u64,
    reserved_too: [u8; 24],
}

const NONE: KernelZone = KernelZone {
    start: 0,
    length: 0,
    write_pointer: 0,
    kind: 0,
    condition: 0,
    non_sequential: 0,
    needs_reset: 0,
    reserved: [0; 4],
    capacity: 0,
    reserved_too: [0; 24],
};

/// `struct blk_zone_report` with room for zones.
#[repr(C)]
struct Report {
    sector: u64,
    zones: u32,
    flags: u32,
    all: [KernelZone; CHUNK as usize],
}

/// A zone. Positions are in bytes from the start of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    pub start: u64,
    /// The start of the next zone.
    pub end: u64,
    /// The end of the part that can be written.
    pub full: u64,
    /// Whether it is written in order; else anywhere.
    pub in_order: bool,
}

/// The zones of a device with their write pointers; none if it is not zoned.
pub(super) fn zones(device: &File) -> Result<Vec<(Zone, u64)>, Errno> {
    let mut count = 0_u32;
    // SAFETY: this ioctl writes an u32.
    let known = unsafe { libc::ioctl(device.as_raw_fd(), COUNT as _, &raw mut count) } == 0;
    let mut zones = Vec::new();
    if !known {
        return Ok(zones);
    }
    let mut report = Box::new(Report { sector: 0, zones: 0, flags: 0, all: [NONE; CHUNK as usize] });
    while zones.len() < count as usize {
        report.zones = CHUNK;
        // SAFETY: the report has room for the zones that it asks for.
        if unsafe { libc::ioctl(device.as_raw_fd(), REPORT as _, &raw mut *report) } != 0 {
            return Err(last_error());
        }
        let found = &report.all[..report.zones.min(CHUNK) as usize];
        let Some(last) = found.last() else { break };
        let next = last.start.saturating_add(last.length);
        zones.extend(found.iter().map(|zone| zone_of(zone, report.flags & HAS_CAPACITY != 0)));
        if next <= report.sector {
            break;
        }
        report.sector = next;
    }
    Ok(zones)
}

fn zone_of(zone: &KernelZone, has_capacity: bool) -> (Zone, u64) {
    let bytes = |sectors: u64| sectors.saturating_mul(SECTOR);
    let start = bytes(zone.start);
    let end = start.saturating_add(bytes(zone.length));
    let full = if has_capacity { start.saturating_add(bytes(zone.capacity)) } else { end };
    let in_order = zone.kind != CONVENTIONAL;
    // The write pointer of a full zone is not defined.
    let pointer = bytes(zone.write_pointer);
    let pointer = if (start..=full).contains(&pointer) && in_order { pointer } else { full };
    (Zone { start, end, full, in_order }, pointer)
}

/// Makes a zone empty.
pub(super) fn reset(device: RawFd, zone: &Zone) -> Result<(), Errno> {
    let range = [zone.start / SECTOR, (zone.end - zone.start) / SECTOR];
    // SAFETY: this ioctl reads a sector and a number of sectors.
    match unsafe { libc::ioctl(device, RESET as _, &raw const range) } {
        0 => Ok(()),
        _ => Err(last_error()),
    }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// The device's maximum number of partly written zones; 0: none is known.
pub(super) fn most_open(device: &File) -> u32 {
    let Ok(about) = device.metadata() else { return 0 };
    let (major, minor) = (rustix::fs::major(about.rdev()), rustix::fs::minor(about.rdev()));
    let queue = PathBuf::from(format!("/sys/dev/block/{major}:{minor}/queue"));
    // A zone that is partly written is active, and open while it is being written: the lower limit holds.
    let limit = |name: &str| number(&queue.join(name)).filter(|&limit| limit > 0);
    limit("max_open_zones").into_iter().chain(limit("max_active_zones")).min().unwrap_or(0)
}

fn number(path: &Path) -> Option<u32> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_structures_have_their_size() {
        assert_eq!(size_of::<KernelZone>(), 64);
        assert_eq!(size_of::<Report>(), 16 + 64 * CHUNK as usize);
        assert_eq!((REPORT, RESET, COUNT), (0xc010_1282, 0x4010_1283, 0x8004_1285));
    }

    #[test]
    fn a_zone_of_the_kernel_is_one_of_bytes() {
        let kernel = KernelZone { start: 8, length: 8, write_pointer: 10, kind: 2, capacity: 6, ..NONE };
        let zone = Zone { start: 4096, end: 8192, full: 7168, in_order: true };
        assert_eq!(zone_of(&kernel, true), (zone, 5120));
        assert_eq!(zone_of(&kernel, false), (Zone { full: 8192, ..zone }, 5120));
        let full = KernelZone { write_pointer: u64::MAX, ..kernel };
        assert_eq!(zone_of(&full, true), (zone, 7168));
        let conventional = KernelZone { kind: CONVENTIONAL, ..kernel };
        assert_eq!(zone_of(&conventional, false), (Zone { full: 8192, in_order: false, ..zone }, 8192));
    }

    #[test]
    fn an_ordinary_file_has_no_zones() {
        assert_eq!(zones(&tempfile_in_memory()), Ok(Vec::new()));
        assert_eq!(most_open(&tempfile_in_memory()), 0);
    }

    fn tempfile_in_memory() -> File {
        rustix::fs::memfd_create("zones", rustix::fs::MemfdFlags::CLOEXEC).unwrap().into()
    }
}
