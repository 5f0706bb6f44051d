//! The maps that the programs fill, in the layout of `requests.bpf.c`, read into plain figures.

use super::super::error::WatchError;
use aya::Ebpf;
use aya::maps::{Array, HashMap, MapData, MapError, PerCpuArray, PerCpuValues};
use aya::util::nr_cpus;
use std::io;

/// As many devices as one set of programs watches.
pub(super) const MAX_DEVICES: usize = 8;
/// Read, write, flush, discard, other: as `RequestClass::ALL` has them.
pub(super) const CLASSES: usize = 5;
/// Buckets of the programs' histograms: those of the record's up to 2^40 ns.
pub(super) const BUCKETS: usize = 64 + 34 * 64;
const SIZES: usize = 1025;
pub(super) const DEPTHS: usize = 1024;
const POWERS: usize = 73;
const COUNTERS: usize = 19;
const DEVICE_WORDS: usize = 5;
const WORKERS_AT: usize = MAX_DEVICES * DEVICE_WORDS;

type Control = [u32; WORKERS_AT + 10];
type RawTally = [u64; COUNTERS + POWERS];
type RawIssuer = [u64; 8];

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
pub(super) struct Asked {
    pub pid: u32,
    pub name: [u8; 16],
    pub reads: u64,
    pub read_bytes: u64,
    pub writes: u64,
    pub write_bytes: u64,
    pub others: u64,
}

/// All of them.
pub(super) struct Maps {
    control: Array<MapData, Control>,
    depths: Array<MapData, [u64; 2]>,
    ends: Array<MapData, u64>,
    flushers: Array<MapData, [u64; 3]>,
    tallies: PerCpuArray<MapData, RawTally>,
    d2c: PerCpuArray<MapData, [u64; BUCKETS]>,
    sizes: PerCpuArray<MapData, [u64; SIZES]>,
    spent: PerCpuArray<MapData, [u64; DEPTHS]>,
    workers: PerCpuArray<MapData, RawIssuer>,
    large_sizes: HashMap<MapData, [u32; 2], u64>,
    issuers: HashMap<MapData, [u32; 2], RawIssuer>,
    cpus: usize,
    devices: usize,
    settings: Control,
}

impl Maps {
    /// Takes them from what was loaded, for as many devices as there are slots, and names the devices and the measured threads.
    pub fn take(ebpf: &mut Ebpf, devices: &[(u32, Slots)], workers: [u8; 16]) -> Result<Self, WatchError> {
        let mut map = |name: &str| {
            let missing = || failed(io::Error::other(format!("the programs have no map `{name}`")));
            ebpf.take_map(name).ok_or_else(missing)
        };
        let mut settings: Control = [0; WORKERS_AT + 10];
        for (place, (words, (number, slots))) in
            (0..).zip(settings.as_chunks_mut::<DEVICE_WORDS>().0.iter_mut().zip(devices))
        {
            *words = [*number, place, slots.first, slots.of_queue, slots.all];
        }
        for (word, bytes) in settings[WORKERS_AT..].iter_mut().zip(workers.as_chunks::<4>().0) {
            *word = u32::from_ne_bytes(*bytes);
        }
        settings[WORKERS_AT + 4] = devices.len() as u32;
        let mut maps = Self {
            control: map("control")?.try_into().map_err(failed)?,
            depths: map("depths")?.try_into().map_err(failed)?,
            ends: map("ends")?.try_into().map_err(failed)?,
            flushers: map("flushers")?.try_into().map_err(failed)?,
            tallies: map("tallies")?.try_into().map_err(failed)?,
            d2c: map("d2c")?.try_into().map_err(failed)?,
            sizes: map("sizes")?.try_into().map_err(failed)?,
            spent: map("spent")?.try_into().map_err(failed)?,
            workers: map("workers")?.try_into().map_err(failed)?,
            large_sizes: map("large_sizes")?.try_into().map_err(failed)?,
            issuers: map("issuers")?.try_into().map_err(failed)?,
            cpus: nr_cpus().map_err(|(_, why)| failed(why))?,
            devices: devices.len(),
            settings,
        };
        maps.set(0, 0, 0)?;
        Ok(maps)
    }

