//! How it ends where there is nothing to import, or no file.

use crate::{ids, with_mail};

#[test]
fn a_file_without_any_output_is_told_with_what_is_known() {
    let fathom = with_mail();
    std::fs::write(fathom.work().join("prose.txt"), "Dear all,\nnothing to report.\n").expect("a text");
    let outcome = fathom.run(["import", "prose.txt", "mail.txt"]).expect_code(2);
    let _ = outcome
        .expect_stderr("prose.txt holds no output that is known")
        .expect_stderr("iozone, sysbench, filebench, fio, dtrace, dd, time, iostat, table")
        .expect_stdout("mail.txt:");
    assert_eq!(ids(&fathom).len(), 2, "what the other file holds is kept");
}

#[test]
fn a_file_that_is_not_there_keeps_nothing_of_the_others() {
    let fathom = with_mail();
    let _ = fathom
        .run(["import", "mail.txt", "gone.txt"])
        .expect_code(2)
        .expect_stderr("gone.txt cannot be read");
    assert!(ids(&fathom).is_empty());
}
