//! One store with many writers, some of which are killed: what was reported as stored is there, and the file is sound.

use crate::measure::workloads::Text;
use crate::torture::campaign::{Random, torture};
use crate::torture::left::assert_sound_store;
use fathom_testkit::Fathom;
use std::path::PathBuf;
use std::time::Duration;

const WRITERS: usize = 4;

#[test]
fn stores() {
    torture("stores", trial);
}

fn trial(random: &mut Random) -> u64 {
    let fathom = Fathom::new();
    let mut writers: Vec<_> = (0..WRITERS)
        .map(|writer| fathom.spawn(["run", workload(&fathom, writer).to_str().expect("UTF-8")]))
        .collect();
    random.wait(Duration::from_millis(600));
    let killed = writers.remove(random.below(WRITERS as u64) as usize);
    killed.signal_group(libc::SIGKILL);
    let _ = killed.finish();
    let mut kept = Vec::new();
    for writer in writers {
        let outcome = writer.finish().expect_code(0);
        let id = outcome.stderr.split_once("kept as run ").and_then(|(_, rest)| rest.split(';').next());
        kept.push(id.unwrap_or_else(|| panic!("{outcome:?}")).to_string());
    }
    let listed = fathom.run(["list", "--json"]).expect_code(0).stdout;
    for id in &kept {
        assert!(listed.contains(id.as_str()), "{id} was kept and is not in {listed}");
        let shown = fathom.run(["show", id]).expect_code(0).stdout;
        assert!(shown.contains("quick write"), "{shown}");
    }
    assert_sound_store(&fathom.store());
    WRITERS as u64
}

/// Three phases, so that there is a moment between two of them.
fn workload(fathom: &Fathom, writer: usize) -> PathBuf {
    let directory = fathom.dir().subdir(&format!("writer-{writer}"));
    let read = |text: Text, name| text.phase(name, "first", "read", "", "record = { fixed = \"4KiB\" }");
    let text = read(read(Text::new("w").quick_write(&directory), "a read"), "another read");
    let path = directory.join("w.toml");
    std::fs::write(&path, text.toml()).expect("a workload");
    path
}
