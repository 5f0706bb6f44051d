//! What is ours, what is removed, and what the next run does after a kill.

use super::journal::*;
use super::*;
use proptest::prelude::*;
use std::os::unix::ffi::OsStringExt as _;

#[test]
fn what_was_made_is_removed_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let (state, ours, theirs) =
        (dir.path().join("state"), dir.path().join("ours"), dir.path().join("theirs"));
    fs::write(&theirs, "x").unwrap();
    let mut ledger = Ledger::new(&state);
    ledger.create(&ours, 0o600).unwrap();
    assert!(ledger.owns(&ours) && !ledger.owns(&theirs));
    assert!(ledger.create(&theirs, 0o600).is_err());
    ledger.remove(&theirs).unwrap();
    drop(ledger);
    assert!(!ours.exists() && theirs.exists());
    assert_eq!(fs::read_dir(&state).unwrap().count(), 0);
}

#[test]
fn a_file_that_was_replaced_is_no_longer_ours() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let mut ledger = Ledger::new(&dir.path().join("state"));
    ledger.create(&path, 0o600).unwrap();
    // Both exist for a moment, so the inode numbers differ.
    fs::write(dir.path().join("new"), "theirs").unwrap();
    fs::rename(dir.path().join("new"), &path).unwrap();
    assert!(!ledger.owns(&path));
    drop(ledger);
    assert!(path.exists());
}

#[test]
fn the_next_run_sweeps_what_a_killed_one_left() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let path = dir.path().join("a file");
    let mut ledger = Ledger::new(&state);
    ledger.create(&path, 0o600).unwrap();
    // As if killed: the journal stays, under the name of a process that does not exist.
    let journal = ledger.journal.take().unwrap().0;
    ledger.made.clear();
    drop(ledger);
    assert_eq!(Ledger::sweep(&state), [], "our own process is alive");
    fs::rename(&journal, state.join("files-999999999-1")).unwrap();
    assert_eq!(Ledger::sweep(&state), [Swept { path: path.clone(), removed: true }]);
    assert!(!path.exists());
    assert_eq!(Ledger::sweep(&state), []);
}

#[test]
fn what_could_not_be_removed_stays_in_the_journal_for_the_next_run() {
    let dir = tempfile::tempdir().unwrap();
    let (state, ours) = (dir.path().join("state"), dir.path().join("ours"));
    let mut ledger = Ledger::new(&state);
    ledger.create_directory(&ours).unwrap();
    fs::write(ours.join("theirs"), "a directory that is not empty cannot be removed").unwrap();
    assert_eq!(ledger.finish(), std::slice::from_ref(&ours));
    drop(ledger);
    let journal = fs::read_dir(&state).unwrap().next().expect("the journal is still there").unwrap();
    fs::rename(journal.path(), state.join("files-999999999-1")).unwrap();
    fs::remove_file(ours.join("theirs")).unwrap();
    assert_eq!(Ledger::sweep(&state), [Swept { path: ours, removed: true }]);
}

#[test]
fn a_journal_in_use_is_left_alone_wherever_its_owner_lives() {
    let dir = tempfile::tempdir().unwrap();
    let (state, ours) = (dir.path().join("state"), dir.path().join("ours"));
    let mut ledger = Ledger::new(&state);
    ledger.create(&ours, 0o600).unwrap();
    // As seen from another container: no process of this number.
    let journal = &mut ledger.journal.as_mut().unwrap().0;
    let foreign = state.join("files-999999999-1");
    fs::rename(&*journal, &foreign).unwrap();
    *journal = foreign;
    assert_eq!(Ledger::sweep(&state), []);
    assert!(ours.exists());
    drop(ledger);
    assert!(!ours.exists());
}

#[test]
fn an_empty_file_of_an_unfinished_intention_is_ours_only_if_it_is_as_old() {
    assert!(made_right_after(100, 100) && made_right_after(101, 100) && made_right_after(99, 100));
    assert!(!made_right_after(160, 100) && !made_right_after(40, 100));
    let dir = tempfile::tempdir().unwrap();
    let (state, path) = (dir.path().join("state"), dir.path().join("planned"));
    fs::create_dir(&state).unwrap();
    fs::write(state.join("files-999999999-1"), format!("intent {}\n", encoded(&path))).unwrap();
    fs::write(&path, "").unwrap();
    assert_eq!(Ledger::sweep(&state), [Swept { path: path.clone(), removed: true }]);
    fs::write(state.join("files-999999999-1"), format!("intent {}\n", encoded(&path))).unwrap();
    fs::write(&path, "not empty").unwrap();
    assert_eq!(Ledger::sweep(&state), []);
}

#[test]
fn a_kept_file_stays_and_is_ours_again_later() {
    let dir = tempfile::tempdir().unwrap();
    let (state, path) = (dir.path().join("state"), dir.path().join("kept file"));
    let mut ledger = Ledger::new(&state);
    ledger.create(&path, 0o600).unwrap();
    ledger.keep(&path).unwrap();
    drop(ledger);
    let mut later = Ledger::new(&state);
    assert!(later.owns(&path));
    later.remove(&path).unwrap();
    assert!(!path.exists());
}

