//! Which calls concern a file, and at which offset. Files are identified by the path strace prints beside a descriptor (`-y`), so
//! renumbered and inherited descriptors need no guessing. The position of `read` and `write` belongs to the open file
//! description, not to the descriptor, so it is tracked through open, lseek, dup, fork and threads.

use super::Syscall;
use std::collections::HashMap;
use std::path::Path;

/// A call on the file in question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCall {
    /// The thread that made it.
    pub pid: u32,
    /// "pwrite64", "fsync", "openat", ...
    pub name: String,
    /// Its start offset, for calls that read, write, map or allocate; for lseek the new position. `None` if it has none, or
    /// (append mode) an unknown one.
    pub offset: Option<u64>,
    /// Bytes requested, where the call has a size.
    pub bytes: Option<u64>,
    /// Its return value.
    pub ret: Option<i64>,
    /// Error name such as "EIO", if it failed.
    pub errno: Option<String>,
    /// The arguments as printed by strace, including open flags.
    pub args: String,
}

/// The calls on `path`, in order.
pub(super) fn on_file(calls: &[Syscall], path: &Path) -> Vec<FileCall> {
    let mut tables = Tables::default();
    let mut found = Vec::new();
    for call in calls {
        let place = follow(&mut tables, call);
        if concerns(call, path) {
            let (offset, bytes) = place;
            found.push(FileCall {
                pid: call.pid,
                name: call.name.clone(),
                offset,
                bytes,
                ret: call.ret,
                errno: call.errno.clone(),
                args: call.args.clone(),
            });
        }
    }
    found
}

/// Whether a call concerns the file: through a descriptor, by opening it, or by name.
fn concerns(call: &Syscall, path: &Path) -> bool {
    let wanted = path.to_string_lossy();
    if call.is_open() && call.ret != Some(-1) {
        return call.returned_path.as_deref() == Some(&wanted);
    }
    let quoted = format!("\"{wanted}\"");
    let by_descriptor = [0, 4].iter().any(|&at| {
        (at == 0 || call.name == "mmap") && call.descriptor(at).is_some_and(|(_, p)| p == Some(&wanted))
    });
    by_descriptor || call.arguments().iter().any(|a| *a == quoted)
}

/// Updates the tables by a call and returns its (offset, bytes).
fn follow(tables: &mut Tables, call: &Syscall) -> (Option<u64>, Option<u64>) {
    let pid = call.pid;
    let fd = call.descriptor(0).map(|(fd, _)| fd);
    let done = call.ret.filter(|&r| r >= 0);
    match call.name.as_str() {
        "openat" | "open" | "creat" => {
            let start = (!call.args.contains("O_APPEND")).then_some(0);
            if let Some(opened) = done {
                tables.open(pid, opened, start);
            }
            (None, None)
        }
        "dup" | "dup2" | "dup3" | "fcntl" => {
            let copies = call.name != "fcntl" || call.args.contains("F_DUPFD");
            if let (true, Some(from), Some(to)) = (copies, fd, done) {
                tables.duplicate(pid, from, to);
            }
            (None, None)
        }
        "fork" | "vfork" | "clone" | "clone3" => {
            if let Some(child) = done.and_then(|c| u32::try_from(c).ok()) {
                tables.clone_for(pid, child, call.args.contains("CLONE_FILES"));
            }
            (None, None)
        }
        "unshare" if done.is_some() && call.args.contains("CLONE_FILES") => {
            tables.clone_for(pid, pid, false);
            (None, None)
        }
        "lseek" => {
            let position = done.and_then(|p| u64::try_from(p).ok());
            if let Some(description) = fd.and_then(|fd| tables.description(pid, fd)) {
                tables.descriptions[description].position =
                    position.or(tables.descriptions[description].position);
            }
            (position, None)
        }
        "read" | "write" => (fd.and_then(|fd| tables.advance(pid, fd, call.ret)), call.number(2)),
        "readv" | "writev" => (fd.and_then(|fd| tables.advance(pid, fd, call.ret)), call.vector_bytes()),
        "pread64" | "pwrite64" => (call.number(3), call.number(2)),
        "preadv" | "pwritev" | "preadv2" | "pwritev2" => (call.number(3), call.vector_bytes()),
        "mmap" => (call.number(5), call.number(1)),
        "fallocate" => (call.number(2), call.number(3)),
        "ftruncate" => (None, call.number(1)),
        "sync_file_range" | "fadvise64" => (call.number(1), call.number(2)),
        _ => (None, None),
    }
}

/// An open file description, whose position is shared by all its descriptors.
#[derive(Clone, Copy, Debug)]
struct Description {
    position: Option<u64>,
}

