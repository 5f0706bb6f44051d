//! The five documents through the program: everything is imported, nothing is warned of but what the logs say against themselves.

use crate::import::ids;
use fathom_testkit::{Fathom, seed};

/// Name, number of runs.
const SEEDS: [(&str, usize); 5] = [("000", 14), ("001", 4), ("002", 42), ("003", 4), ("004", 2)];

/// What the documents' own figures say against them.
const AGAINST: [&str; 3] =
    ["contradicts its own headline", "two levels or strong skew", "more than 3 times off"];

#[test]
fn the_five_documents_are_imported_whole() {
    let fathom = Fathom::new();
    let mut all = 0;
    for (name, runs) in SEEDS {
        let Some(text) = seed("the_five_documents_are_imported_whole", name) else { return };
        let file = format!("{name}.txt");
        std::fs::write(fathom.work().join(&file), text).expect("a copy");
        let outcome = fathom.run(["import", &file]).expect_code(0);
        for line in outcome.stderr.lines() {
            assert!(AGAINST.iter().any(|words| line.contains(words)), "{line}");
        }
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
    // Cells show rates, bands what their sizes allow, and the fall of the NFS client beyond its memory is marked.
    assert!(!page.contains(">2e8<"), "bytes per second as a ratio");
    let mib = |text: &str| page.contains(text);
    let knee = page.split("files larger than memory: 2 GiB, ").nth(1).expect("a band");
    let (rates, knee) = knee.split_once("; ").expect("rates and a knee");
    assert!(rates.contains(" MiB/s to ") && knee.starts_with("NFS knee 0.28×"), "{rates}; {}", &knee[..40]);
    assert!(mib("files fit memory, small ones L2: 64 KiB to 1 GiB, "));
    // The same by compare: both hosts drawn beside their ratio, and 1872 ratios summed up by operation.
    let outcome = fathom.run(["compare", &ids[all - 2], &ids[all - 1], "-o", "compared.html"]).expect_code(0);
    let outcome = outcome.expect_stdout("One run each; not a verdict. --json and the page have every cell.");
    assert!(
        outcome.stdout.lines().any(|l| l.starts_with("write: throughput") && l.contains("  144  ")),
        "{}",
        outcome.stdout
    );
    let page = std::fs::read_to_string(fathom.work().join("compared.html")).expect("a page");
    for part in ["Local</p>", "NFS</p>", "NFS knee 0.28×", "read: throughput, B over A"] {
        assert!(page.contains(part), "{part}");
    }
}
