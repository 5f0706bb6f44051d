//! Whole trees by both writers in each name space: names, kinds, sizes, modes, owners, times, targets, device numbers, hard links and
//! content equal those of the source files.

use crate::writers::disk::{Seen, assert_same, in_image, on_disk, open, run};
use fathom_isofs::{Namespace, Options, Session, check};
use fathom_testkit::{TestDir, need_tool};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// A tree with every kind of file that an ordinary user can create.
fn source(dir: &Path) {
    let write = |path: &str, data: &[u8]| {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, data).unwrap();
    };
    write("short.txt", b"hello\n");
    write("empty", b"");
    write("Mixed Case.TXT", b"case");
    write("trailing.", b"dot");
    write("no_extension", &support_noise(100_000));
    write(&format!("{}.long", "n".repeat(240)), b"long name");
    write("\u{fc}n\u{ef}c\u{f6}de/\u{4e16}\u{754c}", b"unicode");
    write("a/b/c/d/e/f/g/h/i/j/k/leaf", b"deep");
    for n in 0..80 {
        write(&format!("many/file number {n:03}"), format!("content {n}").as_bytes());
    }
    fs::hard_link(dir.join("short.txt"), dir.join("many/hard link")).unwrap();
    symlink("short.txt", dir.join("link")).unwrap();
    symlink("../a/./b/../b//c", dir.join("many/relative")).unwrap();
    symlink("/absolute/path", dir.join("absolute")).unwrap();
    symlink(format!("{}/end", "component/".repeat(30).trim_end_matches('/')), dir.join("long link")).unwrap();
    fs::set_permissions(dir.join("short.txt"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::set_permissions(dir.join("empty"), fs::Permissions::from_mode(0o400)).unwrap();
    let special = |name: &str, words: &[&str]| {
        let path = dir.join(name);
        let mut all = vec!["-m", "640", path.to_str().unwrap()];
        all.extend(words);
        run("mknod", &all);
    };
    special("many/pipe", &["p"]);
    if rustix::process::geteuid().is_root() {
        special("null", &["c", "1", "3"]);
        special("many/part of a disk", &["b", "8", "17"]);
    }
}

fn support_noise(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 37) as u8).collect()
}

/// A source, and its image made by a writer.
fn made(program: &str, arguments: &[&str]) -> (TestDir, BTreeMap<String, Seen>, std::path::PathBuf) {
    let dir = TestDir::new();
    let from = dir.subdir("source");
    source(&from);
    let image = dir.path().join("image.iso");
    let mut all: Vec<&str> = arguments.to_vec();
    let (to, from_text) = (image.to_str().unwrap().to_string(), from.to_str().unwrap().to_string());
    all.extend(["-o", &to, &from_text]);
    run(program, &all);
    let wanted = on_disk(&from);
    (dir, wanted, image)
}

#[test]
fn rock_ridge_of_genisoimage() {
    if !need_tool("rock_ridge_of_genisoimage", "genisoimage") {
        return;
    }
    let (_dir, wanted, image) = made("genisoimage", &["-quiet", "-R", "-J", "-joliet-long"]);
    let image = open(&image, &Options::default());
    assert_eq!(image.info().namespace, Namespace::RockRidge);
    assert_same(&wanted, &in_image(&image));
    let checked = check::check(&image);
    assert_eq!(checked.findings.list(), []);
}

#[test]
fn rock_ridge_of_xorriso_in_each_version() {
    if !need_tool("rock_ridge_of_xorriso_in_each_version", "xorriso") {
        return;
    }
    for extra in [&[][..], &["-compliance", "new_rr"][..]] {
        let dir = TestDir::new();
        let from = dir.subdir("source");
        source(&from);
        let to = dir.path().join("image.iso");
        let (from_text, to_text) = (from.to_str().unwrap(), to.to_str().unwrap());
        let mut arguments = extra.to_vec();
        arguments.extend([
            "-hardlinks",
            "on",
            "-outdev",
            to_text,
            "-joliet",
            "on",
            "-map",
            from_text,
            "/",
            "-commit",
        ]);
        run("xorriso", &arguments);
        let image = open(&to, &Options::default());
        let wanted = on_disk(&from);
        assert_same(&wanted, &in_image(&image));
        assert_eq!(check::check(&image).findings.list(), []);
    }
}

