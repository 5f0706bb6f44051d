//! The maps that the programs fill, in the layout of `requests.bpf.c`, read into plain figures.

use super::super::error::WatchError;
use super::mapped::Mapped;
use aya::Ebpf;
use std::sync::atomic::Ordering::{Relaxed, Release};

/// Maximum number of devices that one set of programs watches.
pub(super) const MAX_DEVICES: usize = 8;
/// Read, write, flush, discard, other, in the order of `RequestClass::ALL`.
pub(super) const CLASSES: usize = 5;
/// Buckets of the programs' histograms: those of the record's up to 2^40 ns.
pub(super) const BUCKETS: usize = 64 + 34 * 64;
/// The programs fill one half while the other half is read and cleared.
const HALVES: usize = 2;
const SIZES: usize = 1025;
const LARGE_SIZES: usize = 4096;
const ISSUERS: usize = 4096;
pub(super) const DEPTHS: usize = 1024;
const POWERS: usize = 73;
const COUNTERS: usize = 19;
const DEVICE_WORDS: usize = 5;

// Lengths of the programs' structures in words of 64 bits.
const CONTROL: usize = (MAX_DEVICES * DEVICE_WORDS + 10) / 2;
const TALLY: usize = COUNTERS + POWERS;
const ISSUER: usize = 9;

/// Which tag a request has says which slot is its.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slots {
    pub first: u32,
    pub of_queue: u32,
    pub all: u32,
}

/// Counters of one class on one device, all CPUs together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub issued: u64,
    pub issued_bytes: u64,
    pub completed: u64,
    pub completed_bytes: u64,
    pub errors: u64,
    pub ahead: u64,
    pub sync: u64,
    pub meta: u64,
    pub fua: u64,
    pub sequential: u64,
    pub forward: u64,
    pub backward: u64,
    pub distance_sectors: u128,
    pub d2c_ns: u128,
    pub d2c_min_ns: u64,
    pub d2c_max_ns: u64,
    pub begun_before: u64,
    pub requeued: u64,
    pub lost: u64,
    /// By power of two of the distance in bytes.
    pub distances: Vec<u64>,
}

/// What a task asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TaskRequests {
    pub pid: u32,
    pub name: [u8; 16],
    pub reads: u64,
    pub read_bytes: u64,
    pub writes: u64,
    pub write_bytes: u64,
    pub others: u64,
}

/// All of them. Arrays by CPU have a range of entries for each.
pub(super) struct Maps {
    control: Mapped<CONTROL>,
    depths: Mapped<2>,
    ends: Mapped<1>,
    flushers: Mapped<3>,
    tallies: Mapped<TALLY>,
    d2c: Mapped<BUCKETS>,
    sizes: Mapped<SIZES>,
    spent: Mapped<DEPTHS>,
    workers: Mapped<ISSUER>,
    large_sizes: Mapped<2>,
    issuers: Mapped<ISSUER>,
    cpus: usize,
    devices: usize,
}

