//! Who reads what: the catalogue of valid images, and those of the writers that people use, through `fathom iso extract`, `fathom mount`,
//! fuseiso, bsdtar, xorriso and 7z.
//! fathom's columns must be "yes" everywhere. The table of docs/iso-support.md is what this prints (FATHOM_BLESS=1 writes it); it is
//! compared where the same versions of all readers are installed.

use fathom_testkit::iso::valid::{self, Content, Valid};
use fathom_testkit::{Fathom, Running, find_tool, skip};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PAGE: &str = "../../docs/iso-support.md";
/// Some readers never end; none of these images takes a second.
const LIMIT: &str = "20";

type Tree = BTreeMap<String, Content>;

/// One way to read an image.
struct Reader {
    name: &'static str,
    /// The program, and the option that makes it print its version.
    tool: Option<(&'static str, &'static str)>,
    /// Gets the image, "disc.iso", and a directory, "out", that is not there.
    read: fn(&Fathom, &Valid) -> Option<Tree>,
}

const READERS: [Reader; 6] = [
    Reader { name: "fathom iso extract", tool: None, read: by_extract },
    Reader { name: "fathom mount", tool: None, read: by_mount },
    Reader { name: "fuseiso", tool: Some(("fuseiso", "--version")), read: by_fuseiso },
    Reader { name: "bsdtar", tool: Some(("bsdtar", "--version")), read: by_bsdtar },
    Reader { name: "xorriso", tool: Some(("xorriso", "--version")), read: by_xorriso },
    Reader { name: "7z", tool: Some(("7z", "")), read: by_7z },
];

/// Runs a command to its end or its limit in the directory that has disc.iso.
fn run(fathom: &Fathom, words: &[&str]) -> bool {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", LIMIT]).args(words).current_dir(fathom.work());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// What has to be asked for: the last session. Of the others only xorriso can be asked, by the number of a sector.
fn session(valid: &Valid) -> &'static [&'static str] {
    if valid.newest { &["--session", "last"] } else { &[] }
}

fn by_extract(fathom: &Fathom, valid: &Valid) -> Option<Tree> {
    let _ = fathom.run([&["iso", "extract"][..], session(valid), &["disc.iso", "out"]].concat());
    tree(&fathom.work().join("out"))
}

fn by_mount(fathom: &Fathom, valid: &Valid) -> Option<Tree> {
    let on = fathom.work().join("out");
    fs::create_dir(&on).unwrap();
    let mut running: Running = fathom.spawn([&["mount"][..], session(valid), &["disc.iso", "out"]].concat());
    running.wait_for_text("mounted on");
    let read = tree(&on);
    running.signal(libc::SIGINT);
    let _ = running.finish().expect_code(0);
    read
}

fn by_fuseiso(fathom: &Fathom, _: &Valid) -> Option<Tree> {
    let on = fathom.work().join("out");
    fs::create_dir(&on).unwrap();
    if !run(fathom, &["fuseiso", "disc.iso", "out"]) {
        return None;
    }
    let read = tree(&on);
    let _ = run(fathom, &["fusermount", "-u", "-z", "out"]);
    read
}

fn by_bsdtar(fathom: &Fathom, _: &Valid) -> Option<Tree> {
    fs::create_dir(fathom.work().join("out")).unwrap();
    let _ = run(fathom, &["bsdtar", "-C", "out", "-xf", "disc.iso"]);
    tree(&fathom.work().join("out"))
}

fn by_xorriso(fathom: &Fathom, _: &Valid) -> Option<Tree> {
    let _ = run(fathom, &["xorriso", "-osirrox", "on", "-indev", "disc.iso", "-extract", "/", "out"]);
    tree(&fathom.work().join("out"))
}

fn by_7z(fathom: &Fathom, _: &Valid) -> Option<Tree> {
    let _ = run(fathom, &["7z", "x", "-y", "-oout", "disc.iso"]);
    tree(&fathom.work().join("out"))
}

/// Everything in a directory. `None` if there is nothing or it cannot be listed.
fn tree(top: &Path) -> Option<Tree> {
    let (mut tree, mut left) = (Tree::new(), vec![top.to_path_buf()]);
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).ok()? {
            let Ok(path) = entry.map(|entry| entry.path()) else { continue };
            let Ok(about) = fs::symlink_metadata(&path) else { continue };
            let kind = about.file_type();
            let content = if kind.is_dir() {
                left.push(path.clone());
                Content::Directory
            } else if kind.is_symlink() {
                Content::Link(fs::read_link(&path).ok()?.to_string_lossy().into_owned())
            } else if kind.is_char_device() {
                Content::Device(rustix::fs::major(about.rdev()), rustix::fs::minor(about.rdev()))
            } else if kind.is_fifo() {
                Content::Pipe
            } else {
                // What cannot be read is not what went in.
                Content::File(fs::read(&path).unwrap_or_default())
            };
            let name = path.strip_prefix(top).ok()?.to_string_lossy().into_owned();
            tree.insert(name, content);
        }
    }
    (!tree.is_empty()).then_some(tree)
}

