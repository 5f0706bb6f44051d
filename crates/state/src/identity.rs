//! Distinguishes a file created by fathom from another that replaced it. Device and inode number are not enough: file systems
//! reuse inode numbers, often at once.

use crate::here;
use rustix::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, XattrFlags};
use rustix::io::Errno;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

/// The extended attribute that marks our files where files have no birth time.
const MARK: &str = "user.fathom";

const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// For marking; must not block on a path that may be a pipe.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// A file or directory, with a proof that it is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
    proof: Proof,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// Birth time, in ns since 1970.
    Born(u64),
    /// A random number in an extended attribute.
    Mark(u64),
    /// Time of the last change, in ns since 1970: only for files at rest.
    Changed(u64),
    /// No proof: the file system supports neither.
    Nothing,
}

impl Identity {
    /// Identity of a file just created and open for reading. Marks it if it has no birth time.
    ///
    /// # Errors
    /// If the kernel does not report its attributes.
    pub fn of_new(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        let (mut found, _) = Self::seen(file)?;
        if found.proof == Proof::Nothing {
            let mark = RandomState::new().hash_one(found.inode);
            let word = format!("{mark:016x}");
            if rustix::fs::fsetxattr(file, MARK, word.as_bytes(), XattrFlags::empty()).is_ok() {
                found.proof = Proof::Mark(mark);
            }
        }
        Ok(found)
    }

    /// Identity of our file at a path. Marks it if it has no birth time; `None` if it does not exist or cannot be
    /// inspected.
    #[must_use]
    pub fn of_ours(path: &Path) -> Option<Self> {
        Self::of_new(Self::open(path).ok()??.as_fd()).ok()
    }

    /// Opens a path so that it can be marked; `None` if it does not exist.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn open(path: &Path) -> Result<Option<OwnedFd>, Errno> {
        // A file without read permission is inspected without being marked.
        let opened = |how| rustix::fs::openat(CWD, here(path), how, Mode::empty());
        match opened(READ).or_else(|_| opened(LOOK)) {
            Ok(file) => Ok(Some(file)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Identity of our file at rest: without a better proof, the time of its last change is used.
    #[must_use]
    pub fn at_rest(file: BorrowedFd<'_>) -> Option<Self> {
        let (mut found, changed) = Self::seen(file).ok()?;
        if found.proof == Proof::Nothing {
            found.proof = Proof::Changed(changed);
        }
        Some(found)
    }

    /// Identity of a file at rest that is ours until it is changed, whatever other proof exists.
    ///
    /// # Errors
    /// If the kernel does not report its attributes.
    pub fn until_changed(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        let (found, changed) = Self::seen(file)?;
        Ok(Self { proof: Proof::Changed(changed), ..found })
    }

    /// Whether only device and inode number are known, which prove nothing once the file was closed.
    #[must_use]
    pub fn is_unproven(&self) -> bool {
        self.proof == Proof::Nothing
    }

    /// Its device number.
    #[must_use]
    pub fn device(&self) -> u64 {
        self.device
    }

    /// Whether it is the file now at a path; false without a proof.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        rustix::fs::openat(CWD, here(path), LOOK, Mode::empty()).is_ok_and(|file| self.is(file.as_fd()))
    }

    /// Removes the file at a path if it is still this one; returns whether it was. The path is split into directory and name
    /// once, so a path changed in between affects nothing elsewhere.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn remove_file(&self, path: &Path) -> std::io::Result<bool> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = rustix::fs::openat(CWD, here(above), flags, Mode::empty())?;
        let file = rustix::fs::openat(&above, name, LOOK, Mode::empty())?;
        let is_it = self.is(file.as_fd());
        if is_it {
            rustix::fs::unlinkat(&above, name, AtFlags::empty())?;
        }
        Ok(is_it)
    }

    /// Whether it is this open file; false without a proof.
    #[must_use]
    pub fn is(&self, file: BorrowedFd<'_>) -> bool {
        self.tells(file).unwrap_or(false)
    }

