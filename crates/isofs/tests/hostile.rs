//! The catalogue of hostile inputs, case by case: what must still be readable, what must be an error or a finding, and the bounds common
//! to all. Time is not measured; the number of reads and bytes is bounded instead, and allocations follow them.

use crate::support;
use crate::support::{Watched, tree};
use fathom_isofs::check::check;
use fathom_isofs::{Condition, Image, Options, Step, Walk};
use fathom_testkit::iso::hostile::{self, GOOD, Hostile};
use std::collections::HashSet;
use std::sync::atomic::Ordering;

fn case(name: &str) -> Hostile {
    hostile::all().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name:?}"))
}

fn opened(name: &str) -> Image<Watched> {
    support::open(case(name).bytes())
}

/// Maps each path to its content, and asserts that the check found the condition.
fn read(name: &str, condition: Condition) -> std::collections::BTreeMap<String, String> {
    let image = opened(name);
    let found = check(&image).findings;
    let mine = found.list().iter().find(|f| f.condition == condition);
    assert!(mine.is_some(), "{name}: no {condition:?} in {:#?}", found.list());
    tree(&image)
}

/// For every case: nothing outside the image is read, no read is larger than the image or than the 64 MiB limit of a directory, names are
/// unique and safe, and intact parts stay readable.
#[test]
fn every_case_keeps_within_bounds() {
    for hostile in hostile::all() {
        let (id, name, bytes) = (hostile.id, hostile.name, hostile.bytes());
        let size = bytes.len() as u64;
        let source = Watched::new(bytes);
        let Ok(image) = Image::open(&source, &Options::default()) else {
            assert!(matches!(id, "H16" | "H20"), "{id} {name} is refused");
            continue;
        };
        names_are_safe(&image, name);
        let good = image.resolve(b"good").unwrap_or_else(|e| panic!("{id} {name}: {e}"));
        let good = good.unwrap_or_else(|| panic!("{id} {name}: good is gone"));
        assert_eq!(image.read_all(&good, 100).unwrap(), GOOD, "{id} {name}");
        let checked = check(&image);
        assert!(
            checked.findings.list().iter().all(|f| f.at.lbn * 2048 < size),
            "{id} {name}: a place outside the image"
        );
        drop(image);
        assert!(source.largest.load(Ordering::Relaxed) <= size.min(64 << 20), "{id} {name}");
        // A walk, a check and one lookup: each directory a few times, and each record's continuation area.
        let areas = if name.contains("of one area") { 2000 * (64 << 10) } else { 0 };
        assert!(source.read_bytes.load(Ordering::Relaxed) <= 16 * (size + areas) + (1 << 20), "{id} {name}");
    }
}

fn names_are_safe(image: &Image<&Watched>, case: &str) {
    let mut walk = Walk::new(image);
    let mut seen = HashSet::new();
    while let Some(step) = walk.step() {
        let Step::File { path, .. } = step else { continue };
        let name = path.rsplit(|&b| b == b'/').next().unwrap_or_default();
        assert!(!name.is_empty() && name != b"." && name != b".." && !name.contains(&0), "{case}: {name:?}");
        // Ten thousand levels: a long path is identified by its end and its length.
        let key = if path.len() > 4096 {
            [&path[path.len() - 64..], &path.len().to_le_bytes()].concat()
        } else {
            path.to_vec()
        };
        assert!(seen.insert(key), "{case}: two entries of one name");
    }
}

#[test]
fn h1_continuations_in_a_ring_end() {
    for name in ["continuation that points at itself", "two continuations in a ring", "forty continuations"] {
        let tree = read(name, Condition::ContinuationLoop);
        assert!(tree.values().any(|content| content == "data"), "{name}: {tree:?}");
    }
}

#[test]
fn h2_a_continuation_may_cross_a_sector_but_has_an_end() {
    let across = tree(&opened("continuation across a sector"));
    assert_eq!(across["across"], "data");
    assert!(check(&opened("continuation across a sector")).findings.list().is_empty());
    read("continuation of 4 GiB", Condition::ContinuationRange);
}

#[test]
fn h3_a_continuation_behind_the_data_is_read() {
    let image = opened("continuation behind the data");
    assert_eq!(tree(&image)["bad"], "data");
    assert_eq!(check(&image).findings.list(), []);
}

