//! File sets that are trees or draw their sizes, on disk: what is created, what is found in place, what is left alone, and what a
//! kill leaves behind.

use fathom_engine::{Engine, EngineError, Ledger, Prepared, Progress, Step};
use fathom_record::Ending;
use fathom_testkit::{LoopFs, TestDir, TmpFs, need_root};
use fathom_workload::tree::layouts;
use fathom_workload::{Action, Existing, Share, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

/// A workload with one file set, "t": a tree of `entries` files below `root`, and more lines of TOML.
fn tree(root: &Path, entries: u64, lines: &str) -> Workload {
    Workload::from_toml(&format!(
        "name = \"trees\"\n[[fileset]]\nname = \"t\"\nmode = 0o644\n{lines}\n\
         files = {{ tree = {{ root = {root:?}, entries = {entries}, width = {{ fixed = 5 }}, gamma_thousandths = 1500 }} }}"
    ))
    .unwrap()
}

const SIZE: &str = "size = { fixed = \"10KiB\" }";

fn with(workload: &Workload, change: impl FnOnce(&mut fathom_workload::FileSet)) -> Workload {
    let mut workload = workload.clone();
    change(&mut workload.filesets[0]);
    workload
}

fn engine(dir: &TestDir) -> Engine {
    Engine::new(Ledger::new(&dir.path().join("state")))
}

type Prepareds = BTreeMap<PathBuf, Prepared>;

fn prepare(engine: &mut Engine, workload: &Workload) -> Result<Prepareds, EngineError> {
    engine.check(workload)?;
    let mut told = BTreeMap::new();
    engine.prepare_with(workload, "t", &mut |path, what| {
        assert_eq!(told.insert(path.to_path_buf(), what), None, "told once");
    })?;
    Ok(told)
}

fn refusal(engine: &mut Engine, workload: &Workload) -> String {
    prepare(engine, workload).unwrap_err().to_string()
}

fn remove(engine: &mut Engine, workload: &Workload) -> Result<(), EngineError> {
    engine.act(workload, &Action::Remove("t".into()))
}

/// Everything below a directory: files with their sizes, directories with `None`.
fn listing(root: &Path) -> BTreeMap<String, Option<u64>> {
    let mut all = BTreeMap::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let about = entry.metadata().unwrap();
            let name = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            all.insert(name, about.is_file().then_some(about.len()));
            if about.is_dir() {
                left.push(entry.path());
            }
        }
    }
    all
}

/// The same as expected from the layout.
fn wanted(workload: &Workload) -> BTreeMap<String, Option<u64>> {
    let layout = &layouts(workload).unwrap().trees["t"];
    let directories = (1..layout.directories.len()).map(|i| (layout.directory_path(i), None));
    let files = layout.files.iter().enumerate().filter(|(_, f)| f.exists);
    let files = files.map(|(i, f)| (layout.file_path(i), Some(f.size)));
    let leaves = layout.leaf_directories.iter().enumerate().filter(|(_, l)| l.exists);
    directories.chain(files).chain(leaves.map(|(i, _)| (layout.leaf_directory_path(i), None))).collect()
}

