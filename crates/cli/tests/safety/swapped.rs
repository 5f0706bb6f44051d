//! Links, mounts and hard links that another user puts into a tree during a run: nothing outside the tree changes. (D3
//! of the reliability review.)

use fathom_testkit::dir::names_in;
use fathom_testkit::iso::Builder;
use fathom_testkit::{Fathom, need_root, need_tool};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A run that keeps deleting and creating files in a tree, and another user's directory.
struct Stand {
    fathom: Fathom,
    leaf: PathBuf,
    theirs: PathBuf,
}

impl Stand {
    fn new() -> Self {
        let fathom = Fathom::new();
        let theirs = fathom.dir().subdir("theirs");
        let script = format!(
            "define fileset name=mail,path={},entries=60,dirwidth=1000,size=1k,prealloc=50\n\
             define process name=p {{ thread name=t {{\n\
             flowop deletefile name=d,filesetname=mail\n\
             flowop createfile name=c,filesetname=mail,fd=1\n\
             flowop appendfile name=a,iosize=1k,fd=1\n\
             flowop closefile name=e,fd=1 }} }}\nrun 2\n",
            fathom.work().display()
        );
        fs::write(fathom.work().join("delete.f"), script).expect("a script");
        let leaf = fathom.work().join("mail/00000001");
        Self { fathom, leaf, theirs }
    }

    /// Runs it, swaps meanwhile, and compares the other user's files before and after.
    #[track_caller]
    fn swapped(&self, swap: impl Fn(&Self)) -> String {
        let mut running = self.fathom.spawn(["filebench", "-f", "delete.f"]);
        running.wait_for_text("Running...");
        for name in names_in(&self.leaf) {
            fs::write(self.theirs.join(&name), format!("theirs {name}")).expect("their file");
        }
        let before = contents(&self.theirs);
        assert!(before.len() > 10, "{before:?}");
        swap(self);
        let outcome = running.finish();
        assert_eq!(contents(&self.theirs), before, "{outcome:?}");
        outcome.stdout + &outcome.stderr
    }
}

/// Atomic: the name always exists.
fn exchange(one: &Path, other: &Path) {
    let how = rustix::fs::RenameFlags::EXCHANGE;
    rustix::fs::renameat_with(rustix::fs::CWD, one, rustix::fs::CWD, other, how).expect("exchanged");
}

fn contents(directory: &Path) -> BTreeMap<String, String> {
    let read = |name: String| (name.clone(), fs::read_to_string(directory.join(name)).expect("readable"));
    names_in(directory).into_iter().map(read).collect()
}

#[test]
fn d3_a_directory_that_becomes_a_link_is_not_followed() {
    let stand = Stand::new();
    let told = stand.swapped(|stand| {
        let link = stand.fathom.work().join("link");
        symlink(&stand.theirs, &link).expect("a link");
        exchange(&link, &stand.leaf);
    });
    let found = ["Not a directory", "The path contains a symbolic link"];
    assert!(found.iter().any(|found| told.contains(found)), "{told}");
}

#[test]
fn d3_what_is_mounted_on_a_directory_is_not_entered() {
    let test = "d3_what_is_mounted_on_a_directory_is_not_entered";
    if !need_root(test) || !need_tool(test, "mount") {
        return;
    }
    let stand = Stand::new();
    let told = stand.swapped(|stand| {
        let bound = Command::new("mount").arg("--bind").args([&stand.theirs, &stand.leaf]).status();
        assert!(bound.expect("mount").success());
    });
    assert!(fathom_testkit::unmount(&stand.leaf));
    assert!(told.contains("Another file system is mounted there"), "{told}");
}

#[test]
fn d3_a_tree_that_becomes_another_is_not_worked_in() {
    let stand = Stand::new();
    let _ = stand.swapped(|stand| {
        let tree = stand.leaf.parent().expect("the tree");
        let other = stand.fathom.work().join("other");
        fs::create_dir(&other).expect("a directory");
        symlink(&stand.theirs, other.join("00000001")).expect("a link");
        exchange(&other, tree);
    });
}

/// Streams reopen their file for each phase.
#[test]
fn d3_a_file_behind_a_directory_that_became_a_link_is_not_written() {
    let fathom = Fathom::new();
    let (theirs, ours) = (fathom.dir().subdir("theirs"), fathom.work().join("d"));
    fs::create_dir(&ours).expect("a directory");
    fs::write(theirs.join("z"), "theirs").expect("their file");
    let link = fathom.work().join("link");
    symlink(&theirs, &link).expect("a link");
    let mut running = fathom.spawn(["iozone", "-t", "1", "-F", "d/z", "-s", "1m", "-r", "64k", "-J", "40"]);
    running
        .wait_until("the file has data", || fs::metadata(ours.join("z")).is_ok_and(|about| about.len() > 0));
    exchange(&link, &ours);
    let outcome = running.finish();
    assert_eq!(fs::read_to_string(theirs.join("z")).expect("there"), "theirs", "{outcome:?}");
    assert!(outcome.stderr.contains("another one has taken its path"), "{outcome:?}");
}

