//! An in-memory file system whose calls fail on request. A thread of the test serves it over FUSE, and the kernel caches nothing,
//! so that each call of a program arrives here, with or without O_DIRECT. O_TMPFILE is refused.

mod faults;
mod serve;
#[cfg(test)]
mod tests;
mod tree;

use crate::{TestDir, mounts, need_root, skip};
use faults::Plan;
pub use faults::{Call, Fault};
use serve::Server;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tree::Tree;

#[derive(Debug)]
struct State {
    tree: Tree,
    plan: Plan,
}

/// State shared by the test and the serving thread.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    healed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fault of the current call, if any. While one call is blocked, no other is answered.
    fn strike(&self, call: Call) -> (MutexGuard<'_, State>, Option<Fault>) {
        let mut state = self.lock();
        let fault = state.plan.strike(call);
        if fault == Some(Fault::Silence) {
            let is_silent = |state: &mut State| state.plan.is_silent();
            state = self.healed.wait_while(state, is_silent).unwrap_or_else(PoisonError::into_inner);
        }
        (state, fault)
    }
}

/// A mounted file system with faults; unmounted on drop, even if in use.
#[derive(Debug)]
pub struct FaultFs {
    mount_point: PathBuf,
    shared: Arc<Shared>,
    server: Option<JoinHandle<()>>,
    _dir: TestDir,
}

impl FaultFs {
    /// Mounts one without faults; `None`, with the skip recorded, if this machine does not allow it.
    #[must_use]
    pub fn mount(test: &str) -> Option<Self> {
        if !need_root(test) {
            return None;
        }
        let dir = TestDir::new();
        let mount_point = dir.subdir("mnt");
        let shared = Arc::new(Shared {
            state: Mutex::new(State { tree: Tree::new(), plan: Plan::default() }),
            healed: Condvar::new(),
        });
        match serve(&mount_point, Server(Arc::clone(&shared))) {
            Ok(server) => Some(Self { mount_point, shared, server: Some(server), _dir: dir }),
            Err(e) => {
                skip(test, &format!("a file system of FUSE could not be mounted: {e}"));
                None
            }
        }
    }

    /// Its mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.mount_point
    }

    /// From now on every such call fails. A call has one fault at a time; panics if this one cannot apply to it.
    #[track_caller]
    pub fn fail(&self, call: Call, fault: Fault) {
        self.fail_after(call, 0, fault);
    }

    /// As [`FaultFs::fail`], but `after` such calls still succeed.
    #[track_caller]
    pub fn fail_after(&self, call: Call, after: u64, fault: Fault) {
        self.shared.lock().plan.arm(call, after, u64::MAX, fault);
    }

    /// One call fails, after `after` that succeed.
    #[track_caller]
    pub fn fail_once(&self, call: Call, after: u64, fault: Fault) {
        self.shared.lock().plan.arm(call, after, 1, fault);
    }

    /// Disarms all faults.
    pub fn heal(&self) {
        self.shared.lock().plan.heal();
        self.shared.healed.notify_all();
    }

    /// Number of such calls that have failed so far.
    #[must_use]
    pub fn hits(&self, call: Call) -> u64 {
        self.shared.lock().plan.hits(call)
    }
}

impl Drop for FaultFs {
    fn drop(&mut self) {
        self.heal();
        // Waiting processes get an error, and the server ends.
        let _ = mounts::unmount_by_force(&self.mount_point);
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

/// Mounts, and serves from a separate thread.
fn serve(mount_point: &Path, files: Server) -> io::Result<JoinHandle<()>> {
    // O_CLOEXEC, as std sets it: a started program that inherits it would keep the mount alive after a SIGKILL of the test.
    let device = OpenOptions::new().read(true).write(true).open("/dev/fuse")?;
    let options = format!(
        "fd={},rootmode=40755,user_id=0,group_id=0,allow_other,default_permissions",
        device.as_raw_fd()
    );
    mounts::mount(Path::new("faults"), mount_point, "fuse", libc::MS_NOSUID | libc::MS_NODEV, &options)?;
    let mut config = fuser::Config::default();
    config.acl = fuser::SessionACL::All;
    let session = fuser::Session::from_fd(files, OwnedFd::from(device), fuser::SessionACL::All, config);
    let started = session.and_then(|session| {
        // The connection lives as long as the session, which may end with an error when it is unmounted by force.
        std::thread::Builder::new().name("faults".into()).spawn(move || drop(session.run()))
    });
    if started.is_err() {
        let _ = mounts::unmount_by_force(mount_point);
    }
    started
}
