//! The five documents through the program: everything is imported, nothing is warned of but what the logs say against themselves.

use crate::ids;
use fathom_testkit::{Fathom, seed};

/// Name, number of runs, number of doubts told.
const SEEDS: [(&str, usize, usize); 5] =
    [("000", 14, 5), ("001", 4, 0), ("002", 42, 0), ("003", 4, 0), ("004", 2, 0)];

#[test]
fn the_five_documents_are_imported_whole() {
    let fathom = Fathom::new();
    let mut all = 0;
    for (name, runs, doubts) in SEEDS {
        let Some(text) = seed("the_five_documents_are_imported_whole", name) else { return };
        let file = format!("{name}.txt");
        std::fs::write(fathom.work().join(&file), text).expect("a copy");
        let outcome = fathom.run(["import", &file]).expect_code(0);
        assert_eq!(outcome.stderr.lines().count(), doubts, "{}", outcome.stderr);
        all += runs;
        assert_eq!(ids(&fathom).len(), all, "{name}");
    }
    // Both hosts of the report of 2005, with their regimes and the ratio.
    let ids = ids(&fathom);
    let _ = fathom.run(["report", &ids[all - 2], &ids[all - 1], "-o", "hosts.html"]).expect_code(0);
    let page = std::fs::read_to_string(fathom.work().join("hosts.html")).expect("a page");
    for part in ["IOzone on heping", "IOzone on eirene", "random read", "Second run divided by the first"] {
        assert!(page.contains(part), "{part}");
    }
}