/// Whether block events can be had here; if not, the test is noted as skipped.
fn need_events(test: &str) -> bool {
    let tried = Fathom::new().run("trace record --seconds 0.1 -o t.fbl .".split(' '));
    let none = tried.code == Some(2) && tried.stderr.contains("needs the kernel's block events");
    if none {
        fathom_testkit::skip(test, "no block events here");
    }
    !none
}

/// As soon as both are there.
fn exchange_when_there(one: &Path, other: &Path, running: &mut fathom_testkit::Running) {
    let how = rustix::fs::RenameFlags::EXCHANGE;
    while rustix::fs::renameat_with(rustix::fs::CWD, one, rustix::fs::CWD, other, how).is_err() {
        assert!(!running.has_ended(), "{} never came: {}", one.display(), running.stderr());
    }
}

/// A log of single operations takes its time: it is begun empty, and piece after piece is put behind.
#[test]
fn a_log_of_fio_that_became_another_file_is_not_appended_to() {
    let fathom = Fathom::new();
    let (log, bystander) = (fathom.work().join("l_lat.1.log"), fathom.work().join("bystander"));
    fs::write(&bystander, "ours").expect("a file");
    let mut running =
        fathom.spawn("fio --name=a --ioengine=null --rw=read --bs=4k --size=2g --write_lat_log=l".split(' '));
    exchange_when_there(&log, &bystander, &mut running);
    let outcome = running.finish().expect_code(1);
    assert_eq!(fs::read_to_string(&log).expect("there"), "ours");
    let _ = outcome.expect_stderr("l_lat.1.log cannot be written: something else lies there now");
}

/// Between the two calls nothing is mounted there, and a link in its place would have root mount elsewhere.
#[test]
fn what_others_can_exchange_is_not_unmounted() {
    let test = "what_others_can_exchange_is_not_unmounted";
    if !need_root(test) || !need_tool(test, "unshare") {
        return;
    }
    let fathom = Fathom::new();
    let (theirs, table) = (fathom.dir().subdir("theirs"), fathom.dir().path().join("fstab"));
    // The directory above the mount point is ours, the one above that theirs.
    let point = theirs.join("ours/point");
    fs::create_dir_all(&point).expect("a directory");
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o777)).expect("for all");
    fs::write(&table, format!("tmpfs {} tmpfs defaults 0 0\n", point.display())).expect("a table");
    let script = format!(
        "mount --bind {} /etc/fstab && mount {point} && exec {} iozone -s 64k -i 0 -U {point} -f {point}/f",
        table.display(),
        env!("CARGO_BIN_EXE_fathom"),
        point = point.display(),
    );
    let words = ["--mount", "--propagation", "private", "sh", "-c", &script];
    let done =
        Command::new("unshare").args(words).env("HOME", fathom.dir().path()).output().expect("started");
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success(), "{stderr}");
    assert!(stderr.contains("other users could replace"), "{stderr}");
}

/// It is opened once, at the start; its name is looked at again when all is written.
#[test]
fn an_output_that_became_another_file_is_no_success() {
    let fathom = Fathom::new();
    let bystander = fathom.work().join("bystander");
    let fio = "fio --name=a --ioengine=null --size=4k --time_based --runtime=2 --output=out";
    let iozone = "iozone -Q -s 64m -r 4k -i 0 -i 1 -i 2";
    for (line, name, code) in [(fio, "out", 1), (iozone, "wol.dat", 255)] {
        fs::write(&bystander, "ours").expect("a file");
        let mut running = fathom.spawn(line.split(' '));
        exchange_when_there(&fathom.work().join(name), &bystander, &mut running);
        let outcome = running.finish().expect_code(code);
        let _ = outcome.expect_stderr("something else lies there now");
        assert_eq!(fs::read_to_string(fathom.work().join(name)).expect("there"), "ours");
    }
}

#[test]
fn a_recording_that_became_another_file_is_no_success() {
    if !need_events("a_recording_that_became_another_file_is_no_success") {
        return;
    }
    let fathom = Fathom::new();
    let bystander = fathom.work().join("bystander");
    fs::write(&bystander, "ours").expect("a file");
    let mut running = fathom.spawn("trace record --seconds 2 -o t.fbl .".split(' '));
    exchange_when_there(&fathom.work().join("t.fbl"), &bystander, &mut running);
    let _ = running.finish().expect_code(3).expect_stderr("t.fbl: something else lies there now");
}

/// The files are where the directory that was made has gone: to name the other would be wrong.
#[test]
fn files_of_an_image_are_not_said_to_be_in_a_directory_of_somebody_else() {
    let fathom = Fathom::new();
    let files = (0..200).map(|n| (format!("f{n}"), vec![1; 100_000]));
    let image = files.fold(Builder::new(), |image, (name, content)| image.file(&name, &content)).build();
    fs::write(fathom.work().join("disc.iso"), image.bytes).expect("an image");
    // On a busy machine the exchange can come when all is over.
    for n in 0..20 {
        let name = format!("out{n}");
        let (out, theirs) = (fathom.work().join(&name), fathom.dir().subdir("theirs"));
        fs::write(theirs.join("bystander"), "ours").expect("a file");
        let mut running = fathom.spawn(["iso", "extract", "disc.iso", &name]);
        exchange_when_there(&out, &theirs, &mut running);
        let outcome = running.finish();
        assert_eq!(names_in(&out), ["bystander"]);
        if outcome.code != Some(0) {
            let _ = outcome.expect_code(3).expect_stderr(&format!("{name}: something else lies there now"));
            return;
        }
        fs::remove_dir_all(&theirs).expect("what was unpacked");
    }
    panic!("no exchange came in time");
}

