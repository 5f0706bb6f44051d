//! What a command really asked of the kernel: runs it under `strace -f` and reads the log back as calls. [`Trace::on_file`] gives
//! the calls on one file in order, each with the offset it worked at, also for `read` and `write`, whose offset is implied.
//!
//! Files are known by the path strace prints beside a descriptor (`-y`), so renumbered and inherited descriptors need no
//! guessing. The position of `read` and `write` belongs to what was opened, not to the descriptor, so it is followed through
//! open, lseek, dup, fork and threads.

use crate::{need_tool, skip};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The calls that are traced: what concerns file data and descriptors, and what copies descriptor tables.
const TRACED: &str = "trace=openat,open,creat,close,dup,dup2,dup3,fcntl,read,write,pread64,pwrite64,readv,writev,\
                      preadv,pwritev,preadv2,pwritev2,lseek,fsync,fdatasync,sync_file_range,ftruncate,truncate,\
                      fallocate,fadvise64,mmap,munmap,msync,madvise,unlink,unlinkat,rename,renameat2,clone,clone3,\
                      fork,vfork,execve,io_setup,io_submit,io_getevents,io_uring_setup,io_uring_enter";

/// One system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Syscall {
    /// The thread that made it.
    pub pid: u32,
    /// "pwrite64"
    pub name: String,
    /// The arguments as strace wrote them.
    pub args: String,
    /// What it returned; `None` if it never did (exit, killed).
    pub ret: Option<i64>,
    /// "ENOSPC", if it failed.
    pub errno: Option<String>,
    /// The path strace put beside a returned descriptor.
    returned_path: Option<String>,
}

/// A call on a file of interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCall {
    /// The thread that made it.
    pub pid: u32,
    /// "pwrite64", "fsync", "openat", ...
    pub name: String,
    /// Where in the file it began, for calls that read, write, map or allocate; for lseek the new position. `None` if it has
    /// no place or (append mode) none that can be known.
    pub offset: Option<u64>,
    /// Bytes asked for, where the call says so.
    pub bytes: Option<u64>,
    /// What it returned.
    pub ret: Option<i64>,
    /// "EIO", if it failed.
    pub errno: Option<String>,
    /// The arguments as strace wrote them; open flags are read from here.
    pub args: String,
}

/// A finished command and the calls it made, in the order in which they began.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The calls of all its threads and processes.
    pub calls: Vec<Syscall>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Exit code, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// Runs a command under strace for the named test; `None`, with the skip recorded, if strace is missing or may not trace here.
#[must_use]
pub fn strace<S: AsRef<OsStr>>(test: &str, argv: &[S]) -> Option<Trace> {
    let (program, args) = argv.split_first()?;
    let mut command = Command::new(program);
    command.args(args);
    strace_command(test, &command)
}

/// The same for a prepared command: its program, arguments, environment and directory are taken over.
#[must_use]
pub fn strace_command(test: &str, command: &Command) -> Option<Trace> {
    if !need_tool(test, "strace") || !may_trace(test) {
        return None;
    }
    let dir = crate::TestDir::new();
    let log = dir.path().join("strace.log");
    let mut tracer = Command::new("strace");
    tracer.args(["-f", "-q", "-y", "-s", "16", "-e", "signal=none", "-e", TRACED, "-o"]).arg(&log).arg("--");
    tracer.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => tracer.env(name, value),
            None => tracer.env_remove(name),
        };
    }
    if let Some(dir) = command.get_current_dir() {
        tracer.current_dir(dir);
    }
    let out = tracer.output().unwrap_or_else(|e| panic!("strace could not be started: {e}"));
    // Paths and buffers may hold any bytes.
    let text = std::fs::read(&log).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
    let calls = parse(&text);
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!calls.is_empty(), "strace wrote nothing: {stderr}");
    Some(Trace {
        calls,
        stdout: String::from_utf8_lossy(&out.stdout).into_owned(),
        stderr,
        code: out.status.code(),
        signal: out.status.signal(),
    })
}

/// Containers may forbid ptrace; that is the machine's refusal and not the program's.
fn may_trace(test: &str) -> bool {
    let tried =
        Command::new("strace").args(["-q", "-o", "/dev/null", "--", "true"]).stdin(Stdio::null()).output();
    match tried {
        Ok(out) if out.status.success() => true,
        Ok(out) => {
            skip(
                test,
                &format!("strace may not trace here: {}", String::from_utf8_lossy(&out.stderr).trim()),
            );
            false
        }
        Err(e) => {
            skip(test, &format!("strace could not be started: {e}"));
            false
        }
    }
}