    /// As [`Identity::is`], but a file that cannot be inspected is an error instead of `false`.
    ///
    /// # Errors
    /// If the kernel does not report its attributes.
    pub fn tells(&self, file: BorrowedFd<'_>) -> Result<bool, Errno> {
        let (found, changed) = Self::seen(file)?;
        let same = (found.device, found.inode) == (self.device, self.inode);
        Ok(same
            && match self.proof {
                Proof::Born(_) | Proof::Mark(_) => found.proof == self.proof,
                Proof::Changed(then) => changed == then,
                Proof::Nothing => false,
            })
    }

    /// Whether it has the inode number of `held`, which was kept open since its creation, so the number cannot have been reused.
    #[must_use]
    pub fn is_held(held: &OwnedFd, file: BorrowedFd<'_>) -> bool {
        let numbers = |file: BorrowedFd<'_>| Self::seen(file).ok().map(|(i, _)| (i.device, i.inode));
        numbers(held.as_fd()).is_some_and(|held| numbers(file) == Some(held))
    }

    /// Whether its proof becomes invalid with the next change of the file.
    #[must_use]
    pub fn changes(&self) -> bool {
        matches!(self.proof, Proof::Changed(_))
    }

    /// Whether it may be the file at a path: it is, or only a change of the file contradicts it, or the kernel does not report
    /// its attributes.
    #[must_use]
    pub fn may_be_at(&self, path: &Path) -> bool {
        let file = match rustix::fs::openat(CWD, here(path), LOOK, Mode::empty()) {
            Ok(file) => file,
            Err(e) => return !matches!(e, Errno::NOENT | Errno::NOTDIR),
        };
        let numbers = |i: &Self| (i.device, i.inode);
        let seen = Self::seen(file.as_fd());
        self.tells(file.as_fd()).unwrap_or(true)
            || self.changes() && seen.is_ok_and(|(i, _)| numbers(&i) == numbers(self))
    }

    fn seen(file: BorrowedFd<'_>) -> Result<(Self, u64), Errno> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let (device, inode, born, changed) = match rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, wanted) {
            Ok(s) => {
                let device = rustix::fs::makedev(s.stx_dev_major, s.stx_dev_minor);
                let born = StatxFlags::from_bits_retain(s.stx_mask).contains(StatxFlags::BTIME);
                let born = born.then(|| nanoseconds(s.stx_btime.tv_sec, s.stx_btime.tv_nsec.into()));
                (device, s.stx_ino, born, nanoseconds(s.stx_ctime.tv_sec, s.stx_ctime.tv_nsec.into()))
            }
            // Linux before 4.11, and sandboxes that block the call.
            Err(Errno::NOSYS | Errno::PERM) => {
                let s = rustix::fs::fstat(file)?;
                #[expect(clippy::useless_conversion, reason = "its width depends on the architecture")]
                let nanos = u64::try_from(s.st_ctime_nsec).unwrap_or(0);
                (s.st_dev, s.st_ino, None, nanoseconds(s.st_ctime, nanos))
            }
            Err(e) => return Err(e),
        };
        let proof = match born {
            // Some file systems report 0 for an unknown birth time.
            Some(ns) if ns != 0 => Proof::Born(ns),
            _ => mark_of(file)?.map_or(Proof::Nothing, Proof::Mark),
        };
        Ok((Self { device, inode, proof }, changed))
    }

    /// As three words of a journal line.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { device, inode, proof } = self;
        match proof {
            Proof::Born(ns) => format!("{device} {inode} born:{ns}"),
            Proof::Mark(mark) => format!("{device} {inode} mark:{mark:016x}"),
            Proof::Changed(ns) => format!("{device} {inode} changed:{ns}"),
            Proof::Nothing => format!("{device} {inode} -"),
        }
    }

    /// Parses three words of a journal line.
    #[must_use]
    pub fn parse(device: &str, inode: &str, proof: &str) -> Option<Self> {
        let proof = match proof.split_once(':') {
            Some(("born", ns)) => Proof::Born(ns.parse().ok()?),
            Some(("mark", mark)) => Proof::Mark(u64::from_str_radix(mark, 16).ok()?),
            Some(("changed", ns)) => Proof::Changed(ns.parse().ok()?),
            _ if proof == "-" => Proof::Nothing,
            _ => return None,
        };
        Some(Self { device: device.parse().ok()?, inode: inode.parse().ok()?, proof })
    }
}

