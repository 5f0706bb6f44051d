//! Holes and unwritten extents on every file system available here: the temporary directory's own, ext4, XFS and btrfs on loop devices,
//! and a tmpfs. Each file is made for its test, so the expected result is known.

use fathom_observe::extents::{self, Gap};
use fathom_record::Extents;
use fathom_testkit::{Kind, LoopFs, TestDir, TmpFs, skip};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;
const BYTES: u64 = 4 * MIB;

/// A file system under test.
struct Making<'a> {
    directory: &'a Path,
    /// Whether the file system has unwritten extents.
    unwritten: bool,
}

impl Making<'_> {
    fn file(&self, name: &str) -> (PathBuf, File) {
        let path = self.directory.join(name);
        let file = File::options().create_new(true).read(true).write(true).open(&path).unwrap();
        (path, file)
    }

    /// Asserts the result for the whole file: (hole bytes, unwritten bytes).
    #[track_caller]
    fn expect(&self, path: &Path, hole: u64, unwritten: u64) {
        let found = extents::look(&[(path.into(), 0, u64::MAX)]).unwrap();
        let Extents { bytes, hole_bytes, unwritten_bytes, filled_bytes } = found.extents;
        assert_eq!(
            (bytes, hole_bytes, unwritten_bytes, filled_bytes),
            (BYTES, hole, unwritten, 0),
            "{path:?}"
        );
        let sum =
            |wanted| -> u64 { found.gaps.iter().filter(|g| g.unwritten == wanted).map(|g| g.length).sum() };
        assert_eq!((sum(false), sum(true)), (hole, unwritten), "{:?}", found.gaps);
        assert!(found.gaps.windows(2).all(|g| g[0].start + g[0].length <= g[1].start), "{:?}", found.gaps);
    }

    /// Expected (hole, unwritten) bytes of an allocated and unwritten range.
    fn allocated(&self, bytes: u64) -> (u64, u64) {
        if self.unwritten { (0, bytes) } else { (bytes, 0) }
    }

    fn all(&self) {
        self.written();
        self.sparse();
        self.allocated_only();
        self.half_written();
        self.read_while_unwritten();
    }

    fn written(&self) {
        let (path, file) = self.file("written");
        file.write_all_at(&vec![1; BYTES as usize], 0).unwrap();
        // Dirty data counts as data, and still does once it is on disk.
        self.expect(&path, 0, 0);
        file.sync_all().unwrap();
        self.expect(&path, 0, 0);
    }

    fn sparse(&self) {
        let (path, file) = self.file("sparse");
        file.set_len(BYTES).unwrap();
        self.expect(&path, BYTES, 0);
        file.write_all_at(&vec![1; MIB as usize], MIB).unwrap();
        self.expect(&path, BYTES - MIB, 0);
        file.sync_all().unwrap();
        self.expect(&path, BYTES - MIB, 0);
        let found = extents::look(&[
            (path.clone(), 0, MIB / 2),
            (path.clone(), MIB / 4, MIB),
            (path.clone(), 3 * MIB, 9 * MIB),
        ])
        .unwrap();
        assert_eq!((found.extents.bytes, found.extents.hole_bytes), (9 * MIB / 4, 2 * MIB));
        let gap = |start, length| Gap { path: path.clone(), start, length, unwritten: false };
        assert_eq!(found.gaps, [gap(0, MIB), gap(3 * MIB, MIB)]);
    }

    fn allocated_only(&self) {
        let (path, file) = self.file("allocated");
        allocate(&file);
        let (hole, unwritten) = self.allocated(BYTES);
        self.expect(&path, hole, unwritten);
    }

    fn half_written(&self) {
        let (path, file) = self.file("half written");
        allocate(&file);
        file.write_all_at(&vec![1; MIB as usize], MIB).unwrap();
        let (hole, unwritten) = self.allocated(BYTES - MIB);
        self.expect(&path, hole, unwritten);
        file.sync_all().unwrap();
        self.expect(&path, hole, unwritten);
    }

    /// Cached pages of an unwritten extent look like data to SEEK_DATA, but a direct read of them moves nothing.
    fn read_while_unwritten(&self) {
        if !self.unwritten {
            return;
        }
        let (path, mut file) = self.file("read while unwritten");
        allocate(&file);
        let mut zeros = Vec::new();
        file.read_to_end(&mut zeros).unwrap();
        assert_eq!(zeros.len() as u64, BYTES);
        self.expect(&path, 0, BYTES);
    }
}

