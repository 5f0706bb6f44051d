//! Results of replays and of a workload through all layers, compared with hashes: a faster model must give the same results. A hash
//! covers the event log of the simulated device or the figures of the run. After a deliberate change of the model, the failing test
//! prints the new hashes, and the commit that adopts them says what changed.

use fathom_iopath::{Limits, Op, Queue, Rules, elevator};
use fathom_record::OpKind;
use fathom_record::block::log::{LogHeader, LogWriter};
use fathom_sim::devices::{AnyDevice, Device as _, DeviceProfile, by_name};
use fathom_sim::host;
use fathom_sim::random::{Entity, Stream};
use fathom_sim::replay::{Arrival, Mode, ReplaySetup, replay};
use fathom_sim::{Stack, never, simulate};
use fathom_workload::Workload;
use std::convert::Infallible;
use std::num::NonZeroU32;

const ARRIVALS: u64 = 6000;

/// A mix of random and sequential reads and writes, short, long and overlapping, and flushes.
struct Mixture {
    chance: Stream,
    left: u64,
    capacity: u64,
    last: u64,
}

impl Iterator for Mixture {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        self.left = self.left.checked_sub(1)?;
        let kind = self.chance.below(100);
        let sectors = 8 * (1 + self.chance.below(if kind.is_multiple_of(7) { 32 } else { 4 })) as u32;
        let sector = match self.chance.below(4) {
            // Sequential, overlapping, nearby, or anywhere.
            0 => self.last,
            1 => self.last.saturating_sub(16),
            2 => self.last.saturating_sub(1 << 20) + self.chance.below(1 << 18) * 8,
            _ => self.chance.below(self.capacity / 8 - 64) * 8,
        };
        let sector = sector.min(self.capacity - 512);
        self.last = sector + u64::from(sectors);
        let flush = kind == 0;
        Some(Arrival {
            time_ns: 0,
            op: if flush || kind >= 55 { Op::Write } else { Op::Read },
            sync: kind.is_multiple_of(3),
            sector: if flush { 0 } else { sector },
            sectors: if flush { 0 } else { sectors },
            pid: 1 + self.chance.below(4) as u32,
            cpu: 0,
            task: [0; 16],
            flush_before: false,
            flush_behind: false,
            after: None,
        })
    }
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn replayed(device: AnyDevice, depth: u32) -> u64 {
    let mut log = Vec::new();
    let mut writer = LogWriter::new(&mut log, &LogHeader::default()).expect("a header");
    let capacity = device.capacity_sectors();
    let mut arrivals = Mixture { chance: Stream::new(7, Entity::System), left: ARRIVALS, capacity, last: 0 };
    let rules = Rules::today(Limits::LOOP_618, device.depth());
    let queue = Queue::new(elevator::by_name("mq-deadline").expect("it exists"), rules);
    let mode = Mode::Closed(NonZeroU32::new(depth).expect("not 0"));
    let setup = ReplaySetup { queue, device, device_name: "disk".into(), mode };
    let out = replay(
        setup,
        || Ok::<_, Infallible>(arrivals.next()),
        |event| {
            writer.event(event).expect("memory takes it");
        },
    );
    let counts = out.expect("it ends").counts;
    assert_eq!((counts.arrivals, counts.done), (ARRIVALS, ARRIVALS));
    writer.flush().expect("memory takes it");
    drop(writer);
    hash(&log)
}

