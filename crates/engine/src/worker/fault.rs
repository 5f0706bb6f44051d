//! The failure of an operation, in a form that fits into the memory shared with the parent.

use crate::shared::FailedCall;
use rustix::io::Errno;

/// A failed operation as plain numbers, for shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub call: FailedCall,
    /// 0 if it was not a kernel error.
    pub errno: i32,
    pub offset: u64,
    /// Expected bytes (or, for a failed check, the expected byte).
    pub expected: u64,
    pub found: u64,
    /// Index of the file, of several.
    pub file: u32,
}

impl Fault {
    pub fn of(call: FailedCall, errno: Errno, offset: u64) -> Self {
        Self { call, errno: errno.raw_os_error(), offset, expected: 0, found: 0, file: 0 }
    }

    /// A short transfer or failed check without a kernel error.
    pub fn short(call: FailedCall, offset: u64, expected: u64, found: u64) -> Self {
        Self { call, errno: 0, offset, expected, found, file: 0 }
    }

    /// Adds the flags of a refused write, which may be the cause.
    pub fn of_flags(self, bits: u32) -> Self {
        match (self.call, self.errno) {
            (FailedCall::Write | FailedCall::Submit, libc::EOPNOTSUPP | libc::EINVAL) => {
                Self { call: FailedCall::FlaggedWrite, found: bits.into(), ..self }
            }
            _ => self,
        }
    }

    /// Adds the index of the file, of several.
    pub fn in_file(self, file: u32) -> Self {
        Self { file, ..self }
    }
}