#[test]
fn h4_and_h5_a_directory_in_itself_is_not_entered() {
    for (name, path) in [
        ("CL to the root", "d/moved"),
        ("CL to its own directory", "d/moved"),
        ("directory entry back to the root", "d/loop"),
    ] {
        let image = opened(name);
        let node = image.resolve(path.as_bytes()).unwrap().expect("it is listed");
        let error = image.read_dir(&node).unwrap_err();
        assert!(matches!(error, fathom_isofs::Error::Loop { .. }), "{name}: {error}");
        assert!(image.resolve(format!("{path}/d").as_bytes()).is_err());
        assert!(check(&image).findings.has(Condition::DirectoryLoop), "{name}");
    }
}

#[test]
fn h6_a_shared_directory_is_walked_once() {
    let tree = read("directories shared by many parents", Condition::DirectoryShared);
    assert!(tree.len() < 200, "{} paths", tree.len());
    let image = opened("directories shared by many parents");
    assert!(image.resolve(b"s3/s7/s1/s13").unwrap().is_some(), "every path is there all the same");
}

#[test]
fn h7_unsafe_names_are_escaped_and_found_so() {
    for (name, shown) in [
        ("name ..", "%2E%2E"),
        ("name .", "%2E"),
        ("no name", "%"),
        ("name with a slash", "a%2Fb"),
        ("name out of the tree", "..%2F..%2Fx"),
        ("absolute name", "%2Fabs"),
        ("name with NUL", "a%00b"),
    ] {
        assert_eq!(read(name, Condition::UnsafeName)[shown], "data", "{name}");
        assert!(opened(name).resolve(shown.as_bytes()).unwrap().is_some());
    }
}

#[test]
fn h8_a_bad_record_costs_no_more_than_its_sector() {
    for name in ["record of 20 bytes", "name longer than its record"] {
        let tree = read(name, Condition::BadRecord);
        assert_eq!(tree.keys().collect::<Vec<_>>(), ["d", "good"], "{name}");
    }
}

#[test]
fn h9_a_directory_is_no_longer_than_it_says_itself() {
    let tree = read("directory of 4 GiB", Condition::DirectoryLength);
    assert_eq!(tree.keys().collect::<Vec<_>>(), ["d", "d/bad", "good"]);
}

#[test]
fn h10_what_is_in_the_image_is_read_and_the_rest_is_an_error() {
    let image = opened("file longer than the image");
    let node = image.resolve(b"d/bad").unwrap().unwrap();
    assert_eq!(node.size(), 0x7FFF_FFFF);
    let mut buf = [0; 5000];
    assert_eq!(image.read_at(&node, 0, &mut buf).unwrap(), 5000);
    assert!(buf.iter().all(|&b| b == b'x'));
    assert!(image.read_at(&node, 1 << 30, &mut buf).unwrap_err().to_string().contains("beyond the end"));
    let mut offset = 0;
    let error = loop {
        match image.read_at(&node, offset, &mut buf) {
            Ok(n) => offset += n as u64,
            Err(error) => break error,
        }
    };
    assert!(offset > 5000 && error.to_string().contains("beyond the end"), "{error}");
    assert!(read("file behind the image", Condition::BeyondImage)["d/bad"].starts_with("error: "));
}

#[test]
fn h11_the_little_endian_half_counts_unless_it_cannot_be() {
    for name in ["halves of an extent differ", "little-endian half impossible"] {
        assert!(read(name, Condition::HalvesDiffer)["d/bad"].starts_with("5000 bytes"), "{name}");
        let strict = Options { strict: true, ..Options::default() };
        let image = Image::open(case(name).bytes(), &strict).unwrap();
        assert!(image.resolve(b"d/bad").unwrap_err().to_string().contains("strict"), "{name}");
    }
}

#[test]
fn h12_half_an_interleave_is_an_error_for_the_data() {
    for name in ["unit without gap", "gap without unit"] {
        assert!(read(name, Condition::Interleave)["d/bad"].starts_with("error: "), "{name}");
    }
}

#[test]
fn h13_to_h15_are_read_on() {
    assert!(tree(&opened("XAR of a block that is none"))["d/bad"].starts_with("5000 bytes"));
    assert!(read("file without a last section", Condition::Sections)["d/bad"].starts_with("5000 bytes"));
    assert_eq!(read("five thousand descriptors", Condition::Descriptors).len(), 3);
}

#[test]
fn h16_impossible_blocks_are_refused() {
    for name in ["blocks of 0 bytes", "blocks of 3000 bytes"] {
        let error = Image::open(case(name).bytes(), &Options::default()).unwrap_err().to_string();
        assert!(error.contains("a logical block size of"), "{error}");
    }
}