/// What a reader made of an image, in a word or a few.
fn verdict(valid: &Valid, read: Option<Tree>) -> String {
    let Some(read) = read else { return "nothing".into() };
    // Where the image does not define the case of names, either is right.
    let found = |path: &str| {
        read.get(path)
            .or_else(|| read.iter().find(|(name, _)| name.eq_ignore_ascii_case(path)).map(|(_, c)| c))
    };
    let (mut missing, mut wrong) = (0, Vec::new());
    for (path, content) in &valid.tree {
        match found(path) {
            None => missing += 1,
            Some(there) if there == content => {}
            Some(there) => wrong.push(match (content, there) {
                (Content::File(_), Content::File(_)) => "wrong data",
                (Content::Link(_), Content::Link(_)) => "wrong target",
                (Content::Device(..), Content::Device(..)) => "wrong number",
                _ => "wrong kind",
            }),
        }
    }
    wrong.dedup();
    if missing > 0 {
        wrong.push("missing");
    }
    let more = read
        .keys()
        .filter(|name| !valid.tree.iter().any(|(path, _)| path.eq_ignore_ascii_case(name)))
        .count();
    if more > missing {
        wrong.push("more than there is");
    }
    if wrong.is_empty() { "yes".into() } else { wrong.join(", ") }
}

/// A tree as people have them: deep, long names, a link.
fn rich(top: &Path) {
    let deep = "a/b/c/d/e/f/g/h/i/j/k";
    fs::create_dir_all(top.join(deep)).unwrap();
    fs::write(top.join(deep).join("leaf"), b"deep\n").unwrap();
    fs::write(top.join(format!("{} Mixed.long", "n".repeat(200))), b"long\n").unwrap();
    fs::write(top.join("größe"), valid::noise(99_999)).unwrap();
    std::os::unix::fs::symlink("../x/./y", top.join("link")).unwrap();
}

/// A tree whose names every name space allows, with a compressible file and a boot image.
fn simple(top: &Path) {
    fs::create_dir_all(top.join("dir")).unwrap();
    fs::write(top.join("first.txt"), b"first\n").unwrap();
    fs::write(top.join("dir/lines.txt"), "one line and the next\n".repeat(9000)).unwrap();
    fs::write(top.join("dir/boot.img"), valid::noise(4096)).unwrap();
}

/// One more session behind the image, with what is in "more".
const APPEND: &str = "n=$(( ($(stat -c %s made.iso) / 2048 + 31) / 16 * 16 ))
genisoimage -quiet -R -C 0,$n -M made.iso -o second.iso -graft-points /=more
truncate -s $(( n * 2048 )) made.iso
cat second.iso >> made.iso";

/// What writers make of both trees: their name, whether it is the rich one, and the command that makes "made.iso" of "source".
const WRITTEN: [(&str, bool, &str); 9] = [
    ("xorriso's Rock Ridge with Joliet", true, "xorriso -joliet on -outdev made.iso -map source / -commit"),
    ("genisoimage's Rock Ridge", true, "genisoimage -quiet -R -o made.iso source"),
    ("genisoimage's Joliet alone", false, "genisoimage -quiet -J -o made.iso source"),
    ("genisoimage's ISO 9660:1999", false, "genisoimage -quiet -iso-level 4 -o made.iso source"),
    ("genisoimage's bridge to UDF", false, "genisoimage -quiet -R -udf -o made.iso source"),
    (
        "xorriso's hybrid with MBR and GPT",
        false,
        "xorriso -as mkisofs -quiet -R -J -c dir/boot.cat -b dir/boot.img -no-emul-boot -boot-load-size 8 -eltorito-alt-boot \
         -e dir/boot.img -no-emul-boot -isohybrid-gpt-basdat -o made.iso source",
    ),
    (
        "xorriso's zisofs 1",
        false,
        "xorriso -zisofs version_2=off -outdev made.iso -map source / -set_filter_r --zisofs / -- -commit",
    ),
    (
        "xorriso's zisofs 2",
        false,
        "xorriso -zisofs version_2=on -outdev made.iso -map source / -set_filter_r --zisofs / -- -commit",
    ),
    ("genisoimage's second session, the last", false, "genisoimage -quiet -R -o made.iso source"),
];

/// The images of the writers that are installed.
fn of_writers() -> Vec<Valid> {
    let there = |(.., command): &(&str, bool, &str)| {
        command.split(' ').next().is_some_and(|program| find_tool(program).is_some())
    };
    WRITTEN
        .into_iter()
        .filter(there)
        .map(|(name, is_rich, command)| written(name, is_rich, command))
        .collect()
}

