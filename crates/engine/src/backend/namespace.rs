//! An NVMe namespace behind its block device: the character device that takes commands (/dev/ng0n1 for /dev/nvme0n1), and what a
//! command needs to know. The block device is what users name, because its size, its users and its contents can be checked.

use crate::direct::odd_one;
use fathom_workload::{Stream, block_device_of, generic_name_of};
use rustix::fd::{AsFd, AsRawFd as _, OwnedFd, RawFd};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// `_IO('N', 0x40)`: the number of a namespace in its controller.
const IOCTL_ID: libc::Ioctl = 0x4e40;
/// `_IOWR('N', 0x41, struct nvme_passthru_cmd)`: a command to the controller.
const IOCTL_ADMIN: libc::Ioctl = 0xc048_4e41u32 as libc::Ioctl;
/// `_IOWR('N', 0x43, struct nvme_passthru_cmd)`: a command to the namespace.
const IOCTL_IO: libc::Ioctl = 0xc048_4e43u32 as libc::Ioctl;

/// A command as the kernel takes it, by ioctl (`struct nvme_passthru_cmd`) and through a ring (`struct nvme_uring_cmd`).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Command {
    pub opcode: u8,
    pub flags: u8,
    pub reserved: u16,
    pub namespace: u32,
    pub dwords_2_3: [u32; 2],
    pub metadata: u64,
    pub address: u64,
    pub metadata_bytes: u32,
    pub data_bytes: u32,
    pub dwords_10_15: [u32; 6],
    pub timeout_ms: u32,
    /// Its result by ioctl; reserved in a ring.
    pub result: u32,
}

/// The command's place in an entry of 128 bytes: the first 72 of 80.
pub(super) type InEntry = [u8; 80];

impl Command {
    pub const FLUSH: u8 = 0x00;
    pub const WRITE: u8 = 0x01;
    pub const READ: u8 = 0x02;
    const IDENTIFY: u8 = 0x06;

    /// Makes what was written durable.
    pub fn flush(namespace: u32) -> Self {
        Self { opcode: Self::FLUSH, namespace, ..Self::default() }
    }

    /// Moves whole blocks.
    #[inline(always)]
    pub fn transfer(opcode: u8, namespace: &Namespace, offset: u64, bytes: u32, address: *mut u8) -> Self {
        let first = offset >> namespace.block_shift;
        // The number of blocks is counted from 0.
        let blocks = (bytes >> namespace.block_shift).wrapping_sub(1);
        Self {
            opcode,
            namespace: namespace.number,
            address: address as u64,
            data_bytes: bytes,
            dwords_10_15: [first as u32, (first >> 32) as u32, blocks & 0xffff, 0, 0, 0],
            ..Self::default()
        }
    }

    #[inline(always)]
    pub fn in_entry(&self) -> InEntry {
        let mut bytes = [0; 80];
        // SAFETY: the structure has 72 bytes without padding, and the array more.
        unsafe {
            std::ptr::copy_nonoverlapping(
                std::ptr::from_ref(self).cast::<u8>(),
                bytes.as_mut_ptr(),
                size_of::<Self>(),
            );
        }
        bytes
    }
}

const _: () = assert!(size_of::<Command>() == 72, "the kernel's structure has 72 bytes");

/// A namespace, as far as commands need to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Namespace {
    /// The character device.
    generic: PathBuf,
    /// Its number in the controller.
    pub number: u32,
    /// Block size as a power of two.
    pub block_shift: u32,
    /// Maximum number of bytes of a command.
    most_bytes: u64,
}