fn nanoseconds(s: i64, ns: u64) -> u64 {
    u64::try_from(s).unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(ns)
}

fn mark_of(file: BorrowedFd<'_>) -> Result<Option<u64>, Errno> {
    let mut word = [0u8; 16];
    // An O_PATH descriptor has no access to attributes; its path in /proc has.
    let name = format!("/proc/thread-self/fd/{}", file.as_raw_fd());
    let length = match rustix::fs::getxattr(name, MARK, &mut word[..]) {
        Ok(length) => length,
        // It does not exist, or attributes are not supported.
        Err(
            Errno::NODATA
            | Errno::OPNOTSUPP
            | Errno::NOSYS
            | Errno::ACCESS
            | Errno::PERM
            | Errno::NOENT
            | Errno::RANGE
            | Errno::INVAL,
        ) => return Ok(None),
        Err(e) => return Err(e),
    };
    let text = word.get(..length).and_then(|word| std::str::from_utf8(word).ok());
    Ok(text.and_then(|text| u64::from_str_radix(text, 16).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    #[test]
    fn a_file_is_itself_and_no_other() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("f");
        let file = File::create_new(&path).expect("a file");
        let identity = Identity::of_new(file.as_fd()).expect("an identity");
        assert!(identity.is_at(&path) && identity.is(file.as_fd()));
        fs::write(dir.path().join("other"), "x").expect("another");
        assert!(!identity.is_at(&dir.path().join("other")));
        std::os::unix::fs::symlink(&path, dir.path().join("link")).expect("a link");
        assert!(!identity.is_at(&dir.path().join("link")));
        assert!(!identity.is_at(&dir.path().join("nothing")));
    }

    #[test]
    fn a_file_at_rest_is_the_same_until_it_changes() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("f");
        fs::write(&path, "x").expect("a file");
        let file = File::open(&path).expect("the file");
        let mut identity = Identity::at_rest(file.as_fd()).expect("an identity");
        assert!(identity.is_at(&path));
        identity.proof = Proof::Changed(Identity::seen(file.as_fd()).expect("seen").1);
        assert!(identity.is_at(&path));
        identity.proof = Proof::Changed(1);
        assert!(!identity.is_at(&path));
    }

    #[test]
    fn numbers_alone_prove_nothing_but_of_a_file_that_is_held() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("f");
        let file = File::create_new(&path).expect("a file");
        let mut identity = Identity::of_new(file.as_fd()).expect("an identity");
        identity.proof = Proof::Nothing;
        assert!(identity.is_unproven() && !identity.is_at(&path));
        let held: OwnedFd = file.into();
        let again = File::open(&path).expect("the file");
        assert!(Identity::is_held(&held, again.as_fd()));
        let other = File::create_new(dir.path().join("other")).expect("another");
        assert!(!Identity::is_held(&held, other.as_fd()));
    }

    #[test]
    fn words_are_read_back() {
        for proof in [Proof::Born(5), Proof::Mark(u64::MAX), Proof::Changed(0), Proof::Nothing] {
            let identity = Identity { device: 1, inode: u64::MAX, proof };
            let words = identity.words();
            let [device, inode, proof] = words.split(' ').collect::<Vec<_>>()[..] else { panic!("{words}") };
            assert_eq!(Identity::parse(device, inode, proof), Some(identity));
        }
        for bad in ["", "born:", "born:x", "mark:-", "age:1"] {
            assert_eq!(Identity::parse("1", "2", bad), None, "{bad}");
        }
    }
}