#[test]
fn a_log_of_iozone_that_became_another_file_is_not_appended_to() {
    for (option, name) in [("-+T", "Child_0.log"), ("-+z", "Iozone_histogram_child_0.txt")] {
        let fathom = Fathom::new();
        let (log, bystander) = (fathom.work().join(name), fathom.work().join("bystander"));
        fs::write(&bystander, "ours").expect("a file");
        let words = ["iozone", "-t", "1", "-s", "4m", "-r", "4k", "-i", "0", "-i", "1", "-i", "2", option];
        let mut running = fathom.spawn(words);
        exchange_when_there(&log, &bystander, &mut running);
        let _ = running
            .finish()
            .expect_code(255)
            .expect_stderr(&format!("{name} was not written: something else lies there now"));
        // It did not become ours.
        let _ = fathom
            .run(words)
            .expect_code(255)
            .expect_stderr("was not made by fathom, so it is left as it is");
        assert_eq!(fs::read_to_string(&log).expect("there"), "ours");
    }
}

/// The directories of a comparison are those that were there when it began.
#[test]
fn a_directory_of_a_comparison_that_became_a_link_is_not_followed() {
    let fathom = Fathom::new();
    let (theirs, one) = (fathom.dir().subdir("theirs"), fathom.work().join("one"));
    for directory in [&one, &fathom.work().join("two")] {
        fs::create_dir(directory).expect("a directory");
    }
    // A run that gets here finds a foreign file, and fails.
    fs::write(theirs.join("iozone.tmp"), "theirs").expect("their file");
    let link = fathom.work().join("link");
    symlink(&theirs, &link).expect("a link");
    let changed = || fs::metadata(&one).and_then(|about| about.modified()).expect("there");
    let before = changed();
    let line = "compare --run --in one,two --max-quads 2 -- iozone -i 0 -s 64k -r 4k";
    let mut running = fathom.spawn(line.split(' '));
    running.wait_until("a run in the directory", || changed() != before);
    exchange(&link, &one);
    let outcome = running.finish().expect_code(0);
    assert_eq!(contents(&theirs), [("iozone.tmp".into(), "theirs".into())].into(), "{outcome:?}");
}

/// A file of the tree that is another's by a second name is neither written nor cut.
#[test]
fn d3_a_second_name_of_somebodys_file_is_not_written() {
    let stand = Stand::new();
    let script = fs::read_to_string(stand.fathom.work().join("delete.f")).expect("the script");
    let writes = "flowop writewholefile name=w,filesetname=mail,iosize=4k,fd=1\nflowop closefile name=e,fd=1 } }\nrun 2\n";
    let (before, _) = script.split_once("flowop deletefile").expect("it has one");
    fs::write(stand.fathom.work().join("delete.f"), format!("{before}{writes}")).expect("a script");
    let told = stand.swapped(|stand| {
        for name in names_in(&stand.leaf) {
            let beside = stand.fathom.work().join("beside");
            fs::hard_link(stand.theirs.join(&name), &beside).expect("a second name");
            fs::rename(&beside, stand.leaf.join(&name)).expect("in place of our file");
        }
    });
    assert!(told.contains("The file has a second hard link"), "{told}");
}

/// The owner of the parent directory can rename the working directory and replace it with a link as often as they like.
#[test]
fn a_working_directory_that_is_exchanged_with_a_link_leads_nowhere() {
    let fathom = Fathom::new();
    let (theirs, link) = (fathom.dir().subdir("theirs"), fathom.dir().path().join("link"));
    for name in ["iozone.tmp", "x", "test_file.0", "page.csv"] {
        fs::write(theirs.join(name), format!("theirs {name}")).expect("their file");
    }
    symlink(&theirs, &link).expect("a link");
    let before = contents(&theirs);
    let work = fathom.work().to_path_buf();
    // Where it is now, whatever it is called.
    let held = fs::File::open(&work).expect("the working directory");
    let place = format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(&held));
    let fathom = fathom.working_in(Path::new(&place));
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                exchange(&link, &work);
            }
        });
        for _ in 0..3 {
            for line in [
                "iozone -s 64k -r 4k -i 0",
                "iozone -s 64k -r 4k -i 0 -f x",
                "sysbench fileio --file-num=1 --file-total-size=64K prepare",
                "sysbench fileio --file-num=1 --file-total-size=64K cleanup",
                "fio --name=a --rw=write --size=64k --unlink=1",
                "report last -o page.csv",
            ] {
                let _ = fathom.run_line(line);
            }
            let page = Path::new(&place).join("page.csv");
            let _ = fs::remove_file(page);
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(contents(&theirs), before);
}
