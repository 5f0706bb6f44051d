//! Images made to harm: mounted, they give what can be read and errors for the rest; no name leads elsewhere, nothing hangs, and the file
//! beside the broken one stays readable.

use crate::mount::support::{Mounted, can_mount};
use fathom_isofs::{Image, Options};
use fathom_testkit::iso::hostile::{self, GOOD};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::path::Path;

/// Entries looked at: some of these trees have no end that is worth waiting for.
const ENOUGH: usize = 300;
/// Bytes read of a file that claims more.
const PIECE: u64 = 1 << 20;

/// What serving one of these may cost: seconds of CPU, MiB of memory.
const MOST_SECONDS: f64 = 1.0;
const MOST_MIB: u64 = 100;

/// What a process has cost so far.
fn cost(pid: u32) -> (f64, u64) {
    let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap();
    // Behind the name, which may hold anything, user and system time are the 12th and 13th field, in hundredths.
    let stat = read("stat");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    let status = read("status");
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = most.trim().trim_end_matches(" kB").parse().unwrap();
    (ticks as f64 / 100.0, kib / 1024)
}

/// Walks what there is, reads a piece of everything, and says what was found.
fn look_around(on: &Path) -> usize {
    let mut seen = 0;
    let mut left = vec![on.to_path_buf()];
    while let Some(directory) = left.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        let mut names = BTreeSet::new();
        for entry in entries.map_while(Result::ok) {
            let name = entry.file_name();
            assert!(!name.is_empty() && name != "." && name != "..", "{name:?}");
            assert!(names.insert(name.clone()), "{name:?} twice in {directory:?}");
            let path = directory.join(&name);
            seen += 1;
            if seen > ENOUGH {
                return seen;
            }
            let Ok(about) = fs::symlink_metadata(&path) else { continue };
            if about.is_dir() {
                left.push(path);
            } else if about.is_file() {
                let mut bytes = Vec::new();
                let read = File::open(&path).and_then(|file| file.take(PIECE).read_to_end(&mut bytes));
                // A short answer without an error is the end of the file.
                assert!(read.is_err() || bytes.len() as u64 == about.len().min(PIECE), "{path:?}");
            } else {
                let _ = fs::read_link(&path);
            }
        }
    }
    seen
}

#[test]
fn hostile_images_are_mounted_without_harm() {
    if !can_mount("hostile_images_are_mounted_without_harm") {
        return;
    }
    let mut mounted = 0;
    for case in hostile::all() {
        let bytes = case.bytes();
        let Ok(image) = Image::open(bytes.clone(), &Options::default()) else { continue };
        let has_good = image.resolve(b"good").ok().flatten().is_some();
        drop(image);
        // By turns through the kernel's cache and through ours: both see every kind of image.
        let options = if mounted % 2 == 0 { &[][..] } else { &["--policy", "modern"] };
        let mount = Mounted::new(&bytes, options);
        let seen = look_around(&mount.on);
        assert!(seen > 0 || !has_good, "{}", case.name);
        if has_good {
            assert_eq!(fs::read(mount.on.join("good")).unwrap(), GOOD, "{}", case.name);
        }
        let mut mount = mount;
        let (seconds, mib) = cost(mount.running().pid());
        assert!(
            seconds <= MOST_SECONDS && mib <= MOST_MIB,
            "{}: {seconds:.2} s of CPU, {mib} MiB",
            case.name
        );
        drop(mount.end());
        mounted += 1;
    }
    assert!(mounted >= 30, "{mounted} mounts");
}

/// H10: the part that the image has is read, to its last byte; the rest is an error, not zeros and not an end.
#[test]
fn a_file_beyond_the_image_is_an_error_where_it_ends() {
    if !can_mount("a_file_beyond_the_image_is_an_error_where_it_ends") {
        return;
    }
    let data = crate::mount::support::noise(50_000);
    let mut built = fathom_testkit::iso::Builder::new().file("cut", &data).build();
    built.bytes.truncate(built.data["cut"] + 12_345);
    for options in [&[][..], &["--policy", "baseline"], &["--policy", "modern"]] {
        let mount = Mounted::new(&built.bytes, options);
        let mut file = File::open(mount.on.join("cut")).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 50_000);
        let mut got = Vec::new();
        let error = file.read_to_end(&mut got).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EIO), "{options:?}");
        assert!(got == data[..12_345], "{} bytes, {options:?}", got.len());
        drop(file);
        drop(mount.end());
    }
}

/// What a file that is mapped lacks is a signal to the program, not zeros: the kernel fills up what a mapping gets in part.
#[test]
fn what_a_mapped_file_lacks_is_no_zeros() {
    if !can_mount("what_a_mapped_file_lacks_is_no_zeros") {
        return;
    }
    let data = crate::mount::support::noise(50_000);
    let mut built = fathom_testkit::iso::Builder::new().file("cut", &data).build();
    built.bytes.truncate(built.data["cut"] + 12_345);
    for options in [&[][..], &["--policy", "baseline"], &["--policy", "modern"]] {
        let mount = Mounted::new(&built.bytes, options);
        let file = File::open(mount.on.join("cut")).unwrap();
        let flags = rustix::mm::MapFlags::PRIVATE;
        // SAFETY: the kernel chooses the place; nothing here reads the mapping but the kernel.
        let mapped = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), data.len(), rustix::mm::ProtFlags::READ, flags, &file, 0)
                .unwrap()
        };
        let copy = mount.fathom.work().join("copy");
        let into = File::create(&copy).unwrap();
        // For an unreadable page the kernel returns EFAULT where a program that touches the mapping would get SIGBUS.
        for page in 0..data.len().div_ceil(4096) {
            let length = 4096.min(data.len() - page * 4096);
            // SAFETY: within the mapping made above; the kernel answers what it cannot read with an error.
            let wrote =
                unsafe { libc::write(into.as_raw_fd(), mapped.cast::<u8>().add(page * 4096).cast(), length) };
            assert_eq!(wrote, if page < 3 { 4096 } else { -1 }, "page {page}, {options:?}");
        }
        assert!(fs::read(&copy).unwrap() == data[..3 * 4096], "{options:?}");
        // SAFETY: the mapping made above, of this length.
        unsafe { rustix::mm::munmap(mapped, data.len()).unwrap() };
        drop((file, into));
        drop(mount.end());
    }
}
