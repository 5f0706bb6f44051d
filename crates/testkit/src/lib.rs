//! For tests only: access to machine features, and a record of those that are missing. Never part of the shipped program (`cargo
//! xtask tidy` checks that every crate uses it only as a dev-dependency).
//!
//! A helper that fails because the *test* is wrong panics with a message. A helper that cannot work on this machine (not root, no
//! loop devices, no strace) records a skip under the test's name and returns `None`, so that a green run reports what it did not
//! test. See `docs/testing.md`.
//!
//! * [`skip`]: skips, and requirements of tests
//! * [`dir`]: directories that are removed with the test, also after a SIGKILL
//! * [`loop_fs`], [`tmp_fs`]: file systems of a chosen kind and size
//! * [`fault_fs`], [`dead_mount`]: file systems that fail on request, or never respond
//! * [`fathom`], [`running`]: the program under test, run, watched and signalled
//! * [`programs`]: scripts and mounts that concurrent tests do not make busy
//! * [`seccomp`]: system calls forbidden to a test and its children
//! * [`strace`]: the system calls a command made, with the file and the offset of each
//! * [`iso`]: ISO 9660 images that no writer makes, well-formed and hostile
//! * [`mask`], [`golden`]: comparing output with files, with the numbers masked
//! * [`seeds`]: documents that tests read where available

pub mod dead_mount;
pub mod dir;
pub mod fathom;
pub mod fault_fs;
pub mod golden;
pub mod iso;
pub mod loop_fs;
pub mod mask;
mod mounts;
pub mod programs;
pub mod running;
pub mod seccomp;
pub mod seeds;
pub mod skip;
pub mod strace;
pub mod terminal;
pub mod tmp_fs;

pub use dead_mount::DeadMount;
pub use dir::TestDir;
pub use fathom::{Fathom, sqlite3};
pub use fault_fs::{Call, Fault, FaultFs};
pub use golden::golden;
pub use loop_fs::{Kind, LoopFs};
pub use mask::{mask_keep_width, mask_squeeze};
pub use programs::{install, script, unmount};
pub use running::{Outcome, Running, family, moved_by_workers, transferred};
pub use seccomp::without_call;
pub use seeds::seed;
pub use skip::{find_tool, need_root, need_tool, skip};
pub use strace::{FileCall, Syscall, Trace, strace, strace_command};
pub use terminal::on_terminal;
pub use tmp_fs::TmpFs;
