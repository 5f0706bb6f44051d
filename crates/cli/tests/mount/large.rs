//! Files of more than 4 and 8 GiB through the mount: their sizes, and the bytes at places where counting in 32 bits would go wrong.

use crate::mount::support::{Mounted, can_mount};
use fathom_testkit::Fathom;
use fathom_testkit::iso::sparse::{self, SMALL};
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;

/// Room before and behind a piece, in which there is nothing.
const MARGIN: u64 = 5000;

#[test]
fn files_of_more_than_four_and_eight_gib_are_read_through_the_kernel() {
    if !can_mount("files_of_more_than_four_and_eight_gib_are_read_through_the_kernel") {
        return;
    }
    for sparse in sparse::all() {
        let mut fathom = Fathom::new();
        sparse.write(&fathom.work().join("disc.iso")).unwrap();
        for options in [&[][..], &["--policy", "seed"], &["--policy", "modern"]] {
            let mut mount = Mounted::again(fathom, options);
            let mut file = File::open(mount.on.join("large")).unwrap();
            let about = file.metadata().unwrap();
            assert_eq!(about.len(), sparse.size, "{}", sparse.name);
            for (at, piece) in &sparse.pieces {
                let from = at.saturating_sub(MARGIN);
                let expected = sparse.expected(from, piece.len() + 2 * MARGIN as usize);
                let mut buf = vec![1; expected.len()];
                file.read_exact_at(&mut buf, from).unwrap();
                assert!(buf == expected, "{} {options:?}: around {at}", sparse.name);
            }
            let mut end = Vec::new();
            assert_eq!(file.seek(SeekFrom::End(-9)).unwrap(), sparse.size - 9);
            file.read_to_end(&mut end).unwrap();
            assert_eq!(end, sparse.expected(sparse.size - 9, 9));
            assert_eq!(fs::read(mount.on.join("small")).unwrap(), SMALL);
            drop(file);
            mount.signal(libc::SIGINT);
            let _ = mount.finish().expect_code(0);
            fathom = mount.into_directory();
        }
    }
}
