//! What is ours, what is removed, and what the next run does after a kill.

use super::journal::made_right_after;
use super::sweep::{Fate, Swept};
use super::*;
use fathom_state::Identity;

#[test]
fn only_created_files_are_removed() {
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
    // Both exist at the same time, so the inode numbers differ.
    fs::write(dir.path().join("new"), "theirs").unwrap();
    fs::rename(dir.path().join("new"), &path).unwrap();
    assert!(!ledger.owns(&path));
    drop(ledger);
    assert!(path.exists());
}

#[test]
fn the_next_run_sweeps_the_files_of_a_killed_run() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let path = dir.path().join("a file");
    let mut ledger = Ledger::new(&state);
    ledger.create(&path, 0o600).unwrap();
    // As if killed: the journal stays, under the name of a process that does not exist.
    let journal = state.join(ledger.journal.take().unwrap().name);
    ledger.made.clear();
    drop(ledger);
    assert_eq!(Ledger::sweep(&state), [], "our own process is alive");
    fs::rename(&journal, state.join("files-999999999-1")).unwrap();
    assert_eq!(Ledger::sweep(&state), [removed(&path)]);
    assert!(!path.exists());
    assert_eq!(Ledger::sweep(&state), []);
}

#[test]
fn nothing_is_created_in_a_replaced_directory() {
    let dir = tempfile::tempdir().unwrap();
    let [ours, theirs] = ["ours", "theirs"].map(|name| dir.path().join(name));
    fs::create_dir(&theirs).unwrap();
    let mut ledger = Ledger::new(&dir.path().join("state"));
    ledger.create_directory(&ours).unwrap();
    fs::rename(&ours, dir.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(&theirs, &ours).unwrap();
    for made in [ledger.create_tree(&ours.join("tree")), ledger.create(&ours.join("f"), 0o600).map(drop)] {
        assert!(made.unwrap_err().to_string().contains(tree::REPLACED));
    }
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0);
}

#[test]
fn a_file_with_contents_is_not_adopted() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    let above = File::open(dir.path()).unwrap();
    let now = SystemTime::now();
    let made = |since, is_tree| tree::just_made(above.as_fd(), OsStr::new("d"), since, is_tree);
    assert!(made(now, true).is_ok());
    fs::write(dir.path().join("d/file"), "x").unwrap();
    assert!(made(now, true).unwrap_err().to_string().contains(tree::REPLACED));
    assert!(made(now, false).is_ok(), "of another rank");
    assert!(made(now + 2 * tree::SERVERS, false).unwrap_err().to_string().contains(tree::REPLACED));
}

#[test]
fn a_file_that_is_older_than_the_run_was_made_by_no_worker() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, "x").unwrap();
    let mut ledger = Ledger::new(&dir.path().join("state"));
    ledger
        .adopt(std::slice::from_ref(&path), SystemTime::now() + 2 * tree::SERVERS, CreatedKind::File)
        .unwrap();
    assert!(!ledger.owns(&path));
    ledger
        .adopt(std::slice::from_ref(&path), SystemTime::now() - tree::STEP, CreatedKind::Directory)
        .unwrap();
    assert!(!ledger.owns(&path));
    ledger.adopt(std::slice::from_ref(&path), SystemTime::now() - tree::STEP, CreatedKind::File).unwrap();
    assert!(ledger.owns(&path));
}

#[test]
fn a_file_that_could_not_be_made_again_is_still_the_one_that_was_made() {
    let dir = tempfile::tempdir().unwrap();
    let (state, path) = (dir.path().join("state"), dir.path().join("f"));
    let mut ledger = Ledger::new(&state);
    let _ = ledger.create(&path, 0o600).unwrap();
    let _ = ledger.create(&path, 0o600).expect_err("it is there");
    let journal = state.join(ledger.journal.take().unwrap().name);
    ledger.made.clear();
    drop(ledger);
    fs::rename(journal, state.join("files-999999999-1")).unwrap();
    assert_eq!(Ledger::sweep(&state), [removed(&path)]);
}

