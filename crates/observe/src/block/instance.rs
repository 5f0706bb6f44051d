//! A private tracefs instance: separate rings with our own clock and filters, unaffected by other tracing. Creating one takes about 25 ms
//! and removing it 30 to 40 (the kernel waits for all its CPUs). So it is created once per process, in the background while files are
//! prepared ([`Instance::coming`]), and used for every phase ([`super::Watch::start`], below 1 ms).

use super::decode::Decoder;
use super::devices::Watched;
use super::error::WatchError;
use super::format::{EventFormat, PageFormat};
use super::kernel_events::{Detail, EVENTS, KernelEvent, bytes_per_io};
use super::{own_pages, reader, tracefs};
use crate::files::{KernelFiles, Live};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ring size per CPU when the load is unknown.
const LEAST_KIB: u64 = 1024;
/// Upper bound of the ring size, whatever rate is expected.
const MOST_KIB: u64 = 32 * 1024;
/// Size in KiB of ring pages (the kernel calls them sub-buffers) where it can be set.
const SUB_BUFFER_KIB: &str = "32";

/// A tracefs instance. Clones share it; it is removed when the last of them is dropped.
#[derive(Clone, Debug)]
pub struct Instance {
    pub(super) inner: Arc<Inner>,
}

/// An instance being created on a separate thread.
#[derive(Debug)]
pub struct Coming(std::thread::JoinHandle<Result<Instance, WatchError>>);

#[derive(Debug)]
pub(super) struct Inner {
    dir: PathBuf,
    pub page: PageFormat,
    pub cpus: Vec<u16>,
    /// The process that made it: children of a fork leave it alone.
    maker: u32,
    state: Mutex<State>,
}

/// The settings already written.
#[derive(Debug, Default)]
struct State {
    kib: u64,
    /// Filters of the enabled events, by name.
    enabled: BTreeMap<&'static str, String>,
    /// Descriptions of the events read so far, by name. They do not change while the kernel runs.
    formats: BTreeMap<&'static str, EventFormat>,
    watching: bool,
    /// Another process removes it.
    handed_over: bool,
}

/// The ring of one CPU.
#[derive(Debug)]
pub(super) struct Ring {
    pub cpu: u16,
    pub pages: File,
    pub stats: File,
}

impl Instance {
    /// Creates an instance and removes those left by killed processes.
    pub fn new() -> Result<Self, WatchError> {
        let root = tracefs::find(&Live)?;
        let instances = root.join("instances");
        tracefs::sweep(&instances);
        let dir = make_dir(&root, &instances)?;
        // From here on the directory is ours: if anything fails, the drop removes it.
        let mut inner = Inner {
            dir,
            page: PageFormat::USUAL,
            cpus: Vec::new(),
            maker: std::process::id(),
            state: Mutex::default(),
        };
        inner.prepare()?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Creates an instance in the background.
    pub fn coming() -> Result<Coming, WatchError> {
        let make = || {
            own_pages::fetch(&Live);
            Self::new()
        };
        let thread = std::thread::Builder::new().name("block-events".into()).spawn(make);
        thread.map(Coming).map_err(|e| WatchError::Thread(format!("could not be started: {e}")))
    }

    /// Does in advance what the first watch of these devices would do: ring sizes, filters, trace points. Takes some 10 ms; the watch
    /// then starts in well below 1 ms.
    pub fn get_ready(
        &self,
        devices: &[Watched],
        detail: Detail,
        expected_iops: u64,
    ) -> Result<(), WatchError> {
        self.inner.arrange(devices, detail, expected_iops)?;
        self.inner.free();
        Ok(())
    }

    /// Has a separate process remove the instance, so that the caller need not wait the 30 ms the kernel takes. If that process cannot be
    /// started, the drop removes it as usual.
    pub fn remove_meanwhile(self) {
        let mut remove = Command::new("rmdir");
        remove
            .arg(&self.inner.dir)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // A Ctrl-C pressed while it runs is not meant for it.
        let Ok(mut child) = remove.process_group(0).spawn() else { return };
        self.inner.state().handed_over = true;
        let _ = std::thread::Builder::new().spawn(move || child.wait());
    }

    /// The instance's directory in tracefs.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.inner.dir
    }

    /// Disables the trace points that a watch left enabled for the next one. Until then they cost some tens of ns for every request of
    /// the watched devices.
    pub fn rest(&self) -> Result<(), WatchError> {
        let mut state = self.inner.state();
        if state.watching {
            return Err(WatchError::Busy);
        }
        self.inner.disable_but(&mut state, &[])
    }
}

impl Coming {
    /// Waits until the instance exists.
    pub fn wait(self) -> Result<Instance, WatchError> {
        self.0.join().unwrap_or_else(|_| Err(WatchError::Thread("failed".into())))
    }
}

