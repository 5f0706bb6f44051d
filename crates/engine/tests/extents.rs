//! The regions that the engine reports as read, and the bytes written into holes: those that laying the file out would have
//! written, only in our files.

use fathom_engine::{Engine, Ledger};
use fathom_testkit::TestDir;
use fathom_workload::{Action, Workload};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

const MIB: u64 = 1 << 20;
const BYTES: u64 = 3 * MIB + 1000;

/// A directory with a workload of one file set `f` (files `f0`, `f1`) and one phase of the given streams.
struct Case {
    dir: TestDir,
    engine: Engine,
    workload: Workload,
}

impl Case {
    fn new(set: &str, streams: &[&str]) -> Self {
        let dir = TestDir::new();
        let mut text = format!(
            "name = 't'\nseed = 7\n[[fileset]]\nname = 'f'\nfiles = {{ numbered = {{ prefix = '{}/f', count = 2 }} }}\nsize = {{ fixed = {BYTES} }}\n{set}\n[[phase]]\nname = 'p'\n[[phase.group]]\nname = 'g'\n",
            dir.path().display()
        );
        for stream in streams {
            text += &format!(
                "[[phase.group.thread]]\n[phase.group.thread.program.stream]\nfileset = 'f'\nrecord = {{ fixed = '64KiB' }}\n{stream}\n"
            );
        }
        let workload = Workload::from_toml(&text).unwrap_or_else(|d| panic!("{}", d.render("t", &text)));
        let engine = Engine::new(Ledger::new(&dir.path().join("state")));
        Self { dir, engine, workload }
    }

    fn path(&self, n: u32) -> PathBuf {
        self.dir.path().join(format!("f{n}"))
    }

    fn act(&mut self, action: &Action) {
        self.engine.act(&self.workload, action).unwrap();
    }

    fn regions(&self) -> Vec<(PathBuf, u64, u64)> {
        self.engine.regions_read(&self.workload, &self.workload.phases[0])
    }

    fn fill(&mut self, ranges: &[(PathBuf, u64, u64)]) -> u64 {
        self.engine.fill(&self.workload, ranges).unwrap()
    }
}

/// Punches a hole into a file, keeping its size.
fn punch(path: &PathBuf, start: u64, length: u64) {
    let file = File::options().write(true).open(path).unwrap();
    // Works without hole punching, too: zeros read alike.
    file.write_all_at(&vec![0; length as usize], start).unwrap();
}

#[test]
fn holes_are_filled_with_the_data_of_laying_out() {
    for data in [
        "'unique'",
        "{ positioned = { tag = 3 } }",
        "{ byte = 7 }",
        "{ marked = { byte = 1, stride = 3000, length = 10 } }",
        "'unique'\nprepare_record = '16KiB'",
        "'unique'\nprepare_record = 24000",
        "{ positioned = { tag = 3 } }\nprepare_record = 4097",
    ] {
        let mut case = Case::new(&format!("data = {data}"), &["direction = 'read'"]);
        case.act(&Action::Prepare("f".into()));
        for n in [0, 1] {
            let path = case.path(n);
            let laid_out = std::fs::read(&path).unwrap();
            let ranges = [(5, 100), (MIB - 4096, 8192), (2 * MIB + 1, BYTES)];
            for (start, length) in ranges {
                punch(&path, start, length.min(BYTES - start));
            }
            assert_ne!(std::fs::read(&path).unwrap(), laid_out, "{data}");
            let filled = case.fill(&ranges.map(|(start, length)| (path.clone(), start, length)));
            assert_eq!(filled, 100 + 8192 + MIB + 999, "{data}");
            assert!(std::fs::read(&path).unwrap() == laid_out, "{data}, file {n}");
        }
    }
}

#[test]
fn holes_are_filled_with_the_data_that_a_stream_verifies() {
    let mut case = Case::new("", &["direction = 'read'\ndata = { byte = 9 }\nverify = 'full'"]);
    case.act(&Action::Recreate("f".into()));
    let path = case.path(0);
    File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
    assert_eq!(case.fill(&[(path.clone(), 0, BYTES)]), 4096, "no further than the file goes");
    assert_eq!(std::fs::read(&path).unwrap(), [9; 4096]);
}

