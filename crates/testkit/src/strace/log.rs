//! Parses strace logs. One line is one call, except where threads interleave and a call is split; it is then joined at its
//! beginning. Calls are not interpreted here.

use std::collections::HashMap;

/// One system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Syscall {
    /// The thread that made it.
    pub pid: u32,
    /// "pwrite64"
    pub name: String,
    /// The arguments as strace wrote them.
    pub args: String,
    /// Its return value; `None` if it never returned (exit, killed).
    pub ret: Option<i64>,
    /// Error name such as "ENOSPC", if it failed.
    pub errno: Option<String>,
    /// The path that strace printed beside a returned descriptor.
    pub(super) returned_path: Option<String>,
}

/// Parses a log of `strace -f -y -o`: `PID name(args) = ret`, with calls split where threads interleave.
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
    // `= 3</a path with blanks>` was split at its first blank above.
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
    /// The arguments, split at top-level commas (not inside strings, structures and flags).
    #[must_use]
    pub fn arguments(&self) -> Vec<&str> {
        split_arguments(&self.args)
    }

    fn argument(&self, at: usize) -> Option<&str> {
        self.arguments().get(at).copied()
    }

    pub(super) fn number(&self, at: usize) -> Option<u64> {
        self.argument(at).and_then(parse_number).and_then(|n| u64::try_from(n).ok())
    }

    /// Descriptor number and path of an argument such as `3</tmp/x>`.
    pub(super) fn descriptor(&self, at: usize) -> Option<(i64, Option<&str>)> {
        let (number, path) = split_descriptor(self.argument(at)?);
        Some((number.parse().ok()?, path))
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.name.as_str(), "openat" | "open" | "creat")
    }

    /// Total of a `[{iov_base=..., iov_len=4096}, ...]`.
    pub(super) fn vector_bytes(&self) -> Option<u64> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