#[test]
fn runs_that_overlap_do_not_lose_each_others_kept_files() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let mut ledgers: Vec<Ledger> = (0..5).map(|_| Ledger::new(&state)).collect();
    for (i, ledger) in ledgers.iter_mut().enumerate() {
        let path = dir.path().join(format!("kept{i}"));
        ledger.create(&path, 0o600).unwrap();
        ledger.keep(&path).unwrap();
    }
    drop(ledgers);
    let later = Ledger::new(&state);
    assert!((0..5).all(|i| later.owns(&dir.path().join(format!("kept{i}")))));
}

#[test]
fn what_cannot_be_reached_now_stays_in_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    fs::create_dir(&state).unwrap();
    let journal = state.join("files-999999999-1");
    fs::write(&journal, "made 1 2 3 /nowhere/that/is/mounted/file\n").unwrap();
    assert_eq!(Ledger::sweep(&state), []);
    assert!(journal.exists());
}

proptest! {
    #[test]
    fn paths_survive_the_journal(bytes in prop::collection::vec(1u8..=255, 1..40)) {
        let path = PathBuf::from(std::ffi::OsString::from_vec(bytes));
        prop_assert_eq!(decoded(&encoded(&path)), path);
    }
}

/// A tree with one directory and one file, in a directory that was not there.
fn tree_below(dir: &Path, ledger: &mut Ledger) -> PathBuf {
    let root = dir.join("made/for it/tree");
    ledger.create_tree(&root).unwrap();
    fs::create_dir(root.join("00000001")).unwrap();
    fs::write(root.join("00000001/00000001"), "data").unwrap();
    root
}

#[test]
fn a_tree_is_one_entry_and_goes_with_all_that_is_ours_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::new(&dir.path().join("state"));
    let root = tree_below(dir.path(), &mut ledger);
    assert!(ledger.owns_tree(&root) && ledger.owns(&root.join("00000001/00000001")));
    assert!(!ledger.owns(&root.join("00000001/00000002")), "it is not there");
    fs::write(root.join("00000001/notes"), "theirs").unwrap();
    assert!(!ledger.owns(&root.join("00000001/notes")));
    fs::remove_file(root.join("00000001/notes")).unwrap();
    ledger.remove(&root.join("00000001/00000001")).unwrap();
    assert!(!root.join("00000001/00000001").exists() && root.join("00000001").exists());
    drop(ledger);
    assert!(!dir.path().join("made").exists());
}

#[test]
fn nothing_of_a_tree_goes_if_something_in_it_is_not_ours() {
    let dir = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::new(&dir.path().join("state"));
    let root = tree_below(dir.path(), &mut ledger);
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("00000007"), "theirs").unwrap();
    let link = root.join("00000001/00000009");
    let foreign: [(&dyn Fn(), &str); 3] = [
        (&|| std::os::unix::fs::symlink(&elsewhere, &link).unwrap(), "is a symbolic link"),
        (&|| fs::write(root.join("00000001/photo.jpg"), "").unwrap(), "photo.jpg has a name"),
        (&|| drop(std::os::unix::net::UnixListener::bind(&link).unwrap()), "neither a file nor a directory"),
    ];
    for (put, sentence) in foreign {
        put();
        let error = ledger.remove(&root).unwrap_err().to_string();
        assert!(
            error.contains(sentence) && error.contains("the tree") && error.contains("is not removed"),
            "{error}"
        );
        assert!(root.join("00000001/00000001").exists() && ledger.owns_tree(&root));
        let _ = fs::remove_file(&link);
        let _ = fs::remove_file(root.join("00000001/photo.jpg"));
    }
    assert!(elsewhere.join("00000007").exists());
    ledger.remove(&root).unwrap();
    assert!(!root.exists() && !ledger.owns_tree(&root));
}

#[test]
fn a_kept_tree_is_ours_later_and_the_directories_made_for_it_go_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let mut ledger = Ledger::new(&state);
    let root = tree_below(dir.path(), &mut ledger);
    ledger.keep(&root).unwrap();
    assert_eq!(ledger.finish(), [] as [&Path; 0]);
    drop(ledger);
    let mut later = Ledger::new(&state);
    assert!(later.owns_tree(&root) && later.owns(&root.join("00000001/00000001")));
    later.remove(&root).unwrap();
    assert!(!dir.path().join("made").exists());
    assert_eq!(fs::read_to_string(state.join("kept")).unwrap(), "");
}

#[test]
fn the_next_run_sweeps_the_tree_of_a_killed_one() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let mut ledger = Ledger::new(&state);
    let root = tree_below(dir.path(), &mut ledger);
    let journal = ledger.journal.take().unwrap().0;
    ledger.made.clear();
    fs::rename(&journal, state.join("files-999999999-1")).unwrap();
    let swept = Ledger::sweep(&state);
    assert_eq!(swept[0], Swept { path: root, removed: true });
    assert!(swept.len() == 3 && !dir.path().join("made").exists());
}
