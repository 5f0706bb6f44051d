//! Default session of a disc in a drive: the last one, whose start the drive knows. A file does not record it, and a
//! search would read all of it; in images grown in place the first session is the newest anyway.

use super::reading::medium_of;
use fathom_isofs::Session;
use fathom_isofs::reader::Medium;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::Path;

/// ioctl: start of a disc's last session.
const CDROMMULTISESSION: libc::Ioctl = 0x5310;
/// Address in blocks instead of minutes, seconds and frames.
const CDROM_LBA: u8 = 1;

/// The kernel's `struct cdrom_multisession`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Multisession {
    /// First block of the last session.
    block: i32,
    /// Not 0: there are several sessions and `block` is valid.
    several: u8,
    /// Requested address format.
    form: u8,
}

pub fn of(image: &Path) -> Session {
    if medium_of(image) != Medium::Optical {
        return Session::First;
    }
    File::open(image).ok().and_then(|drive| asked(&drive)).map_or(Session::First, last)
}

/// The drive's answer; `None` if it is no drive.
fn asked(drive: &File) -> Option<Multisession> {
    let mut answer = Multisession { form: CDROM_LBA, ..Multisession::default() };
    // SAFETY: the descriptor is open, and the structure has the kernel's layout and lives through the call.
    let done = unsafe { libc::ioctl(drive.as_raw_fd(), CDROMMULTISESSION, &raw mut answer) };
    (done == 0).then_some(answer)
}

fn last(answer: Multisession) -> Session {
    match u64::try_from(answer.block) {
        Ok(block) if answer.several != 0 && block > 0 => Session::Sector(block),
        _ => Session::First,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_session_begins_where_the_drive_says_if_there_are_several() {
        assert_eq!(size_of::<Multisession>(), 8, "the kernel's structure");
        let answer = Multisession { block: 11_702, several: 1, form: CDROM_LBA };
        assert_eq!(last(answer), Session::Sector(11_702));
        for block in [0, -150] {
            assert_eq!(last(Multisession { block, ..answer }), Session::First);
        }
        assert_eq!(last(Multisession { several: 0, ..answer }), Session::First);
    }

    #[test]
    fn a_file_is_no_drive() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("disc.iso");
        std::fs::write(&file, "").unwrap();
        assert!(asked(&File::open(&file).unwrap()).is_none());
        assert_eq!(of(&file), Session::First);
    }
}