#[test]
fn a_journal_goes_when_the_directory_of_its_files_went_before_it() {
    use std::os::unix::fs::MetadataExt as _;
    let dir = tempfile::tempdir().unwrap();
    let (state, path) = (dir.path().join("state"), dir.path().join("survey/deep/f"));
    let device = fs::metadata(dir.path()).unwrap().dev();
    // The previous sweeper was killed after it had removed all files but not the journal.
    let journal = left_by_a_killed_run(&state, &format!("made {device} 2 born:3 {}", path.display()));
    assert_eq!(Ledger::sweep(&state), []);
    assert!(!journal.exists());
}

#[test]
fn a_journal_goes_when_the_image_of_its_files_went_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let (state, images) = (dir.path().join("state"), dir.path().join("images"));
    let own = images.join(".fathom-sweep-17-0");
    fs::create_dir_all(own.join("mnt")).unwrap();
    let fact = format!("made 1 2 born:3 {}", own.join("mnt/deep/f").display());
    let journal = left_by_a_killed_run(&state, &fact);
    assert_eq!(Ledger::sweep(&state), []);
    assert!(journal.exists(), "the image may be mounted again");
    fs::remove_dir_all(&own).unwrap();
    assert_eq!(Ledger::sweep(&state), []);
    assert!(!journal.exists());
    // The file system of the images may not be mounted now.
    let journal = left_by_a_killed_run(&state, &fact);
    fs::remove_dir_all(&images).unwrap();
    assert_eq!(Ledger::sweep(&state), []);
    assert!(journal.exists());
}

#[test]
fn files_that_cannot_be_inspected_stay_in_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    // A name that is too long fails for every user, including root.
    let path = dir.path().join("f".repeat(300));
    for fact in [journal::intent(&path), format!("made 1 2 born:3 {}", path.display())] {
        let state = dir.path().join("state");
        let journal = left_by_a_killed_run(&state, &fact);
        let swept = Ledger::sweep(&state);
        let [Swept { path: named, fate: Fate::Stays(why) }] = swept.as_slice() else { panic!("{swept:?}") };
        assert!(*named == path && why.contains("too long"), "{why}");
        assert!(journal.exists());
        fs::remove_dir_all(state).unwrap();
    }
}

#[test]
fn files_that_cannot_be_removed_stay_in_the_journal() {
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
    assert_eq!(Ledger::sweep(&state), [removed(&ours)]);
}

#[test]
fn a_journal_in_use_is_left_alone_wherever_its_owner_lives() {
    let dir = tempfile::tempdir().unwrap();
    let (state, ours) = (dir.path().join("state"), dir.path().join("ours"));
    let mut ledger = Ledger::new(&state);
    ledger.create(&ours, 0o600).unwrap();
    // As seen from another container: no process with this id.
    let journal = &mut ledger.journal.as_mut().unwrap().name;
    fs::rename(state.join(&*journal), state.join("files-999999999-1")).unwrap();
    *journal = "files-999999999-1".into();
    assert_eq!(Ledger::sweep(&state), []);
    assert!(ours.exists());
    drop(ledger);
    assert!(!ours.exists());
}