impl Namespace {
    /// The namespace of a block device, or why it takes no commands.
    pub fn of(path: &Path) -> Result<Self, String> {
        let about = rustix::fs::stat(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Self::described(path, &about)
    }

    /// The namespace of an open block device.
    pub fn of_open(path: &Path, device: impl AsFd) -> Result<Self, String> {
        let about = rustix::fs::fstat(device).map_err(|e| format!("{}: {e}", path.display()))?;
        Self::described(path, &about)
    }

    fn described(path: &Path, about: &Stat) -> Result<Self, String> {
        let shown = path.display();
        match FileType::from_raw_mode(about.st_mode) {
            FileType::BlockDevice => {}
            FileType::CharacterDevice => {
                return Err(match block_device_of(path) {
                    Some(block) => format!(
                        "{shown} takes the commands, but its size and its users are known by {}; name that",
                        block.display()
                    ),
                    None => not_a_namespace(path),
                });
            }
            _ => return Err(not_a_namespace(path)),
        }
        let number = (rustix::fs::major(about.st_rdev), rustix::fs::minor(about.st_rdev));
        let sys = std::fs::canonicalize(format!("/sys/dev/block/{}:{}", number.0, number.1))
            .map_err(|_| not_a_namespace(path))?;
        let name = sys.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if sys.join("partition").exists() {
            return Err(format!(
                "{shown} is a partition, and NVMe commands are for a whole namespace; name that"
            ));
        }
        let generic = generic_name_of(name).ok_or_else(|| not_a_namespace(path))?;
        let generic = Path::new("/dev").join(generic);
        let device = open(&generic, false).map_err(|e| match e {
            Errno::NODEV => format!(
                "{} is not the device that takes the NVMe commands of {shown}, only named like it",
                generic.display()
            ),
            e => {
                format!("{} takes the NVMe commands of {shown}, but cannot be opened: {e}", generic.display())
            }
        })?;
        let id = identifier(device.as_raw_fd())
            .map_err(|e| format!("{} does not say which namespace it is: {e}", generic.display()))?;
        let format = format_of(device.as_raw_fd(), id)
            .map_err(|e| format!("{} does not say how it is formatted: {e}", generic.display()))?;
        if format.metadata_bytes > 0 {
            return Err(format!(
                "{shown} has {} bytes of metadata with each block, which is not supported with NVMe commands; use the back-end uring",
                format.metadata_bytes
            ));
        }
        let most_kib =
            super::capability::number_in(sys.join("queue/max_hw_sectors_kb")).unwrap_or(u64::MAX >> 10);
        // A command counts its blocks in 16 bits.
        let most_bytes = (most_kib << 10).min(1 << (16 + format.block_shift));
        Ok(Self { generic, number: id, block_shift: format.block_shift, most_bytes })
    }

    /// Why it cannot take a record of this size, which the kernel would not split.
    pub fn record_refusal(&self, largest: u64) -> Option<String> {
        (largest > self.most_bytes).then(|| {
            format!(
                "an NVMe command to {} moves at most {} KiB, and the largest record has {} KiB; choose a smaller one",
                self.generic.display(),
                self.most_bytes >> 10,
                largest.div_ceil(1024)
            )
        })
    }

    /// Why its commands cannot move what a stream asks for: they move whole blocks.
    pub fn alignment_refusal(&self, stream: &Stream) -> Option<String> {
        let block = 1 << self.block_shift;
        let (what, bytes, better) = odd_one(stream, block)?;
        Some(format!(
            "NVMe commands to {} need offsets and lengths that are multiples of its blocks of {block} bytes, and {what} is {bytes}; choose {better}",
            self.generic.display()
        ))
    }

    /// Whether a command can move these bytes; anything else would be rounded to other blocks.
    #[inline(always)]
    pub fn takes(&self, offset: u64, bytes: u32) -> bool {
        let rest = (1_u64 << self.block_shift) - 1;
        (offset | u64::from(bytes)) & rest == 0 && bytes > 0 && u64::from(bytes) <= self.most_bytes
    }

    /// Opens the character device.
    pub fn open(&self, writes: bool) -> Result<OwnedFd, Errno> {
        open(&self.generic, writes)
    }
}

fn not_a_namespace(path: &Path) -> String {
    format!(
        "{} is not an NVMe namespace, which has a block device like /dev/nvme0n1; use the back-end uring",
        path.display()
    )
}

fn open(generic: &Path, writes: bool) -> Result<OwnedFd, Errno> {
    let access = if writes { OFlags::RDWR } else { OFlags::RDONLY };
    let file = rustix::fs::open(generic, access | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())?;
    // Somebody could have put another file there, or another device under this name.
    let about = rustix::fs::fstat(&file)?;
    let is_device = FileType::from_raw_mode(about.st_mode) == FileType::CharacterDevice;
    let number = format!("{}:{}", rustix::fs::major(about.st_rdev), rustix::fs::minor(about.st_rdev));
    let name = generic.file_name().unwrap_or_default();
    let known = std::fs::read_to_string(Path::new("/sys/class/nvme-generic").join(name).join("dev"));
    if is_device && known.is_ok_and(|known| known.trim() == number) { Ok(file) } else { Err(Errno::NODEV) }
}

fn identifier(device: RawFd) -> Result<u32, Errno> {
    // SAFETY: this ioctl takes no argument.
    let number = unsafe { libc::ioctl(device, IOCTL_ID) };
    u32::try_from(number).map_err(|_| last_error())
}

/// How a namespace is formatted.
#[derive(Debug, PartialEq, Eq)]
struct Format {
    block_shift: u32,
    metadata_bytes: u16,
}

/// Asks the controller: Identify Namespace (NVM command set).
fn format_of(device: RawFd, namespace: u32) -> Result<Format, Errno> {
    let mut answer = [0u8; 4096];
    let mut command = Command {
        opcode: Command::IDENTIFY,
        namespace,
        address: answer.as_mut_ptr() as u64,
        data_bytes: answer.len() as u32,
        ..Command::default()
    };
    by_ioctl(device, IOCTL_ADMIN, &mut command)?;
    Ok(parse_format(&answer))
}

/// The format in use: the low and high bits of its index in FLBAS (byte 26), its descriptor among those from byte 128.
fn parse_format(answer: &[u8; 4096]) -> Format {
    let index = usize::from((answer[26] & 0xf) | (answer[26] >> 1 & 0x30));
    let at = 128 + 4 * index;
    Format {
        metadata_bytes: u16::from_le_bytes([answer[at], answer[at + 1]]),
        block_shift: u32::from(answer[at + 2]).clamp(9, 16),
    }
}

/// Sends a flush and waits for it.
pub(super) fn flush(device: RawFd, namespace: u32) -> Result<(), Errno> {
    by_ioctl(device, IOCTL_IO, &mut Command::flush(namespace))
}

fn by_ioctl(device: RawFd, request: libc::Ioctl, command: &mut Command) -> Result<(), Errno> {
    // SAFETY: the kernel reads and writes the structure, which has its layout, and the answer that the command points to; both live
    // through the call.
    match unsafe { libc::ioctl(device, request, std::ptr::from_mut(command)) } {
        0 => Ok(()),
        ..0 => Err(last_error()),
        // The device's status.
        _ => Err(Errno::IO),
    }
}

fn last_error() -> Errno {
    Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_counts_its_blocks_from_0() {
        let namespace =
            Namespace { generic: "/dev/ng0n1".into(), number: 7, block_shift: 12, most_bytes: 512 << 10 };
        let mut byte = 0u8;
        let command = Command::transfer(Command::READ, &namespace, 5 << 44, 64 << 10, &raw mut byte);
        let entry = command.in_entry();
        let word = |at: usize| u32::from_ne_bytes(entry[at..at + 4].try_into().unwrap());
        assert_eq!((entry[0], word(4)), (0x02, 7));
        assert_eq!(u64::from_ne_bytes(entry[24..32].try_into().unwrap()), &raw mut byte as u64);
        assert_eq!((word(36), word(40), word(44), word(48)), (64 << 10, 0, 5, 15));
        assert_eq!(entry[52..], [0; 28]);
        assert_eq!(Command::flush(7).in_entry()[..8], [0, 0, 0, 0, 7, 0, 0, 0]);
    }

    #[test]
    fn the_format_in_use_is_found_by_its_index() {
        let mut answer = [0; 4096];
        answer[128 + 2] = 9;
        assert_eq!(parse_format(&answer), Format { block_shift: 9, metadata_bytes: 0 });
        // The 18th of more than 16: its high bits are 5 and 6 of the byte.
        answer[26] = 0x21;
        answer[128 + 4 * 17..128 + 4 * 17 + 3].copy_from_slice(&[8, 0, 12]);
        assert_eq!(parse_format(&answer), Format { block_shift: 12, metadata_bytes: 8 });
    }

    #[test]
    fn what_is_no_namespace_is_refused_by_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in [file.path(), Path::new("/dev/null")] {
            let why = Namespace::of(path).unwrap_err();
            assert!(why.contains("is not an NVMe namespace") && why.contains("uring"), "{why}");
        }
    }

    #[test]
    fn a_record_fits_into_a_command() {
        let namespace =
            Namespace { generic: "/dev/ng0n1".into(), number: 1, block_shift: 12, most_bytes: 128 << 10 };
        assert_eq!(namespace.record_refusal(128 << 10), None);
        assert!(namespace.record_refusal(256 << 10).unwrap().contains("at most 128 KiB"));
    }
}
