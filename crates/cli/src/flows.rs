//! What a phase made of flows does to files, in the terms of a record: streams state it by direction, flows by their
//! operations.

use fathom_workload::{Act, Data, FileSet, FlowOp, Phase, Program, Workload};

/// Every operation of the phase's flows, including those inside sequences.
pub fn operations(phase: &Phase) -> Vec<&FlowOp> {
    let mut all = Vec::new();
    for thread in phase.groups.iter().flat_map(|g| &g.threads) {
        if let Program::Flow(flow) = &thread.program {
            collect(&flow.ops, &mut all);
        }
    }
    all
}

fn collect<'a>(ops: &'a [FlowOp], all: &mut Vec<&'a FlowOp>) {
    for op in ops {
        all.push(op);
        collect(&op.ops, all);
    }
}

/// Whether a flow reads file data.
pub fn read(phase: &Phase) -> bool {
    operations(phase).iter().any(|op| reads(op))
}

/// Whether a flow writes file data.
pub fn write(phase: &Phase) -> bool {
    operations(phase).iter().any(|op| writes(op))
}

/// Whether a flow writes, and all of its writes are synchronous.
pub fn write_synchronously(phase: &Phase) -> bool {
    write(phase) && opened_with(phase, writes, |op| op.sync)
}

/// Whether flows move data, all of it past the page cache: judged by their writes, or without any by their reads.
pub fn go_direct(phase: &Phase) -> bool {
    let direct = |op: &FlowOp| op.direct;
    if write(phase) { opened_with(phase, writes, direct) } else { opened_with(phase, reads, direct) }
}

/// Whether there are such operations, and all of them find their files opened this way. An operation opens a file only
/// if none did before: any of those that share a slot may be the one.
fn opened_with(phase: &Phase, concerned: fn(&FlowOp) -> bool, way: impl Fn(&FlowOp) -> bool) -> bool {
    let mut any = false;
    for thread in phase.groups.iter().flat_map(|g| &g.threads) {
        let mut all = Vec::new();
        if let Program::Flow(flow) = &thread.program {
            collect(&flow.ops, &mut all);
        }
        for op in all.iter().filter(|op| concerned(op)) {
            any = true;
            // Without a number it uses the set's own slot.
            let shares = |o: &&&FlowOp| o.slot == op.slot && (op.slot.is_some() || o.fileset == op.fileset);
            let mut said =
                all.iter().filter(shares).filter(|o| matches!(o.act, Act::Open | Act::Create)).peekable();
            let as_asked = match said.peek() {
                Some(_) => said.all(|o| way(o)),
                None => all.iter().filter(shares).filter(|o| reads(o) || writes(o)).all(|o| way(o)),
            };
            if !as_asked {
                return false;
            }
        }
    }
    any
}

/// The rules of the data that flows write, as far as known: the set's, or if a thread has its own memory, that memory's
/// initial zeros. Data read into such memory is written from there too; then it is known only if it is zeros as well.
pub fn written_data(workload: &Workload) -> Vec<&Data> {
    let mut found: Vec<&Data> = Vec::new();
    let threads = workload.phases.iter().flat_map(|p| &p.groups).flat_map(|g| &g.threads);
    for thread in threads {
        let Program::Flow(flow) = &thread.program else { continue };
        let mut all = Vec::new();
        collect(&flow.ops, &mut all);
        if !all.iter().any(|op| writes(op)) {
            continue;
        }
        let named = |set: &&FileSet| all.iter().any(|op| op.fileset.as_deref() == Some(&*set.name));
        let rules = workload.filesets.iter().filter(named).map(|set| &set.data);
        if thread.memory.0 == 0 {
            found.extend(rules);
        } else if !all.iter().any(|op| reads(op)) || rules.into_iter().all(|data| *data == Data::Zero) {
            found.push(&Data::Zero);
        }
    }
    found
}

fn reads(op: &FlowOp) -> bool {
    matches!(op.act, Act::Read | Act::ReadWholeFile)
}

fn writes(op: &FlowOp) -> bool {
    matches!(
        op.act,
        Act::Write | Act::WriteWholeFile | Act::Append | Act::AppendRandomLength | Act::AsyncWrite
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(ops: &str) -> Phase {
        workload("", ops).phases.remove(0)
    }

    fn workload(thread: &str, ops: &str) -> Workload {
        let text = format!(
            "name = \"w\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"f\"] }}\nsize = {{ fixed = \"1MiB\" }}\n\
             [[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n{thread}\n\
             [phase.group.thread.program.flow]\n{ops}"
        );
        Workload::from_toml(&text).unwrap_or_else(|e| panic!("{e}"))
    }

    fn op(act: &str, more: &str) -> String {
        format!(
            "[[phase.group.thread.program.flow.op]]\nname = \"o\"\nact = \"{act}\"\nfileset = \"f\"\nsize = 4096\n{more}\n"
        )
    }

    #[test]
    fn what_flows_do_follows_from_their_operations() {
        let reads = phase(&op("read", ""));
        assert!(read(&reads) && !write(&reads) && !go_direct(&reads));
        let both = phase(&(op("read", "direct = true\nslot = 1") + &op("write", "sync = true\nslot = 2")));
        assert!(read(&both) && write(&both) && write_synchronously(&both) && !go_direct(&both));
        let direct = phase(&(op("open", "direct = true\nslot = 1") + &op("write", "slot = 1")));
        assert!(go_direct(&direct) && !write_synchronously(&direct));
        assert!(!write(&phase(&op("stat", ""))));
    }

    #[test]
    fn of_operations_that_share_a_slot_any_may_open_the_file() {
        let shared = phase(&(op("read", "") + &op("write", "direct = true\nsync = true")));
        assert!(!go_direct(&shared) && !write_synchronously(&shared), "the read opens it otherwise");
        let apart = phase(&(op("read", "slot = 1") + &op("write", "direct = true\nslot = 2")));
        assert!(go_direct(&apart));
        let opened = phase(&(op("open", "slot = 1\ndirect = true") + &op("write", "slot = 1")));
        assert!(go_direct(&opened));
        let otherwise = phase(&(op("open", "slot = 1") + &op("write", "slot = 1\ndirect = true")));
        assert!(!go_direct(&otherwise));
    }

    #[test]
    fn a_threads_own_memory_is_zeros_until_something_is_read_into_it() {
        let (memory, write, read) = ("memory = \"1MiB\"", op("write", ""), op("read", ""));
        assert_eq!(written_data(&workload(memory, &write)), [&Data::Zero]);
        assert_eq!(written_data(&workload("", &write)), [&Data::Unique]);
        assert_eq!(written_data(&workload(memory, &(write.clone() + &read))), [&Data::Unique; 0]);
        assert_eq!(written_data(&workload(memory, &read)), [&Data::Unique; 0]);
        let mut zeros = workload(memory, &(write + &read));
        zeros.filesets[0].data = Data::Zero;
        assert_eq!(written_data(&zeros), [&Data::Zero]);
    }
}
