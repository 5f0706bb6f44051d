//! The past of another program's outputs, ordered by the times in their texts.

use super::RATES;
use fathom_testkit::Fathom;

/// The output of IOzone's throughput mode on a day of October.
fn log(day: usize, kib_per_s: f64) -> String {
    // The first was a Monday.
    let weekday = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][(day - 1) % 7];
    format!(
        "Iozone: Performance Test of File I/O\nVersion $Revision: 3.283 $\nCompiled for 64 bit mode.\nBuild: linux-AMD64\n\n\
         Run began: {weekday} Oct {day:2} 14:53:26 2007\n\nRecord Size 1024 KB\nFile size set to 3072000 KB\n\
         Command line used: ./iozone -r 1m -s 3000m -t 1 -F /scratch{day}/X1 -i 0\nOutput is in Kbytes/sec\n\
         Throughput test with 1 process\nEach process writes a 3072000 Kbyte file in 1024 Kbyte records\n\n\
         Children see throughput for 1 initial writers = {kib_per_s:.2} KB/sec\n\
         Parent sees throughput for 1 initial writers = {kib_per_s:.2} KB/sec\n\
         Min throughput per process = {kib_per_s:.2} KB/sec\nMax throughput per process = {kib_per_s:.2} KB/sec\n\
         Avg throughput per process = {kib_per_s:.2} KB/sec\nMin xfer = 3072000.00 KB\n\niozone test complete.\n"
    )
}

#[test]
fn logs_that_are_imported_in_any_order_have_a_history_in_theirs() {
    let fathom = Fathom::new();
    let mut line = vec!["import".to_owned()];
    for (i, rate) in RATES.iter().enumerate() {
        let name = format!("day{:02}.log", i + 1);
        std::fs::write(fathom.work().join(&name), log(i + 1, rate * 100.0)).expect("a log");
        line.insert(1, name);
    }
    let _ = fathom.run(&line).expect_code(0);
    let found = fathom.run(["history", "iozone"]).expect_code(0);
    let found = found
        .expect_stdout("./iozone -r 1m -s 3000m -t 1 -F /scratch24/X1 -i 0")
        .expect_stdout("Slower by 2.6 % from")
        .expect_stdout("(2007-10-13 14:53, IOzone throughput mode, 1 process) on")
        .expect_stdout("file: day12.log -> day13.log")
        .expect_stdout("Imported runs: of their environment, only what the imported text says is known.");
    assert!(!found.stdout.contains("fathom version"), "{}", found.stdout);
    let _ = fathom.run(["history", "day03.log"]).expect_code(0).expect_stdout("Slower by 2.6 %");
    let _ = fathom.run(["history"]).expect_code(0).expect_stdout("24  2007-10-01 14:53  2007-10-24 14:53");
}

#[test]
fn the_columns_of_a_table_are_the_points_of_its_history() {
    let fathom = Fathom::new();
    let text = "Time in seconds, lower is better:\n\n\
                elevator      2.4.25   2.6.5    2.6.6\n-------------------------------------\n\
                noop          62.1     140.2    132.0\ndeadline      61.0     120.9    118.3\n";
    std::fs::write(fathom.work().join("table.txt"), text).expect("a text");
    let _ = fathom.run(["import", "table.txt"]).expect_code(0);
    let _ = fathom
        .run(["history", "table.txt"])
        .expect_code(0)
        .expect_stdout("3 runs are too few: a change can be shown from 10 runs on");
}

#[test]
fn the_last_run_is_the_one_imported_last_whatever_its_text_tells() {
    let fathom = Fathom::new();
    let import = |name: &str, text: String| {
        std::fs::write(fathom.work().join(name), text).expect("a log");
        let _ = fathom.run(["import", name]).expect_code(0);
    };
    import("new.log", log(20, 100.0));
    import("other.log", log(10, 100.0).replace("-i 0", "-i 1"));
    import("old.log", log(3, 100.0));
    // Of this command line the newest text is of the twentieth, and the newest run of the third.
    let _ =
        fathom.run(["history", "last"]).expect_code(0).expect_stdout("2 runs, ").expect_stdout("2007-10-20");
}
