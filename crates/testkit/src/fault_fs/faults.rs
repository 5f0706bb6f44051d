//! What goes wrong, at which call, and when.

use std::collections::HashMap;

/// What the kernel asks of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Reading a file.
    Read,
    /// Writing a file.
    Write,
    /// fsync and fdatasync, of directories too.
    Fsync,
    /// Opening a file that is there.
    Open,
    /// Making a file.
    Create,
    /// Removing a name.
    Unlink,
    /// Making a directory.
    Mkdir,
    /// Removing a directory.
    Rmdir,
    /// Reading a directory.
    Readdir,
    /// Finding a name: part of every call with a path.
    Lookup,
    /// Attributes, of a path or of an open file.
    Getattr,
    /// A change of attributes, which truncation is too.
    Setattr,
    /// How much room there is.
    Statfs,
    /// Renaming.
    Rename,
    /// Reserving room, and giving it back.
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

    /// Whether it moves data, so that it can be answered in part.
    #[must_use]
    pub fn moves_data(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The call fails with this number.
    Errno(i32),
    /// Half of what was asked for is done, in whole sectors if there are two or more; only where data are moved.
    Short,
    /// Nothing is done, and that is no error; only where data are moved.
    Zero,
    /// Neither this call nor any after it is answered until the file system is healed.
    Silence,
}

impl Fault {
    /// One of each kind that is an answer.
    pub const ALL: [Self; 7] = [
        Self::Errno(libc::EIO),
        Self::Errno(libc::ENOSPC),
        Self::Errno(libc::EROFS),
        Self::Errno(libc::EDQUOT),
        Self::Errno(libc::ESTALE),
        Self::Short,
        Self::Zero,
    ];

    /// Whether this can happen to a call.
    #[must_use]
    pub fn fits(self, call: Call) -> bool {
        !matches!(self, Self::Short | Self::Zero) || call.moves_data()
    }
}

/// One fault that is armed.
#[derive(Clone, Copy, Debug)]
struct Rule {
    fault: Fault,
    /// Calls that still go well before.
    after: u64,
    /// Calls it still strikes.
    times: u64,
}

/// All faults that are armed, at most one for each call.
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

    /// Whether a call waits for the file system to be healed.
    pub(super) fn is_silent(&self) -> bool {
        self.rules.values().any(|rule| rule.fault == Fault::Silence)
    }

    pub(super) fn hits(&self, call: Call) -> u64 {
        self.hits.get(&call).copied().unwrap_or(0)
    }

    /// What happens to the call that is made now.
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

/// What is done of `length` bytes.
pub(super) fn moved(fault: Option<Fault>, length: usize) -> Result<usize, i32> {
    match fault {
        None => Ok(length),
        Some(Fault::Errno(errno)) => Err(errno),
        // By now it is healed, and nobody may still want to know.
        Some(Fault::Silence) => Err(libc::EIO),
        Some(Fault::Zero) => Ok(0),
        // O_DIRECT of real file systems ends at a sector.
        Some(Fault::Short) if length >= 1024 => Ok(length / 2 / 512 * 512),
        Some(Fault::Short) => Ok(length.div_ceil(2)),
    }
}
