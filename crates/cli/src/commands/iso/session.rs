//! Which session of a disc in a drive is read when nobody says: the last, and where that begins the drive knows. A file does not tell, and
//! looking for sessions would read all of it; of images that were grown in place the first is the newest anyway.

use super::reading::medium_of;
use fathom_isofs::Session;
use fathom_isofs::reader::Medium;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::Path;

/// Asks a drive where the last session of its disc begins.
const CDROMMULTISESSION: libc::Ioctl = 0x5310;
/// In blocks; the other form is minutes, seconds and frames.
const CDROM_LBA: u8 = 1;

/// The kernel's `struct cdrom_multisession`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Multisession {
    /// First block of the last session.
    block: i32,
    /// Not 0: there are several, and the block counts.
    several: u8,
    /// In which form the block is wanted.
    form: u8,
}

/// The session to be read.
pub fn of(image: &Path) -> Session {
    if medium_of(image) != Medium::Optical {
        return Session::First;
    }
    File::open(image).ok().and_then(|drive| asked(&drive)).map_or(Session::First, last)
}

/// What a drive answers; `None` from what is no drive.
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
