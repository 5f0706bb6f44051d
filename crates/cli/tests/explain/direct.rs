//! O_DIRECT that cannot work is explained before the start; a drop-in fails as its program does.

use crate::measure::workloads::{Text, lines_with};
use fathom_testkit::{Fathom, TestDir, skip};

fn disk(test: &str) -> bool {
    let disk = !TestDir::new().in_memory();
    if !disk {
        skip(test, "needs a directory on a real file system");
    }
    disk
}

#[test]
fn records_that_no_device_takes_are_refused_in_a_sentence() {
    if !disk("records_that_no_device_takes_are_refused_in_a_sentence") {
        return;
    }
    let fathom = Fathom::new();
    let path = fathom.work().join("f.dat");
    let text = |stream: &str| {
        let open = "open = { create = true, direct = true }";
        Text::new("odd").file("f", &path, "1MiB", "").phase(
            "write",
            "f",
            "write",
            "",
            &format!("{stream}\n{open}"),
        )
    };
    for (stream, words) in [
        ("record = { fixed = 1000 }", "the record size is 1000B"),
        ("record = { fixed = \"64KiB\" }\nstart = 100", "the start of the region is 100B"),
    ] {
        let workload = text(stream).save(&fathom);
        for more in [&[][..], &["--plan"]] {
            let mut line = vec!["run", workload.to_str().expect("UTF-8")];
            line.extend(more);
            let outcome = fathom.run(line).expect_code(2);
            let errors = lines_with(&outcome.stderr, "error:");
            assert_eq!(errors.len(), 1, "{}", outcome.stderr);
            let said = errors[0];
            assert!(said.contains("f.dat needs offsets and lengths that are multiples of"), "{said}");
            assert!(said.contains(words) && said.contains("; choose "), "{said}");
        }
        assert!(!path.exists(), "nothing was begun");
    }
    let workload = text("record = { fixed = \"64KiB\" }").save(&fathom);
    let _ = fathom.run(["run", workload.to_str().expect("UTF-8")]).expect_code(0);
}
