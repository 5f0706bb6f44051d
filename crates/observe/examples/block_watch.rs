//! Manual check: watches a device for some seconds and prints the events seen beside the device's own counters.
//! `block_watch DEVICE SECONDS [full] [IOPS]`, e.g. `block_watch loop0 5`.

use fathom_observe::block::rows::reading;
use fathom_observe::block::{Detail, Instance, Watch, Watched, Who, availability};
use fathom_record::block::{BlockAction, BlockEvent, RequestFlags};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// By action, flags, and name: cheap enough not to distort the measurement.
#[derive(Default)]
struct Counts(HashMap<(BlockAction, RequestFlags, Who), (u64, u64)>);

impl fathom_observe::block::Sink for Counts {
    fn event(&mut self, event: &BlockEvent, who: &Who) {
        let entry = self.0.entry((event.action, event.flags, *who)).or_default();
        entry.0 += 1;
        entry.1 += event.bytes();
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [device, seconds, rest @ ..] = &words[..] else {
        return Err("usage: block_watch DEVICE SECONDS [full] [IOPS]".into());
    };
    println!("{:?}", availability());
    let device = Watched::of_name(device).ok_or("there is no such device in /sys/block")?;
    let detail = if rest.iter().any(|w| w == "full") { Detail::Full } else { Detail::Requests };
    let iops = rest.iter().find_map(|w| w.parse().ok()).unwrap_or(0);
    let timed =
        |what: &str, since: Instant| println!("{what}: {:.2} ms", since.elapsed().as_secs_f64() * 1e3);

    let at = Instant::now();
    let instance = Instance::new()?;
    timed("instance made", at);
    let devices = [device];
    let at = Instant::now();
    instance.get_ready(&devices, detail, iops)?;
    timed("instance ready", at);
    for round in ["first", "second"] {
        let at = Instant::now();
        let watch = Watch::start(&instance, &devices, detail, iops, Counts::default())?;
        timed(&format!("{round} watch started"), at);
        let before = reading(devices[0].number);
        std::thread::sleep(Duration::from_secs_f64(if round == "first" { 0.1 } else { seconds.parse()? }));
        let after = reading(devices[0].number);
        let at = Instant::now();
        let taken = watch.stop()?;
        timed(&format!("{round} watch stopped"), at);
        println!(
            "{} events, {} lost, observer {:.1} ms of CPU ({:.3} us per event), rings of {} KiB",
            taken.events,
            taken.lost,
            taken.observer_cpu_ns as f64 / 1e6,
            taken.observer_cpu_ns as f64 / 1e3 / taken.events.max(1) as f64,
            taken.ring_kib
        );
        taken.notes.iter().for_each(|n| println!("note: {n}"));
        let mut counts: Vec<_> = taken.sink.0.iter().collect();
        counts.sort_by_key(|((action, flags, who), _)| (*action, *flags, who.pid));
        for ((action, flags, who), (count, bytes)) in counts {
            let issuer = format!("{} {} {}", who.kind.word(), who.pid, who.name());
            let issuer = if who.pid == 0 { "" } else { &issuer };
            println!("{} {:<5} {count:>9} {bytes:>14} bytes  {issuer}", action.letter(), flags.rwbs());
        }
        if let (Some(before), Some(after)) = (before, after) {
            println!("device: {:?}", before.row(&after, 0, 0, 0));
        }
    }
    let at = Instant::now();
    drop(instance);
    timed("instance removed", at);
    Ok(())
}