fn set_len(path: &Path, bytes: u64) {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

fn files_of(workload: &Workload, root: &Path) -> Vec<PathBuf> {
    wanted(workload).into_iter().filter(|f| f.1.is_some()).map(|f| root.join(f.0)).collect()
}

#[test]
fn a_tree_on_disk_is_its_layout_and_goes_at_the_end() {
    let dir = TestDir::new();
    // A blank in the path and missing parents.
    let root = dir.path().join("D/a b/fs");
    let workload = tree(&root, 100, &format!("{SIZE}\npreallocated_percent = 80"));
    let mut engine = engine(&dir);
    let told = prepare(&mut engine, &workload).unwrap();
    assert_eq!(listing(&root), wanted(&workload));
    assert!(
        told.len() > 60
            && told.len() < 100
            && told.values().all(|p| *p == Prepared::Created { bytes: 10240 })
    );
    let one = files_of(&workload, &root).remove(0);
    assert_eq!(fs::metadata(&one).unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(fs::metadata(&root).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read(&one).unwrap().len(), 10240);
    // Data, not holes, and different in every file.
    let blocks: BTreeSet<Vec<u8>> =
        files_of(&workload, &root).iter().map(|f| fs::read(f).unwrap()[512..1024].to_vec()).collect();
    assert_eq!(blocks.len(), told.len());
    assert!(dir.in_memory() || fs::metadata(&one).unwrap().blocks() * 512 >= 10240);
    // Our tree is created again; flows may have added files and directories with names of our scheme, and removed others.
    fs::remove_file(&one).unwrap();
    fs::create_dir(root.join("00000001/00000077")).unwrap();
    prepare(&mut engine, &workload).unwrap();
    assert_eq!(listing(&root), wanted(&workload));
    assert_eq!(engine.clean_up(), [] as [&Path; 0]);
    assert_eq!(dir.names(), ["state"]);
}

#[test]
fn drawn_sizes_leaf_directories_and_empty_files() {
    let dir = TestDir::new();
    let root = dir.path().join("fs");
    let drawn = "[variables.v]\nshape = { uniform = { low = 100.0, high = 5000.0 } }\n";
    let mut workload = tree(&root, 50, "size = { variable = \"v\" }");
    workload.variables = Workload::from_toml(&format!("name = \"v\"\n{drawn}")).unwrap().variables;
    let mut engine = engine(&dir);
    prepare(&mut engine, &workload).unwrap();
    assert_eq!(listing(&root), wanted(&workload));
    assert!(listing(&root).into_values().flatten().collect::<BTreeSet<_>>().len() > 40);
    engine.act(&workload, &Action::Recreate("t".into())).unwrap();
    assert!(listing(&root).into_values().flatten().all(|bytes| bytes == 0));
    for act in [Action::Evict("t".into()), Action::Warm("t".into())] {
        engine.act(&workload, &act).unwrap();
    }
    let mut leaves = tree(&root, 0, "preallocated_percent = 50");
    if let fathom_workload::Files::Tree(tree) = &mut leaves.filesets[0].files {
        tree.leaf_directories = 60;
    }
    prepare(&mut engine, &leaves).unwrap();
    assert_eq!(listing(&root), wanted(&leaves));
    remove(&mut engine, &leaves).unwrap();
    assert!(!root.exists());
    // Listed files have drawn sizes, too.
    let list = format!("files = {{ numbered = {{ prefix = {:?}, count = 5 }} }}", dir.path().join("f"));
    let text =
        format!("name = \"l\"\n{drawn}[[fileset]]\nname = \"t\"\n{list}\nsize = {{ variable = \"v\" }}\n");
    let listed = Workload::from_toml(&text).unwrap();
    prepare(&mut engine, &listed).unwrap();
    let found = (0..5).map(|i| fs::metadata(dir.path().join(format!("f{i}"))).unwrap().len());
    assert_eq!(found.collect::<Vec<_>>(), layouts(&listed).unwrap().sizes["t"]);
    if let fathom_workload::Files::Tree(tree) = &mut leaves.filesets[0].files {
        tree.entries = 1;
    }
    let error = refusal(&mut engine, &leaves);
    assert!(error.contains("fileset t") && error.contains("both files and leaf directories"), "{error}");
}

#[test]
fn an_existing_tree_of_ours_is_made_to_fit() {
    let dir = TestDir::new();
    let root = dir.path().join("fs");
    let workload = tree(&root, 60, &format!("{SIZE}\ndata = {{ positioned = {{ tag = 7 }} }}\nkeep = true"));
    let mut first = engine(&dir);
    prepare(&mut first, &workload).unwrap();
    first.keep(&workload).unwrap();
    drop(first);
    // Another run.
    let mut engine = engine(&dir);
    let reuse = with(&workload, |s| s.existing = Existing::Reuse);
    let files = files_of(&workload, &root);
    let contents: Vec<Vec<u8>> = files.iter().map(|f| fs::read(f).unwrap()).collect();
    // One directory is missing with its files, one file is too short, one too long.
    let gone = files.iter().filter(|f| f.starts_with(root.join("00000001"))).count();
    fs::remove_dir_all(root.join("00000001")).unwrap();
    let (short, long) = (gone, files.len() - 1);
    set_len(&files[short], 1000);
    set_len(&files[long], 1 << 20);
    let told = prepare(&mut engine, &reuse).unwrap();
    assert_eq!(listing(&root), wanted(&workload));
    for (path, content) in files.iter().zip(&contents) {
        assert!(fs::read(path).unwrap() == *content, "{} has what it was laid out with", path.display());
    }
    assert_eq!(told[&files[short]], Prepared::Extended { from: 1000, bytes: 9240 });
    assert_eq!(told[&files[long]], Prepared::Cut { from: 1 << 20 });
    assert_eq!(told[&files[0]], Prepared::Created { bytes: 10240 });
    let reused = told.values().filter(|p| **p == Prepared::Reused).count();
    assert!(gone > 0 && reused == files.len() - gone - 2);
    // Read-only: files that are too long stay as they are.
    set_len(&files[long], 1 << 20);
    prepare(&mut engine, &with(&reuse, |s| s.share = Share::ReadOnly)).unwrap();
    assert_eq!(fs::metadata(&files[long]).unwrap().len(), 1 << 20);
    // A second hard link of a file may be another user's copy of it.
    fs::hard_link(&files[long], dir.path().join("backup")).unwrap();
    let error = refusal(&mut engine, &reuse);
    assert!(error.contains("has 1 other names") && error.contains("is not changed"), "{error}");
    fs::remove_file(dir.path().join("backup")).unwrap();
    // Removal on request, with its ledger entry.
    remove(&mut engine, &with(&reuse, |s| s.keep = false)).unwrap();
    assert!(!root.exists());
}

#[test]
fn a_foreign_tree_is_used_as_it_is_or_not_at_all() {
    let dir = TestDir::new();
    let root = dir.path().join("fs");
    let workload = tree(&root, 30, SIZE);
    for (name, size) in wanted(&workload) {
        let path = root.join(name);
        fs::create_dir_all(if size.is_none() { &path } else { path.parent().unwrap() }).unwrap();
        if let Some(bytes) = size {
            fs::write(&path, vec![7; bytes as usize]).unwrap();
        }
    }
    let before = listing(&root);
    let mut engine = engine(&dir);
    let error = refusal(&mut engine, &workload);
    let path = root.to_str().unwrap();
    assert!(error.contains(path) && error.contains("existing = \"replace\""), "{error}");
    let reuse = with(&workload, |s| s.existing = Existing::Reuse);
    assert!(prepare(&mut engine, &reuse).unwrap().values().all(|p| *p == Prepared::Reused));
    let files = files_of(&workload, &root);
    for (damage, sentence) in [
        (Some(5), "has 5 bytes instead of 10240"),
        (Some(20000), "has 20000 bytes"),
        (None, "does not exist"),
    ] {
        match damage {
            Some(bytes) => set_len(&files[9], bytes),
            None => fs::remove_file(&files[9]).unwrap(),
        }
        let damaged = listing(&root);
        let error = refusal(&mut engine, &reuse);
        assert!(error.contains(files[9].to_str().unwrap()) && error.contains(sentence), "{error}");
        assert!(error.contains("foreign_writable = true"), "{error}");
        assert_eq!(listing(&root), damaged, "nothing was changed");
    }
    // Trusted: opened without checking sizes.
    let trusted = with(&reuse, |s| s.trust_sizes = true);
    let error = refusal(&mut engine, &trusted);
    assert!(error.contains("cannot open") && error.contains(files[9].to_str().unwrap()), "{error}");
    fs::write(&files[9], "short").unwrap();
    assert!(prepare(&mut engine, &trusted).unwrap().values().all(|p| *p == Prepared::Reused));
    assert_eq!(fs::metadata(&files[9]).unwrap().len(), 5);
    // Given to us: adjusted, and only what we created in it is removed at the end.
    let given = with(&reuse, |s| s.may_modify = true);
    fs::remove_file(&files[3]).unwrap();
    let told = prepare(&mut engine, &given).unwrap();
    assert_eq!(listing(&root), before);
    assert_eq!(
        (told[&files[9]], told[&files[3]]),
        (Prepared::Extended { from: 5, bytes: 10235 }, Prepared::Created { bytes: 10240 })
    );
    remove(&mut engine, &given).unwrap();
    assert!(!files[3].exists() && files[9].exists());
    // Named for replacement: replaced if it contains only names of our scheme.
    let replace = with(&workload, |s| s.existing = Existing::Replace);
    fs::write(root.join("letter.txt"), "dear").unwrap();
    let error = refusal(&mut engine, &replace);
    assert!(error.contains("letter.txt has a name that fathom does not use"), "{error}");
    assert!(root.join("letter.txt").exists() && files[9].exists());
    fs::remove_file(root.join("letter.txt")).unwrap();
    prepare(&mut engine, &replace).unwrap();
    assert_ne!(fs::read(&files[9]).unwrap()[512..600], [7; 88]);
    // A plain file in its place.
    remove(&mut engine, &replace).unwrap();
    fs::write(&root, "plain").unwrap();
    for existing in [Existing::Refuse, Existing::Reuse] {
        let error = refusal(&mut engine, &with(&workload, |s| s.existing = existing));
        assert!(error.contains("is not a directory"), "{error}");
        assert_eq!(fs::read_to_string(&root).unwrap(), "plain");
    }
    prepare(&mut engine, &replace).unwrap();
    assert_eq!(listing(&root), wanted(&workload));
}

#[test]
fn nothing_is_reached_through_links() {
    let dir = TestDir::new();
    let (root, elsewhere) = (dir.path().join("fs"), dir.subdir("elsewhere"));
    let workload = tree(&root, 60, SIZE);
    let reuse = with(&workload, |s| s.existing = Existing::Reuse);
    let mut engine = engine(&dir);
    prepare(&mut engine, &workload).unwrap();
    let keep_away = || assert_eq!(listing(&elsewhere), BTreeMap::from([("00000001".into(), Some(6))]));
    fs::write(elsewhere.join("00000001"), "theirs").unwrap();
    // A file that is a link.
    let file = files_of(&workload, &root).remove(0);
    fs::remove_file(&file).unwrap();
    symlink(elsewhere.join("00000001"), &file).unwrap();
    let error = refusal(&mut engine, &reuse);
    assert!(error.contains("is a symbolic link, not a regular file"), "{error}");
    let error = remove(&mut engine, &workload).unwrap_err().to_string();
    assert!(error.contains(file.to_str().unwrap()) && error.contains("is a symbolic link"), "{error}");
    fs::remove_file(&file).unwrap();
    // A directory that is one.
    let inner = root.join("00000002");
    fs::rename(&inner, dir.path().join("moved")).unwrap();
    symlink(&elsewhere, &inner).unwrap();
    assert!(refusal(&mut engine, &reuse).contains(inner.to_str().unwrap()));
    assert!(remove(&mut engine, &workload).unwrap_err().to_string().contains("is a symbolic link"));
    assert!(
        refusal(&mut engine, &workload).contains("is a symbolic link"),
        "making it again removes it first"
    );
    fs::remove_file(&inner).unwrap();
    keep_away();
    // The root itself.
    remove(&mut engine, &workload).unwrap();
    symlink(&elsewhere, &root).unwrap();
    for existing in [Existing::Refuse, Existing::Replace] {
        let error = refusal(&mut engine, &with(&workload, |s| s.existing = existing));
        assert!(error.contains("is not a directory") || error.contains("is a symbolic link"), "{error}");
    }
    let error = refusal(&mut engine, &reuse);
    assert!(error.contains("is not the directory it should be") && root.is_symlink(), "{error}");
    keep_away();
}

#[test]
fn a_mount_inside_a_tree_is_not_crossed() {
    let name = "a_mount_inside_a_tree_is_not_crossed";
    if !need_root(name) {
        return;
    }
    let dir = TestDir::new();
    let (root, data) = (dir.path().join("fs"), dir.subdir("data"));
    fs::write(data.join("00000001"), "theirs").unwrap();
    let workload = tree(&root, 60, SIZE);
    let mut engine = engine(&dir);
    prepare(&mut engine, &workload).unwrap();
    // On the same file system, so its device number does not reveal it.
    let inner = root.join("00000001");
    let mount = |words: &[&str], at: &[&Path]| {
        assert!(Command::new(words[0]).args(&words[1..]).args(at).status().unwrap().success());
    };
    mount(&["mount", "--bind"], &[&data, &inner]);
    let error = remove(&mut engine, &workload).unwrap_err().to_string();
    assert!(error.contains(inner.to_str().unwrap()) && error.contains("is a mount point"), "{error}");
    assert!(prepare(&mut engine, &with(&workload, |s| s.existing = Existing::Reuse)).is_err());
    assert_eq!(engine.clean_up(), [root.as_path()]);
    assert_eq!(fs::read_to_string(data.join("00000001")).unwrap(), "theirs");
    assert!(fathom_testkit::unmount(&inner));
    assert_eq!(listing(&root), wanted(&workload));
}

#[test]
fn a_read_only_file_system_serves_existing_files() {
    let Some(mounted) = LoopFs::ext4("a_read_only_file_system_serves_existing_files").mebibytes(16).mount()
    else {
        return;
    };
    let dir = TestDir::new();
    let root = mounted.path().join("fs");
    let workload = tree(&root, 40, &format!("{SIZE}\nkeep = true"));
    let mut first = engine(&dir);
    prepare(&mut first, &workload).unwrap();
    first.keep(&workload).unwrap();
    drop(first);
    let long = files_of(&workload, &root).pop().unwrap();
    set_len(&long, 1 << 20);
    mounted.remount_read_only();
    // Once as ours, once as another user's.
    for state in ["state", "other"] {
        let mut engine = Engine::new(Ledger::new(&dir.path().join(state)));
        let reuse = with(&workload, |s| (s.existing, s.share) = (Existing::Reuse, Share::ReadOnly));
        assert!(prepare(&mut engine, &reuse).unwrap().values().all(|p| *p == Prepared::Reused));
    }
    let mut engine = engine(&dir);
    let error = refusal(&mut engine, &with(&workload, |s| s.existing = Existing::Reuse));
    assert!(error.contains("mounted read-only"), "the longer file would have to be cut: {error}");
    let error = refusal(&mut engine, &tree(&mounted.path().join("new"), 3, SIZE));
    assert!(error.contains("cannot create") && error.contains("mounted read-only"), "{error}");
}

#[test]
fn a_full_file_system_is_one_clear_error_and_is_emptied_again() {
    let Some(full) = TmpFs::mount("a_full_file_system_is_one_clear_error_and_is_emptied_again", 1 << 20)
    else {
        return;
    };
    let dir = TestDir::new();
    let root = full.path().join("fs");
    let mut engine = engine(&dir);
    let error = refusal(&mut engine, &tree(&root, 100, "size = { fixed = \"64KiB\" }"));
    assert!(error.contains("cannot write") && error.contains("file system is full: free space"), "{error}");
    assert!(error.contains(root.to_str().unwrap()));
    assert_eq!(engine.clean_up(), [] as [&Path; 0]);
    assert!(fs::read_dir(full.path()).unwrap().next().is_none());
}

/// Not a test by itself: the process that the next one starts and kills.
#[test]
fn lays_out_until_it_is_killed() {
    let Some(dir) = std::env::var_os("FATHOM_TEST_KILLED_IN").map(PathBuf::from) else { return };
    let mut engine = Engine::new(Ledger::new(&dir.join("state")));
    let workload = tree(&dir.join("below/fs"), 2000, SIZE);
    let kill = &mut |_: &Path, _: Prepared| {
        // SAFETY: ends this process, without any of its destructors.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    };
    engine.prepare_with(&workload, "t", kill).unwrap();
}

#[test]
fn the_next_run_removes_the_tree_of_a_killed_run() {
    let dir = TestDir::new();
    let killed = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "trees::lays_out_until_it_is_killed", "--nocapture"])
        .env("FATHOM_TEST_KILLED_IN", dir.path())
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(!killed.success());
    let root = dir.path().join("below/fs");
    assert!(!listing(&root).is_empty());
    let swept = Ledger::sweep(&dir.path().join("state"));
    assert!(
        swept.iter().all(|s| s.fate == fathom_engine::Fate::Removed) && swept[0].path == root,
        "{swept:?}"
    );
    assert_eq!(dir.names(), ["state"]);
    assert_eq!(fs::read_dir(dir.path().join("state")).unwrap().count(), 0);
}

#[test]
fn laying_out_reports_progress() {
    let dir = TestDir::new();
    let root = dir.path().join("fs");
    let workload = tree(&root, 200, SIZE);
    let mut engine = engine(&dir);
    let told = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&told);
    engine.on_progress(move |p: &Progress| all.lock().unwrap().push((p.step, p.done, p.total, p.bytes)));
    prepare(&mut engine, &workload).unwrap();
    let directories = layouts(&workload).unwrap().trees["t"].directories.len() as u64;
    let told_of =
        |step: Step| -> Vec<_> { told.lock().unwrap().iter().filter(|t| t.0 == step).copied().collect() };
    assert_eq!(told_of(Step::Directories).pop(), Some((Step::Directories, directories, directories, 0)));
    let files = told_of(Step::Files);
    assert_eq!(files[0], (Step::Files, 0, 200, 0));
    assert_eq!(files.last(), Some(&(Step::Files, 200, 200, 200 * 10240)));
    assert_eq!(told_of(Step::WritingBack).len(), 2);
    assert!(told_of(Step::Removing).is_empty());
    prepare(&mut engine, &workload).unwrap();
    assert_eq!(told_of(Step::Removing).len(), 2);
    assert_eq!(told_of(Step::WritingBack).len(), 4);
    prepare(&mut engine, &with(&workload, |s| s.leave_dirty = true)).unwrap();
    assert_eq!(told_of(Step::WritingBack).len(), 4, "nothing waits for the disk");
}

