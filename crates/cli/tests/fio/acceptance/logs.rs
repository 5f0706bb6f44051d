//! Logs over time: their names, their lines, and what fio's own parser makes of them.

use super::both::{Both, WHO};
use fathom_testkit::dir::names_in;
use std::process::{Command, Stdio};

#[test]
fn case_21_logs_have_the_names_and_lines_of_fio() {
    let Some(both) = Both::new("case_21_logs_have_the_names_and_lines_of_fio") else { return };
    let line = "--name=a --ioengine=null --size=1g --runtime=2 --time_based --rate_iops=1000 --log_avg_msec=1000 \
                --write_bw_log=lg --write_iops_log=lg --write_lat_log=lg";
    let ends = both.run(line);
    for ((who, end), dir) in WHO.iter().zip(ends).zip(both.directories()) {
        assert_eq!(end.code, Some(0), "{who}: {}", end.stderr);
        let names = ["bw", "clat", "iops", "lat", "slat"].map(|kind| format!("lg_{kind}.1.log"));
        assert_eq!(names_in(dir), names, "{who}");
        let text = std::fs::read_to_string(dir.join("lg_iops.1.log")).unwrap();
        let first: Vec<u64> = text.lines().next().unwrap().split(", ").map(|n| n.parse().unwrap()).collect();
        assert_eq!((first.len(), &first[2..]), (5, &[0, 0, 0][..]), "{who}: {text}");
        assert!((1000..3000).contains(&first[0]), "{who}: {text}");
        assert!((200..=5000).contains(&first[1]), "{who}: {text}");
        if let Some(sum) = sums(&text) {
            // Its windows end on whole seconds.
            let value = sum.lines().next().unwrap().split(", ").nth(1).unwrap();
            assert_eq!(value, format!("{}.000", first[1]), "{who}: {sum}");
        }
    }
}

/// What `fiologparser -s` makes of a log. That of Debian's fio 3.33 asks for lines of four values and so reads neither its own logs nor
/// ours, which have five; it is given the first four, and works with the first two, as later versions do with all.
fn sums(text: &str) -> Option<String> {
    let python = fathom_testkit::find_tool("python3")?;
    let packed = ["-dc", "/usr/share/doc/fio/fiologparser.py.gz"];
    let script = Command::new("gzip").args(packed).stderr(Stdio::null()).output().ok()?.stdout;
    if script.is_empty() {
        return None;
    }
    let dir = fathom_testkit::TestDir::new();
    let four = |line: &str| line.rsplit_once(", ").map(|parts| format!("{}\n", parts.0));
    std::fs::write(dir.path().join("log"), text.lines().filter_map(four).collect::<String>()).ok()?;
    std::fs::write(dir.path().join("parser.py"), script).ok()?;
    let done = Command::new(python).args(["parser.py", "-s", "log"]).current_dir(dir.path()).output().ok()?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}