#[test]
fn an_empty_file_of_an_unfinished_intent_is_ours_only_if_its_age_matches() {
    assert!(made_right_after(100, 100) && made_right_after(101, 100) && made_right_after(99, 100));
    assert!(!made_right_after(160, 100) && !made_right_after(40, 100));
    let dir = tempfile::tempdir().unwrap();
    let (state, path) = (dir.path().join("state"), dir.path().join("planned"));
    left_by_a_killed_run(&state, &intent(&path));
    fs::write(&path, "").unwrap();
    assert_eq!(Ledger::sweep(&state), [removed(&path)]);
    left_by_a_killed_run(&state, &intent(&path));
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
fn a_file_in_the_place_of_a_kept_one_may_be_given() {
    let dir = tempfile::tempdir().unwrap();
    let (state, path) = (dir.path().join("state"), dir.path().join("kept file"));
    let mut ledger = Ledger::new(&state);
    ledger.create(&path, 0o600).unwrap();
    ledger.keep(&path).unwrap();
    drop(ledger);
    fs::rename(&path, dir.path().join("aside")).unwrap();
    fs::write(&path, "another").unwrap();
    let later = Ledger::new(&state);
    let another = fs::File::open(&path).unwrap();
    assert!(!later.may_be_file(&path, another.as_fd()), "it was not looked for");
    assert!(!later.owns(&path) && later.may_be_file(&path, another.as_fd()));
    // A file that was ours on the first check and was replaced since must not be written.
    let ours = dir.path().join("ours");
    let mut now = Ledger::new(&state);
    now.create(&ours, 0o600).unwrap();
    now.keep(&ours).unwrap();
    let next = Ledger::new(&state);
    assert!(next.owns(&ours));
    for _ in 0..2 {
        fs::rename(&ours, dir.path().join("aside")).unwrap();
        fs::write(&ours, "another").unwrap();
        let another = fs::File::open(&ours).unwrap();
        for ledger in [&now, &next] {
            assert!(!ledger.owns(&ours) && !ledger.may_be_file(&ours, another.as_fd()));
        }
    }
}

#[test]
fn a_file_that_replaced_an_open_one_is_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (state, path) = (dir.path().join("state"), dir.path().join("log"));
    let file = fs::File::create_new(&path).unwrap();
    let mut ledger = Ledger::new(&state);
    ledger.keep_open(&path, file.as_fd()).unwrap();
    assert!(Ledger::new(&state).owns_open(&path, file.as_fd()));
    fs::rename(&path, dir.path().join("aside")).unwrap();
    fs::write(&path, "another").unwrap();
    ledger.keep_open(&path, file.as_fd()).unwrap();
    let later = Ledger::new(&state);
    assert!(!later.owns(&path) && !later.owns_open(&path, fs::File::open(&path).unwrap().as_fd()));
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
fn unreachable_files_stay_in_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let journal = left_by_a_killed_run(&state, "made 1 2 born:3 /nowhere/that/is/mounted/file");
    assert_eq!(Ledger::sweep(&state), []);
    assert!(journal.exists());
}

fn removed(path: &Path) -> Swept {
    Swept { path: path.into(), fate: Fate::Removed }
}

/// The journal of a run that was killed after it had noted one fact.
fn left_by_a_killed_run(state: &Path, fact: &str) -> PathBuf {
    fs::create_dir_all(state).unwrap();
    let journal = state.join("files-999999999-1");
    fs::write(&journal, format!("{FIRST}\n{}", lines::sealed(fact))).unwrap();
    journal
}

/// Device, inode and proof of a file, as in a journal.
fn numbers(path: &Path) -> String {
    let words = Identity::at_rest(File::open(path).unwrap().as_fd()).unwrap().words();
    words.rsplit_once(' ').unwrap().0.to_string()
}

#[test]
fn d2_a_number_alone_does_not_make_a_file_ours() {
    let dir = tempfile::tempdir().unwrap();
    let (state, path) = (dir.path().join("state"), dir.path().join("theirs"));
    fs::write(&path, "a thesis").unwrap();
    let line_of = |proof: &str| format!("made {} {proof} {}", numbers(&path), lines::coded_path(&path));
    for (proof, fate) in [
        ("-", Fate::Unproven),
        ("born:1", Fate::Replaced),
        ("mark:0000000000000001", Fate::Replaced),
        ("changed:1", Fate::Replaced),
    ] {
        let journal = left_by_a_killed_run(&state, &line_of(proof));
        assert_eq!(Ledger::sweep(&state), [Swept { path: path.clone(), fate }]);
        assert!(path.exists() && !journal.exists(), "{proof}");
    }
}