#[test]
fn space_behind_the_end_leaves_the_size() {
    use std::os::unix::fs::MetadataExt as _;
    let mut case = Case::new("existing = 'reuse'", &["direction = 'write'"]);
    let path = case.path(0);
    for size in [0, 100] {
        case.act(&Action::ReserveBehind("f".into()));
        let about = std::fs::metadata(&path).unwrap();
        assert_eq!(about.len(), size);
        // A file system that cannot reserve space leaves the hole.
        assert!(about.blocks() == 0 || about.blocks() * 512 >= BYTES, "{}", about.blocks());
        std::fs::write(&path, vec![7; 100]).unwrap();
    }
    assert_eq!(std::fs::read(&path).unwrap(), [7; 100]);
}

#[test]
fn blocks_that_check_themselves_are_filled_in_from_where_their_stream_begins() {
    let stream = "direction = 'read'\nstart = 300\nlength = '64KiB'\nverify = 'full'\n\
                  data = { sealed = { block = '1KiB', sum = 'crc32c' } }";
    let mut case = Case::new("", &[stream]);
    case.act(&Action::Recreate("f".into()));
    let path = case.path(0);
    File::options().write(true).open(&path).unwrap().set_len(300 + 65536).unwrap();
    assert_eq!(case.fill(&[(path.clone(), 0, 300), (path.clone(), 300, 65536)]), 300 + 65536);
    let bytes = std::fs::read(&path).unwrap();
    for block in bytes[300..].chunks(1024) {
        // The magic number of a header.
        assert_eq!(block[..2], [0xca, 0xac]);
    }
}

#[test]
fn reserving_sets_the_size_and_keeps_the_data() {
    let mut case = Case::new("existing = 'reuse'", &["direction = 'write'"]);
    case.act(&Action::Reserve("f".into()));
    let path = case.path(0);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), BYTES);
    assert!(std::fs::read(&path).unwrap().iter().all(|&b| b == 0));
    std::fs::write(&path, vec![7; BYTES as usize]).unwrap();
    case.act(&Action::Reserve("f".into()));
    assert!(std::fs::read(&path).unwrap().iter().all(|&b| b == 7));
    File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
    case.act(&Action::Reserve("f".into()));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), BYTES);
    assert_eq!(std::fs::read(&path).unwrap()[99..101], [7, 0]);
}

#[test]
fn foreign_files_stay_unchanged() {
    for existing in ["existing = 'reuse'", "existing = 'replace'"] {
        let mut case = Case::new(existing, &["direction = 'read'"]);
        let (theirs, elsewhere) = (case.path(0), case.dir.path().join("elsewhere"));
        for path in [&theirs, &elsewhere] {
            File::create(path).unwrap().set_len(BYTES).unwrap();
        }
        assert_eq!(case.fill(&[(theirs.clone(), 0, BYTES), (elsewhere.clone(), 0, BYTES)]), 0);
        // One of our files that was replaced by a link.
        case.workload.filesets[0].existing = fathom_workload::Existing::Replace;
        case.act(&Action::Recreate("f".into()));
        std::fs::remove_file(&theirs).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &theirs).unwrap();
        assert_eq!(case.fill(&[(theirs, 0, BYTES)]), 0);
        assert!(std::fs::read(&elsewhere).unwrap().iter().all(|&b| b == 0));
    }
}

#[test]
fn the_regions_are_those_of_the_streams_that_read() {
    let case = Case::new(
        "",
        &[
            "direction = 'read'\nstart = '1MiB'\nlength = '1MiB'",
            "direction = 'write'",
            "direction = { mix = { read-percent = 50 } }\npick = { one = 0 }",
            "direction = 'read'\npick = { one = 1 }\nbackend = 'null'",
            "direction = 'read'\npick = { one = 1 }\naccess = { listed = [{ offset = 8192, bytes = 10 }, { offset = 0, bytes = 8192 }] }",
            "direction = 'write'",
            "direction = 'read'\nstart = '1MiB'\nlength = '1MiB'",
        ],
    );
    let (first, second) = (case.path(0), case.path(1));
    assert_eq!(case.regions(), [(first.clone(), 0, BYTES), (first, MIB, MIB), (second, 0, 8202)]);
}

#[test]
fn eviction_and_warming_skip_missing_files() {
    let mut case = Case::new("", &["direction = 'read'"]);
    case.act(&Action::Prepare("f".into()));
    let before = std::fs::read(case.path(0)).unwrap();
    let paths = [case.path(0), case.dir.path().join("missing"), case.path(1)];
    case.act(&Action::Evict("f".into()));
    case.engine.warm(&paths).unwrap();
    assert!(std::fs::read(case.path(0)).unwrap() == before && !paths[1].exists());
}
