//! Other things that writers put on a medium: boot images, partition tables, a UDF file system beside ISO 9660, additional sessions. None
//! of them changes the tree.

use crate::writers::disk::{assert_same, in_image, on_disk, open, run};
use fathom_isofs::format::el_torito::Media;
use fathom_isofs::{FileSource, Image, Options, Session, check};
use fathom_testkit::{TestDir, need_tool};
use std::fs;
use std::path::{Path, PathBuf};

/// A small tree with boot images: 4 KiB for a BIOS, 64 KiB for EFI, a floppy.
fn source(dir: &TestDir) -> PathBuf {
    let from = dir.subdir("source");
    fs::create_dir(from.join("boot")).unwrap();
    fs::write(from.join("a.txt"), b"first\n").unwrap();
    fs::write(from.join("boot/bios.img"), vec![7; 4096]).unwrap();
    fs::write(from.join("boot/efi.img"), vec![8; 64 << 10]).unwrap();
    fs::write(from.join("boot/floppy.img"), vec![9; 1440 << 10]).unwrap();
    from
}

/// Its image, made by a writer with extra arguments before the tree.
fn made(dir: &TestDir, program: &[&str], words: &[&str]) -> (PathBuf, Image<FileSource>) {
    let from = source(dir);
    let to = dir.path().join("image.iso");
    let mut all = program[1..].to_vec();
    all.extend(words);
    all.extend(["-o", to.to_str().unwrap(), from.to_str().unwrap()]);
    run(program[0], &all);
    let image = open(&to, &Options::default());
    let mut read = in_image(&image);
    // The catalogue is a file that exists only in the image.
    read.remove("boot/boot.cat");
    assert_same(&on_disk(&from), &read);
    assert_eq!(check::check(&image).findings.list(), [], "{words:?}");
    (to, image)
}

const GENISOIMAGE: &[&str] = &["genisoimage", "-quiet", "-R"];
const XORRISO: &[&str] = &["xorriso", "-as", "mkisofs", "-quiet", "-R"];

/// Platform, emulation and size of each boot image; asserts that it can be read.
fn booted(image: &Image<FileSource>) -> Vec<(u8, Media, usize)> {
    let bytes = |boot| image.read_boot_image(boot, 1 << 30).unwrap().len();
    image.info().boot.iter().map(|boot| (boot.platform, boot.media, bytes(boot))).collect()
}

#[test]
fn a_bridge_to_udf_shows_its_iso_side() {
    if !need_tool("a_bridge_to_udf_shows_its_iso_side", "genisoimage") {
        return;
    }
    let dir = TestDir::new();
    let (_, image) = made(&dir, GENISOIMAGE, &["-udf"]);
    assert!(image.info().udf);
    let dir = TestDir::new();
    let (_, image) = made(&dir, GENISOIMAGE, &[]);
    assert!(!image.info().udf);
}

#[test]
fn boot_images_of_genisoimage() {
    if !need_tool("boot_images_of_genisoimage", "genisoimage") {
        return;
    }
    let dir = TestDir::new();
    let floppy = ["-b", "boot/floppy.img", "-c", "boot/boot.cat"];
    let (_, image) = made(&dir, GENISOIMAGE, &floppy);
    assert_eq!(booted(&image), [(0, Media::Floppy(1440), 1440 << 10)]);
    let dir = TestDir::new();
    let words =
        [&["-b", "boot/bios.img", "-no-emul-boot", "-boot-load-size", "8"][..], &floppy[2..]].concat();
    let (_, image) = made(&dir, GENISOIMAGE, &words);
    assert_eq!(booted(&image), [(0, Media::None, 4096)]);
}

#[test]
fn a_hybrid_for_bios_and_efi_with_both_tables() {
    if !need_tool("a_hybrid_for_bios_and_efi_with_both_tables", "xorriso") {
        return;
    }
    let dir = TestDir::new();
    // A disk's boot record: no code, and space for the partition table.
    let record = dir.path().join("record");
    fs::write(&record, [0; 432]).unwrap();
    let record = record.to_str().unwrap();
    let words = [
        &[
            "-isohybrid-mbr",
            record,
            "-J",
            "-b",
            "boot/bios.img",
            "-no-emul-boot",
            "-boot-load-size",
            "8",
            "-c",
            "boot/boot.cat",
        ][..],
        &["-eltorito-alt-boot", "-e", "boot/efi.img", "-no-emul-boot", "-isohybrid-gpt-basdat"],
    ];
    let (to, image) = made(&dir, XORRISO, &words.concat());
    assert_eq!(booted(&image), [(0, Media::None, 4096), (0xEF, Media::None, 64 << 10)]);
    let first = fs::read(to).unwrap();
    assert_eq!((&first[510..512], &first[512..520]), (&[0x55, 0xAA][..], &b"EFI PART"[..]));
}

/// Appends a session like a burning program: after the last one, with its own descriptors; earlier sessions stay.
fn append(to: &Path, add: &Path, scratch: &Path) {
    let bytes = fs::metadata(to).unwrap().len();
    let next = (bytes.div_ceil(2048) + 16).next_multiple_of(16);
    let options = Options { session: Session::Last, ..Options::default() };
    let last = open(to, &options).info().session;
    let (to_text, scratch_text) = (to.to_str().unwrap(), scratch.to_str().unwrap());
    let numbers = format!("{last},{next}");
    let graft = format!("/={}", add.display());
    let words = ["-quiet", "-R", "-C", &numbers, "-M", to_text, "-o", scratch_text, "-graft-points", &graft];
    run("genisoimage", &words);
    let mut image = fs::read(to).unwrap();
    image.resize(usize::try_from(next).unwrap() * 2048, 0);
    image.extend(fs::read(scratch).unwrap());
    fs::write(to, image).unwrap();
}

#[test]
fn appended_sessions_have_what_was_there_and_what_came() {
    if !need_tool("appended_sessions_have_what_was_there_and_what_came", "genisoimage") {
        return;
    }
    for count in [1, 2, 5] {
        let dir = TestDir::new();
        let (to, first) = made(&dir, GENISOIMAGE, &[]);
        let mut wanted = on_disk(&dir.path().join("source"));
        drop(first);
        for n in 2..=count {
            let add = dir.subdir(&format!("add{n}"));
            fs::write(add.join(format!("from session {n}")), format!("content {n}")).unwrap();
            append(&to, &add, &dir.path().join("scratch.iso"));
            wanted.extend(on_disk(&add));
        }
        let last = open(&to, &Options { session: Session::Last, ..Options::default() });
        assert_eq!(last.sessions().unwrap().len(), count, "{count}");
        assert_same(&wanted, &in_image(&last));
        assert_eq!(check::check(&last).findings.list(), [], "{count}");
        let first = open(&to, &Options::default());
        assert_eq!(in_image(&first).len(), 5, "the first session has what it had");
    }
}