/// Descriptor tables of all threads, as far as known from the log.
#[derive(Default)]
struct Tables {
    descriptions: Vec<Description>,
    tables: Vec<HashMap<i64, usize>>,
    table_of: HashMap<u32, usize>,
}

impl Tables {
    fn table(&mut self, pid: u32) -> usize {
        let next = self.tables.len();
        let at = *self.table_of.entry(pid).or_insert(next);
        if at == next {
            self.tables.push(HashMap::new());
        }
        at
    }

    fn set(&mut self, pid: u32, fd: i64, description: usize) {
        let table = self.table(pid);
        self.tables[table].insert(fd, description);
    }

    fn open(&mut self, pid: u32, fd: i64, position: Option<u64>) {
        self.descriptions.push(Description { position });
        self.set(pid, fd, self.descriptions.len() - 1);
    }

    fn description(&mut self, pid: u32, fd: i64) -> Option<usize> {
        let table = self.table(pid);
        self.tables[table].get(&fd).copied()
    }

    fn duplicate(&mut self, pid: u32, from: i64, to: i64) {
        match self.description(pid, from) {
            Some(description) => self.set(pid, to, description),
            None => self.open(pid, to, None),
        }
    }

    /// A thread shares its parent's table, a process gets a copy; open file descriptions are shared either way.
    fn clone_for(&mut self, parent: u32, child: u32, shares: bool) {
        let table = self.table(parent);
        if shares {
            self.table_of.insert(child, table);
        } else {
            self.tables.push(self.tables[table].clone());
            self.table_of.insert(child, self.tables.len() - 1);
        }
    }

    /// Returns the position before a transfer of `moved` bytes, and advances it.
    fn advance(&mut self, pid: u32, fd: i64, moved: Option<i64>) -> Option<u64> {
        let description = self.description(pid, fd)?;
        let position = &mut self.descriptions[description].position;
        let before = *position;
        let moved = u64::try_from(moved.unwrap_or(0)).unwrap_or(0);
        *position = before.map(|p| p + moved);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strace::parse;

    #[test]
    fn implied_offsets_follow_seek_dup_fork_and_threads() {
        let log = "1 openat(AT_FDCWD, \"f\", O_RDWR) = 3</f>\n\
                   1 write(3</f>, \"\"..., 10) = 10\n\
                   1 dup(3</f>) = 4</f>\n\
                   1 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 2\n\
                   1 clone3({flags=CLONE_VM|CLONE_FILES, stack_size=8}, 88) = 5\n\
                   2 write(4</f>, \"\"..., 10) = 10\n\
                   5 readv(3</f>, [{iov_base=\"\", iov_len=6}, {iov_base=\"\", iov_len=4}], 2) = 8\n\
                   5 lseek(3</f>, 100, SEEK_SET) = 100\n\
                   1 read(4</f>, \"\"..., 10) = 0\n\
                   2 openat(AT_FDCWD, \"/g\", O_RDWR) = 3</g>\n\
                   2 write(3</g>, \"\"..., 10) = 10\n\
                   1 pwritev2(3</f>, [{iov_base=\"\", iov_len=512}], 1, 4096, RWF_DSYNC) = 512\n";
        let calls = on_file(&parse(log), Path::new("/f"));
        let places: Vec<_> = calls.iter().map(|c| (c.name.as_str(), c.offset, c.bytes)).collect();
        assert_eq!(
            places,
            [
                ("openat", None, None),
                ("write", Some(0), Some(10)),
                ("dup", None, None),
                ("write", Some(10), Some(10)),
                ("readv", Some(20), Some(10)),
                ("lseek", Some(100), None),
                ("read", Some(100), Some(10)),
                ("pwritev2", Some(4096), Some(512)),
            ]
        );
    }

    #[test]
    fn a_thread_may_have_a_table_of_its_own() {
        let log = "1 clone3({flags=CLONE_VM|CLONE_FILES, stack_size=8}, 88) = 5\n\
                   5 unshare(CLONE_FILES) = 0\n\
                   5 openat(AT_FDCWD, \"f\", O_RDWR) = 3</f>\n\
                   1 openat(AT_FDCWD, \"/g\", O_RDWR) = 3</g>\n\
                   1 read(3</g>, \"\"..., 10) = 10\n\
                   5 write(3</f>, \"\"..., 10) = 10\n";
        assert_eq!(on_file(&parse(log), Path::new("/f"))[1].offset, Some(0));
    }

    #[test]
    fn append_has_no_known_offset() {
        let log = "1 openat(AT_FDCWD, \"f\", O_WRONLY|O_APPEND) = 3</f>\n1 write(3</f>, \"\"..., 10) = 10\n";
        assert_eq!(on_file(&parse(log), Path::new("/f"))[1].offset, None);
    }
}
