//! Representative faults, calls and commands.

use super::trial::{Command, Trial};
use fathom_testkit::{Call, Fault, FaultFs};

const EIO: Fault = Fault::Errno(libc::EIO);
const FULL: Fault = Fault::Errno(libc::ENOSPC);
const STALE: Fault = Fault::Errno(libc::ESTALE);
const QUOTA: Fault = Fault::Errno(libc::EDQUOT);
const READ_ONLY: Fault = Fault::Errno(libc::EROFS);

/// What goes wrong after how many calls that go well, and whether it must matter.
type Row = (Command, Call, u64, Fault, bool);

const TABLE: [Row; 28] = [
    (Command::Run, Call::Read, 3, EIO, true),
    (Command::Run, Call::Write, 3, FULL, true),
    (Command::Run, Call::Write, 0, Fault::Short, false),
    (Command::Run, Call::Fsync, 0, EIO, true),
    (Command::Run, Call::Create, 0, READ_ONLY, true),
    (Command::Run, Call::Open, 1, STALE, true),
    (Command::Run, Call::Unlink, 0, EIO, false),
    (Command::Run, Call::Statfs, 0, EIO, false),
    (Command::Run, Call::Getxattr, 0, EIO, true),
    (Command::Run, Call::Getxattr, 1, FULL, true),
    (Command::Run, Call::Setxattr, 0, FULL, false),
    (Command::Iozone, Call::Write, 2, QUOTA, true),
    (Command::Iozone, Call::Read, 0, Fault::Zero, true),
    (Command::Iozone, Call::Unlink, 0, EIO, true),
    (Command::Iozone, Call::Getattr, 5, EIO, true),
    (Command::Sysbench, Call::Write, 20, FULL, true),
    (Command::Sysbench, Call::Read, 1, STALE, true),
    (Command::Sysbench, Call::Open, 1, EIO, true),
    (Command::Sysbench, Call::Unlink, 0, EIO, true),
    (Command::Filebench, Call::Mkdir, 1, FULL, true),
    (Command::Filebench, Call::Write, 2, Fault::Short, false),
    (Command::Filebench, Call::Fsync, 0, QUOTA, true),
    (Command::Filebench, Call::Lookup, 2, EIO, true),
    (Command::Filebench, Call::Getxattr, 2, EIO, true),
    (Command::Fio, Call::Write, 2, Fault::Zero, true),
    (Command::Fio, Call::Create, 0, FULL, true),
    (Command::Fio, Call::Getattr, 0, EIO, true),
    (Command::Fio, Call::Read, 1, STALE, true),
];

#[test]
fn faults_end_commands_with_a_clear_error_and_leave_nothing() {
    assert!(Command::ALL.into_iter().all(|command| TABLE.iter().any(|row| row.0 == command)));
    let mut wrong = Vec::new();
    for (command, call, after, fault, matters) in TABLE {
        let name = "faults_end_commands_with_a_clear_error_and_leave_nothing";
        let Some(fs) = FaultFs::mount(name) else { return };
        match Trial::new(&fs, command).with(call, after, fault) {
            Err(what) => wrong.push(what),
            Ok(outcome) if fs.hits(call) == 0 || (outcome.code != Some(0)) != matters => {
                let hits = fs.hits(call);
                wrong
                    .push(format!("{command:?}, {call:?} {fault:?} after {after}: {hits} hits, {outcome:?}"));
            }
            Ok(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
