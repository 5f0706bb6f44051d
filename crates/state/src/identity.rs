//! What tells a file that we made from another that took its place. Device and inode number do not: a file system gives the number of a
//! removed file to the next one, often at once.

use crate::here;
use rustix::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, XattrFlags};
use rustix::io::Errno;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

/// The extended attribute that marks our files where files have no time of birth.
const MARK: &str = "user.fathom";

const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// For marking: what may be a pipe must not be waited for.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// A file or directory, and what proves that it is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
    proof: Proof,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// When it was made, in ns since 1970.
    Born(u64),
    /// A random number in an extended attribute of it.
    Mark(u64),
    /// When it was changed last, in ns since 1970: only for files at rest.
    Changed(u64),
    /// None can be had: the file system keeps neither.
    Nothing,
}

impl Identity {
    /// Of what we have made and hold open for reading. It is marked if it has no time of birth.
    ///
    /// # Errors
    /// If the kernel does not tell.
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

    /// Of what we have made at a path. It is marked if it has no time of birth; `None` if nothing is there, or it cannot be looked at.
    #[must_use]
    pub fn of_ours(path: &Path) -> Option<Self> {
        Self::of_new(Self::open(path).ok()??.as_fd()).ok()
    }

    /// Opens what is at a path so that it can be marked; `None` if nothing is there.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn open(path: &Path) -> Result<Option<OwnedFd>, Errno> {
        // A file without permission to read is looked at without being marked.
        let opened = |how| rustix::fs::openat(CWD, here(path), how, Mode::empty());
        match opened(READ).or_else(|_| opened(LOOK)) {
            Ok(file) => Ok(Some(file)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Of a file at rest that is ours: where there is no better proof, the time of its last change is one.
    #[must_use]
    pub fn at_rest(file: BorrowedFd<'_>) -> Option<Self> {
        let (mut found, changed) = Self::seen(file).ok()?;
        if found.proof == Proof::Nothing {
            found.proof = Proof::Changed(changed);
        }
        Some(found)
    }

    /// Of a file at rest that is ours until somebody changes it, whatever else would prove that it is the same.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn until_changed(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        let (found, changed) = Self::seen(file)?;
        Ok(Self { proof: Proof::Changed(changed), ..found })
    }

    /// Whether nothing but device and inode number is known, which prove nothing once the file was closed.
    #[must_use]
    pub fn is_unproven(&self) -> bool {
        self.proof == Proof::Nothing
    }

    /// The number of its device.
    #[must_use]
    pub fn device(&self) -> u64 {
        self.device
    }

    /// Whether it is what is at a path now. Not without a proof.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        rustix::fs::openat(CWD, here(path), LOOK, Mode::empty()).is_ok_and(|file| self.is(file.as_fd()))
    }

    /// Removes it if it is a file and still what is at a path; whether it was. Directory and name are taken apart once, so that whoever bends
    /// the path meanwhile changes nothing elsewhere.
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

    /// Whether it is an open file. Not without a proof.
    #[must_use]
    pub fn is(&self, file: BorrowedFd<'_>) -> bool {
        self.tells(file).unwrap_or(false)
    }

    /// Likewise, but a file that cannot be looked at is not said to be another.
    ///
    /// # Errors
    /// If the kernel does not tell.
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

    /// Whether it has the number of an open file that `held` has kept open since it was made: no other can have got it meanwhile.
    #[must_use]
    pub fn is_held(held: &OwnedFd, file: BorrowedFd<'_>) -> bool {
        let numbers = |file: BorrowedFd<'_>| Self::seen(file).ok().map(|(i, _)| (i.device, i.inode));
        numbers(held.as_fd()).is_some_and(|held| numbers(file) == Some(held))
    }

    /// Whether its proof ends with the next change of the file.
    #[must_use]
    pub fn changes(&self) -> bool {
        matches!(self.proof, Proof::Changed(_))
    }

    /// Whether it may be what is at a path: it is, or only a change of the file speaks against it, or the kernel does not tell.
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
            // Linux before 4.11, and sandboxes that do not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {
                let s = rustix::fs::fstat(file)?;
                #[expect(clippy::useless_conversion, reason = "its width depends on the architecture")]
                let nanos = u64::try_from(s.st_ctime_nsec).unwrap_or(0);
                (s.st_dev, s.st_ino, None, nanoseconds(s.st_ctime, nanos))
            }
            Err(e) => return Err(e),
        };
        let proof = match born {
            // Some file systems give a time that means none.
            Some(ns) if ns != 0 => Proof::Born(ns),
            _ => mark_of(file)?.map_or(Proof::Nothing, Proof::Mark),
        };
        Ok((Self { device, inode, proof }, changed))
    }

    /// As three words of a line.
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

    /// Reads three words of a line.
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
    // A descriptor that only names the file has no attributes of its own; its name below /proc has.
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    let length = match rustix::fs::getxattr(name, MARK, &mut word[..]) {
        Ok(length) => length,
        // There is none, or none can be had.
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
