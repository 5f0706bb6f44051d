//! Planted files: journals, links, pipes and directories of another user where fathom looks. None is obeyed, waited
//! for, or written through. (docs/safety.md, "Who may do what to whom".)

use crate::measure::workloads::Text;
use fathom_testkit::{Fathom, TestDir, need_root};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::path::{Path, PathBuf};

/// The untrusted user.
const NOBODY: u32 = 65534;

/// A file of root's that another user's journal names, in every possible way.
struct Precious {
    dir: TestDir,
    file: PathBuf,
}

impl Precious {
    fn new() -> Self {
        let dir = TestDir::new();
        let file = dir.path().join("precious");
        fs::write(&file, "old\n").expect("a file of root's");
        Self { dir, file }
    }

    /// Journals as an older fathom wrote them, without a checksum, and as this one does, with one.
    fn journals(&self, state: &Path) {
        fs::create_dir_all(state).expect("a directory");
        let about = fs::metadata(&self.file).expect("there");
        let born = about.created().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
        let born = born.map_or(0, |b| b.as_nanos());
        let (path, dev, ino) = (self.file.display(), about.dev(), about.ino());
        let kernel = |name: &str| {
            fs::read_to_string(format!("/proc/sys/kernel/{name}"))
                .expect("the kernel tells")
                .trim()
                .to_owned()
        };
        let boot = format!("boot {} {}", kernel("random/boot_id"), kernel("hostname"));
        let turned = [
            boot,
            format!("save {path} loop0 scheduler =evil"),
            format!("turn {path} y"),
            format!("now {path} old"),
        ];
        let made =
            [format!("made {dev} {ino} {born} {path}"), format!("made {dev} {ino} born:{born} {path}")];
        let plain = |first: &str, facts: &[String]| format!("{first}{}\n", facts.join("\n"));
        let sealed = |first: &str, facts: &[String]| {
            facts.iter().fold(format!("{first}\n"), |text, fact| text + &fathom_state::lines::sealed(fact))
        };
        for (name, text) in [
            ("knobs-999999999-1-1", plain("fathom-knobs 1\n", &turned)),
            ("knobs-999999999-1-2", sealed("fathom-knobs 2", &turned)),
            ("files-999999999-1-1", plain("", &made)),
            ("files-999999999-1-2", sealed("fathom-files 2", &made)),
            ("kept", sealed("fathom-files 2", &made)),
        ] {
            fs::write(state.join(name), text).expect("a journal");
        }
    }

    #[track_caller]
    fn is_untouched(&self) {
        assert_eq!(fs::read_to_string(&self.file).expect("still there"), "old\n");
    }
}

/// Gives a directory and its content to a user.
fn give(path: &Path, user: u32) {
    lchown(path, Some(user), Some(user)).expect("root may");
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            give(&entry.path(), user)
        } else {
            lchown(entry.path(), Some(user), None).expect("root may")
        }
    }
}

/// Runs it with only this environment variable; returns stderr.
fn with_only(fathom: &Fathom, (name, value): (&str, &Path), args: &[&str]) -> String {
    let output = fathom.command(args).env_clear().env(name, value).output().expect("started");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    stderr
}

/// A workload in a separate directory, for a command that sweeps before it measures.
fn workload(fathom: &Fathom) -> String {
    Text::new("w").quick_write(fathom.work()).save(fathom).to_str().expect("UTF-8").to_owned()
}

#[test]
fn d1_a_state_directory_of_somebody_else_is_not_obeyed() {
    if !need_root("d1_a_state_directory_of_somebody_else_is_not_obeyed") {
        return;
    }
    let (fathom, precious) = (Fathom::new(), Precious::new());
    let theirs = precious.dir.subdir("theirs");
    for state in ["fathom", ".local/state/fathom"] {
        precious.journals(&theirs.join(state));
    }
    give(&theirs, NOBODY);
    let (workload, store) = (workload(&fathom), fathom.store());
    let store = store.to_str().expect("UTF-8");
    for variable in ["TMPDIR", "HOME", "XDG_STATE_HOME"] {
        for args in [&["--version"][..], &["--store", store, "run", &workload], &["--store", store, "list"]] {
            let told = with_only(&fathom, (variable, &theirs), args);
            precious.is_untouched();
            assert!(!told.contains("restored") && !told.contains("removed"), "{told}");
        }
    }
    let told = with_only(&fathom, ("HOME", &theirs), &["--store", store, "run", &workload]);
    assert!(told.contains("is not used") && told.contains("belongs to user 65534"), "{told}");
}

