//! Runs that stand still for a while: they say so.

use crate::measure::workloads::Text;
use crate::torture::campaign::{Random, torture};
use fathom_testkit::{Fathom, Running};
use std::time::Duration;

#[test]
fn frozen() {
    torture("frozen", trial);
}

fn trial(random: &mut Random) -> u64 {
    let fathom = Fathom::new();
    let mut running = start(&fathom, random);
    // More than is laid out before: the phase that counts has begun.
    running.wait_for_work(8 << 20);
    random.wait(Duration::from_millis(500));
    let group = random.once_in(2);
    let send =
        |running: &Running, signal| if group { running.signal_group(signal) } else { running.signal(signal) };
    send(&running, libc::SIGSTOP);
    std::thread::sleep(Duration::from_millis(1500 + random.below(1000)));
    send(&running, libc::SIGCONT);
    let outcome = running.finish().expect_code(0);
    let told = [&outcome.stdout, &outcome.stderr].iter().any(|text| text.contains("stood still for "));
    assert!(told, "nothing is said of it: {outcome:?}");
    assert!(!outcome.stdout.contains("+ steady"), "{outcome:?}");
    1
}

/// Something that does nothing but read or write for two seconds.
fn start(fathom: &Fathom, random: &mut Random) -> Running {
    let lines = [
        "fio --name=a --rw=randread --size=1m --bs=4k --time_based --runtime=2",
        "fio --name=a --rw=write --size=4m --bs=16k --time_based --runtime=2 --numjobs=2 --thread",
        "sysbench fileio --file-num=1 --file-total-size=4M --file-test-mode=rndrd --time=2 --events=0 run",
    ];
    match random.below(lines.len() as u64 + 1) {
        0 => {
            let size = *random.of_these(&["4KiB", "64KiB"]);
            let stream =
                format!("record = {{ fixed = {size:?} }}\naccess = \"uniform\"\namount = \"endless\"");
            let how = "stop = { time = \"2s\" }\ninterval = \"100ms\"";
            let text =
                Text::new("w").quick_write(fathom.work()).phase("reads", "first", "read", how, &stream);
            fathom.spawn(["run", text.save(fathom).to_str().expect("UTF-8")])
        }
        at => {
            if lines[at as usize - 1].starts_with("sysbench") {
                let line = lines[at as usize - 1].replace("--time=2 --events=0 run", "prepare");
                let _ = fathom.run_line(&line).expect_code(0);
            }
            fathom.spawn(lines[at as usize - 1].split(' '))
        }
    }
}
