//! Which call fails, how, and when.

use std::collections::HashMap;

/// Requests of the kernel to the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Reading a file.
    Read,
    /// Writing a file.
    Write,
    /// fsync and fdatasync, of directories too.
    Fsync,
    /// Opening an existing file.
    Open,
    /// Creating a file.
    Create,
    /// Removing a name.
    Unlink,
    /// Creating a directory.
    Mkdir,
    /// Removing a directory.
    Rmdir,
    /// Reading a directory.
    Readdir,
    /// Looking up a name: part of every call with a path.
    Lookup,
    /// Reading attributes, of a path or of an open file.
    Getattr,
    /// Changing attributes, including truncation.
    Setattr,
    /// Querying free space.
    Statfs,
    /// Renaming.
    Rename,
    /// Allocating space, and deallocating it.
    Fallocate,
    /// Reading an extended attribute.
    Getxattr,
    /// Setting an extended attribute.
    Setxattr,
}

impl Call {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::Read,
        Self::Write,
        Self::Fsync,
        Self::Open,
        Self::Create,
        Self::Unlink,
        Self::Mkdir,
        Self::Rmdir,
        Self::Readdir,
        Self::Lookup,
        Self::Getattr,
        Self::Setattr,
        Self::Statfs,
        Self::Rename,
        Self::Fallocate,
        Self::Getxattr,
        Self::Setxattr,
    ];

    /// Whether it transfers data, so that it can be short.
    #[must_use]
    pub fn moves_data(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The call fails with this error number.
    Errno(i32),
    /// Half of the request is transferred, in whole sectors if there are two or more; only for data transfers.
    Short,
    /// Nothing is transferred, without an error; only for data transfers.
    Zero,
    /// Neither this call nor any later one is answered until the file system is healed.
    Silence,
}

impl Fault {
    /// One of each kind that gives an answer.
    pub const ALL: [Self; 7] = [
        Self::Errno(libc::EIO),
        Self::Errno(libc::ENOSPC),
        Self::Errno(libc::EROFS),
        Self::Errno(libc::EDQUOT),
        Self::Errno(libc::ESTALE),
        Self::Short,
        Self::Zero,
    ];

    /// Whether this fault can apply to a call.
    #[must_use]
    pub fn fits(self, call: Call) -> bool {
        !matches!(self, Self::Short | Self::Zero) || call.moves_data()
    }
}

/// An armed fault.
#[derive(Clone, Copy, Debug)]
struct Rule {
    fault: Fault,
    /// Calls that still succeed first.
    after: u64,
    /// Calls that it still applies to.
    times: u64,
}

/// All armed faults, at most one per call.
#[derive(Debug, Default)]
pub(super) struct Plan {
    rules: HashMap<Call, Rule>,
    hits: HashMap<Call, u64>,
}

impl Plan {
    #[track_caller]
    pub(super) fn arm(&mut self, call: Call, after: u64, times: u64, fault: Fault) {
        assert!(fault.fits(call), "{fault:?} cannot happen to {call:?}");
        self.rules.insert(call, Rule { fault, after, times });
    }

    pub(super) fn heal(&mut self) {
        self.rules.clear();
    }

    /// Whether a call is blocked until the file system is healed.
    pub(super) fn is_silent(&self) -> bool {
        self.rules.values().any(|rule| rule.fault == Fault::Silence)
    }

    pub(super) fn hits(&self, call: Call) -> u64 {
        self.hits.get(&call).copied().unwrap_or(0)
    }

    /// The fault of the current call, if any.
    pub(super) fn strike(&mut self, call: Call) -> Option<Fault> {
        let rule = self.rules.get_mut(&call)?;
        if rule.after > 0 {
            rule.after -= 1;
            return None;
        }
        rule.times = rule.times.checked_sub(1)?;
        *self.hits.entry(call).or_default() += 1;
        Some(rule.fault)
    }
}

/// How many of `length` bytes are transferred.
pub(super) fn moved(fault: Option<Fault>, length: usize) -> Result<usize, i32> {
    match fault {
        None => Ok(length),
        Some(Fault::Errno(errno)) => Err(errno),
        // It has been healed by now, and the caller may be gone.
        Some(Fault::Silence) => Err(libc::EIO),
        Some(Fault::Zero) => Ok(0),
        // On real file systems O_DIRECT transfers end at a sector boundary.
        Some(Fault::Short) if length >= 1024 => Ok(length / 2 / 512 * 512),
        Some(Fault::Short) => Ok(length.div_ceil(2)),
    }
}