/// How many entries the arrays have that grow with CPUs, devices and slots.
pub(super) fn entries(cpus: usize, devices: usize, slots: u32) -> [(&'static str, u32); 6] {
    let places = (cpus * devices * HALVES) as u32;
    let of_classes = places * CLASSES as u32;
    [
        ("slots", slots),
        ("tallies", of_classes),
        ("d2c", of_classes),
        ("sizes", of_classes),
        ("spent", places),
        ("workers", places),
    ]
}

impl Maps {
    /// Takes them from what was loaded, for as many devices as there are slots, and names the devices and the measured threads.
    pub fn take(
        ebpf: &mut Ebpf,
        cpus: usize,
        devices: &[(u32, Slots)],
        workers: [u8; 16],
    ) -> Result<Self, WatchError> {
        let places = cpus * devices.len() * HALVES;
        let maps = Self {
            control: Mapped::take(ebpf, "control", 1)?,
            depths: Mapped::take(ebpf, "depths", MAX_DEVICES)?,
            ends: Mapped::take(ebpf, "ends", MAX_DEVICES * CLASSES * HALVES)?,
            flushers: Mapped::take(ebpf, "flushers", MAX_DEVICES)?,
            tallies: Mapped::take(ebpf, "tallies", places * CLASSES)?,
            d2c: Mapped::take(ebpf, "d2c", places * CLASSES)?,
            sizes: Mapped::take(ebpf, "sizes", places * CLASSES)?,
            spent: Mapped::take(ebpf, "spent", places)?,
            workers: Mapped::take(ebpf, "workers", places)?,
            large_sizes: Mapped::take(ebpf, "large_sizes", HALVES * LARGE_SIZES)?,
            issuers: Mapped::take(ebpf, "issuers", HALVES * ISSUERS)?,
            cpus,
            devices: devices.len(),
        };
        let mut settings = Vec::with_capacity(CONTROL * 2);
        for (place, (number, slots)) in (0..).zip(devices) {
            settings.extend([*number, place, slots.first, slots.of_queue, slots.all]);
        }
        settings.resize(MAX_DEVICES * DEVICE_WORDS, 0);
        settings.extend(workers.as_chunks::<4>().0.iter().map(|bytes| u32::from_ne_bytes(*bytes)));
        settings.extend([devices.len() as u32, 0, 0, 0, 0, 0]);
        let mut control = [0; CONTROL];
        for (word, [first, second]) in control.iter_mut().zip(settings.as_chunks().0) {
            *word = two(*first, *second);
        }
        maps.control.set(0, &control);
        Ok(maps)
    }

    /// Begins the watch of this number; depths are known since watch `known_since`.
    pub fn start(&self, watch: u32, from_ns: u64, known_since: u32) {
        let [.., devices_known, watched, from] = &self.control.all()[0];
        from.store(from_ns, Relaxed);
        devices_known.store(two(self.devices as u32, known_since), Relaxed);
        watched.store(two(watch, 0), Release);
    }

    /// Ends counting.
    pub fn stop(&self) {
        let [.., watched, _] = &self.control.all()[0];
        watched.store(0, Release);
    }

    /// Clears the half that watches of this number's parity fill. No watch may be using it.
    pub fn clear(&self, watch: u32) {
        for device in 0..self.devices {
            let place = self.place(watch, device);
            for class in 0..CLASSES {
                let at = place * CLASSES + class;
                self.ends.clear(at);
                for at in self.by_cpu(CLASSES, at) {
                    self.tallies.clear(at);
                    self.d2c.clear(at);
                    self.sizes.clear(at);
                }
            }
            for at in self.by_cpu(1, place) {
                self.spent.clear(at);
                self.workers.clear(at);
            }
        }
        half(watch, LARGE_SIZES).for_each(|at| self.large_sizes.clear(at));
        half(watch, ISSUERS).for_each(|at| self.issuers.clear(at));
    }

    /// From now on no request of this device is known.
    pub fn begin(&self, device: usize, now_ns: u64) {
        self.flushers.clear(device);
        self.depths.set(device, &[0, now_ns]);
    }

    /// The index of a device's entries in the half of this watch.
    fn place(&self, watch: u32, device: usize) -> usize {
        (watch & 1) as usize * self.devices + device
    }

    /// The entries of all CPUs in an array that has `of_place` entries for each place.
    fn by_cpu(&self, of_place: usize, at: usize) -> impl Iterator<Item = usize> + use<> {
        let range = HALVES * self.devices * of_place;
        (0..self.cpus).map(move |cpu| cpu * range + at)
    }

    /// The counters of a class.
    pub fn tally(&self, watch: u32, device: usize, class: usize) -> Tally {
        let mut tally = Tally { distances: vec![0; POWERS], ..Tally::default() };
        for at in self.by_cpu(CLASSES, self.place(watch, device) * CLASSES + class) {
            tally.add(&self.tallies.get(at));
        }
        tally.d2c_min_ns = tally.d2c_min_ns.saturating_sub(1);
        tally
    }

    /// Times in the device by bucket.
    pub fn d2c(&self, watch: u32, device: usize, class: usize) -> Vec<u64> {
        sum(&self.d2c, self.by_cpu(CLASSES, self.place(watch, device) * CLASSES + class))
    }

    /// Counts by size in sectors, ascending.
    pub fn sizes(&self, watch: u32, device: usize, class: usize) -> Vec<(u64, u64)> {
        let place = self.place(watch, device) * CLASSES + class;
        let mut all: Vec<(u64, u64)> = (0..).zip(sum(&self.sizes, self.by_cpu(CLASSES, place))).collect();
        for [key, count] in half(watch, LARGE_SIZES).map(|at| self.large_sizes.get(at)) {
            if key != 0 && key >> 32 == place as u64 {
                all.push((key & u64::from(u32::MAX), count));
            }
        }
        all.retain(|&(_, count)| count > 0);
        all.sort_unstable();
        all
    }

    /// Time at each depth between two moments, the first being when the watch began.
    pub fn spent(&self, watch: u32, device: usize, (from_ns, until_ns): (u64, u64)) -> Vec<u64> {
        let [now, changed_ns] = self.depths.get(device);
        let mut spent = sum(&self.spent, self.by_cpu(1, self.place(watch, device)));
        let here = (now as usize).min(DEPTHS - 1);
        spent[here] = spent[here].wrapping_add(until_ns.saturating_sub(changed_ns.max(from_ns)));
        // Two CPUs that changed the depth at once may have shifted some ns between two depths: one of them may lack those.
        for ns in &mut spent {
            *ns = (*ns as i64).max(0) as u64;
        }
        spent
    }

    /// What the measured threads requested.
    pub fn workers(&self, watch: u32, device: usize) -> TaskRequests {
        let mut all = TaskRequests::default();
        for at in self.by_cpu(1, self.place(watch, device)) {
            all.add(&TaskRequests::of(&self.workers.get(at)));
        }
        all
    }

    /// What other tasks requested, with the device's index. A task that is just being entered has no name yet and is left out.
    pub fn issuers(&self, watch: u32) -> Vec<(usize, TaskRequests)> {
        let entries = half(watch, ISSUERS).map(|at| &self.issuers.all()[at]);
        let taken = entries.filter_map(|words| {
            let key = words[0].load(Relaxed);
            let device = (key >> 32 & 0xff) as usize;
            (key != 0).then(|| (device, TaskRequests::of(&words.each_ref().map(|word| word.load(Relaxed)))))
        });
        taken.filter(|(device, asked)| *device < self.devices && asked.name != [0; 16]).collect()
    }
}

/// Combines two 32-bit words of the BPF programs.
fn two(first: u32, second: u32) -> u64 {
    let [a, b, c, d] = first.to_ne_bytes();
    let [e, f, g, h] = second.to_ne_bytes();
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

/// The entries of the half that this watch fills.
fn half(watch: u32, of_half: usize) -> std::ops::Range<usize> {
    let first = (watch & 1) as usize * of_half;
    first..first + of_half
}

impl Tally {
    fn add(&mut self, raw: &[u64; TALLY]) {
        let counts: [&mut u64; 12] = [
            &mut self.issued,
            &mut self.issued_bytes,
            &mut self.completed,
            &mut self.completed_bytes,
            &mut self.errors,
            &mut self.ahead,
            &mut self.sync,
            &mut self.meta,
            &mut self.fua,
            &mut self.sequential,
            &mut self.forward,
            &mut self.backward,
        ];
        for (count, raw) in counts.into_iter().zip(raw) {
            *count += raw;
        }
        self.distance_sectors += u128::from(raw[12]);
        self.d2c_ns += u128::from(raw[13]);
        // The programs keep it one higher, so that 0 is none.
        if raw[14] > 0 && (self.d2c_min_ns == 0 || raw[14] < self.d2c_min_ns) {
            self.d2c_min_ns = raw[14];
        }
        self.d2c_max_ns = self.d2c_max_ns.max(raw[15]);
        self.begun_before += raw[16];
        self.requeued += raw[17];
        self.lost += raw[18];
        for (count, raw) in self.distances.iter_mut().zip(&raw[COUNTERS..]) {
            *count += raw;
        }
    }
}

impl TaskRequests {
    fn of(raw: &[u64; ISSUER]) -> Self {
        let [key, _, low, high, reads, read_bytes, writes, write_bytes, others] = *raw;
        let mut name = [0; 16];
        name[..8].copy_from_slice(&low.to_ne_bytes());
        name[8..].copy_from_slice(&high.to_ne_bytes());
        Self { pid: key as u32, name, reads, read_bytes, writes, write_bytes, others }
    }

    fn add(&mut self, more: &Self) {
        self.reads += more.reads;
        self.read_bytes += more.read_bytes;
        self.writes += more.writes;
        self.write_bytes += more.write_bytes;
        self.others += more.others;
    }
}

fn sum<const N: usize>(array: &Mapped<N>, at: impl Iterator<Item = usize>) -> Vec<u64> {
    let mut all = vec![0_u64; N];
    for at in at {
        for (sum, value) in all.iter_mut().zip(&array.all()[at]) {
            *sum = sum.wrapping_add(value.load(Relaxed));
        }
    }
    all
}
