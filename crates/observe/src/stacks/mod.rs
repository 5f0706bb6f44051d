//! What happened to the measured threads in the kernel. BPF programs (`cargo xtask bpf` compiles `sleeps.bpf.c`) note their long sleeps
//! with the kernel stacks, which are joined with our own calls after a phase; they count time stopped and frozen, waits for locks, pauses because of
//! dirty memory, and the pages of the files that enter and leave the page cache.
//!
//! * [`Sleeps`]: the programs, loaded and attached. [`Noting`]: notes one phase. [`pages`]: the pages. [`locks`]: the locks.
//! * [`symbols`]: names of the kernel's functions. [`layers`]: which part of the kernel a stack waited in.
//! * [`slow`]: joins calls and sleeps. Pure.

mod interned;
pub mod layers;
mod locks;
mod noting;
mod pages;
pub mod slow;
pub mod symbols;

pub use interned::{LongSleeps, Sleep};
pub use locks::with_files;
pub use noting::{Noted, Noting};
pub use pages::Inodes;

use crate::block::WatchError;
use crate::block::bpf::{self, Mapped};
use crate::files::Live;
use aya::maps::{HashMap, MapData};
use aya::programs::BtfTracePoint;
use aya::{Btf, Ebpf, EbpfLoader, Pod};
use fathom_record::block::{BlockEvent, measured_threads_name};
use fathom_record::{Halts, LockWaits, Pauses};
use locks::Locks;
use pages::{PageCounts, Pages};
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use symbols::Symbols;

/// What `sleeps.bpf.c` was compiled to.
static OBJECT: &[u8] = aya::include_bytes_aligned!("sleeps.bpf.o");

/// As the programs have them.
const SLEEPERS: usize = 4096;
const SLEEPS: usize = 4096;
const FRAMES: usize = 32;
const LOCKED: u64 = 1 << 31;

// Lengths of the programs' structures in words of 64 bits, and places in the control.
const CONTROL: usize = 15;
const SLEEPER: usize = 8;
const SLEEP: usize = 5 + FRAMES;
const ON: usize = 0;
const LEAST_NS: usize = 1;
const ENTERED: usize = 2;
const READ: usize = 3;
const LOST: usize = 4;
const PAUSES: usize = 9;
const PAUSED_NS: usize = 10;
const UNCOUNTED: usize = 11;
const DEVICES: usize = 12;
const STOPPED_NS: usize = 13;
const FROZEN_NS: usize = 14;
/// Counters of a phase.
const COUNTERS: [usize; 6] = [LOST, PAUSES, PAUSED_NS, UNCOUNTED, STOPPED_NS, FROZEN_NS];

/// The programs. They do nothing until a [`Noting`] starts, and are gone when this is dropped.
pub struct Sleeps {
    _ebpf: Ebpf,
    control: Mapped<CONTROL>,
    sleepers: Mapped<SLEEPER>,
    sleeps: Mapped<SLEEP>,
    symbols: Arc<Symbols>,
    pages: Pages,
    locks: Locks,
    /// Whether this kernel has the events.
    has_locks: bool,
    has_pages: bool,
    has_pauses: bool,
    has_syncs: bool,
}

impl Sleeps {
    /// Loads and attaches them, and reads the names of the kernel's functions. Takes some 100 ms.
    pub fn load() -> Result<Self, WatchError> {
        let failed = |why: &dyn std::fmt::Display| WatchError::Sleeps(why.to_string());
        let symbols = Arc::new(Symbols::read(&Live).map_err(|why| failed(&why))?);
        let btf = Btf::from_sys_fs()
            .map_err(|why| failed(&format!("{why}; the kernel needs CONFIG_DEBUG_INFO_BTF")))?;
        let mut ebpf = EbpfLoader::new().btf(Some(&btf)).load(OBJECT).map_err(|why| failed(&why))?;
        attach(&mut ebpf, &btf, "switched", "sched_switch")?;
        attach(&mut ebpf, &btf, "woken", "sched_wakeup")?;
        // Kernels before 5.19 have no such trace points; waiting for a lock is then not told from other sleeps. Without its end the
        // beginning would hold for ever.
        let has_locks = attach(&mut ebpf, &btf, "has", "contention_end").is_ok();
        if has_locks {
            attach(&mut ebpf, &btf, "waits", "contention_begin")?;
        }
        let has_pages = attach(&mut ebpf, &btf, "entered", "mm_filemap_add_to_page_cache").is_ok()
            && attach(&mut ebpf, &btf, "left", "mm_filemap_delete_from_page_cache").is_ok();
        let pauses = ["pauses_old", "pauses"];
        let has_pauses = pauses.iter().any(|p| attach(&mut ebpf, &btf, p, "balance_dirty_pages").is_ok());
        // Without jbd2 there is no such trace point.
        let _ = attach(&mut ebpf, &btf, "changes", "jbd2_handle_start");
        let has_syncs = attach(&mut ebpf, &btf, "synced", "writeback_queue").is_ok();
        let all = Self {
            control: Mapped::take(&mut ebpf, "control", 1)?,
            sleepers: Mapped::take(&mut ebpf, "sleepers", SLEEPERS)?,
            sleeps: Mapped::take(&mut ebpf, "sleeps", SLEEPS)?,
            symbols,
            pages: Pages::take(&mut ebpf)?,
            locks: Locks::take(&mut ebpf)?,
            has_locks,
            has_pages,
            has_pauses,
            has_syncs,
            _ebpf: ebpf,
        };
        let namespace = std::fs::metadata("/proc/self/ns/pid").map_err(|why| failed(&why))?.ino();
        let control = &all.control.all()[0];
        control[5].store(u64::from(std::process::id()) | namespace << 32, Relaxed);
        let name = BlockEvent::task_of(&measured_threads_name(std::process::id()));
        let (halves, _) = name.as_chunks::<8>();
        for (word, half) in control[7..].iter().zip(halves) {
            word.store(u64::from_ne_bytes(*half), Relaxed);
        }
        Ok(all)
    }

