//! Which files a job has, and their sizes.

use super::both::Both;
use std::path::Path;

/// Names with sizes, without the file in which fio keeps how far a verification came.
fn sizes(root: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    let mut below = vec![root.to_path_buf()];
    while let Some(directory) = below.pop() {
        for entry in std::fs::read_dir(&directory).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                below.push(path);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if !name.ends_with("verify.state") {
                found.push((name, entry.metadata().unwrap().len()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn case_11_files_of_clones_in_several_directories() {
    let Some(both) = Both::new("case_11_files_of_clones_in_several_directories") else { return };
    for dir in both.directories() {
        for name in ["q1", "q2"] {
            std::fs::create_dir(dir.join(name)).unwrap();
        }
    }
    let ends = both.run("--name=nm --directory=q1:q2 --numjobs=3 --nrfiles=2 --size=64k --rw=write");
    for (end, dir) in ends.iter().zip(both.directories()) {
        assert_eq!(end.code, Some(0), "{}{}", end.stdout, end.stderr);
        let expected: Vec<(String, u64)> =
            ["q1/nm.0.0", "q1/nm.0.1", "q1/nm.2.0", "q1/nm.2.1", "q2/nm.1.0", "q2/nm.1.1"]
                .map(|name| (name.to_owned(), 32768))
                .to_vec();
        assert_eq!(sizes(dir), expected);
    }
}

#[test]
fn case_12_listed_files_are_shared_and_share_the_size() {
    let Some(both) = Both::new("case_12_listed_files_are_shared_and_share_the_size") else { return };
    let ends = both.run("--name=nm --filename=a:b --size=64k --numjobs=2 --rw=write");
    for (end, dir) in ends.iter().zip(both.directories()) {
        assert_eq!(end.code, Some(0), "{}{}", end.stdout, end.stderr);
        assert_eq!(sizes(dir), [("a".to_owned(), 32768), ("b".to_owned(), 32768)]);
    }
}
