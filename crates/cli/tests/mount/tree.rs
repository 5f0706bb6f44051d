//! The tree in the mount equals that of the library, of `extract`, and of the image's source.

use crate::mount::support::{Mounted, can_mount, disc, named, noise};
use fathom_isofs::{FileSource, Image, Kind, Options, Step, Walk};
use fathom_testkit::iso::{Builder, Spec, raw};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

/// What is known of a file by its path: kind, permissions, size, date, content or target.
type Tree = BTreeMap<String, String>;

fn sum(bytes: &[u8]) -> String {
    let sum = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, &b| (sum ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    format!("{} bytes, {sum:016x}", bytes.len())
}

/// As the kernel shows it.
fn through_the_kernel(top: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut left = vec![top.to_path_buf()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            let kind = about.file_type();
            let content = if kind.is_symlink() {
                format!("-> {}", fs::read_link(&path).unwrap().display())
            } else if kind.is_dir() {
                left.push(path.clone());
                "/".into()
            } else if kind.is_file() {
                sum(&fs::read(&path).unwrap())
            } else {
                assert!(kind.is_fifo() || kind.is_char_device(), "{path:?}");
                format!("device {:x}", about.rdev())
            };
            let name = path.strip_prefix(top).unwrap().as_os_str().as_bytes();
            let shown = format!("{:o} {} {content}", about.mode() & 0o170_777, about.mtime());
            tree.insert(String::from_utf8_lossy(name).into_owned(), shown);
        }
    }
    tree
}

/// As the library reads it.
fn through_the_library(image: &Path) -> Tree {
    let image =
        Image::open(FileSource::new(File::open(image).unwrap()).unwrap(), &Options::default()).unwrap();
    let mut tree = Tree::new();
    let mut walk = Walk::new(&image);
    while let Some(step) = walk.step() {
        let Step::File { path, node, again: false } = step else { panic!("{step:?}") };
        let content = match node.kind() {
            Kind::Link => format!("-> {}", String::from_utf8_lossy(&image.read_link(node).unwrap())),
            Kind::Directory => "/".into(),
            Kind::File => sum(&image.read_all(node, 1 << 30).unwrap()),
            _ => format!("device {:x}", rustix::fs::makedev(node.device().0, node.device().1)),
        };
        let time = node.times().modified.moment().map_or(0, |moment| moment.seconds);
        let shown = format!("{:o} {time} {content}", node.mode() & 0o170_777);
        tree.insert(String::from_utf8_lossy(path).into_owned(), shown);
    }
    tree
}

/// Images of every kind that the generator makes.
fn images() -> Vec<(&'static str, Vec<u8>)> {
    let data = noise(200_000);
    let plain = |builder: Builder| {
        let builder =
            builder.file("a.txt", b"first").file("dir/b.bin", &data[..77_777]).file("dir/sub/c", b"");
        let inter = Spec { data: data[..50_000].to_vec(), interleave: (2, 1), ..Spec::default() };
        builder.add("inter", inter).build().bytes
    };
    let sections = Spec {
        sections: vec![1000, 500, 100_000, 98_500],
        scattered: true,
        ..named("sections", 0o100_644, 1, None, &data)
    };
    let mut device = named("null", 0o020_666, 1, None, b"");
    device.susp.push(fathom_testkit::iso::susp::pn(1, 3));
    let mut fifo = named("fifo", 0o010_600, 1, None, b"");
    fifo.susp.push(fathom_testkit::iso::susp::pn(0, 0));
    let rock =
        Builder::new().rock_ridge("IEEE_P1282").add("s", sections).add("null", device).add("fifo", fifo);
    vec![
        ("a disc", disc()),
        ("blocks of 512", plain(Builder::new().block(512))),
        ("blocks of 1024", plain(Builder::new().block(1024))),
        ("Joliet", plain(Builder::new().joliet(3))),
        ("1999", plain(Builder::new().enhanced())),
        (
            "High Sierra",
            Builder::new().high_sierra().file("old", &data[..9000]).file("d/x", b"x").build().bytes,
        ),
        ("sections, a device and a pipe", rock.build().bytes),
        ("raw sectors", raw::wrap(&plain(Builder::new()), 2352, 1)),
    ]
}

/// Every policy, and everything that is read before it is asked for: directories that all fit, and some that do not.
const OPTIONS: [&[&str]; 6] = [
    &[],
    &["--policy", "baseline"],
    &["--policy", "seed"],
    &["--policy", "modern"],
    &["--metadata", "64MiB", "--dir-order", "lbn"],
    &[
        "--policy",
        "modern",
        "--metadata",
        "4KiB",
        "--dir-order",
        "name",
        "--small-files",
        "256KiB",
        "--bridge",
        "32KiB",
    ],
];

#[test]
fn the_mount_the_library_and_extract_show_the_same() {
    if !can_mount("the_mount_the_library_and_extract_show_the_same") {
        return;
    }
    for (name, image) in images() {
        for options in OPTIONS {
            let mount = Mounted::new(&image, options);
            let (work, shown) = (mount.fathom.work().to_path_buf(), through_the_kernel(&mount.on));
            assert_eq!(shown, through_the_library(&work.join("disc.iso")), "{name} {options:?}");
            assert!(shown.len() > 2 && through_the_kernel(&mount.on) == shown, "a second time");
            if options.is_empty() {
                let unpacked = mount.fathom.run(["iso", "extract", "disc.iso", "out"]);
                assert!(matches!(unpacked.code, Some(0 | 3)), "{unpacked:?}");
                let out = through_the_kernel(&work.join("out"));
                for (path, shown) in shown.iter().filter(|(_, shown)| !shown.contains(" device ")) {
                    let content = |shown: &str| shown.splitn(3, ' ').nth(2).map(str::to_owned);
                    assert_eq!(content(&out[path]), content(shown), "{name}: {path}");
                }
            }
            drop(mount.end());
        }
    }
}

#[test]
fn what_went_in_comes_out() {
    if !can_mount("what_went_in_comes_out") {
        return;
    }
    let mount = Mounted::new(&disc(), &[]);
    let read = |name: &str| fs::read(mount.on.join(name)).unwrap();
    assert!(
        read("Big file") == noise(3_000_001)
            && read("docs/README") == b"read me\n"
            && read("empty").is_empty()
    );
    assert_eq!(read("link"), b"read me\n");
    for n in 0..300 {
        assert!(read(&format!("many/a file of a longer name, number {n:03}")) == noise(n * 37));
    }
    let names = fathom_testkit::dir::names_in(&mount.on.join("many"));
    assert!(names.len() == 300 && names.is_sorted());
    drop(mount.end());
}