    /// Names of the kernel's functions.
    #[must_use]
    pub fn symbols(&self) -> Arc<Symbols> {
        self.symbols.clone()
    }

    fn word(&self, at: usize) -> u64 {
        self.control.all()[0][at].load(Acquire)
    }

    fn set(&self, at: usize, value: u64) {
        self.control.all()[0][at].store(value, Release);
    }

    /// Forgets what was noted, and begins to note, with the pages of these files.
    fn begin(&mut self, inodes: &Inodes) {
        (0..SLEEPERS).for_each(|at| self.sleepers.clear(at));
        // What still is being entered stays in its place until it is read over.
        self.set(READ, self.word(ENTERED));
        COUNTERS.iter().for_each(|at| self.set(*at, 0));
        self.set(DEVICES, u64::from(inodes.devices));
        self.pages.follow(inodes);
        self.locks.forget();
        self.set(ON, 1);
    }

    /// Forgets what was noted, and goes on.
    fn restart(&mut self) {
        self.drain(|_| {});
        COUNTERS.iter().for_each(|at| self.set(*at, 0));
        self.pages.restart();
        self.locks.forget();
    }

    fn end(&self) {
        self.set(ON, 0);
    }

    fn counts(&self) -> PageCounts {
        let pauses = Pauses { count: self.word(PAUSES), total_ns: self.word(PAUSED_NS) };
        let mut counts = self.pages.read(self.has_pages);
        counts.uncounted = self.word(UNCOUNTED);
        counts.pauses = self.has_pauses.then_some(pauses);
        counts.journal = self.pages.journal();
        counts.syncers = self.has_syncs.then(|| self.pages.syncers());
        counts
    }

    fn halts(&self) -> Halts {
        Halts { stopped_ns: self.word(STOPPED_NS), frozen_ns: self.word(FROZEN_NS) }
    }

    fn lock_waits(&self) -> Option<LockWaits> {
        self.has_locks.then(|| self.locks.read())
    }

    /// Passes what was entered since the last time, the oldest first, to `take`.
    fn drain(&self, mut take: impl FnMut(&[u64; SLEEP])) {
        let (mut read, entered) = (self.word(READ), self.word(ENTERED));
        while read < entered {
            let sleep = &self.sleeps.all()[read as usize & (SLEEPS - 1)];
            if sleep[0].load(Acquire) != read + 1 {
                // Another processor is still entering it.
                break;
            }
            take(&sleep.each_ref().map(|word| word.load(Relaxed)));
            read += 1;
        }
        self.set(READ, read);
    }
}

impl std::fmt::Debug for Sleeps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sleeps").finish_non_exhaustive()
    }
}

/// Removes all entries of a table.
fn empty<K: Pod, V: Pod>(table: &mut HashMap<MapData, K, V>) {
    let known: Vec<K> = table.keys().filter_map(Result::ok).collect();
    for key in known {
        let _ = table.remove(&key);
    }
}

/// The name of a program, which the kernel ends with 0 if it is short.
fn name_of(words: [u64; 2]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn attach(ebpf: &mut Ebpf, btf: &Btf, program: &str, point: &str) -> Result<(), WatchError> {
    let failed = |why: &dyn std::fmt::Display| WatchError::Sleeps(format!("{point}: {why}"));
    let found = ebpf.program_mut(program).ok_or_else(|| failed(&"the object has no such program"))?;
    let program: &mut BtfTracePoint = found.try_into().map_err(|why| failed(&why))?;
    bpf::attach(program, point, btf).map_err(|why| failed(&why))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_object_was_made_of_this_source() {
        let source = include_str!("sleeps.bpf.c");
        let of = include_str!("sleeps.bpf.sha256").trim();
        assert_eq!(crate::sha256::hex(source), of, "run `cargo xtask bpf` to rebuild the object");
    }
}