fn allocate(file: &File) {
    // SAFETY: the descriptor is open; the call takes no pointer.
    let refused = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, BYTES as libc::off_t) };
    assert_eq!(refused, 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn the_ordinary_directory_tells() {
    let dir = TestDir::new();
    if dir.in_memory() {
        return skip("the_ordinary_directory_tells", "needs a directory on a real file system");
    }
    if extents::of(&[(probe(dir.path()), 0, 1)]).is_none() {
        return skip("the_ordinary_directory_tells", "its file system does not tell");
    }
    let making = Making { directory: dir.path(), unwritten: true };
    making.written();
    making.sparse();
}

fn probe(directory: &Path) -> PathBuf {
    let path = directory.join("probe");
    std::fs::write(&path, "x").unwrap();
    path
}

#[test]
fn ext4_xfs_and_btrfs_tell_holes_from_unwritten_extents() {
    for kind in [Kind::Ext4, Kind::Xfs, Kind::Btrfs] {
        let name = format!("ext4_xfs_and_btrfs_tell_holes_from_unwritten_extents ({kind:?})");
        let Some(fs) = LoopFs::of(kind, &name).mount() else { continue };
        Making { directory: fs.path(), unwritten: true }.all();
    }
}

#[test]
fn a_tmpfs_tells_holes() {
    let Some(fs) = TmpFs::mount("a_tmpfs_tells_holes", 64 * MIB) else { return };
    Making { directory: fs.path(), unwritten: false }.all();
}

#[test]
fn what_is_not_there_does_not_count_and_what_is_no_file_is_refused() {
    let dir = TestDir::new();
    assert_eq!(extents::of(&[(dir.path().join("missing"), 0, 9)]), Some(Extents::default()));
    assert_eq!(extents::of(&[]), Some(Extents::default()));
    let path = probe(dir.path());
    assert_eq!(
        extents::of(&[(path.clone(), 1, 9), (path, 0, 0)]),
        Some(Extents::default()),
        "beyond its end"
    );
    assert_eq!(extents::of(&[(dir.path().into(), 0, 9)]), None);
    let said = extents::look(&[("/dev/null".into(), 0, 9)]).unwrap_err().to_string();
    assert!(said.contains("/dev/null is no regular file"), "{said}");
}

#[test]
fn many_extents_take_more_than_one_question() {
    let dir = TestDir::new();
    let path = dir.path().join("comb");
    let file = File::create(&path).unwrap();
    let (tooth, count) = (64 << 10, 200);
    for i in 0..count {
        file.write_all_at(&vec![1; tooth as usize], i * 2 * tooth).unwrap();
    }
    file.set_len(count * 2 * tooth).unwrap();
    file.sync_all().unwrap();
    let Ok(found) = extents::look(&[(path, 0, u64::MAX)]) else {
        return skip("many_extents_take_more_than_one_question", "the file system does not tell");
    };
    let Extents { bytes, hole_bytes, unwritten_bytes, .. } = found.extents;
    assert_eq!((bytes, hole_bytes, unwritten_bytes), (2 * count * tooth, count * tooth, 0));
    assert_eq!(found.gaps.len() as u64, count);
}

#[test]
fn a_look_at_one_extent_is_cheap() {
    let dir = TestDir::new();
    let path = dir.path().join("file");
    std::fs::write(&path, vec![1; BYTES as usize]).unwrap();
    File::open(&path).unwrap().sync_all().unwrap();
    let regions = [(path, 0, BYTES)];
    if extents::of(&regions).is_none() {
        return skip("a_look_at_one_extent_is_cheap", "the file system does not tell");
    }
    // The fastest of many runs, to exclude other load on the machine.
    let once = || {
        let from = std::time::Instant::now();
        assert!(extents::of(&regions).is_some());
        from.elapsed()
    };
    let least = (0..2000).map(|_| once()).min().unwrap();
    println!("a look at one extent: {} ns", least.as_nanos());
    assert!(least.as_micros() < 100, "{least:?}");
}
