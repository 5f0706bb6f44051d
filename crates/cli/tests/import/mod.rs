//! Importing as a user sees it: what `fathom import` says about a file, what other commands do with its runs, and how
//! it ends if there is nothing to import.

mod ends;
mod figures;
mod large;
mod seeds;

use fathom_testkit::Fathom;

/// A mail with two outputs, prose, and an unrecognised line of figures.
pub const MAIL: &str = "Hello list,

my disk does this, and I do not know why:

$ time dd if=/dev/zero of=/mnt/test bs=1M count=1024
1024+0 records in
1024+0 records out
1073741824 bytes (1.1 GB) copied, 10.5 s, 102 MB/s

real 0m10.600s
user 0m0.010s
sys 0m1.500s

The sheet:

iozone -Ra -b out.wks
The top row is records sizes, the left column is file sizes
Writer Report
\t4\t8
64\t1001\t1002
128\t1003\t1004

score 12.5 99 1e7 42 43
Cheers
";

/// The program with the mail in its directory.
pub fn with_mail() -> Fathom {
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join("mail.txt"), MAIL).expect("a mail");
    fathom
}

/// The ids of the stored runs, oldest first.
pub fn ids(fathom: &Fathom) -> Vec<String> {
    let listed = fathom.run(["list", "--json"]).expect_code(0).stdout;
    let runs: serde_json::Value = serde_json::from_str(&listed).unwrap_or_default();
    let ids = runs.as_array().into_iter().flatten().rev().filter_map(|r| r["id"].as_str());
    ids.map(str::to_owned).collect()
}
