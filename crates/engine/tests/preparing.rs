//! The record sizes used for preparing a file set, counted by the kernel; the bytes do not depend on them.

use fathom_engine::{Engine, Ledger};
use fathom_testkit::{TestDir, skip};
use fathom_workload::{Action, Workload};

const KIB: u64 = 1 << 10;
const BYTES: u64 = 2304 * KIB;

/// Contents of one prepared file of [`BYTES`], and the number of this thread's writes for it; `None` if the kernel does not
/// count.
fn prepared(set: &str) -> (Vec<u8>, Option<u64>) {
    let dir = TestDir::new();
    let path = dir.path().join("f");
    let text = format!(
        "name = 't'\nseed = 7\n[[fileset]]\nname = 'f'\nfiles = {{ list = ['{}'] }}\nsize = {{ fixed = {BYTES} }}\n{set}\n",
        path.display()
    );
    let workload = Workload::from_toml(&text).unwrap_or_else(|d| panic!("{}", d.render("t", &text)));
    let mut engine = Engine::new(Ledger::new(&dir.path().join("state")));
    let before = writes();
    engine.act(&workload, &Action::Prepare("f".into())).unwrap();
    let made = writes().and_then(|after| Some(after - before?));
    (std::fs::read(path).unwrap(), made)
}

/// Write calls of this thread so far.
fn writes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("syscw: "))?.parse().ok()
}

#[test]
fn a_set_is_written_in_the_records_it_asks_for() {
    let records = [("", 3), ("prepare_record = '16KiB'", 144), ("prepare_record = '100KiB'", 24)];
    let made = records.map(|(set, _)| prepared(set).1);
    let [Some(first), ..] = made else {
        return skip(
            "a_set_is_written_in_the_records_it_asks_for",
            "/proc/thread-self/io does not count writes",
        );
    };
    // The ledger writes as well, the same number each time.
    for ((set, calls), made) in records.into_iter().zip(made) {
        assert_eq!(made.map(|made| made + 3), Some(first + calls), "{set}");
    }
}

#[test]
fn checksummed_blocks_are_written_whole() {
    let data = "data = { checksummed = { block = '24KiB' } }";
    for (set, calls) in [("prepare_record = '16KiB'", 96), ("prepare_record = '72KiB'", 32)] {
        let (bytes, made) = prepared(&format!("{data}\n{set}"));
        for (block, place) in bytes.chunks(24 << 10).zip((0..).step_by(24 << 10)) {
            let place: u64 = place;
            assert_eq!(block[block.len() - 8..], place.to_le_bytes(), "{set}: a block of another place");
        }
        let (_, fewest) = prepared(&format!("{data}\nprepare_record = '{BYTES}'"));
        if let (Some(made), Some(fewest)) = (made, fewest) {
            assert_eq!(made - fewest + 1, calls, "{set}");
        }
    }
}

#[test]
fn the_bytes_do_not_depend_on_the_record() {
    let (usual, _) = prepared("");
    let (small, _) = prepared("prepare_record = '16KiB'");
    assert!(usual == small, "the same unique data");
    let positioned = |set: &str| prepared(&format!("data = {{ positioned = {{ tag = 3 }} }}\n{set}")).0;
    assert!(positioned("") == positioned("prepare_record = 4097"), "data that know their place");
}
