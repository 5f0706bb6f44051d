//! Parsing directories in advance: the result equals the image, with few and large reads, and never exceeds the budget.

use super::*;
use crate::options::Options;
use crate::walk::{Step, Walk};
use fathom_testkit::iso::{Builder, Spec};
use std::cell::RefCell;

fn image(directories: usize, files: usize) -> Image<Vec<u8>> {
    let mut builder = Builder::new().rock_ridge("RRIP_1991A");
    for directory in 0..directories {
        builder = builder.dir(&format!("d{directory:03}"), Spec::default());
        for file in 0..files {
            // File sizes differ, so that positions and names are in different orders.
            builder = builder.file(&format!("d{directory:03}/f{file:02}"), &vec![7; 100 + 3000 * (file % 3)]);
        }
    }
    Image::open(builder.build().bytes, &Options::default()).unwrap()
}

/// Reads straight from the image and records the reads.
fn with_reads<T>(image: &Image<Vec<u8>>, run: impl FnOnce(ReadBlocks<'_>) -> T) -> (T, Vec<(u64, usize)>) {
    let reads = RefCell::new(Vec::new());
    let read = |byte: u64, buf: &mut [u8]| {
        reads.borrow_mut().push((byte, buf.len()));
        image.disc.read(byte, buf)
    };
    let result = run(&read);
    (result, reads.into_inner())
}

/// Every directory of the tree, with its names.
fn all(image: &Image<Vec<u8>>) -> Vec<(Node, Vec<Vec<u8>>)> {
    let mut found = vec![image.root().clone()];
    let mut walk = Walk::new(image);
    while let Some(step) = walk.step() {
        if let Step::File { node, again: false, .. } = step
            && node.is_directory()
        {
            found.push(node.clone());
        }
    }
    let names = |node: &Node| image.read_dir(node).unwrap().entries.into_iter().map(|e| e.name).collect();
    found.into_iter().map(|node| (node.clone(), names(&node))).collect()
}

#[test]
fn all_directories_come_in_few_reads_in_the_order_of_the_disc() {
    let image = image(120, 8);
    let directories = Directories::new(DirOrder::Disk, 64 << 20);
    let (counts, reads) = with_reads(&image, |read| directories.at_mount(&image, read));
    assert_eq!(counts.directories, 121);
    assert_eq!(
        (counts.reads as usize, counts.bytes),
        (reads.len(), reads.iter().map(|r| r.1 as u64).sum::<u64>())
    );
    assert!(reads.len() <= 4, "{reads:?}");
    assert!(reads[1..].windows(2).all(|two| two[0].0 < two[1].0), "{reads:?}");
    for (node, names) in all(&image) {
        let kept = directories.get(&node).expect("it was taken apart");
        assert_eq!(kept.entries.iter().map(|e| e.name.clone()).collect::<Vec<_>>(), names);
    }
    let mut buf = [0; 1];
    let root = image.disc.byte_of(image.root().directory_block().unwrap()).unwrap();
    assert!(!image.disc.staged.fill(root, &mut buf), "the bytes themselves are not kept");
}

#[test]
fn over_the_budget_those_below_an_opened_directory_come_with_it() {
    let image = image(40, 30);
    let budget = 60 << 10;
    let directories = Directories::new(DirOrder::Disk, budget);
    with_reads(&image, |read| directories.at_mount(&image, read));
    let root = directories.listing(image.read_dir(image.root()).unwrap().entries);
    let (counts, reads) = with_reads(&image, |read| directories.below(&image, read, &root));
    assert!(counts.directories > 0 && reads.len() <= 3, "{counts:?} {reads:?}");
    let kept = directories.lock();
    assert!(kept.bytes <= budget && kept.bytes > budget / 2, "{} of {budget}", kept.bytes);
    assert_eq!(
        (kept.ages.len(), kept.bytes),
        (kept.listings.len(), kept.listings.values().map(|one| one.weight).sum::<u64>())
    );
}

#[test]
fn a_virtual_directory_takes_no_budget() {
    let builder = Builder::new().boot(&[1; 2048]).dir("a", Spec::default()).dir("b", Spec::default());
    let options = Options { boot: true, ..Options::default() };
    let image = Image::open(builder.build().bytes, &options).unwrap();
    // The budget covers two of the three directories.
    let directories = Directories::new(DirOrder::Disk, 4 << 10);
    with_reads(&image, |read| directories.at_mount(&image, read));
    let root = directories.listing(image.read_dir(image.root()).unwrap().entries);
    with_reads(&image, |read| directories.below(&image, read, &root));
    let kept = |name: &[u8]| directories.get(root.find(name).unwrap()).is_some();
    assert!(!kept(b".fathom") && kept(b"a") && kept(b"b"));
}

/// Loops are detected by the path, so by another path a directory's entries differ.
#[test]
fn a_directory_is_kept_for_the_way_it_was_reached_by() {
    let image = image(2, 1);
    let directories = Directories::new(DirOrder::Disk, 64 << 20);
    with_reads(&image, |read| directories.at_mount(&image, read));
    let mut node = image.read_dir(image.root()).unwrap().entries.remove(0).node;
    assert!(directories.get(&node).is_some(), "read again, the way is the same");
    node.trail = Some(Trail::new(7, node.trail.take()));
    assert!(directories.get(&node).is_none());
}

#[test]
fn without_a_budget_nothing_is_read() {
    let image = image(3, 1);
    let directories = Directories::new(DirOrder::Disk, 0);
    let (counts, reads) = with_reads(&image, |read| directories.at_mount(&image, read));
    assert_eq!((counts, reads), (AdvanceReads::default(), Vec::new()));
    assert!(directories.get(image.root()).is_none());
}

#[test]
fn entries_are_shown_in_the_order_that_was_asked_for() {
    // In the directory b comes after a, on the disc before it.
    let image = {
        let builder = Builder::new().rock_ridge("RRIP_1991A");
        let builder = builder.file("a", &[1; 5000]).file("b", &[2; 10]).file("c", &[3; 3000]);
        Image::open(builder.build().bytes, &Options::default()).unwrap()
    };
    let entries = || {
        let mut entries = image.read_dir(image.root()).unwrap().entries;
        entries.rotate_left(1);
        entries
    };
    let shown = |order| {
        let listing = Directories::new(order, 0).listing(entries());
        listing.entries.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(shown(DirOrder::Disk), [b"B", b"C", b"A"]);
    assert_eq!(shown(DirOrder::Name), [b"A", b"B", b"C"]);
    let places: Vec<Option<u64>> = Directories::new(DirOrder::Lbn, 0)
        .listing(entries())
        .entries
        .iter()
        .map(|e| first_block(&e.node))
        .collect();
    assert!(places.is_sorted() && places.len() == 3);
}