fn written(name: &'static str, is_rich: bool, command: &str) -> Valid {
    let own = Fathom::new();
    let top = own.work().join("source");
    if is_rich {
        rich(&top)
    } else {
        simple(&top)
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    assert!(run(&own, &words), "no image of {name}");
    let mut all = tree(&top).unwrap();
    let newest = name.ends_with("the last");
    if newest {
        let more = own.work().join("more");
        fs::create_dir(&more).unwrap();
        fs::write(more.join("second.txt"), b"second\n").unwrap();
        assert!(run(&own, &["bash", "-ec", APPEND]), "no second session");
        all.extend(tree(&more).unwrap());
    }
    if name.contains("hybrid") {
        // The catalogue is a file that only the image has.
        all.insert("dir/boot.cat".into(), Content::File(boot_catalog(&own)));
    }
    let bytes = fs::read(own.work().join("made.iso")).unwrap();
    Valid { name, bytes, tree: all.into_iter().collect(), attributes: Vec::new(), newest }
}

/// The boot catalogue by the place that the boot record, the second descriptor, names.
fn boot_catalog(own: &Fathom) -> Vec<u8> {
    let image = fs::read(own.work().join("made.iso")).unwrap();
    let record = &image[17 * 2048..18 * 2048];
    assert!(record[7..].starts_with(b"EL TORITO SPECIFICATION"));
    let sector = u32::from_le_bytes(record[71..75].try_into().unwrap()) as usize;
    image[sector * 2048..(sector + 1) * 2048].to_vec()
}

fn version((program, option): (&str, &str)) -> Option<String> {
    let path: PathBuf = find_tool(program)?;
    let output = Command::new(path).args(Some(option).filter(|o| !o.is_empty())).output().ok()?;
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.chars().any(|c| c.is_ascii_digit()))?;
    let words = line
        .split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(char::is_alphabetic))?;
    Some(format!("{program} {}", words.trim_end_matches([':', ','])))
}

fn page(readers: &[&Reader], versions: &[String], rows: &[(String, Vec<String>)]) -> String {
    let names: Vec<&str> = readers.iter().map(|reader| reader.name).collect();
    let mut text = format!(
        "# Who reads which ISO 9660 image\n\nPrinted by the test `iso_support` (`FATHOM_BLESS=1 cargo test --workspace --test iso_support` writes this page), as root, with\n\
         {}. \"yes\" means: the tree that came out is the tree that went in, names, kinds, contents, targets and device\n\
         numbers; where the image does not define the case of names, either is right. The images are those of `crates/testkit/src/iso/valid.rs`, which no writer\n\
         makes, and some of xorriso's and genisoimage's. fathom is asked for the last session where that is meant, the others run as always. A reader that takes longer than {LIMIT} s is ended; \"nothing\" means that no file came out.\n\n| image | {} |\n|---|{}\n",
        versions.join(", "),
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for (image, cells) in rows {
        text += &format!("| {image} | {} |\n", cells.join(" | "));
    }
    text
}

#[test]
fn every_valid_image_is_read_and_the_others_are_set_beside() {
    let test = "every_valid_image_is_read_and_the_others_are_set_beside";
    let root = rustix::process::geteuid().is_root();
    if !Path::new("/dev/fuse").exists() || !root {
        return skip(test, "needs root and /dev/fuse: device nodes are extracted and images mounted");
    }
    let images: Vec<Valid> = valid::all().into_iter().chain(of_writers()).collect();
    let there = |reader: &&Reader| reader.tool.is_none_or(|(program, _)| find_tool(program).is_some());
    let readers: Vec<&Reader> = READERS.iter().filter(there).collect();
    let versions: Vec<String> = readers.iter().filter_map(|reader| version(reader.tool?)).collect();
    let mut rows = Vec::new();
    for image in &images {
        let cells = readers.iter().map(|reader| {
            let fathom = Fathom::new();
            fs::write(fathom.work().join("disc.iso"), &image.bytes).unwrap();
            let begun = Instant::now();
            let said = verdict(image, (reader.read)(&fathom, image));
            println!("{:7.3} s  {}: {}: {said}", begun.elapsed().as_secs_f64(), reader.name, image.name);
            // extract makes no device nodes, and says so.
            let devices = image.tree.iter().any(|(_, c)| matches!(c, Content::Device(..) | Content::Pipe));
            let left_out = reader.name == "fathom iso extract" && devices;
            assert!(
                !reader.name.starts_with("fathom") || said == "yes" || left_out,
                "{}: {}: {said}",
                reader.name,
                image.name
            );
            assert!(reader.tool.is_some() || begun.elapsed() < Duration::from_secs(60));
            if left_out { "left out, said".into() } else { said }
        });
        rows.push((image.name.to_owned(), cells.collect::<Vec<String>>()));
    }
    let printed = page(&readers, &versions, &rows);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("FATHOM_BLESS").is_some() {
        return fs::write(path, printed).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap();
    let all_written = rows.len() == valid::all().len() + WRITTEN.len();
    if readers.len() < READERS.len()
        || !all_written
        || !versions.iter().all(|version| kept.contains(version.as_str()))
    {
        return skip(
            test,
            "the other readers and the writers are not installed in the versions of docs/iso-support.md (fathom's columns were checked)",
        );
    }
    assert_eq!(printed, kept, "docs/iso-support.md is not what the readers do; FATHOM_BLESS=1 writes it");
}