/// Reads a log of `strace -f -y -o`: `PID name(args) = ret`, with calls cut in two where threads interleave.
#[must_use]
pub fn parse(log: &str) -> Vec<Syscall> {
    let mut calls: Vec<Syscall> = Vec::new();
    let mut unfinished: HashMap<u32, usize> = HashMap::new();
    for line in log.lines() {
        let line = line.trim_start();
        let Some((pid, rest)) = line.split_once(' ') else { continue };
        let Ok(pid) = pid.parse::<u32>() else { continue };
        let rest = rest.trim_start();
        if rest.starts_with("+++") || rest.starts_with("---") {
            continue;
        }
        if let Some(tail) = rest.strip_prefix("<... ") {
            let Some((_, tail)) = tail.split_once(" resumed>") else { continue };
            let Some(at) = unfinished.remove(&pid) else { continue };
            let head = std::mem::take(&mut calls[at].args);
            let whole = format!("{}({head}{tail}", calls[at].name);
            if let Some(call) = parse_call(pid, &whole) {
                calls[at] = call;
            }
        } else if let Some(head) = rest.strip_suffix("<unfinished ...>") {
            let Some((name, args)) = head.split_once('(') else { continue };
            unfinished.insert(pid, calls.len());
            let (name, args) = (name.to_string(), args.trim_end().to_string());
            calls.push(Syscall { pid, name, args, ret: None, errno: None, returned_path: None });
        } else if let Some(call) = parse_call(pid, rest) {
            calls.push(call);
        }
    }
    calls
}

/// `pwrite64(3</tmp/x>, "..."..., 4096, 0) = -1 ENOSPC (No space left on device)`
fn parse_call(pid: u32, text: &str) -> Option<Syscall> {
    let (name, rest) = text.split_once('(')?;
    let (args, result) = rest.rsplit_once(" = ")?;
    let args = args.trim_end().strip_suffix(')')?;
    let (value, tail) = result.split_once(' ').unwrap_or((result, ""));
    let (number, path) = split_descriptor(value);
    // `= 3</a path with blanks>` was cut at its first blank above.
    let path = path.map(|_| split_descriptor(result).1.unwrap_or_default().to_string());
    let ret = parse_number(number);
    let failed = ret == Some(-1);
    let errno = failed.then(|| tail.split(' ').next().unwrap_or_default().to_string());
    Some(Syscall { pid, name: name.into(), args: args.into(), ret, errno, returned_path: path })
}

/// "3</tmp/x>" is 3 and /tmp/x; a deleted file's path is followed by "(deleted)".
fn split_descriptor(text: &str) -> (&str, Option<&str>) {
    match text.split_once('<') {
        Some((number, path)) => {
            let path = path.strip_suffix("(deleted)").unwrap_or(path);
            (number, Some(path.strip_suffix('>').unwrap_or(path)))
        }
        None => (text, None),
    }
}

fn parse_number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        // Addresses fit in 47 bits.
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

impl Syscall {
    /// The arguments, cut at the commas that separate them (not at those inside strings, structures and flags).
    #[must_use]
    pub fn arguments(&self) -> Vec<&str> {
        split_arguments(&self.args)
    }

    fn argument(&self, at: usize) -> Option<&str> {
        self.arguments().get(at).copied()
    }

    fn number(&self, at: usize) -> Option<u64> {
        self.argument(at).and_then(parse_number).and_then(|n| u64::try_from(n).ok())
    }

    /// Descriptor number and path of an argument such as `3</tmp/x>`.
    fn descriptor(&self, at: usize) -> Option<(i64, Option<&str>)> {
        let (number, path) = split_descriptor(self.argument(at)?);
        Some((number.parse().ok()?, path))
    }

    fn is_open(&self) -> bool {
        matches!(self.name.as_str(), "openat" | "open" | "creat")
    }

    /// Total of a `[{iov_base=..., iov_len=4096}, ...]`.
    fn vector_bytes(&self) -> Option<u64> {
        let lengths = self.argument(1)?.split("iov_len=").skip(1);
        lengths
            .map(|t| t.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse::<u64>().ok()))
            .sum()
    }
}

