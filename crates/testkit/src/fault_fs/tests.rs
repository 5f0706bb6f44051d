//! The file system behaves like a real one, and each fault as documented.

use super::*;
use crate::dir::names_in;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};

/// Page-aligned buffer for O_DIRECT.
#[repr(align(4096))]
struct Page([u8; 4096]);

fn errno<T>(result: io::Result<T>) -> Option<i32> {
    result.err().and_then(|e| e.raw_os_error())
}

#[test]
fn it_is_a_file_system() {
    let Some(fs) = FaultFs::mount("it_is_a_file_system") else { return };
    let dir = fs.path().join("dir");
    let (one, two) = (dir.join("one"), dir.join("two"));
    fs::create_dir(&dir).unwrap();
    let data: Vec<u8> = (0..1_000_000u32).map(|n| (n % 251) as u8).collect();
    fs::write(&one, &data).unwrap();
    assert_eq!(fs::read(&one).unwrap(), data);
    assert_eq!(errno(fs::remove_dir(&dir)), Some(libc::ENOTEMPTY));
    fs::rename(&one, &two).unwrap();
    assert_eq!(names_in(&dir), ["two"]);
    fs::hard_link(&two, &one).unwrap();
    assert_eq!(fs::metadata(&two).unwrap().nlink(), 2);
    fs::remove_file(&one).unwrap();
    let open = OpenOptions::new().read(true).write(true).open(&two).unwrap();
    open.set_len(10).unwrap();
    assert_eq!(fs::metadata(&two).unwrap().len(), 10);
    fs::remove_file(&two).unwrap();
    // Deleted, but open.
    open.write_all_at(b"after", 20).unwrap();
    let mut read = [0; 6];
    open.read_exact_at(&mut read, 19).unwrap();
    assert_eq!(&read, b"\0after");
    assert_eq!(open.metadata().unwrap().nlink(), 0);
    open.sync_all().unwrap();
    drop(open);
    fs::remove_dir(&dir).unwrap();
    assert_eq!(names_in(fs.path()), [""; 0]);
    let many: Vec<String> = (0..500).map(|n| format!("file{n:03}")).collect();
    for name in &many {
        fs::write(fs.path().join(name), name).unwrap();
    }
    assert_eq!(names_in(fs.path()), many);
    assert_eq!(errno(File::create(fs.path().join("large")).unwrap().set_len(1 << 40)), Some(libc::ENOSPC));
}

#[test]
fn short_and_empty_answers_reach_the_caller() {
    let Some(fs) = FaultFs::mount("short_and_empty_answers_reach_the_caller") else { return };
    for direct in [0, libc::O_DIRECT] {
        let path = fs.path().join("file");
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).custom_flags(direct).open(&path).unwrap();
        let mut page = Page([7; 4096]);
        fs.fail_once(Call::Write, 1, Fault::Short);
        assert_eq!(file.write_at(&page.0, 0).unwrap(), 4096);
        assert_eq!(file.write_at(&page.0, 4096).unwrap(), 2048);
        assert_eq!(file.write_at(&page.0, 4096).unwrap(), 4096);
        fs.fail(Call::Read, Fault::Short);
        assert_eq!(file.read_at(&mut page.0, 0).unwrap(), 2048);
        assert_eq!(file.read_at(&mut page.0, 0).unwrap(), 2048);
        fs.fail(Call::Read, Fault::Zero);
        fs.fail(Call::Write, Fault::Zero);
        assert_eq!(file.read_at(&mut page.0, 0).unwrap(), 0);
        assert_eq!(file.write_at(&page.0, 0).unwrap(), 0);
        fs.heal();
        assert_eq!(file.read_at(&mut page.0, 0).unwrap(), 4096);
        assert_eq!(file.metadata().unwrap().len(), 8192);
    }
    assert_eq!((fs.hits(Call::Read), fs.hits(Call::Write)), (6, 4));
}

#[test]
fn a_short_answer_is_never_an_empty_one() {
    let short = |length| faults::moved(Some(Fault::Short), length).unwrap();
    assert_eq!([1, 2, 3, 512, 1024, 4096, 5000].map(short), [1, 1, 2, 256, 512, 2048, 2048]);
}