/// A session may be requested at any sector.
#[test]
fn a_session_at_the_end_of_all_numbers_is_no_volume() {
    for sector in [u64::MAX, u64::MAX - 15, u64::MAX - 16, u64::MAX / 2048] {
        let options = Options { session: fathom_isofs::Session::Sector(sector), ..Options::default() };
        let error = Image::open(case("root elsewhere").bytes(), &options).unwrap_err().to_string();
        assert!(error.contains("neither an ISO 9660 nor"), "{sector}: {error}");
    }
}

#[test]
fn h18_a_zisofs_header_allocates_nothing() {
    for name in ["zisofs of 4 GiB from 64 bytes", "zisofs of blocks of 2 GiB"] {
        let image = opened(name);
        let node = image.resolve(b"packed").unwrap().unwrap();
        assert!(image.read_at(&node, 0, &mut [0; 100]).is_err(), "{name}");
        assert!(check(&image).findings.has(Condition::Compression), "{name}");
    }
}

#[test]
fn h19_joliet_names_become_ones_that_can_be() {
    let tree = read("Joliet names", Condition::UnsafeName);
    let names: Vec<&str> = tree.keys().map(String::as_str).collect();
    assert!(names.contains(&"a%2Fbsh") && names.contains(&"\u{FFFD}bone"), "{names:?}");
    assert_eq!(tree.len(), 4);
}

#[test]
fn h20_a_bad_root_record_is_mended_or_refused() {
    assert_eq!(read("root of no bytes", Condition::Root).len(), 3);
    assert_eq!(read("root elsewhere", Condition::Root).len(), 3);
}

#[test]
fn h21_dates_are_brought_into_range() {
    read("dates out of range", Condition::Date);
    let node = opened("dates out of range").resolve(b"d/bad").unwrap().unwrap();
    assert!(node.times().modified.moment().is_some_and(|m| m.seconds > 5_800_000_000));
}

#[test]
fn h22_depth_and_length_have_no_end_but_memory_has() {
    let image = opened("depth 10,000");
    let mut walk = Walk::new(&image);
    let (mut files, mut longest) = (0, 0);
    while let Some(step) = walk.step() {
        if let Step::File { path, .. } = step {
            files += 1;
            longest = longest.max(path.len());
        }
    }
    assert_eq!((files, longest), (10_002, 2 * 10_000 + 4));
    let tree = read("a name of 25,500 bytes", Condition::TooLong);
    assert!(tree.keys().all(|name| name.len() <= 1024));
}

#[test]
fn h22_a_crowd_of_one_name_gets_names_in_linear_time() {
    let tree = read("2,000 entries of one name", Condition::DuplicateName);
    let crowd = tree.iter().filter(|(path, _)| path.starts_with("crowd/"));
    assert!(crowd.clone().all(|(_, content)| content.as_bytes() == GOOD) && crowd.count() == 2000);
    // The limit applies to the list, not to the reading of the entries' content.
    let bytes = case("2,000 entries of one name").bytes();
    let options = Options { directory_entries: 1000, ..Options::default() };
    let image = Image::open(bytes, &options).unwrap();
    let node = image.resolve(b"crowd").unwrap().unwrap();
    let listing = image.read_dir(&node).unwrap();
    assert!(listing.entries.len() == 1000 && listing.findings.has(Condition::TooLong));
}

/// The part that each record keeps of a shared 64 KiB is bounded.
#[test]
fn h22_what_many_share_is_not_kept_by_each() {
    let wide = |name: &str| {
        let image = opened(name);
        let node = image.resolve(b"wide").unwrap().unwrap();
        let listing = image.read_dir(&node).unwrap();
        assert!(listing.entries.len() == 2000 && listing.findings.has(Condition::TooLong), "{name}");
        (image, listing.entries)
    };
    let (_, names) = wide("2,000 names of one area of 64 KiB");
    assert!(names.iter().all(|entry| entry.name.len() <= 1024));
    let (image, links) = wide("2,000 targets of one area of 64 KiB");
    for link in links {
        assert_eq!((link.node.kind(), link.node.size()), (fathom_isofs::Kind::Link, 0));
        let error = image.read_link(&link.node).unwrap_err().to_string();
        assert!(error.contains("longer than any path"), "{error}");
    }
}

#[test]
fn h23_the_newest_version_has_the_name() {
    let tree = read("two versions of one name", Condition::DuplicateName);
    assert_eq!((tree["dup.txt"].as_str(), tree["dup.txt;1"].as_str()), ("second", "first"));
}

#[test]
fn h24_devices_and_setuid_are_reported_as_they_are() {
    let image = opened("setuid and devices");
    let tree = tree(&image);
    assert_eq!(tree["sda1"], "BlockDevice (8, 1)");
    assert_eq!(image.resolve(b"root").unwrap().unwrap().mode(), 0o104_755);
}