    /// The number of the present watch, 0 for none, when it begins, and the first since which depths are known.
    pub fn set(&mut self, watch: u32, from_ns: u64, known_since: u32) -> Result<(), WatchError> {
        self.settings[WORKERS_AT + 5] = known_since;
        self.settings[WORKERS_AT + 6] = watch;
        for (word, bytes) in
            self.settings[WORKERS_AT + 8..].iter_mut().zip(from_ns.to_ne_bytes().as_chunks::<4>().0)
        {
            *word = u32::from_ne_bytes(*bytes);
        }
        self.control.set(0, self.settings, 0).map_err(failed)
    }

    /// Empties what watches of this number's parity fill. Nobody may be watching with it.
    pub fn clear(&mut self, watch: u32) -> Result<(), WatchError> {
        for place in self.places(watch) {
            for class in 0..CLASSES {
                let at = self.class_at(place, class);
                zero(&mut self.tallies, at, [0; COUNTERS + POWERS], self.cpus)?;
                zero(&mut self.d2c, at, [0; BUCKETS], self.cpus)?;
                zero(&mut self.sizes, at, [0; SIZES], self.cpus)?;
                self.ends.set(at, 0, 0).map_err(failed)?;
            }
            zero(&mut self.spent, place as u32, [0; DEPTHS], self.cpus)?;
        }
        let half = (watch & 1) * MAX_DEVICES as u32;
        for device in 0..self.devices as u32 {
            zero(&mut self.workers, half + device, [0; 8], self.cpus)?;
        }
        let class_places =
            self.class_at(self.places(watch).start, 0)..self.class_at(self.places(watch).end, 0);
        empty(&mut self.large_sizes, |[place, _]| class_places.contains(place))?;
        empty(&mut self.issuers, |[place, _]| (half..half + MAX_DEVICES as u32).contains(place))
    }

    /// A device has no request that is known of, from now on.
    pub fn begin(&mut self, device: usize, now_ns: u64) -> Result<(), WatchError> {
        self.flushers.set(device as u32, [0; 3], 0).map_err(failed)?;
        self.depths.set(device as u32, [0, now_ns], 0).map_err(failed)
    }

    fn places(&self, watch: u32) -> std::ops::Range<usize> {
        let first = (watch & 1) as usize * self.devices;
        first..first + self.devices
    }

    fn class_at(&self, place: usize, class: usize) -> u32 {
        (place * CLASSES + class) as u32
    }

    /// The counters of a class.
    pub fn tally(&self, watch: u32, device: usize, class: usize) -> Result<Tally, WatchError> {
        let at = self.class_at(self.places(watch).start + device, class);
        let mut tally = Tally { distances: vec![0; POWERS], ..Tally::default() };
        for cpu in self.tallies.get(&at, 0).map_err(failed)?.iter() {
            tally.add(cpu);
        }
        tally.d2c_min_ns = tally.d2c_min_ns.saturating_sub(1);
        Ok(tally)
    }

    /// Times in the device by bucket.
    pub fn d2c(&self, watch: u32, device: usize, class: usize) -> Result<Vec<u64>, WatchError> {
        let at = self.class_at(self.places(watch).start + device, class);
        sum(&self.d2c, at)
    }

    /// Counts by size in sectors, ascending.
    pub fn sizes(&self, watch: u32, device: usize, class: usize) -> Result<Vec<(u64, u64)>, WatchError> {
        let at = self.class_at(self.places(watch).start + device, class);
        let mut all: Vec<(u64, u64)> = (0..).zip(sum(&self.sizes, at)?).collect();
        for entry in self.large_sizes.iter() {
            let ([place, sectors], count) = entry.map_err(failed)?;
            if place == at {
                all.push((u64::from(sectors), count));
            }
        }
        all.retain(|&(_, count)| count > 0);
        all.sort_unstable();
        Ok(all)
    }

