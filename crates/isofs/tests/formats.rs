//! Format features that no writer uses, from the test image generator: the tree read equals the tree described.

use crate::support::{open, sum, tree};
use fathom_isofs::format::el_torito::Media;
use fathom_isofs::{Condition, Image, Kind, Namespace, Options, Session};
use fathom_testkit::iso::valid::noise;
use fathom_testkit::iso::{Builder, Spec, both16, raw, susp};

fn shown(data: &[u8]) -> String {
    format!("{} bytes, sum {:08x}", data.len(), sum(data))
}

fn named(name: &str, data: &[u8]) -> Spec {
    Spec { data: data.to_vec(), susp: vec![susp::nm(0, name.as_bytes())], ..Spec::default() }
}

#[test]
fn all_logical_block_sizes() {
    let data = noise(10_000);
    for block in [512, 1024, 2048] {
        let mut builder = Builder::new().block(block);
        for n in 0..100 {
            builder = builder.file(&format!("dir/file{n:03}.dat"), &data[n..n * 90 + 200]);
        }
        let image = open(builder.build().bytes);
        let tree = tree(&image);
        assert_eq!((image.info().block as usize, tree.len()), (block, 101));
        for n in 0..100 {
            assert_eq!(tree[&format!("dir/file{n:03}.dat")], shown(&data[n..n * 90 + 200]), "{block} {n}");
        }
        assert_eq!(fathom_isofs::check::check(&image).findings.list(), [], "blocks of {block}");
    }
}

#[test]
fn high_sierra() {
    let data = noise(5000);
    let built = Builder::new().high_sierra().file("sub/old.txt", &data).file("a.txt", b"short").build();
    let image = open(built.bytes);
    assert!(image.info().high_sierra && image.findings().list().is_empty());
    assert_eq!(image.info().volume_id, "FATHOM");
    let tree = tree(&image);
    assert_eq!((tree["sub/old.txt"].as_str(), tree["a.txt"].as_str()), (shown(&data).as_str(), "short"));
}

#[test]
fn interleaved_files_without_their_gaps() {
    let data = noise(9 * 2048 + 77);
    for block in [512, 2048] {
        for interleave in [(2, 1), (1, 3), (7, 255)] {
            let spec = Spec { data: data.clone(), interleave, ..Spec::default() };
            let image = open(Builder::new().block(block).add("inter", spec).build().bytes);
            let node = image.resolve(b"inter").unwrap().unwrap();
            assert_eq!(image.read_all(&node, 1 << 20).unwrap(), data, "{block} {interleave:?}");
            let mut middle = [0; 3000];
            assert_eq!(image.read_at(&node, 4095, &mut middle).unwrap(), 3000);
            assert_eq!(middle, data[4095..7095]);
        }
    }
}

#[test]
fn an_extended_attribute_record_is_skipped_and_counts_if_protection_is_set() {
    let mut xar = vec![0; 250];
    xar[..4].copy_from_slice(&both16(17));
    xar[4..8].copy_from_slice(&both16(18));
    xar[8..10].copy_from_slice(&0b0001_0000_0000_0000u16.to_be_bytes());
    xar[27..44].copy_from_slice(b"2001020304050600\0");
    xar[180] = 1;
    let spec = |flags| Spec { data: b"behind".to_vec(), xar: Some(xar.clone()), flags, ..Spec::default() };
    let image = open(Builder::new().add("with", spec(16)).add("without", spec(0)).build().bytes);
    let with = image.resolve(b"with").unwrap().unwrap();
    assert_eq!((with.uid(), with.gid(), with.mode()), (17, 18, 0o100_551));
    assert_eq!(with.times().modified.moment().unwrap().seconds, 981_173_106);
    let without = image.resolve(b"without").unwrap().unwrap();
    assert_eq!((without.uid(), without.mode()), (0, 0o100_444));
    let tree = tree(&image);
    assert_eq!((tree["with"].as_str(), tree["without"].as_str()), ("behind", "behind"));
}