#[test]
fn streams_work_on_trees() {
    let dir = TestDir::new();
    let root = dir.path().join("fs");
    let phase = |direction: &str, pick: &str| {
        format!(
            "[[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\ninstances = 3\nisolation = \"thread\"\n[[phase.group.thread]]\n\
             [phase.group.thread.program.stream]\nfileset = \"t\"\ndirection = \"{direction}\"\nrecord = {{ fixed = \"2KiB\" }}\npick = \"{pick}\"\namount = \"pass\"\n"
        )
    };
    let workload = |phases: &str| {
        let mut workload = tree(&root, 20, SIZE);
        workload.phases = Workload::from_toml(&format!(
            "name = \"x\"\n[[fileset]]\nname = \"t\"\nfiles = {{ list = [\"x\"] }}\n{phases}"
        ))
        .unwrap()
        .phases;
        workload
    };
    let reading = workload(&phase("read", "by-worker"));
    let mut engine = engine(&dir);
    engine.check(&reading).unwrap();
    let error = engine.execute(&reading, 0, 0, &mut ()).unwrap_err().to_string();
    assert!(error.contains("does not exist; lay it out first"), "{error}");
    prepare(&mut engine, &reading).unwrap();
    let files: Vec<PathBuf> = {
        let layout = &layouts(&reading).unwrap().trees["t"];
        (0..20).map(|i| root.join(layout.file_path(i))).collect()
    };
    let at = &reading.phases[0];
    assert_eq!(engine.paths(&reading, at), files[..3]);
    let mut regions: Vec<_> = files[..3].iter().map(|f| (f.clone(), 0, 10240)).collect();
    regions.sort();
    assert_eq!(engine.regions_read(&reading, at), regions);
    let done = engine.execute(&reading, 0, 0, &mut ()).unwrap();
    assert!(done.workers.len() == 3 && done.workers.iter().all(|w| w.ending == Ending::Completed));
    let writing = workload(&phase("write", "by-worker"));
    engine.check(&writing).unwrap();
    let done = engine.execute(&writing, 0, 0, &mut ()).unwrap();
    assert!(done.workers.iter().all(|w| w.ending == Ending::Completed));
    // Holes are filled with the original data.
    let before = fs::read(&files[4]).unwrap();
    prepare(&mut engine, &writing).unwrap();
    let laid_out = fs::read(&files[4]).unwrap();
    fs::write(&files[4], &laid_out[..4096]).unwrap();
    set_len(&files[4], 10240);
    assert_eq!(engine.fill(&writing, &[(files[4].clone(), 4096, 6144)]).unwrap(), 6144);
    assert!(fs::read(&files[4]).unwrap() == laid_out && before.len() == 10240);
    // A foreign tree is not written to.
    let mut other = Engine::new(Ledger::new(&dir.path().join("other")));
    let error = other.execute(&writing, 0, 0, &mut ()).unwrap_err().to_string();
    assert!(error.contains("was not made by fathom"), "{error}");
    let partly = with(&writing, |s| s.preallocated_percent = 50);
    assert!(engine.check(&partly).unwrap_err().to_string().contains("is for flows"));
}