fn make_dir(root: &Path, instances: &Path) -> Result<PathBuf, WatchError> {
    let me = std::process::id();
    let start = tracefs::start_ticks(me).unwrap_or(0);
    let mut n = 0;
    loop {
        let dir = instances.join(format!("{}{me}-{start}-{n}", tracefs::PREFIX));
        match std::fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && n < 1000 => n += 1,
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                return Err(WatchError::NotAllowed(root.to_path_buf()));
            }
            Err(why) => return Err(WatchError::Io { file: dir, why }),
        }
    }
}

impl Inner {
    fn prepare(&mut self) -> Result<(), WatchError> {
        let clocks = self.read("trace_clock")?;
        if !clocks.split_ascii_whitespace().any(|c| c.trim_matches(['[', ']']) == "mono") {
            return Err(WatchError::NoClock(clocks.trim().to_string()));
        }
        self.write("tracing_on", "0")?;
        // Set while the rings are still small: changing the clock empties them.
        self.write("trace_clock", "mono")?;
        // A full ring keeps its content: events are then lost in one place, at the end, and counted.
        self.write("options/overwrite", "0")?;
        // Fewer and larger pages take fewer calls to read. Kernels before 6.8 have a fixed page size.
        let _ = self.write("buffer_subbuf_size_kb", SUB_BUFFER_KIB);
        let header = self.dir.join("events/header_page");
        let text = self.read("events/header_page")?;
        self.page = PageFormat::parse(&text).map_err(|what| WatchError::Format { file: header, what })?;
        self.cpus = cpus(&self.dir);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the rings and sets filters, sizes and trace points for these devices, except where already set. Tracing stays off.
    pub fn arrange(
        &self,
        devices: &[Watched],
        detail: Detail,
        expected_iops: u64,
    ) -> Result<(Vec<Ring>, Decoder), WatchError> {
        let mut state = self.state();
        if state.watching {
            return Err(WatchError::Busy);
        }
        let wanted: Vec<(KernelEvent, String)> =
            EVENTS.iter().filter_map(|e| Some((*e, e.filter(devices, detail)?))).collect();
        if wanted.is_empty() {
            return Err(WatchError::NoDevice);
        }
        self.make_room(&mut state, ring_kib(expected_iops, bytes_per_io(devices, detail)))?;
        let rings = self.rings()?;
        let mut decoder = Decoder::default();
        let names: Vec<&str> = wanted.iter().map(|(event, _)| event.name).collect();
        self.disable_but(&mut state, &names)?;
        for (event, filter) in wanted {
            if self.describe(&mut state, &event, &mut decoder)? {
                self.enable(&mut state, event.name, filter)?;
            }
        }
        state.watching = true;
        Ok((rings, decoder))
    }

    /// Adds the event to the decoder; false if this kernel lacks it and it is optional.
    fn describe(
        &self,
        state: &mut State,
        event: &KernelEvent,
        decoder: &mut Decoder,
    ) -> Result<bool, WatchError> {
        let file = format!("events/block/{}/format", event.name);
        if !state.formats.contains_key(event.name) {
            let text = match self.read(&file) {
                Ok(text) => text,
                Err(_) if !event.needed() => return Ok(false),
                Err(WatchError::Io { why, .. }) if why.kind() == io::ErrorKind::NotFound => {
                    return Err(WatchError::NoEvent { tracefs: self.dir.clone(), event: event.name });
                }
                Err(other) => return Err(other),
            };
            let format = EventFormat::parse(&text)
                .map_err(|what| WatchError::Format { file: self.dir.join(&file), what })?;
            state.formats.insert(event.name, format);
        }
        decoder
            .add(event.action, &state.formats[event.name])
            .map_err(|what| WatchError::Format { file: self.dir.join(file), what })?;
        Ok(true)
    }

    fn enable(&self, state: &mut State, name: &'static str, filter: String) -> Result<(), WatchError> {
        if state.enabled.get(name) == Some(&filter) {
            return Ok(());
        }
        self.write(&format!("events/block/{name}/filter"), &filter)?;
        self.write(&format!("events/block/{name}/enable"), "1")?;
        state.enabled.insert(name, filter);
        Ok(())
    }

    fn disable_but(&self, state: &mut State, wanted: &[&str]) -> Result<(), WatchError> {
        let old: Vec<&'static str> = state.enabled.keys().copied().filter(|n| !wanted.contains(n)).collect();
        for name in old {
            self.write(&format!("events/block/{name}/enable"), "0")?;
            state.enabled.remove(name);
        }
        Ok(())
    }

    /// Rings only grow: shrinking one would mean another wait for all CPUs.
    fn make_room(&self, state: &mut State, kib: u64) -> Result<(), WatchError> {
        if kib > state.kib {
            self.write("buffer_size_kb", &kib.to_string())?;
            state.kib = kib;
        }
        Ok(())
    }

    fn rings(&self) -> Result<Vec<Ring>, WatchError> {
        let open = |cpu: &u16| {
            let dir = self.dir.join(format!("per_cpu/cpu{cpu}"));
            let file = |name: &str| {
                let path = dir.join(name);
                let mut options = File::options();
                let opened = options.read(true).custom_flags(libc::O_NONBLOCK).open(&path);
                opened.map_err(WatchError::io(path))
            };
            Ok(Ring { cpu: *cpu, pages: file("trace_pipe_raw")?, stats: file("stats")? })
        };
        self.cpus.iter().map(open).collect()
    }

    /// Turns recording on or off. The trace points stay enabled: that costs little, and enabling them again takes 6 ms.
    pub fn record(&self, on: bool) -> Result<(), WatchError> {
        self.write("tracing_on", if on { "1" } else { "0" })
    }

    /// Marks the end of a watch.
    pub fn free(&self) {
        self.state().watching = false;
    }

    /// Ring size per CPU in KiB.
    pub fn ring_kib(&self) -> u64 {
        self.state().kib
    }

    /// Reads in large pieces: `header_page` answers only the first read, however short that is.
    fn read(&self, name: &str) -> Result<String, WatchError> {
        let path = self.dir.join(name);
        let whole = || {
            let mut file = File::open(&path)?;
            let (mut text, mut part) = (Vec::new(), vec![0; 64 * 1024]);
            loop {
                match file.read(&mut part)? {
                    0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
                    bytes => text.extend(&part[..bytes]),
                }
            }
        };
        whole().map_err(WatchError::io(&path))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), WatchError> {
        let path = self.dir.join(name);
        let written = File::options().write(true).open(&path).and_then(|mut f| f.write_all(text.as_bytes()));
        written.map_err(WatchError::io(path))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if std::process::id() == self.maker && !self.state().handed_over {
            // Removing the instance also disables its trace points. If a process still has a file in it open, the removal fails,
            // and the next start removes it.
            let _ = tracefs::remove(&self.dir);
        }
    }
}

/// Ring size for the events of three drain periods, within the bounds and, over all CPUs, a 64th of main memory.
fn ring_kib(expected_iops: u64, bytes_per_io: u64) -> u64 {
    let per_second = expected_iops.saturating_mul(bytes_per_io);
    let needed = per_second / 1000 * (3 * reader::PERIOD_MS) / 1024;
    needed.clamp(LEAST_KIB, MOST_KIB)
}

/// Online CPUs that have a ring. (The ring of an absent CPU answers every poll with an error.)
fn cpus(dir: &Path) -> Vec<u16> {
    let online = Live.trimmed(Path::new("/sys/devices/system/cpu/online"));
    let names = Live.list(&dir.join("per_cpu")).unwrap_or_default();
    let all = names.iter().filter_map(|n| n.strip_prefix("cpu")?.parse::<u16>().ok());
    let mut cpus: Vec<u16> =
        all.filter(|&cpu| online.as_deref().is_none_or(|list| in_list(list, cpu))).collect();
    cpus.sort_unstable();
    cpus
}

/// Whether a CPU is in a list like "0-3,8".
fn in_list(list: &str, cpu: u16) -> bool {
    list.split(',').any(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        matches!((first.trim().parse::<u16>(), last.trim().parse::<u16>()), (Ok(f), Ok(l)) if (f..=l).contains(&cpu))
    })
}

impl Ring {
    /// Reads a page into `page`; false if there is none.
    pub fn read_page(&mut self, page: &mut [u8]) -> io::Result<bool> {
        loop {
            match self.pages.read(page) {
                Ok(bytes) => return Ok(bytes > 0),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_as_large_as_the_load_needs() {
        assert_eq!(ring_kib(0, 200), LEAST_KIB);
        let many = ring_kib(400_000, 200);
        assert!((4000..6000).contains(&many), "{many} KiB for 4.8 MB in 60 ms");
        assert_eq!(ring_kib(u64::MAX, u64::MAX), MOST_KIB);
    }

    #[test]
    fn lists_of_cpus_are_understood() {
        for (list, cpu, inside) in
            [("0-1", 1, true), ("0-1", 2, false), ("0,2-3,7", 7, true), ("0,2-3,7", 1, false), ("", 0, false)]
        {
            assert_eq!(in_list(list, cpu), inside, "{cpu} in `{list}`");
        }
    }
}
