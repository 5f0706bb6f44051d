//! Files that a command writes because they were named: whole or not at all. What is written lies beside its place, under a name that nobody
//! can foresee, until it is complete; then it is renamed. A link is not written through, and a file that came into being meanwhile is not
//! overwritten unless that was asked for.

use anyhow::{Context as _, bail};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Permissions before the umask takes its share, as for any new file.
const MODE: u32 = 0o666;

/// Writes a file; one that is there is replaced only if `replace` says so.
pub fn put(path: &Path, contents: impl AsRef<[u8]>, replace: bool) -> anyhow::Result<()> {
    let unwritten = || format!("cannot write {}", path.display());
    if let Ok(found) = path.symlink_metadata().map(|about| about.file_type())
        && replace
        && !found.is_file()
    {
        if found.is_symlink() {
            bail!("{} is a symbolic link; name the file that it leads to", path.display());
        }
        if !found.is_char_device() && !found.is_fifo() {
            bail!("{} is no file that could be replaced", path.display());
        }
        // There is nothing to replace, and its name must stay what it is.
        let mut how = OpenOptions::new();
        let mut stream = how.write(true).custom_flags(libc::O_NOFOLLOW).open(path).with_context(unwritten)?;
        return stream.write_all(contents.as_ref()).with_context(unwritten);
    }
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut how = tempfile::Builder::new();
    let made = how
        .prefix(".fathom-")
        .make_in(directory, |beside| OpenOptions::new().write(true).create_new(true).mode(MODE).open(beside));
    let mut file = made.with_context(unwritten)?;
    file.as_file_mut().write_all(contents.as_ref()).with_context(unwritten)?;
    // A network file system may find only now that there is no room.
    file.as_file().sync_all().with_context(unwritten)?;
    let placed = if replace { file.persist(path) } else { file.persist_noclobber(path) };
    placed.map(drop).map_err(|e| e.error).with_context(unwritten)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_testkit::TestDir;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_whole_or_not_there_and_links_are_not_followed() {
        let dir = TestDir::new();
        let at = |name: &str| dir.path().join(name);
        put(&at("new"), "one", false).expect("there was nothing");
        assert!(put(&at("new"), "two", false).is_err());
        assert_eq!(fs::read_to_string(at("new")).expect("there"), "one");
        put(&at("new"), "two", true).expect("asked for");
        assert_eq!(fs::read_to_string(at("new")).expect("there"), "two");
        symlink(at("new"), at("link")).expect("a link");
        symlink(at("nothing"), at("dangling")).expect("a link");
        for link in ["link", "dangling"] {
            for replace in [false, true] {
                assert!(put(&at(link), "three", replace).is_err());
            }
        }
        assert_eq!(fs::read_to_string(at("new")).expect("there"), "two");
        assert_eq!(dir.names(), ["dangling", "link", "new"], "nothing lies beside");
        let error = put(&at("no/such/file"), "x", false).expect_err("no directory");
        assert_eq!(
            format!("{error:#}"),
            format!("cannot write {}: No such file or directory (os error 2)", at("no/such/file").display())
        );
    }

    #[test]
    fn what_is_a_stream_stays_one() {
        put(Path::new("/dev/null"), "x", true).expect("it takes anything");
        let found = fs::symlink_metadata("/dev/null").expect("there").file_type();
        assert!(found.is_char_device());
        assert!(put(Path::new("/dev/full"), "x", true).is_err());
        let dir = TestDir::new();
        assert!(put(dir.path(), "x", true).is_err() && dir.path().is_dir());
    }
}
