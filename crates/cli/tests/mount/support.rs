//! A mounted image for a test: started, waited for, watched, and taken down whatever happens.

pub use fathom_testkit::iso::valid::noise;
use fathom_testkit::iso::{Builder, Spec, susp};
use fathom_testkit::{Fathom, Outcome, Running, find_tool, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longer than any test takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Whether images can be mounted here; if not, records the skip.
pub fn can_mount(test: &str) -> bool {
    if !Path::new("/dev/fuse").exists() {
        skip(test, "needs /dev/fuse (the kernel's module fuse)");
        return false;
    }
    let can = rustix::process::geteuid().is_root() || helper().is_some();
    if !can {
        skip(test, "needs root, or the program fusermount3");
    }
    can
}

/// The program that mounts for ordinary users.
pub fn helper() -> Option<PathBuf> {
    ["fusermount3", "fusermount"].into_iter().find_map(find_tool)
}

/// A mount. Dropped, it is taken down: first the server, so that nothing can hang on it, then what it left.
pub struct Mounted {
    running: Option<Running>,
    watchdog: Option<(Sender<()>, JoinHandle<()>)>,
    pub on: PathBuf,
    // Last: its directory is removed, and what is still mounted in it is unmounted.
    pub fathom: Fathom,
}

impl Mounted {
    /// Mounts an image with these options and waits until it is there.
    #[track_caller]
    pub fn new(image: &[u8], options: &[&str]) -> Self {
        let fathom = Fathom::new();
        fs::write(fathom.work().join("disc.iso"), image).unwrap();
        Self::again(fathom, options)
    }

    /// The same in a directory that has "disc.iso".
    #[track_caller]
    pub fn again(fathom: Fathom, options: &[&str]) -> Self {
        let words: Vec<&str> = ["mount"].iter().chain(options).chain(&["disc.iso", "on"]).copied().collect();
        Self::started(fathom, &words)
    }

    /// The same by a whole command line, which mounts on "on".
    #[track_caller]
    pub fn started(fathom: Fathom, words: &[&str]) -> Self {
        let on = fathom.work().join("on");
        let _ = fs::create_dir(&on);
        let mut running = fathom.spawn(words);
        running.wait_for_text("mounted on");
        let pid = i32::try_from(running.pid()).unwrap();
        let watchdog = Some(watch(pid));
        Self { running: Some(running), watchdog, on, fathom }
    }

    pub fn running(&mut self) -> &mut Running {
        self.running.as_mut().expect("a mount that was not ended yet")
    }

    /// Sends a signal to the server.
    pub fn signal(&mut self, signal: i32) {
        self.running().signal(signal);
    }

    /// Waits for the server's end.
    #[track_caller]
    pub fn finish(&mut self) -> Outcome {
        let outcome = self.running.take().expect("a mount that was not ended yet").finish();
        self.disarm();
        outcome
    }

    /// Ends it as Ctrl-C does and waits.
    #[track_caller]
    pub fn end(mut self) -> Outcome {
        self.signal(libc::SIGINT);
        let outcome = self.finish().expect_code(0);
        assert!(!is_mounted(&self.on));
        outcome
    }

    /// The directory with "disc.iso", for another mount; this one has ended.
    pub fn into_directory(mut self) -> Fathom {
        assert!(self.running.is_none() && !is_mounted(&self.on));
        std::mem::take(&mut self.fathom)
    }

    fn disarm(&mut self) {
        if let Some((tell, thread)) = self.watchdog.take() {
            drop(tell);
            let _ = thread.join();
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        drop(self.running.take());
        self.disarm();
        take_down(&self.on);
    }
}

/// Kills a process if it is not told within the patience that all is well.
fn watch(pid: i32) -> (Sender<()>, JoinHandle<()>) {
    let (tell, told) = channel::<()>();
    let thread = std::thread::spawn(move || {
        if told.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let pid = rustix::process::Pid::from_raw(pid).expect("a process");
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    });
    (tell, thread)
}

/// Takes a mount out of the tree, if there is one.
pub fn take_down(on: &Path) {
    if is_mounted(on) {
        let _ = std::process::Command::new("umount").arg("-l").arg(on).output();
    }
}

/// The kernel's line about what is mounted on a directory. The directory itself is not touched.
pub fn line_of(on: &Path) -> Option<String> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let on = on.to_str().unwrap();
    table.lines().find(|line| line.split(' ').nth(4) == Some(on)).map(str::to_owned)
}

pub fn is_mounted(on: &Path) -> bool {
    line_of(on).is_some()
}

/// Waits for something that another process does.
#[track_caller]
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < PATIENCE, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn named(name: &str, mode: u32, links: u32, serial: Option<u32>, data: &[u8]) -> Spec {
    let susp = vec![susp::px(mode, links, 0, 0, serial), susp::nm(0, name.as_bytes())];
    Spec { data: data.to_vec(), susp, date: [107, 2, 28, 12, 34, 56, 0], ..Spec::default() }
}

/// A disc as a user has one: directories, links of both kinds, a program, large and small files.
pub fn disc() -> Vec<u8> {
    let mut link = named("link", 0o120_777, 1, None, b"");
    link.susp.push(susp::sl(0, &[(0, b"docs"), (0, b"README")]));
    let mut builder = Builder::new()
        .rock_ridge("RRIP_1991A")
        .dir("docs", named("docs", 0o040_755, 2, None, b""))
        .add("docs/readme", named("README", 0o100_644, 1, None, b"read me\n"))
        .add("docs/secret", named("secret", 0o100_600, 1, None, b"not yours\n"))
        .add("big", named("Big file", 0o100_644, 1, None, &noise(3_000_001)))
        .add("empty", named("empty", 0o100_644, 1, None, b""))
        .add("sh", named("sh", 0o104_755, 1, None, &fs::read("/bin/sh").unwrap()))
        .add("link", link);
    for name in ["hard1", "hard2"] {
        builder = builder.add(name, named(name, 0o100_644, 2, Some(77_000), b"one file"));
    }
    builder = builder.dir("many", named("many", 0o040_755, 2, None, b""));
    for n in 0..300 {
        let name = format!("a file of a longer name, number {n:03}");
        builder = builder.add(&format!("many/f{n:03}"), named(&name, 0o100_444, 1, None, &noise(n * 37)));
    }
    // One file under two names: the second record points at the first one's extent.
    let mut built = builder.build();
    let block = u32::try_from(built.data["hard1"] / 2048).unwrap();
    built.patch_both32(built.record("hard2") + 2, block);
    built.bytes
}