#[test]
fn every_call_fails_as_it_is_told() {
    let Some(fs) = FaultFs::mount("every_call_fails_as_it_is_told") else { return };
    let at = |name: &str| fs.path().join(name);
    fs::write(at("file"), "data").unwrap();
    mark(&File::open(at("file")).unwrap(), b"ours").unwrap();
    let file = OpenOptions::new().read(true).write(true).open(at("file")).unwrap();
    for (call, fault) in Call::ALL.into_iter().zip(Fault::ALL.into_iter().cycle()) {
        let Fault::Errno(number) = fault else { continue };
        println!("{call:?} {fault:?}");
        fs.fail(call, fault);
        let _ = fs::create_dir(at("directory"));
        let failed = match call {
            Call::Read => errno(file.read_at(&mut [0; 4], 0)),
            Call::Write => errno(file.write_at(b"more", 0)),
            Call::Fsync => errno(file.sync_all()),
            Call::Open => errno(File::open(at("file"))),
            Call::Create => errno(File::create(at("new"))),
            Call::Unlink => errno(fs::remove_file(at("file"))),
            Call::Mkdir => errno(fs::create_dir(at("other"))),
            Call::Rmdir => errno(fs::remove_dir(at("directory"))),
            Call::Readdir => errno(fs::read_dir(fs.path()).and_then(|mut all| all.next().transpose())),
            Call::Lookup | Call::Getattr => errno(fs::metadata(at("file"))),
            Call::Setattr => errno(file.set_len(0)),
            Call::Statfs => errno(statfs(fs.path())),
            Call::Rename => errno(fs::rename(at("file"), at("other"))),
            Call::Fallocate => errno(fallocate(&file)),
            Call::Getxattr => errno(mark_of(&file)),
            Call::Setxattr => errno(mark(&file, b"other")),
        };
        fs.heal();
        assert_eq!(failed, Some(number), "{call:?}");
        assert!(fs.hits(call) > 0, "{call:?}");
        assert_eq!(fs::read(at("file")).unwrap(), b"data", "{call:?}");
    }
    statfs(fs.path()).unwrap();
    assert_eq!(mark_of(&file).unwrap(), b"ours");
    fallocate(&file).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 8192);
}

#[test]
#[should_panic(expected = "Short cannot happen to Fsync")]
fn what_cannot_happen_is_an_error_of_the_test() {
    Plan::default().arm(Call::Fsync, 0, 1, Fault::Short);
}

#[test]
fn it_goes_while_files_are_open() {
    let Some(fs) = FaultFs::mount("it_goes_while_files_are_open") else { return };
    let path = fs.path().to_path_buf();
    let file = File::create(path.join("file")).unwrap();
    drop(fs);
    assert!(!path.exists());
    assert!(file.write_at(b"late", 0).is_err());
}

fn statfs(path: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    let name = std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap();
    let mut answer = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: `name` is a terminated string and `answer` is a writable statfs of the right size.
    let done = unsafe { libc::statfs(name.as_ptr(), answer.as_mut_ptr()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn fallocate(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as `file` is borrowed.
    let done = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, 8192) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn mark(file: &File, value: &[u8]) -> io::Result<()> {
    let value_at = value.as_ptr().cast();
    // SAFETY: the name is a terminated string and the value has the given length.
    let done = unsafe { libc::fsetxattr(file.as_raw_fd(), c"user.mark".as_ptr(), value_at, value.len(), 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn mark_of(file: &File) -> io::Result<Vec<u8>> {
    let mut value = vec![0u8; 16];
    let into = value.as_mut_ptr().cast();
    // SAFETY: the name is a terminated string and the buffer has the given length.
    let length = unsafe { libc::fgetxattr(file.as_raw_fd(), c"user.mark".as_ptr(), into, value.len()) };
    value.truncate(usize::try_from(length).map_err(|_| io::Error::last_os_error())?);
    Ok(value)
}
