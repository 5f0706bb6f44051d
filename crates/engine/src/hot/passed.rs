//! Errors that a stream tolerates. Successful operations do not come through here: it is called where a fault would otherwise end
//! the worker. The operation is passed by value: taking its address would make the loop build each one in memory, although hardly
//! any fail.

use super::Hot;
use crate::fault::{FailedCall, Fault};
use fathom_workload::ops::{Op, OpCode, Source};
use fathom_workload::{ErrorNumber, PassOver};

/// Whether the stream tolerates a fault. Faults without a kernel error are never tolerated: a file that ends too early does so
/// for every later read.
fn bears(rules: &PassOver, fault: &Fault) -> bool {
    let listed = |list: &[ErrorNumber]| fault.errno != 0 && list.contains(&ErrorNumber(fault.errno));
    match fault.call {
        FailedCall::Read | FailedCall::FlaggedRead | FailedCall::CommandRead => listed(&rules.reads),
        FailedCall::Write
        | FailedCall::FlaggedWrite
        | FailedCall::CommandWrite
        | FailedCall::CommandFlush
        | FailedCall::Sync
        | FailedCall::SyncRange
        | FailedCall::Trim
        | FailedCall::Allocate
        | FailedCall::Truncate
        | FailedCall::MoveExtents => listed(&rules.writes),
        FailedCall::Verify | FailedCall::Checksum | FailedCall::Misplaced | FailedCall::Header => {
            rules.wrong_data
        }
        _ => false,
    }
}

/// Counts a fault, or returns it if it ends the stream.
fn count(hot: &mut Hot, op: Op, fault: Fault) -> Result<(), Fault> {
    let fault = fault.in_file(op.file);
    if !bears(hot.pass_over, &fault) {
        return Err(fault);
    }
    let after_ops = hot.stats.data_ops();
    let passed = &mut hot.figures.passed;
    if passed.errors == 0 {
        (passed.first, passed.after_ops) = (fault, after_ops);
    }
    passed.errors += 1;
    Ok(())
}

/// Handles a failed operation. If the fault is tolerated, the stream continues after it.
#[cold]
#[inline(never)]
pub(super) fn over(hot: &mut Hot, source: &mut dyn Source, op: Op, fault: Fault) -> Result<(), Fault> {
    count(hot, op, fault)?;
    let counts = u64::from(hot.counting && !hot.finishing);
    let passed = &mut hot.figures.passed;
    // A mix by completed work counts it as done; otherwise it would retry the same kind forever.
    match op.kind {
        OpCode::Read => {
            passed.reads += counts;
            hot.done.reads += 1;
        }
        OpCode::Write => {
            passed.writes += counts;
            hot.done.writes += 1;
        }
        OpCode::Trim => passed.trims += counts,
        OpCode::Sync { .. } | OpCode::Evict => {}
    }
    source.failed(&op);
    // The time may run out while no operation succeeds.
    hot.last = hot.clock.now();
    Ok(())
}

/// Handles wrong data. If that is tolerated, the read counts like any other.
#[cold]
#[inline(never)]
pub(super) fn wrong(hot: &mut Hot, op: Op, fault: Fault) -> Result<(), Fault> {
    count(hot, op, fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_passed_over_by_its_kind_and_its_number() {
        let rules = PassOver {
            reads: vec![ErrorNumber::IO],
            writes: vec![ErrorNumber::NO_SPACE],
            wrong_data: true,
            enough: 0,
        };
        let fault = |call, errno| Fault { errno, ..Fault::short(call, 4096, 512, 0) };
        for (call, errno, borne) in [
            (FailedCall::Read, libc::EIO, true),
            (FailedCall::FlaggedRead, libc::EIO, true),
            (FailedCall::Read, libc::ENOSPC, false),
            (FailedCall::Write, libc::ENOSPC, true),
            (FailedCall::Sync, libc::ENOSPC, true),
            (FailedCall::Trim, libc::ENOSPC, true),
            (FailedCall::Write, libc::EIO, false),
            // End of file.
            (FailedCall::Read, 0, false),
            (FailedCall::Checksum, 0, true),
            (FailedCall::Verify, 0, true),
            (FailedCall::Open, libc::EIO, false),
            (FailedCall::Submit, libc::EIO, false),
            (FailedCall::Latency, libc::ETIMEDOUT, false),
        ] {
            assert_eq!(bears(&rules, &fault(call, errno)), borne, "{call:?} {errno}");
            assert!(!bears(&PassOver::default(), &fault(call, errno)), "{call:?} {errno}");
        }
    }
}
