//! Other users' files in fathom's working directory, with awkward names.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

const NAMES: [&str; 10] = [
    "-rf",
    "with\nnewline",
    " blank ",
    "*",
    ".hidden",
    "iozone.tmp.bak",
    "test_file.00",
    "second.dat~",
    "00000001.mine",
    "fathom.db-journal",
];

/// Type and content of a file.
#[derive(PartialEq)]
struct About {
    inode: u64,
    mode: u32,
    changed: (i64, i64),
    contents: Vec<u8>,
}

impl std::fmt::Debug for About {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { inode, mode, changed, contents } = self;
        let beginning = String::from_utf8_lossy(&contents[..contents.len().min(40)]);
        write!(f, "inode {inode} {mode:o} of {changed:?}, {} bytes {beginning:?}", contents.len())
    }
}

/// Files and their original state.
pub struct Bystanders {
    directory: PathBuf,
    before: BTreeMap<PathBuf, About>,
}

impl Bystanders {
    /// Creates them in a directory.
    pub fn in_(directory: &Path) -> Self {
        for name in NAMES {
            fs::write(directory.join(name), format!("somebody's {name}").repeat(50))
                .expect("a file of somebody");
        }
        // Not every file system has links.
        let _ = symlink("-rf", directory.join("link"));
        Self::of(directory)
    }

    /// Takes everything below a directory as theirs.
    pub fn of(directory: &Path) -> Self {
        Self { directory: directory.to_path_buf(), before: about_all(directory) }
    }

    /// Names in their directory that are not theirs.
    pub fn others(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.directory).expect("their directory").filter_map(Result::ok);
        entries.map(|entry| entry.path()).filter(|path| !self.before.contains_key(path)).collect()
    }

    /// Panics if one of them has changed.
    #[track_caller]
    pub fn assert_unharmed(&self) {
        for (path, before) in &self.before {
            let now = about(path);
            assert!(
                now.as_ref() == Some(before),
                "{} of somebody else was {before:?} and is {now:?}",
                path.display()
            );
        }
    }

    /// Panics if one of them has changed, or a file was added.
    #[track_caller]
    pub fn assert_alone(&self) {
        self.assert_unharmed();
        let now = about_all(&self.directory).into_keys();
        let came: Vec<_> = now.filter(|path| !self.before.contains_key(path)).collect();
        assert!(came.is_empty(), "came to somebody else's: {came:?}");
    }
}

fn about_all(directory: &Path) -> BTreeMap<PathBuf, About> {
    let mut all = BTreeMap::new();
    for path in fs::read_dir(directory).expect("their directory").filter_map(|entry| Some(entry.ok()?.path()))
    {
        if path.is_dir() && !path.is_symlink() {
            all.extend(about_all(&path));
        }
        all.extend(about(&path).map(|about| (path, about)));
    }
    all
}

/// `None` if it is gone.
fn about(path: &Path) -> Option<About> {
    let meta = fs::symlink_metadata(path).ok()?;
    let contents = if meta.is_file() { fs::read(path).unwrap_or_default() } else { Vec::new() };
    // A directory's time changes when the trial itself puts something into it.
    let changed = if meta.is_dir() { (0, 0) } else { (meta.mtime(), meta.mtime_nsec()) };
    Some(About { inode: meta.ino(), mode: meta.mode(), changed, contents })
}