#[test]
fn listed_files_found_in_place() {
    let dir = TestDir::new();
    let list = |names: &str, lines: &str| {
        Workload::from_toml(&format!(
            "name = \"l\"\n[[fileset]]\nname = \"t\"\nfiles = {{ list = [{names}] }}\nsize = {{ fixed = \"3MiB\" }}\ndata = {{ positioned = {{ tag = 1 }} }}\nexisting = \"reuse\"\n{lines}"
        ))
        .unwrap()
    };
    let path = |name: &str| dir.path().join(name);
    let names = ["a", "b", "c"].map(|n| format!("{:?}", path(n))).join(", ");
    let workload = list(&names, "keep = true");
    let mut first = engine(&dir);
    let told = prepare(&mut first, &workload).unwrap();
    assert!(told.values().all(|p| *p == Prepared::Created { bytes: 3 << 20 }));
    first.keep(&workload).unwrap();
    drop(first);
    let laid_out = fs::read(path("b")).unwrap();
    let mut engine = engine(&dir);
    set_len(&path("b"), 1_500_001);
    set_len(&path("c"), 4 << 20);
    let inode = fs::metadata(path("b")).unwrap().ino();
    let told = prepare(&mut engine, &workload).unwrap();
    assert_eq!(told[&path("a")], Prepared::Reused);
    assert_eq!(told[&path("b")], Prepared::Extended { from: 1_500_001, bytes: (3 << 20) - 1_500_001 });
    assert_eq!((told[&path("c")], fs::metadata(path("c")).unwrap().len()), (Prepared::Reused, 4 << 20));
    assert!(fs::read(path("b")).unwrap() == laid_out && fs::metadata(path("b")).unwrap().ino() == inode);
    // A foreign file: used if long enough, refused if short unless it was given to us; never removed.
    fs::write(path("theirs"), vec![9; 1000]).unwrap();
    let foreign = list(&format!("{:?}", path("theirs")), "");
    let error = refusal(&mut engine, &foreign);
    assert!(
        error.contains("has 1000 bytes instead of 3145728") && error.contains("foreign_writable"),
        "{error}"
    );
    assert_eq!(fs::read(path("theirs")).unwrap(), vec![9; 1000]);
    let given = with(&foreign, |s| s.may_modify = true);
    let told = prepare(&mut engine, &given).unwrap();
    assert_eq!(told[&path("theirs")], Prepared::Extended { from: 1000, bytes: (3 << 20) - 1000 });
    let found = fs::read(path("theirs")).unwrap();
    assert!(found[..1000] == [9; 1000] && found[1000..] != vec![0; (3 << 20) - 1000]);
    assert_eq!(prepare(&mut engine, &foreign).unwrap()[&path("theirs")], Prepared::Reused);
    symlink(path("theirs"), path("link")).unwrap();
    let link = |lines: &str| list(&format!("{:?}", path("link")), lines);
    assert_eq!(prepare(&mut engine, &link("")).unwrap()[&path("link")], Prepared::Reused);
    let larger = with(&link("foreign_writable = true"), |s| {
        s.size = fathom_workload::Sizing::Fixed(fathom_workload::Bytes(4 << 20))
    });
    assert!(refusal(&mut engine, &larger).contains("is a symbolic link"));
    for set in [&given, &foreign] {
        remove(&mut engine, set).unwrap();
    }
    engine.clean_up();
    assert!(path("theirs").exists() && path("a").exists());
    // Trusted, and missing.
    let trusted = list(&format!("{:?}", path("nowhere")), "trust_sizes = true");
    assert!(refusal(&mut engine, &trusted).contains("cannot open"));
}

