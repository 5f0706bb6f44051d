//! Benchmark of trace replay: how fast it is, and whether memory grows with the trace. Arrivals are generated on the fly (three in four
//! random reads of 4 KiB, a quarter sequential writes); no file is read. Prints requests per second of CPU time and resident memory.
//!
//! `cargo run --release -p fathom-sim --example replay_speed -- [REQUESTS] [DEVICE] [SCHEDULER] [DEPTH]`

use fathom_iopath::{Limits, Queue, Rules, elevator};
use fathom_sim::devices::{self, Device as _};
use fathom_sim::replay::{Mode, ReplaySetup, Synthetic, replay};
use std::convert::Infallible;
use std::error::Error;
use std::num::NonZeroU32;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let requests: u64 = words.next().map_or(Ok(1_000_000), |w| w.parse())?;
    let device_name = words.next().unwrap_or_else(|| "deskstar-60gxp".into());
    let scheduler = words.next().unwrap_or_else(|| "mq-deadline".into());
    let depth: NonZeroU32 = words.next().unwrap_or_else(|| "32".into()).parse()?;
    let device = devices::by_name(&device_name)?.build()?;
    let rules = Rules::today(Limits::LOOP_618, device.depth().max(32));
    let queue = Queue::new(elevator::by_name(&scheduler)?, rules);
    let mut arrivals = Synthetic::new(requests, device.capacity_sectors(), 1);
    let source = || Ok::<_, Infallible>(arrivals.next());
    let before_kib = resident_kib()?;
    let started_ns = cpu_ns()?;
    let mode = Mode::Closed(depth);
    let out = replay(ReplaySetup { queue, device, device_name: device_name.clone(), mode }, source, |_| {})?;
    let seconds = (cpu_ns()? - started_ns) as f64 / 1e9;
    println!(
        "{requests} requests, {scheduler}, {device_name}, depth {depth}: {seconds:.2} s of CPU time, {:.0} requests/s",
        requests as f64 / seconds
    );
    println!(
        "resident: {before_kib} KiB before, {} KiB after, {} KiB at most",
        resident_kib()?,
        status_kib("VmHWM:")?
    );
    println!("virtual: {:.0} s, {:?}", out.elapsed_ns as f64 / 1e9, out.counts);
    Ok(())
}

/// On a shared machine only CPU time is meaningful.
fn cpu_ns() -> Result<u64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/schedstat")?;
    Ok(stat.split_whitespace().next().ok_or("/proc/self/schedstat is empty")?.parse()?)
}

fn resident_kib() -> Result<u64, Box<dyn Error>> {
    status_kib("VmRSS:")
}

fn status_kib(key: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|l| l.strip_prefix(key)).ok_or("not in /proc/self/status")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}