    /// Time at each depth between two moments, the first being when the watch began.
    pub fn spent(
        &self,
        watch: u32,
        device: usize,
        (from_ns, until_ns): (u64, u64),
    ) -> Result<Vec<u64>, WatchError> {
        let [now, changed_ns] = self.depths.get(&(device as u32), 0).map_err(failed)?;
        let mut spent = sum(&self.spent, (self.places(watch).start + device) as u32)?;
        let here = (now as usize).min(DEPTHS - 1);
        spent[here] = spent[here].wrapping_add(until_ns.saturating_sub(changed_ns.max(from_ns)));
        // Two CPUs that were there at once lend each other some ns: a depth may be short of them, never by more.
        for ns in &mut spent {
            *ns = (*ns as i64).max(0) as u64;
        }
        Ok(spent)
    }

    /// What the measured threads asked for.
    pub fn workers(&self, watch: u32, device: usize) -> Result<Asked, WatchError> {
        let at = (watch & 1) * MAX_DEVICES as u32 + device as u32;
        let mut all = Asked::default();
        for raw in self.workers.get(&at, 0).map_err(failed)?.iter() {
            all.add(&Asked::of(raw));
        }
        Ok(all)
    }

    /// What other tasks asked for, with the device's place.
    pub fn issuers(&self, watch: u32) -> Result<Vec<(usize, Asked)>, WatchError> {
        let half = (watch & 1) as usize * MAX_DEVICES;
        let mut all = Vec::new();
        for entry in self.issuers.iter() {
            match entry {
                Ok(([place, _], raw)) => {
                    if let Some(device) = (place as usize).checked_sub(half).filter(|d| *d < self.devices) {
                        all.push((device, Asked::of(&raw)));
                    }
                }
                Err(MapError::KeyNotFound) => {}
                Err(why) => return Err(failed(why)),
            }
        }
        Ok(all)
    }
}

impl Tally {
    fn add(&mut self, raw: &RawTally) {
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

impl Asked {
    fn of(raw: &RawIssuer) -> Self {
        let [task, low, high, reads, read_bytes, writes, write_bytes, others] = *raw;
        let mut name = [0; 16];
        name[..8].copy_from_slice(&low.to_ne_bytes());
        name[8..].copy_from_slice(&high.to_ne_bytes());
        let pid = u32::from_ne_bytes(*task.to_ne_bytes().first_chunk().unwrap_or(&[0; 4]));
        Self { pid, name, reads, read_bytes, writes, write_bytes, others }
    }

    fn add(&mut self, more: &Self) {
        self.reads += more.reads;
        self.read_bytes += more.read_bytes;
        self.writes += more.writes;
        self.write_bytes += more.write_bytes;
        self.others += more.others;
    }
}

fn zero<T: aya::Pod>(
    map: &mut PerCpuArray<MapData, T>,
    at: u32,
    none: T,
    cpus: usize,
) -> Result<(), WatchError> {
    let values = PerCpuValues::try_from(vec![none; cpus]).map_err(failed)?;
    map.set(at, values, 0).map_err(failed)
}

fn empty<V: aya::Pod>(
    map: &mut HashMap<MapData, [u32; 2], V>,
    of_it: impl Fn(&[u32; 2]) -> bool,
) -> Result<(), WatchError> {
    let keys: Vec<[u32; 2]> = map.keys().filter_map(Result::ok).filter(of_it).collect();
    keys.iter().try_for_each(|key| map.remove(key).map_err(failed))
}

fn sum<const N: usize>(map: &PerCpuArray<MapData, [u64; N]>, at: u32) -> Result<Vec<u64>, WatchError> {
    let mut all = vec![0_u64; N];
    for cpu in map.get(&at, 0).map_err(failed)?.iter() {
        for (sum, value) in all.iter_mut().zip(cpu) {
            *sum = sum.wrapping_add(*value);
        }
    }
    Ok(all)
}

fn failed(why: impl std::fmt::Display) -> WatchError {
    WatchError::Programs(why.to_string())
}