#[test]
fn an_associated_file_hangs_on_its_main_file() {
    let spec = Spec { data: b"main".to_vec(), associated: Some(b"resource".to_vec()), ..Spec::default() };
    let bytes = Builder::new().add("file", spec).file("other", b"o").build().bytes;
    let image = open(bytes.clone());
    let node = image.resolve(b"file").unwrap().unwrap();
    assert_eq!(image.read_all(&node, 100).unwrap(), b"main");
    assert_eq!(image.read_all(node.associated().unwrap(), 100).unwrap(), b"resource");
    assert_eq!(tree(&image).len(), 2);
    let options = Options { associated: true, ..Options::default() };
    let tree = tree(&Image::open(bytes, &options).unwrap());
    assert_eq!((tree["file%assoc"].as_str(), tree["file"].as_str()), ("resource", "main"));
}

#[test]
fn files_in_two_a_hundred_and_one_and_three_hundred_sections() {
    for (count, scattered) in [(2, false), (101, true), (300, true)] {
        let data = noise(count * 2048);
        let mut sections = vec![2048; count - 1];
        sections.push(2000);
        let data = data[..count * 2048 - 48].to_vec();
        let spec = Spec { data: data.clone(), sections, scattered, ..Spec::default() };
        let image = open(Builder::new().add("big", spec).file("next", b"n").build().bytes);
        let tree = tree(&image);
        assert_eq!((tree["big"].as_str(), tree.len()), (shown(&data).as_str(), 2), "{count}");
    }
}

#[test]
fn sections_of_odd_length_are_joined_as_they_are() {
    let data = noise(1500);
    let spec = Spec { data: data.clone(), sections: vec![1000, 500], ..Spec::default() };
    let image = open(Builder::new().add("odd", spec).build().bytes);
    assert_eq!(tree(&image)["odd"], shown(&data));
    assert!(image.read_dir(image.root()).unwrap().findings.has(Condition::Sections));
}

/// Sections of nearly 4 GiB: only the numbers are large, not the stored bytes.
#[test]
fn a_file_of_more_than_eight_gib_has_that_size() {
    let spec = Spec { data: vec![1; 3 * 2048], sections: vec![2048, 2048, 2048], ..Spec::default() };
    let mut built = Builder::new().add("huge", spec).build();
    let first = built.record("huge");
    let length = usize::from(built.bytes[first]);
    for n in 0..2 {
        built.patch_both32(first + n * length + 10, 0xFFFF_F800);
    }
    let image = open(built.bytes);
    let node = image.resolve(b"huge").unwrap().unwrap();
    assert_eq!(node.size(), 2 * 0xFFFF_F800 + 2048);
    assert_eq!(image.read_at(&node, 2 * 0xFFFF_F800, &mut [0; 10]).unwrap(), 10);
    assert!(image.read_at(&node, 1 << 30, &mut [0; 10]).is_err());
}

#[test]
fn continuations_over_one_five_and_thirty_one_hops() {
    for hops in [1, 5, 31] {
        let mut spec = named("", b"data");
        spec.susp = (0..hops * 2).map(|n| susp::nm(1, format!("{n:02}").as_bytes())).collect();
        spec.hops = hops;
        let image = open(Builder::new().rock_ridge("IEEE_P1282").add("x", spec).build().bytes);
        let name: String = (0..hops * 2).map(|n| format!("{n:02}")).collect();
        let listing = image.read_dir(image.root()).unwrap();
        assert_eq!(String::from_utf8_lossy(&listing.entries[0].name), name);
        assert_eq!(listing.findings.list(), []);
    }
}

#[test]
fn posix_attributes_of_all_three_versions() {
    for (id, serial) in [("RRIP_1991A", None), ("IEEE_P1282", None), ("IEEE_1282", Some(77))] {
        let stamps = b"\x63\x01\x02\x03\x04\x05\0\x64\x01\x02\x03\x04\x05\0";
        let spec = Spec {
            data: b"x".to_vec(),
            susp: vec![susp::px(0o104_751, 3, 10, 20, serial), susp::tf(6, stamps), susp::nm(0, b"Name")],
            ..Spec::default()
        };
        let image = open(Builder::new().rock_ridge(id).add("n", spec).build().bytes);
        assert_eq!(image.info().namespace, Namespace::RockRidge);
        let node = image.resolve(b"Name").unwrap().unwrap();
        assert_eq!((node.mode(), node.links(), node.uid(), node.gid()), (0o104_751, 3, 10, 20));
        assert_eq!(node.times().modified.moment().unwrap().seconds, 915_246_245);
        assert_eq!(node.times().accessed.moment().unwrap().seconds, 946_782_245);
        assert_eq!(node.inode() == 77, serial.is_some());
    }
}