fn split_arguments(args: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut quoted, mut escaped) = (0usize, 0i32, false, false);
    for (at, c) in args.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' => quoted = true,
            '[' | '{' | '(' | '<' => depth += 1,
            ']' | '}' | ')' | '>' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(args[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = args[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

/// What an open made: its position is shared by every descriptor that stands for it.
#[derive(Clone, Copy, Debug)]
struct Description {
    position: Option<u64>,
}

/// Descriptor tables of all threads, as far as the log shows them.
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

    /// A thread shares its parent's table, a process gets a copy; what was open stays shared either way.
    fn clone_for(&mut self, parent: u32, child: u32, shares: bool) {
        let table = self.table(parent);
        if shares {
            self.table_of.insert(child, table);
        } else {
            self.tables.push(self.tables[table].clone());
            self.table_of.insert(child, self.tables.len() - 1);
        }
    }

    /// Position before a transfer of `moved` bytes, advancing it.
    fn advance(&mut self, pid: u32, fd: i64, moved: Option<i64>) -> Option<u64> {
        let description = self.description(pid, fd)?;
        let position = &mut self.descriptions[description].position;
        let before = *position;
        let moved = u64::try_from(moved.unwrap_or(0)).unwrap_or(0);
        *position = before.map(|p| p + moved);
        before
    }
}

impl Trace {
    /// The calls on the file `path` (as the kernel names it: absolute, links resolved), in order.
    #[must_use]
    pub fn on_file(&self, path: &Path) -> Vec<FileCall> {
        on_file(&self.calls, path)
    }

    /// (name, offset) of the transfers on a file: the order of operations in one line per call.
    #[must_use]
    pub fn transfers(&self, path: &Path) -> Vec<(String, u64)> {
        let moves = |c: &FileCall| c.name.contains("read") || c.name.contains("write");
        self.on_file(path)
            .into_iter()
            .filter(moves)
            .filter_map(|c| c.offset.map(|offset| (c.name, offset)))
            .collect()
    }
}

fn on_file(calls: &[Syscall], path: &Path) -> Vec<FileCall> {
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

/// Whether a call is about the file: through a descriptor, by being opened, or by name.
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

/// Brings the tables up to a call and answers (offset, bytes) of it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TestDir;

    #[test]
    fn plain_failed_and_odd_lines_are_read() {
        let log = "12 pwrite64(3</tmp/a b>, \"x, y)\\\"\"..., 4096, 8192) = 4096\n\
                   12 write(3</tmp/a b>, \"\", 1)    = -1 ENOSPC (No space left on device)\n\
                   12 mmap(NULL, 8192, PROT_READ, MAP_SHARED, 3</tmp/x>, 0x1000) = 0x7f91a93fd000\n\
                   12 openat(AT_FDCWD, \"/tmp/a b\", O_RDWR) = 3</tmp/a b>\n\
                   12 exit_group(0)      = ?\n\
                   12 --- SIGCHLD {si_signo=SIGCHLD} ---\n\
                   12 +++ exited with 0 +++\n";
        let calls = parse(log);
        assert_eq!(calls.len(), 5);
        assert_eq!(calls[0].arguments(), ["3</tmp/a b>", "\"x, y)\\\"\"...", "4096", "8192"]);
        assert_eq!(calls[1].ret, Some(-1));
        assert_eq!(calls[1].errno.as_deref(), Some("ENOSPC"));
        assert_eq!(calls[2].ret, Some(0x7f91_a93f_d000));
        assert_eq!(calls[3].ret, Some(3));
        assert_eq!(calls[3].returned_path.as_deref(), Some("/tmp/a b"));
        assert_eq!(calls[4].ret, None);
    }

    #[test]
    fn calls_cut_by_other_threads_are_joined_where_they_began() {
        let log = "1 read(3</f>,  <unfinished ...>\n\
                   2 pwrite64(4</g>, \"\"..., 1, 0) = 1\n\
                   1 <... read resumed>\"abc\", 10) = 3\n";
        let calls = parse(log);
        assert_eq!(calls.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["read", "pwrite64"]);
        assert_eq!(calls[0].ret, Some(3));
        assert_eq!(calls[0].number(2), Some(10));
    }

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
    fn append_has_no_known_offset() {
        let log = "1 openat(AT_FDCWD, \"f\", O_WRONLY|O_APPEND) = 3</f>\n1 write(3</f>, \"\"..., 10) = 10\n";
        assert_eq!(on_file(&parse(log), Path::new("/f"))[1].offset, None);
    }

    #[test]
    fn a_real_command_shows_its_calls() {
        let dir = TestDir::new();
        let file = dir.path().join("file");
        let of = format!("of={}", file.display());
        let dd = ["dd", "if=/dev/zero", &of, "bs=4096", "count=3", "seek=2", "conv=fsync"];
        let Some(trace) = strace("a_real_command_shows_its_calls", &dd) else { return };
        assert_eq!(trace.code, Some(0), "{}", trace.stderr);
        let writes: Vec<u64> = trace.transfers(&file).into_iter().map(|(_, offset)| offset).collect();
        assert_eq!(writes, [8192, 12288, 16384]);
        assert!(trace.on_file(&file).iter().any(|c| c.name == "fsync" && c.ret == Some(0)));
    }
}