#[test]
fn d1_a_state_directory_that_others_can_write_is_not_obeyed() {
    let (fathom, precious) = (Fathom::new(), Precious::new());
    let state = fathom.state_home().join("fathom");
    precious.journals(&state);
    let workload = workload(&fathom);
    for (what, mode) in [(fathom.state_home(), 0o777), (state.clone(), 0o777), (state.clone(), 0o1777)] {
        fs::set_permissions(&what, fs::Permissions::from_mode(mode)).expect("ours");
        let outcome = fathom.run(["run", &workload, "--no-store"]).expect_code(0);
        precious.is_untouched();
        assert!(outcome.stderr.contains("can be written by others"), "{outcome:?}");
        fs::set_permissions(&what, fs::Permissions::from_mode(0o755)).expect("ours");
    }
}

#[test]
fn d1_a_journal_of_somebody_else_in_our_directory_is_named_and_left() {
    if !need_root("d1_a_journal_of_somebody_else_in_our_directory_is_named_and_left") {
        return;
    }
    let (fathom, precious) = (Fathom::new(), Precious::new());
    let state = fathom.state_home().join("fathom");
    precious.journals(&state);
    for entry in fs::read_dir(&state).expect("there").flatten() {
        chown(entry.path(), Some(NOBODY), None).expect("root may");
    }
    let outcome = fathom.run(["run", &workload(&fathom), "--no-store"]).expect_code(0);
    precious.is_untouched();
    let told = outcome.stderr.matches("is not used as a journal of fathom").count();
    assert_eq!(told, 5, "{outcome:?}");
}

/// Even a journal that is ours turns nothing but knobs.
#[test]
fn d1_a_journal_turns_nothing_but_a_known_knob_of_its_device() {
    let (fathom, precious) = (Fathom::new(), Precious::new());
    let state = fathom.state_home().join("fathom");
    precious.journals(&state);
    for name in ["files-999999999-1-1", "files-999999999-1-2", "kept", "knobs-999999999-1-1"] {
        fs::remove_file(state.join(name)).expect("there");
    }
    let outcome = fathom.run(["list"]).expect_code(0);
    precious.is_untouched();
    assert!(outcome.stderr.contains("it is not a knob of a present device"), "{outcome:?}");
}

#[test]
fn d1_pipes_devices_and_links_in_place_of_journals_hang_nothing() {
    let fathom = Fathom::new();
    let state = fathom.dir().subdir("state/fathom");
    let workload = workload(&fathom);
    let names =
        ["knobs-999999999-1-1", "new-knobs-999999999-1-1", "files-999999999-1-1", "kept", "kept.lock"];
    for what in ["pipe", "/dev/zero", "/nowhere/at/all"] {
        for name in names {
            match what {
                "pipe" => {
                    let made = std::process::Command::new("mkfifo").arg(state.join(name)).status();
                    assert!(made.expect("coreutils has it").success());
                }
                target => symlink(target, state.join(name)).expect("a link"),
            }
            for args in [&["--version"][..], &["list"], &["run", &workload, "--no-store"]] {
                let outcome = fathom.run(args);
                assert!(matches!(outcome.code, Some(0)), "{what} {name}: {outcome:?}");
            }
            fs::remove_file(state.join(name)).expect("left where it was");
        }
    }
}

#[test]
fn a_store_that_others_can_bend_is_not_used() {
    if !need_root("a_store_that_others_can_bend_is_not_used") {
        return;
    }
    let (fathom, precious) = (Fathom::new(), Precious::new());
    let theirs = precious.dir.subdir("theirs");
    symlink(&precious.file, theirs.join("link.db")).expect("a link");
    fs::write(theirs.join("theirs.db"), "").expect("a file");
    fs::write(theirs.join("side.db"), "").expect("a file");
    symlink(precious.dir.path().join("new"), theirs.join("side.db-journal")).expect("a link");
    symlink(precious.dir.path().join("new"), theirs.join("dangling.db")).expect("a link");
    let workload = workload(&fathom);
    for mode in [0o755, 0o1777] {
        give(&theirs, if mode == 0o755 { NOBODY } else { 0 });
        fs::set_permissions(&theirs, fs::Permissions::from_mode(mode)).expect("ours");
        chown(theirs.join("theirs.db"), Some(NOBODY), None).expect("root may");
        for name in ["link.db", "theirs.db", "side.db", "dangling.db"] {
            let store = theirs.join(name);
            let outcome = fathom.run(["--store", store.to_str().expect("UTF-8"), "run", &workload]);
            assert!(outcome.stderr.contains("is not used"), "{name} {mode:o}: {outcome:?}");
            precious.is_untouched();
            assert!(!precious.dir.path().join("new").exists(), "written through {name}");
        }
    }
    // In a directory that is ours alone it is used, and nobody else can read it.
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o755)).expect("ours");
    let ours = theirs.join("ours.db");
    let _ = fathom.run(["--store", ours.to_str().expect("UTF-8"), "run", &workload]).expect_code(0);
    assert_eq!(fs::metadata(&ours).expect("there").permissions().mode() & 0o777, 0o600);
}
