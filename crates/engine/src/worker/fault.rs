//! What went wrong with an operation, in a form that fits into the memory that workers share with their parent.

use crate::shared::Call;
use rustix::io::Errno;

/// An operation that failed, as numbers: it has to go through shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub call: Call,
    /// 0 if it was not the kernel that refused.
    pub errno: i32,
    pub offset: u64,
    /// Bytes (or, for a failed check, the byte) expected.
    pub expected: u64,
    pub found: u64,
    /// Which of several files.
    pub file: u32,
}

impl Fault {
    pub fn of(call: Call, errno: Errno, offset: u64) -> Self {
        Self { call, errno: errno.raw_os_error(), offset, expected: 0, found: 0, file: 0 }
    }

    /// Something fell short without an error of the kernel.
    pub fn short(call: Call, offset: u64, expected: u64, found: u64) -> Self {
        Self { call, errno: 0, offset, expected, found, file: 0 }
    }

    /// A refused write that had flags: these may be to blame.
    pub fn of_flags(self, bits: u32) -> Self {
        match (self.call, self.errno) {
            (Call::Write | Call::Submit, libc::EOPNOTSUPP | libc::EINVAL) => {
                Self { call: Call::FlaggedWrite, found: bits.into(), ..self }
            }
            _ => self,
        }
    }

    /// The same of one of several files.
    pub fn in_file(self, file: u32) -> Self {
        Self { file, ..self }
    }
}