#[test]
fn serial_numbers_that_do_not_tell_files_apart_are_not_used() {
    let spec = |name: &str, data: &[u8]| {
        let mut spec = named(name, data);
        spec.susp.push(susp::px(0o100_644, 1, 0, 0, Some(5)));
        spec
    };
    let built =
        Builder::new().rock_ridge("IEEE_1282").add("a", spec("a", b"1")).add("b", spec("b", b"22")).build();
    let image = open(built.bytes);
    let inode = |name: &[u8]| image.resolve(name).unwrap().unwrap().inode();
    assert_ne!(inode(b"a"), inode(b"b"));
}

#[test]
fn serial_numbers_that_are_all_nought_are_told() {
    let told = |serials: [Option<u32>; 2]| {
        let mut builder = Builder::new().rock_ridge("IEEE_1282");
        for (name, serial) in ["a", "b"].into_iter().zip(serials) {
            let mut spec = named(name, name.as_bytes());
            spec.susp.push(susp::px(0o100_644, 1, 0, 0, serial));
            builder = builder.add(name, spec);
        }
        let checked = fathom_isofs::check::check(&open(builder.build().bytes));
        checked.findings.list().iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let found = told([Some(0), Some(0)]);
    assert!(found.contains("all 2 files and directories have the serial number 0 in PX"), "{found}");
    for serials in [[Some(0), Some(5)], [None, None], [Some(6), Some(5)], [Some(0), None]] {
        assert_eq!(told(serials), "");
    }
}

#[test]
fn a_root_record_of_another_length_is_read_and_told() {
    // The discs of the CSRG archive have 68.
    for length in [68, 0, 33, 35, 255] {
        let mut bytes = Builder::new().rock_ridge("IEEE_1282").add("a", named("a", b"1")).build().bytes;
        bytes[16 * 2048 + 156] = length;
        let image = open(bytes);
        assert_eq!(image.resolve(b"a").unwrap().unwrap().size(), 1);
        let checked = fathom_isofs::check::check(&image);
        let found: Vec<String> = checked.findings.list().iter().map(ToString::to_string).collect();
        let told = format!(
            "block 16, byte 156: the root record gives its own length as {length}; it has 34 bytes, which were used [H20]"
        );
        assert_eq!(found, [told]);
        assert_eq!((checked.files, checked.directories), (1, 1));
    }
}

#[test]
fn links_devices_and_long_form_times() {
    let special = |entries: Vec<Vec<u8>>| Spec { susp: entries, ..Spec::default() };
    let mode = |mode| susp::px(mode, 1, 0, 0, None);
    let link =
        special(vec![mode(0o120_777), susp::nm(0, b"l"), susp::sl(0, &[(8, b""), (0, b"usr"), (4, b"")])]);
    let long_link = {
        let mut entries = vec![mode(0o120_777), susp::nm(0, b"long")];
        entries.extend((0..10).map(|n| susp::sl(u8::from(n < 9), &[(0, &[b'a' + n; 100])])));
        Spec { susp: entries, hops: 3, ..Spec::default() }
    };
    let times = special(vec![mode(0o100_644), susp::nm(0, b"t"), susp::tf(0x82, b"1970010100000700\0")]);
    let image = open(
        Builder::new()
            .rock_ridge("RRIP_1991A")
            .add("l", link)
            .add("long", long_link)
            .add("null1", special(vec![mode(0o020_666), susp::nm(0, b"null1"), susp::pn(0, 0x10_0003)]))
            .add("null2", special(vec![mode(0o020_666), susp::nm(0, b"null2"), susp::pn(1, 3)]))
            .add("pipe", special(vec![mode(0o010_644), susp::nm(0, b"pipe")]))
            .add("t", times)
            .build()
            .bytes,
    );
    let tree = tree(&image);
    assert_eq!(tree["l"], "-> /usr/..");
    let parts: Vec<String> = (0..10u8).map(|n| char::from(b'a' + n).to_string().repeat(100)).collect();
    assert_eq!(tree["long"], format!("-> {}", parts.join("/")));
    assert_eq!((tree["null1"].as_str(), tree["null2"].as_str()), ("CharDevice (1, 3)", "CharDevice (1, 3)"));
    assert_eq!(tree["pipe"], "Fifo (0, 0)");
    let node = image.resolve(b"t").unwrap().unwrap();
    assert_eq!(node.times().modified.moment().unwrap().seconds, 7);
}

#[test]
fn a_moved_directory_is_back_in_its_place() {
    let build = |lbn| {
        let stand_in = Spec { susp: vec![susp::nm(0, b"deep"), susp::block(b"CL", lbn)], ..Spec::default() };
        let moved = Spec { susp: vec![susp::nm(0, b"deep"), susp::entry(b"RE", 1, b"")], ..Spec::default() };
        Builder::new()
            .rock_ridge("RRIP_1991A")
            .dir("rr_moved", Spec { susp: vec![susp::nm(0, b"rr_moved")], ..Spec::default() })
            .dir("rr_moved/deep", moved)
            .add("rr_moved/deep/leaf", named("leaf", b"found"))
            .dir("d", Spec { susp: vec![susp::nm(0, b"d")], ..Spec::default() })
            .add("d/deep", stand_in)
            .build()
    };
    let lbn = build(0).directories["rr_moved/deep"];
    let tree = tree(&open(build(lbn).bytes));
    assert_eq!(tree.keys().collect::<Vec<_>>(), ["d", "d/deep", "d/deep/leaf"]);
    assert_eq!(tree["d/deep/leaf"], "found");
}

#[test]
fn name_spaces_are_found_preferred_and_forced() {
    let spec = |name: &str| Spec {
        data: b"x".to_vec(),
        susp: vec![susp::nm(0, name.as_bytes())],
        ..Spec::default()
    };
    let bytes = Builder::new()
        .rock_ridge("RRIP_1991A")
        .joliet(3)
        .enhanced()
        .add("J\u{f6}liet Name.txt", spec("rr name"))
        .build()
        .bytes;
    let first = |namespace| {
        let image = Image::open(bytes.clone(), &Options { namespace, ..Options::default() }).unwrap();
        assert_eq!(image.info().namespaces.len(), 4);
        tree(&image).into_keys().next().unwrap()
    };
    assert_eq!(first(None), "rr name");
    assert_eq!(first(Some(Namespace::Joliet)), "J\u{f6}liet Name.txt");
    assert_eq!(first(Some(Namespace::Enhanced)), "J\u{f6}liet Name.txt");
    assert_eq!(first(Some(Namespace::Plain)), "j_liet_name.txt");
    let error = Image::open(
        Builder::new().file("a", b"").build().bytes,
        &Options { namespace: Some(Namespace::Joliet), ..Options::default() },
    );
    assert!(error.unwrap_err().to_string().contains("the Joliet tree was asked for; there is Plain"));
}

#[test]
fn an_empty_rock_ridge_root_gives_way_to_joliet() {
    let hidden = Spec { data: b"x".to_vec(), susp: vec![susp::entry(b"RE", 1, b"")], ..Spec::default() };
    let bytes = Builder::new().rock_ridge("RRIP_1991A").joliet(1).add("file", hidden).build().bytes;
    let image = open(bytes.clone());
    assert_eq!((image.info().namespace, tree(&image).len()), (Namespace::Joliet, 1));
    let forced = Options { namespace: Some(Namespace::RockRidge), ..Options::default() };
    assert_eq!(tree(&Image::open(bytes, &forced).unwrap()).len(), 0);
}

#[test]
fn joliet_of_all_levels() {
    for level in 1..=3 {
        let image = open(Builder::new().joliet(level).file("\u{4e16}\u{754c}.txt", b"x").build().bytes);
        assert_eq!(image.info().joliet_level, Some(level));
        assert_eq!(tree(&image).keys().collect::<Vec<_>>(), ["\u{4e16}\u{754c}.txt"]);
    }
}

#[test]
fn plain_names_are_lowered_only_where_that_says_nothing() {
    let name = |n: &str| Spec { name: Some(n.as_bytes().to_vec()), ..Spec::default() };
    let list = |builder: Builder| tree(&open(builder.build().bytes)).into_keys().collect::<Vec<_>>();
    assert_eq!(
        list(Builder::new().add("a", name("README.;1")).add("b", name("X.TXT;1"))),
        ["readme", "x.txt"]
    );
    assert_eq!(
        list(Builder::new().add("a", name("UPPER.;1")).add("b", name("upper.;1"))),
        ["UPPER", "upper"]
    );
}

#[test]
fn sessions_are_found_and_chosen() {
    let mut bytes = Builder::new().file("one", b"1").tail(40).build().bytes;
    // An image stored as a file must not be taken for a session.
    let inner = Builder::new().file("inner", b"i").build().bytes;
    for n in 2..=5 {
        let mut builder = Builder::new().after(bytes).file(&format!("s{n}"), b"s");
        if n == 3 {
            builder = builder.file("disk.iso", &inner);
        }
        bytes = builder.build().bytes;
    }
    let open = |session| Image::open(bytes.clone(), &Options { session, ..Options::default() });
    let names = |session| tree(&open(session).unwrap()).into_keys().collect::<Vec<_>>();
    let sessions = open(Session::First).unwrap().sessions().unwrap();
    assert_eq!(sessions.len(), 5);
    assert_eq!(names(Session::First), ["one"]);
    assert_eq!(names(Session::Last), ["s5"]);
    assert_eq!(names(Session::Number(3)), ["disk.iso", "s3"]);
    assert_eq!(names(Session::Sector(sessions[1].sector)), ["s2"]);
    assert!(open(Session::Number(6)).unwrap_err().to_string().contains("there are 5"));
}

#[test]
fn raw_sectors_of_every_kind() {
    let plain = Builder::new().rock_ridge("RRIP_1991A").add("f", named("f", &noise(9000))).build().bytes;
    let wanted = tree(&open(plain.clone()));
    for (bytes, mode) in [(2352, 1), (2352, 2), (2336, 2), (2448, 1), (2448, 2)] {
        let image = open(raw::wrap(&plain, bytes, mode));
        assert_eq!(
            (image.layout().sector() as usize, tree(&image)),
            (bytes, wanted.clone()),
            "{bytes} {mode}"
        );
    }
}

#[test]
fn boot_images_are_listed_and_read() {
    let boot = noise(2048);
    let image = open(Builder::new().boot(&boot).file("a", b"x").build().bytes);
    let [listed] = image.info().boot[..] else { panic!("{:?}", image.info().boot) };
    assert_eq!((listed.media, listed.platform, listed.bytes()), (Media::None, 0, 2048));
    assert_eq!(image.read_boot_image(&listed, 1 << 20).unwrap(), boot);
}

#[test]
fn the_start_of_entries_may_be_14_bytes_in() {
    let xa = vec![0; 14];
    let mut spec = named("with xa", b"x");
    spec.susp.insert(0, xa.clone());
    let image = open(Builder::new().root_susp(vec![xa, susp::sp(14)]).add("f", spec).build().bytes);
    assert_eq!(tree(&image).into_keys().next().unwrap(), "with xa");
}

#[test]
fn hard_links_share_their_number() {
    let build = |extent: Option<(u32, u32)>| {
        let mut built = Builder::new()
            .file("a", b"same")
            .file("b", b"same")
            .file("empty1", b"")
            .file("empty2", b"")
            .build();
        if let Some((lbn, _)) = extent {
            built.patch_both32(built.record("b") + 2, lbn);
        }
        built
    };
    let first = build(None);
    let at = first.data["a"] as u32 / 2048;
    let image = open(build(Some((at, 4))).bytes);
    let inode = |name: &[u8]| image.resolve(name).unwrap().unwrap().inode();
    assert_eq!(inode(b"a"), inode(b"b"));
    assert_ne!(inode(b"empty1"), inode(b"empty2"));
    let root = image.root();
    assert_eq!(
        (root.kind(), image.resolve(b"/../..").unwrap().unwrap().inode()),
        (Kind::Directory, root.inode())
    );
}