/// Overrides of shipped profile values: table, key, value.
type Changed = [(&'static str, &'static str, &'static str)];

fn device(name: &str, values: &Changed) -> AnyDevice {
    let profile = if values.is_empty() { by_name(name) } else { DeviceProfile::changed(name, values) };
    profile.expect("a profile").build().expect("a device")
}

#[test]
fn device_models_give_unchanged_times() {
    let fifo = [("write_cache", "order", "\"fifo\"")];
    let small = [("write_cache", "commands", "6"), ("write_cache", "kib", "256")];
    let impatient = [("interface", "age_limit_ms", "30.0")];
    let none = [("write_cache", "kib", "0")];
    let collected = [("gc", "kind", "\"greedy\""), ("interface", "capacity_gb", "8")];
    let cases: [(&str, &Changed, u32, u64); 14] = [
        ("deskstar-60gxp", &[], 32, 0xe140_424d_f024_0841),
        ("deskstar-60gxp", &[("write_cache", "kib", "2048")], 4, 0x84b7_8964_c314_41dc),
        ("scsi-10k-72g", &[], 16, 0x4db7_46c0_acf4_81d3),
        ("sata-7200-ncq", &[], 1, 0x427d_5d57_2293_08d2),
        ("sata-7200-ncq", &[], 48, 0x0963_33c1_4cea_32fa),
        ("sata-7200-ncq", &fifo, 48, 0xd3b6_b10e_2519_bf27),
        ("sata-7200-ncq", &small, 48, 0x53eb_5195_6e54_82de),
        ("sata-7200-ncq", &impatient, 48, 0xf90c_a863_30ea_133f),
        ("sata-7200-ncq", &none, 48, 0x84f4_72f3_bd54_c82a),
        ("smartarray-6i-h1", &[], 48, 0xbfce_2164_8dd5_0125),
        ("smartarray-6i-h2", &[], 48, 0x527a_f95e_d588_bc48),
        ("ssd-generic", &[], 48, 0x95d4_58b4_450b_1108),
        ("ssd-generic", &collected, 48, 0xcecc_5600_2179_a8a4),
        ("dvd", &[], 4, 0x0a12_43d3_66bf_3b8a),
    ];
    let found: Vec<u64> =
        cases.iter().map(|(name, values, depth, _)| replayed(device(name, values), *depth)).collect();
    let told: Vec<u64> = cases.iter().map(|case| case.3).collect();
    assert_eq!(found, told, "found, in hexadecimal: {found:#018x?}");
}

/// Four threads of random reads and writes in eight files, with an fsync of all after every 50 requests.
const WORKLOAD: &str = "name = \"t\"\nseed = \"0x1\"\n[[fileset]]\nname = \"f\"\n[fileset.files.numbered]\nprefix = \"f\"\ncount = 8\n\
    [fileset.size]\nfixed = \"8MiB\"\n[[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\ninstances = 4\n\
    [phase.group.thread.program.stream]\nfileset = \"f\"\npick = \"all\"\nsequence = \"common\"\n\
    direction = { mix = { reads-per-write-issued = 1.5 } }\naccess = { scaled = {} }\nrecord = { fixed = \"16KiB\" }\n\
    amount = { operations = 600 }\nsync_series = { requests = 50, at_end = true }";

/// The figures of a run through all layers, as text: the threads' view, and the I/O at the device.
fn ran(host: &str, device_name: &str, scheduler: &str, readahead: &str) -> String {
    let mut host = host::shipped(host).expect("a host");
    host.memory.cache_mib.value = 16;
    let profile = by_name(device_name).expect("a profile");
    let limits = profile.limits(host.block.queue.get());
    let setup = fathom_sim::Setup {
        host,
        device: Box::new(profile.build().expect("a device")),
        device_name: device_name.into(),
        limits,
        scheduler: scheduler.into(),
        readahead: readahead.into(),
        stack: Stack::Full,
        indirect_in_memory: false,
        stop: never,
    };
    let out =
        simulate(&Workload::from_toml(WORKLOAD).expect("a workload"), setup).expect("it can be simulated");
    let inside = &out.inside;
    let mut text = format!(
        "{} {} {} {} {:?}\n",
        inside.elapsed_ns, inside.events, inside.depth_ns, inside.device.busy_ns, inside.elevator
    );
    let repetition = &out.phases[0][0];
    for worker in &repetition.workers {
        text += &format!("{} {} {}\n", worker.ops, worker.start_ns, worker.elapsed_ns);
    }
    for op in [OpKind::Read, OpKind::Write, OpKind::Sync] {
        let latency = repetition.latency(op);
        let at = |percent| latency.percentile_ns(percent);
        text += &format!("{op:?} {} {:?} {:?} {}\n", latency.count(), at(50.0), at(99.0), latency.max_ns());
    }
    let device = &repetition.physical.devices[0];
    text += &format!(
        "{} {} {} {} {}\n",
        device.read_ios, device.read_bytes, device.write_ios, device.write_bytes, device.flush_ios
    );
    text
}

#[test]
fn a_workload_through_all_layers_gives_unchanged_figures() {
    let cases = [
        ("athlon-2004-linux-2.4", "deskstar-60gxp", "linus24", "ra24", 0x7124_fdb4_c417_f611),
        ("athlon-2004-linux-2.6", "deskstar-60gxp", "as", "ra26-shared", 0x7ec1_0210_58f2_5b8f),
        ("server-2007-linux-2.6", "smartarray-6i-h1", "cfq3", "ra-ondemand", 0x4a12_b639_6592_c586),
        ("today", "ssd-generic", "kyber", "modern", 0xd7de_2ad2_f66a_1367),
        ("today", "sata-7200-ncq", "mq-deadline", "modern", 0xbc3c_0631_28e3_5915),
    ];
    let texts: Vec<String> =
        cases.iter().map(|(host, device, scheduler, ra, _)| ran(host, device, scheduler, ra)).collect();
    let found: Vec<u64> = texts.iter().map(|text| hash(text.as_bytes())).collect();
    let told: Vec<u64> = cases.iter().map(|case| case.4).collect();
    assert_eq!(found, told, "found, in hexadecimal: {found:#018x?}; of\n{}", texts.join("\n"));
}
