//! Early ends: by a signal, or by an error.

use super::both::{Both, WHO, jobs, number};
use crate::fio::support::FIO;
use fathom_testkit::{Fathom, TmpFs, moved_by_workers};

#[test]
fn case_24_a_signal_ends_with_what_was_done() {
    let Some(both) = Both::new("case_24_a_signal_ends_with_what_was_done") else { return };
    both.empty("data", 1 << 20);
    let line = "--output-format=json --name=a --rw=read --ioengine=psync --filename=data --rate_iops=200 --runtime=600 --time_based";
    let fio = Fathom::with_binary(FIO).working_in(both.directories()[1]);
    let ours = both.fathom().spawn(std::iter::once("fio").chain(line.split_whitespace()));
    let theirs = fio.spawn(line.split_whitespace());
    for (who, mut running) in WHO.iter().zip([ours, theirs]) {
        let pid = running.pid();
        running.wait_until("reading", || moved_by_workers(pid) >= 1 << 18);
        running.signal(libc::SIGINT);
        let text = running.finish().expect_code(128).stdout;
        let (before, document) = text.split_at(text.find('{').unwrap_or_else(|| panic!("{who}: {text}")));
        let document: serde_json::Value =
            serde_json::from_str(document).unwrap_or_else(|e| panic!("{who}: {e}: {text}"));
        let ios = number(&jobs(&document)[0]["read"]["total_ios"]);
        assert!((1..100_000).contains(&ios), "{who}: {ios}");
        // Here fio itself fails: it prints "terminating on signal 2" before its document, in the same stream.
        match *who {
            "ours" => assert_eq!(before, ""),
            _ => assert!(before.contains("signal 2"), "{before}"),
        }
    }
}

#[test]
fn case_25_mistakes_end_before_anything_is_done() {
    let Some(both) = Both::new("case_25_mistakes_end_before_anything_is_done") else { return };
    both.file("unknown.fio", "[a]\nsize=1m\nrww=read\n");
    both.file("before.fio", "rw=read\n[a]\nsize=1m\n");
    // What both say of it, somewhere: fio divides its words between its two streams.
    for (line, words) in [
        ("unknown.fio", &["Bad option <rww=read>", "Did you mean"][..]),
        ("--name=a --size=1m --rw=raed", &["valid values", "randwrite", "randrw"]),
        ("--name=nameless --rw=read", &["nameless: you need to specify size="]),
        ("before.fio", &["outside of [] job section"]),
        ("--name=a --size=1m --readonly --rw=write", &["write", "job <a>"]),
    ] {
        for (who, end) in WHO.iter().zip(both.run(line)) {
            assert_eq!(end.code, Some(1), "{who}: {line}");
            let said = end.stdout + &end.stderr;
            for word in words {
                assert!(said.contains(word), "{who}: {line}: {word:?} is not in {said}");
            }
        }
    }
}

#[test]
fn case_25_a_full_disk_is_error_28() {
    let test = "case_25_a_full_disk_is_error_28";
    let Some(both) = Both::new(test) else { return };
    for (who, end) in WHO.iter().zip(both.run("--name=a --filename=/dev/full --rw=write --size=4k --bs=4k")) {
        assert_eq!(end.code, Some(1), "{who}");
        assert!(end.stdout.contains("err=28"), "{who}: {}", end.stdout);
    }
    let Some(small) = TmpFs::mount(test, 1 << 20) else { return };
    let line = format!(
        "--name=f --directory={} --size=2m --bs=4k --rw=write --fallocate=none",
        small.path().display()
    );
    for (who, program) in WHO.iter().zip(["ours", "theirs"]) {
        let end = match program {
            "ours" => {
                let end = crate::fio::support::run(both.fathom(), &line);
                (end.code, end.stdout)
            }
            _ => {
                let end = crate::fio::support::theirs(both.directories()[1], &line);
                (end.status.code(), String::from_utf8_lossy(&end.stdout).into_owned())
            }
        };
        assert_eq!(end.0, Some(1), "{who}");
        assert!(end.1.contains("err=28"), "{who}: {}", end.1);
        let _ = std::fs::remove_file(small.path().join("f.0.0"));
    }
}
