//! What a phase made of flows does to files, in the words of a record: streams say it by their direction, flows by their operations.

use fathom_workload::{Act, FlowOp, Phase, Program};

/// Every operation of the phase's flows, those inside sequences too.
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
    operations(phase).iter().any(|op| matches!(op.act, Act::Read | Act::ReadWholeFile))
}

/// Whether a flow writes file data.
pub fn write(phase: &Phase) -> bool {
    operations(phase).iter().any(|op| writes(op))
}

/// Whether a flow writes, and all of its writes are synchronous.
pub fn write_synchronously(phase: &Phase) -> bool {
    let all = operations(phase);
    let opens_sync =
        |op: &FlowOp| op.sync || all.iter().any(|o| o.act == Act::Open && o.sync && o.slot == op.slot);
    write(phase) && all.iter().filter(|op| writes(op)).all(|op| opens_sync(op))
}

/// Whether flows move data, all of it past the page cache: their writes, and where there is none, their reads.
pub fn go_direct(phase: &Phase) -> bool {
    let all = operations(phase);
    let any_writes = write(phase);
    let concerned: Vec<&&FlowOp> = all
        .iter()
        .filter(|op| if any_writes { writes(op) } else { matches!(op.act, Act::Read | Act::ReadWholeFile) })
        .collect();
    let opens_direct = |op: &FlowOp| {
        let opened =
            || all.iter().any(|o| matches!(o.act, Act::Open | Act::Create) && o.direct && o.slot == op.slot);
        op.direct || opened()
    };
    !concerned.is_empty() && concerned.iter().all(|op| opens_direct(op))
}

/// Whether the CPU time of operations is wanted: the machine's is then, too.
pub fn want_cpu_time(phase: &Phase) -> bool {
    phase.groups.iter().flat_map(|g| &g.threads).any(|t| matches!(&t.program, Program::Flow(f) if f.cpu_time))
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
    use fathom_workload::Workload;

    fn phase(ops: &str) -> Phase {
        let text = format!(
            "name = \"w\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"f\"] }}\nsize = {{ fixed = \"1MiB\" }}\n\
             [[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n[phase.group.thread.program.flow]\n{ops}"
        );
        Workload::from_toml(&text).unwrap_or_else(|e| panic!("{e}")).phases.remove(0)
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
        let both = phase(&(op("read", "direct = true") + &op("write", "sync = true")));
        assert!(read(&both) && write(&both) && write_synchronously(&both) && !go_direct(&both));
        let direct = phase(&(op("open", "direct = true\nslot = 1") + &op("write", "slot = 1")));
        assert!(go_direct(&direct) && !write_synchronously(&direct));
        assert!(!write(&phase(&op("stat", ""))) && !want_cpu_time(&direct));
    }
}