#[test]
fn a_block_device_is_read_and_never_written() {
    let Some(mounted) = LoopFs::ext4("a_block_device_is_read_and_never_written").mebibytes(4).mount() else {
        return;
    };
    let dir = TestDir::new();
    let device = mounted.device();
    let workload = |bytes: u64| {
        Workload::from_toml(&format!(
            "name = \"d\"\n[[fileset]]\nname = \"t\"\nfiles = {{ list = [{device:?}] }}\nsize = {{ fixed = {bytes} }}\nexisting = \"reuse\"\nforeign_writable = true\n"
        ))
        .unwrap()
    };
    let mut engine = engine(&dir);
    assert_eq!(prepare(&mut engine, &workload(4 << 20)).unwrap()[device], Prepared::Reused);
    assert!(refusal(&mut engine, &workload(8 << 20)).contains("is a block device, which is written only if"));
}

/// Filebench 1.5's own numbers: sizes 1000, 1007, 1333 of three files, and then writes of 2413, 3916, 1730 bytes.
#[test]
fn flows_draw_on_where_the_sizes_of_their_files_ended() {
    let dir = TestDir::new();
    let root = dir.path().join("fs");
    let mut workload = tree(&root, 3, "size = { variable = \"v\" }");
    let rest = Workload::from_toml(
        "name = \"f\"\n[variables.v]\nshape = { uniform = { low = 1000.0, high = 9000.0 } }\ngenerator = { rand48 = 0 }\n\
         [[fileset]]\nname = \"t\"\nfiles = { list = [\"x\"] }\n\
         [[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n[phase.group.thread.program.flow]\nloops = 1\n\
         [[phase.group.thread.program.flow.op]]\nname = \"open\"\nact = \"open\"\nfileset = \"t\"\nslot = 1\nentry = 1\n\
         [[phase.group.thread.program.flow.op]]\nname = \"write\"\nact = \"append\"\nfileset = \"t\"\nslot = 1\nsize = { variable = \"v\" }\nrepeat = 3\n",
    )
    .unwrap();
    (workload.variables, workload.phases) = (rest.variables, rest.phases);
    let mut engine = engine(&dir);
    prepare(&mut engine, &workload).unwrap();
    let sizes = |root: &Path| listing(root).into_values().flatten().collect::<Vec<_>>();
    assert_eq!(sizes(&root), [1000, 1007, 1333]);
    let done = engine.execute(&workload, 0, 0, &mut ()).unwrap();
    assert_eq!(done.workers[0].ending, Ending::Completed);
    assert_eq!(sizes(&root), [1000, 1007 + 2413 + 3916 + 1730, 1333]);
}
