//! Images from the writers that people use, xorriso and genisoimage: what is read equals the files they were made from, names, kinds,
//! sizes, modes, times, targets, hard links and content. Skips by name where a writer is not installed.

mod support;

use fathom_isofs::{FileSource, Image, Kind, Namespace, Node, Options, Session, Step, Walk, check};
use fathom_testkit::{TestDir, need_tool};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// What of a file is compared.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    kind: u32,
    permissions: u32,
    owner: (u32, u32),
    mtime: i64,
    size: u64,
    content: String,
    /// The first path with the same inode: hard links.
    same_as: String,
}

/// A tree that has something of everything an ordinary user can make.
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
}

fn support_noise(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 37) as u8).collect()
}

/// The source as it lies on disk.
fn on_disk(root: &Path) -> BTreeMap<String, Seen> {
    let mut open = vec![root.to_path_buf()];
    let mut paths = Vec::new();
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.symlink_metadata().unwrap().is_dir() {
                open.push(path.clone());
            }
            paths.push(path);
        }
    }
    paths.sort();
    let mut first: HashMap<u64, String> = HashMap::new();
    let seen = paths.into_iter().map(|path| {
        let meta = path.symlink_metadata().unwrap();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_string();
        let (size, content) = if meta.is_symlink() {
            let target = fs::read_link(&path).unwrap().to_str().unwrap().to_string();
            (target.len() as u64, target)
        } else if meta.is_dir() {
            (0, String::new())
        } else {
            (meta.len(), format!("{:08x}", support::sum(&fs::read(&path).unwrap())))
        };
        // Of empty files and links no image says which are one.
        let same_as = if meta.is_file() && size > 0 {
            first.entry(meta.ino()).or_insert_with(|| name.clone()).clone()
        } else {
            name.clone()
        };
        let seen = Seen {
            kind: meta.mode() & 0o170_000,
            permissions: meta.mode() & 0o7777,
            owner: (meta.uid(), meta.gid()),
            mtime: meta.mtime(),
            size,
            content,
            same_as,
        };
        (name, seen)
    });
    seen.collect()
}

fn content(image: &Image<FileSource>, node: &Node) -> (u64, String) {
    match node.kind() {
        Kind::Link => (node.size(), String::from_utf8(image.read_link(node).unwrap()).unwrap()),
        Kind::File => {
            let bytes = image.read_all(node, 64 << 20).unwrap();
            (node.size(), format!("{:08x}", support::sum(&bytes)))
        }
        _ => (0, String::new()),
    }
}

/// The image as it is read.
fn in_image(image: &Image<FileSource>) -> BTreeMap<String, Seen> {
    let mut seen = BTreeMap::new();
    let mut inodes = BTreeMap::new();
    let mut walk = Walk::new(image);
    while let Some(step) = walk.step() {
        let Step::File { path, node, .. } = step else { panic!("{step:?}") };
        let name = String::from_utf8(path.to_vec()).unwrap();
        let (size, content) = content(image, node);
        let file = Seen {
            kind: node.kind().mode(),
            permissions: node.mode() & 0o7777,
            owner: (node.uid(), node.gid()),
            mtime: node.times().modified.moment().map_or(0, |m| m.seconds),
            size,
            content,
            same_as: name.clone(),
        };
        if node.kind() == Kind::File && size > 0 {
            inodes.insert(name.clone(), node.inode());
        }
        seen.insert(name, file);
    }
    let mut first: HashMap<u64, String> = HashMap::new();
    for (name, inode) in inodes {
        let first = first.entry(inode).or_insert_with(|| name.clone()).clone();
        seen.get_mut(&name).unwrap().same_as = first;
    }
    seen
}

fn open(path: &Path, options: &Options) -> Image<FileSource> {
    let source = FileSource::new(File::open(path).unwrap()).unwrap();
    Image::open(source, options).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn run(program: &str, arguments: &[&str]) {
    let out = Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{program} {arguments:?}: {text}");
}

fn assert_same(wanted: &BTreeMap<String, Seen>, read: &BTreeMap<String, Seen>) {
    let names = |tree: &BTreeMap<String, Seen>| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(read), names(wanted));
    for (name, seen) in wanted {
        assert_eq!(&read[name], seen, "{name}");
    }
}

/// A source, and the image a writer makes of it.
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
    // Of the two the writer takes UTF-8 for Joliet only.
    for (namespace, arguments) in [
        (Namespace::Joliet, &["-quiet", "-J", "-joliet-long", "-input-charset", "utf-8"][..]),
        (Namespace::Enhanced, &["-quiet", "-iso-level", "4"][..]),
    ] {
        let (_dir, wanted, image) = made("genisoimage", arguments);
        let image = open(&image, &Options { namespace: Some(namespace), ..Options::default() });
        let read = in_image(&image);
        // Without Rock Ridge the writer leaves out what is deeper than eight levels, and cuts long names.
        let mut compared = 0;
        for (name, seen) in wanted
            .iter()
            .filter(|(name, seen)| seen.kind == 0o100_000 && name.len() < 60 && !name.ends_with("leaf"))
        {
            if namespace == Namespace::Enhanced && !name.is_ascii() {
                continue; // the writer puts the names of the input character set as it likes
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