#[test]
fn d1_a_foreign_journal_is_reported_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (state, path) = (dir.path().join("state"), dir.path().join("precious"));
    fs::write(&path, "").unwrap();
    let fact = format!(
        "made {} {}",
        Identity::at_rest(File::open(&path).unwrap().as_fd()).unwrap().words(),
        lines::coded_path(&path)
    );
    let journal = left_by_a_killed_run(&state, &fact);
    // A line without its checksum, and one whose file was replaced by another.
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(
        &journal,
        format!("{FIRST}\n{fact}\n{}", text.replace("precious", "precise").split_once('\n').unwrap().1),
    )
    .unwrap();
    assert_eq!(Ledger::sweep(&state), []);
    fs::write(state.join("files-999999999-2"), format!("{fact}\n")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        state.join("files-999999999-3"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    std::os::unix::fs::symlink("/dev/zero", state.join("files-999999999-4")).unwrap();
    let fates: Vec<Fate> = Ledger::sweep(&state).into_iter().map(|s| s.fate).collect();
    let why = |fate: &Fate, words: &str| matches!(fate, Fate::NoJournal(why) if why.contains(words));
    assert_eq!(fates.len(), 3, "{fates:?}");
    assert!(
        why(&fates[0], "this version") && why(&fates[1], "named pipe") && why(&fates[2], "symbolic link")
    );
    assert!(path.exists());
}

#[test]
fn a_list_of_kept_files_of_another_version_is_named_once_and_put_aside() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(KEPT), "made 1 2 3 /old\n").unwrap();
    assert!(Ledger::needs_sweep(dir.path()));
    let swept = Ledger::sweep(dir.path());
    assert!(
        matches!(&swept[..], [Swept { fate: Fate::NoJournal(why), .. }] if why.contains("is renamed to")),
        "{swept:?}"
    );
    assert!(!Ledger::needs_sweep(dir.path()) && Ledger::sweep(dir.path()).is_empty());
    assert_eq!(fs::read_to_string(dir.path().join(journal::ASIDE)).unwrap(), "made 1 2 3 /old\n");
}

#[test]
fn without_a_journal_created_files_are_still_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ours");
    let mut ledger = Ledger::nowhere();
    ledger.create(&path, 0o600).unwrap();
    assert!(ledger.owns(&path));
    ledger.keep(&path).unwrap();
    drop(ledger);
    assert!(path.exists());
    let mut ledger = Ledger::nowhere();
    ledger.create(&dir.path().join("second"), 0o600).unwrap();
    drop(ledger);
    assert!(!dir.path().join("second").exists());
}

/// A tree with one directory and one file, in a directory that did not exist.
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
fn a_tree_with_a_foreign_entry_is_not_removed() {
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
    assert_eq!(fs::read_to_string(state.join("kept")).unwrap(), format!("{FIRST}\n"));
}

#[test]
fn the_next_run_sweeps_the_tree_of_a_killed_one() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let mut ledger = Ledger::new(&state);
    let root = tree_below(dir.path(), &mut ledger);
    let journal = state.join(ledger.journal.take().unwrap().name);
    ledger.made.clear();
    fs::rename(&journal, state.join("files-999999999-1")).unwrap();
    let swept = Ledger::sweep(&state);
    assert_eq!(swept[0], removed(&root));
    assert!(swept.len() == 3 && !dir.path().join("made").exists());
}

#[test]
fn files_kept_by_another_user_are_known_until_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let mut first = Ledger::new(&dir.path().join("first"));
    first.create(&path, 0o600).unwrap().write_all(b"laid out").unwrap();
    first.keep_laid_out([path.as_path()]).unwrap();
    drop(first);
    let marked = kept_mark::is_set(File::open(&path).unwrap().as_fd());
    if !marked {
        return fathom_testkit::skip("what_another_user_let_stay", "no extended attributes here");
    }
    // Without a state directory.
    let mut second = Ledger::nowhere();
    assert!(!second.owns(&path) && second.take_harmless(&path) && second.owns(&path));
    // It is written, and a third user still recognises it.
    fs::write(&path, "written").unwrap();
    second.keep_laid_out([path.as_path()]).unwrap();
    second.remove(&path).unwrap();
    drop(second);
    let mut third = Ledger::new(&dir.path().join("third"));
    assert!(third.take_harmless(&path));
    drop(third);
    assert!(path.exists(), "it stays");
    let twin = dir.path().join("twin");
    fs::hard_link(&path, &twin).unwrap();
    assert!(!Ledger::nowhere().take_harmless(&path), "a second link may be another user's copy");
    fs::remove_file(twin).unwrap();
    assert!(Ledger::nowhere().take_harmless(&path));
    fs::write(&path, "their results").unwrap();
    // To the first it is still the file that it created, but without a mark for what others wrote.
    let mut first = Ledger::new(&dir.path().join("first"));
    first.look_for_marks([path.as_path()]);
    assert!(first.owns(&path));
    first.keep_laid_out([path.as_path()]).unwrap();
    drop(first);
    assert!(!Ledger::nowhere().take_harmless(&path));
}
