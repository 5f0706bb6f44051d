//! Flows that create the files of a list: each is ours from the end of the phase on, and removed with the run.

use crate::support::flows::{Flows, counts, looped, op};
use fathom_record::Ending;
use fathom_workload::{Act, Existing, Files};

/// A list of missing files, in a directory to be created.
fn missing(make_directories: bool) -> Flows {
    let mut bench = Flows::new().files("f", 1, 0);
    let prefix = bench.dir.path().join("new/f.");
    let set = &mut bench.workload.filesets[0];
    set.files = Files::Numbered { prefix, count: 10 };
    (set.existing, set.preallocated_percent, set.make_directories) = (Existing::Refuse, 0, make_directories);
    let ops = vec![
        op("c", Act::Create).set("f"),
        op("w", Act::WriteWholeFile).set("f").size(3901),
        op("x", Act::Close).set("f"),
    ];
    bench.thread(looped(10, ops))
}

#[test]
fn files_of_a_list_are_created_and_go_at_the_end_with_their_directory() {
    let mut b = missing(true);
    b.workload.filesets[0].size = fathom_workload::Sizing::Fixed(fathom_workload::Bytes(3901));
    let r = b.run();
    assert_eq!(counts(&r, "c"), (10, 0));
    assert_eq!(counts(&r, "w"), (10, 39_010));
    let directory = b.dir.path().join("new");
    let sizes = (0..10).map(|i| std::fs::metadata(directory.join(format!("f.{i}"))).unwrap().len());
    assert!(sizes.into_iter().all(|bytes| bytes == 3901));
    assert_eq!(b.clean_up(), Vec::<std::path::PathBuf>::new());
    assert!(!directory.exists(), "what a flow has made is ours");
}

#[test]
fn files_of_other_programs_stay() {
    let b = missing(true);
    let theirs = b.dir.path().join("new/f.3");
    std::fs::create_dir(b.dir.path().join("new")).unwrap();
    std::fs::write(&theirs, "theirs").unwrap();
    let error = b.try_run().unwrap_err().to_string();
    assert!(error.contains("f.3 exists and was not made by fathom"), "{error}");
    b.clean_up();
    assert_eq!(std::fs::read_to_string(theirs).unwrap(), "theirs");
}

#[test]
fn unrequested_directories_are_not_created() {
    let b = missing(false);
    let r = b.run();
    let Ending::Failed(error) = &r.workers[0].ending else { panic!("{:?}", r.workers[0].ending) };
    assert!(error.message.contains("new/f."), "{}", error.message);
    assert!(!b.dir.path().join("new").exists());
}

#[test]
fn files_that_flows_removed_are_made_again() {
    let ops =
        vec![op("d", Act::Delete).set("f"), op("c", Act::Create).set("f"), op("x", Act::Close).set("f")];
    let b = Flows::new().files("f", 3, 100).thread(looped(5, ops));
    let r = b.run();
    assert_eq!([counts(&r, "d"), counts(&r, "c")], [(5, 0); 2]);
    assert_eq!(b.clean_up(), Vec::<std::path::PathBuf>::new());
    assert!((0..3).all(|i| !b.path("f", i).exists()));
}