#[test]
fn joliet_and_1999_trees_have_the_content_under_their_names() {
    if !need_tool("joliet_and_1999_trees_have_the_content_under_their_names", "genisoimage") {
        return;
    }
    // Only for Joliet does the writer accept UTF-8.
    for (namespace, arguments) in [
        (Namespace::Joliet, &["-quiet", "-J", "-joliet-long", "-input-charset", "utf-8"][..]),
        (Namespace::Enhanced, &["-quiet", "-iso-level", "4"][..]),
    ] {
        let (_dir, wanted, image) = made("genisoimage", arguments);
        let image = open(&image, &Options { namespace: Some(namespace), ..Options::default() });
        let read = in_image(&image);
        // Without Rock Ridge the writer omits levels deeper than eight, and cuts long names.
        let mut compared = 0;
        for (name, seen) in wanted
            .iter()
            .filter(|(name, seen)| seen.kind == 0o100_000 && name.len() < 60 && !name.ends_with("leaf"))
        {
            if namespace == Namespace::Enhanced && !name.is_ascii() {
                continue; // the writer converts names of the input character set in its own way
            }
            let found = read.get(name).unwrap_or_else(|| panic!("{namespace:?} {name}: {:?}", read.keys()));
            assert_eq!((found.size, &found.content), (seen.size, &seen.content), "{namespace:?} {name}");
            compared += 1;
        }
        assert!(compared > 80, "{namespace:?}: {compared}");
    }
}

#[test]
fn zisofs_of_both_versions_as_xorriso_writes_it() {
    if !need_tool("zisofs_of_both_versions_as_xorriso_writes_it", "xorriso") {
        return;
    }
    for version in ["version_2=off", "version_2=on"] {
        let dir = TestDir::new();
        let file = dir.path().join("text");
        let text: Vec<u8> = (0..300_000u32).flat_map(|n| n.to_string().into_bytes()).collect();
        fs::write(&file, &text).unwrap();
        let to = dir.path().join("image.iso");
        let arguments = [
            "-zisofs",
            version,
            "-outdev",
            to.to_str().unwrap(),
            "-map",
            file.to_str().unwrap(),
            "/text",
            "-set_filter",
            "--zisofs",
            "/text",
            "--",
            "-commit",
        ];
        run("xorriso", &arguments);
        let image = open(&to, &Options::default());
        let node = image.resolve(b"text").unwrap().unwrap();
        assert!(node.is_packed(), "{version}");
        assert_eq!(image.read_all(&node, 1 << 24).unwrap(), text, "{version}");
        assert_eq!(check::check(&image).findings.list(), []);
    }
}

#[test]
fn an_appended_session_is_the_newest_and_the_first_is_still_there() {
    if !need_tool("an_appended_session_is_the_newest_and_the_first_is_still_there", "xorriso") {
        return;
    }
    let dir = TestDir::new();
    let file = dir.path().join("text");
    fs::write(&file, b"text").unwrap();
    let to = dir.path().join("image.iso");
    let (to_text, file_text) = (to.to_str().unwrap(), file.to_str().unwrap());
    run("xorriso", &["-outdev", to_text, "-map", file_text, "/first", "-commit"]);
    run("xorriso", &["-dev", to_text, "-map", file_text, "/second", "-commit"]);
    // Grown in place: the descriptors at sector 16 are those of the newest session.
    let names = |session| {
        let image = open(&to, &Options { session, ..Options::default() });
        in_image(&image).into_keys().collect::<Vec<_>>()
    };
    assert_eq!(names(Session::First), ["first", "second"]);
    assert_eq!(names(Session::Last), ["first", "second"]);
}

#[test]
fn a_deep_tree_that_genisoimage_moves_is_put_back() {
    if !need_tool("a_deep_tree_that_genisoimage_moves_is_put_back", "genisoimage") {
        return;
    }
    let (_dir, _wanted, image) = made("genisoimage", &["-quiet", "-R"]);
    let image = open(&image, &Options::default());
    let leaf = image.resolve(b"a/b/c/d/e/f/g/h/i/j/k/leaf").unwrap().expect("deeper than eight levels");
    assert_eq!(image.read_all(&leaf, 100).unwrap(), b"deep");
    assert!(image.resolve(b"rr_moved").unwrap().is_none());
}
