//! Compiles processes and threads to groups of the model when they start.

use super::Format;
use super::fault::Fault;
use super::flowops::{Flowops, Placed};
use super::slots;
use super::values::{RandomId, Scope};
use crate::filebench::Spanned;
use crate::filebench::ast::{Process, Thread, Variable};
use fathom_workload::{Act, Bytes, Flow, FlowOp, Group, Isolation, Offsets, Pinning, Program};
use std::collections::{BTreeMap, HashMap};

/// First key word of the random offset generator in every process.
const OFFSETS_FROM: u32 = 4357;
/// The I/O priority that means "unchanged".
const NO_PRIORITY: u64 = 8;

/// A `define process`, with the context of its definition.
#[derive(Clone, Debug)]
pub(super) struct ProcessDefinition {
    pub source: usize,
    pub span: crate::filebench::Span,
    pub process: Process,
    pub randoms: HashMap<Variable, RandomId>,
}

#[derive(Default)]
pub(super) struct CompiledProcesses {
    /// In start order, which is last defined first, for threads as well.
    pub groups: Vec<Group>,
    /// Log lines `Starting N NAME instances`, and I/O priorities.
    pub lines: Vec<String>,
    pub notes: Vec<String>,
    pub faults: Vec<(usize, Fault)>,
}

pub(super) fn compile(definitions: &[ProcessDefinition], flowops: &mut Flowops) -> CompiledProcesses {
    let mut all = CompiledProcesses::default();
    let mut priorities = Vec::new();
    for definition in definitions.iter().rev() {
        match one(definition, flowops, &mut all, &mut priorities) {
            Ok(Some(group)) => all.groups.push(group),
            Ok(None) => {}
            Err(fault) => all.faults.push(fault),
        }
    }
    all.lines.append(&mut priorities);
    all.notes.extend(same_names(&all.groups));
    all.faults.extend(missing_targets(definitions, &all.groups));
    all
}

fn one(
    definition: &ProcessDefinition,
    flowops: &mut Flowops,
    all: &mut CompiledProcesses,
    priorities: &mut Vec<String>,
) -> Result<Option<Group>, (usize, Fault)> {
    let scope = Scope { variables: flowops.variables, randoms_then: &definition.randoms, locals: None };
    let here = |fault: Fault| (definition.source, fault);
    let a = &definition.process.attributes;
    let name = scope
        .text(a, "name")
        .map_err(here)?
        .ok_or_else(|| here(Fault::new(definition.span, "process specifies no name").hint("add name=...")))?;
    let instances =
        small(scope.integer(a, "instances").map_err(here)?.unwrap_or(1), "instances", definition.span)
            .map_err(here)?;
    let nice =
        small(scope.integer(a, "nice").map_err(here)?.unwrap_or(0), "nice", definition.span).map_err(here)?;
    if nice > 39 {
        return Err(here(Fault::new(
            definition.span,
            format!("nice={nice} is more than there is: expected 0 to 39"),
        )));
    }
    if let Some(attribute) = a.last("procname") {
        return Err(here(
            Fault::new(
                attribute.span(),
                "procname is not supported: fathom runs threads in its own processes only",
            )
            .hint("leave it out; the process keeps its name in the results"),
        ));
    }
    let mut threads = Vec::new();
    for thread in definition.process.threads.iter().rev() {
        match self::thread(thread, &name, &scope, definition.source, flowops, all) {
            Ok((thread, lines)) => {
                for _ in 0..instances {
                    priorities.extend(lines.iter().cloned());
                }
                threads.push(thread);
            }
            Err(fault) => all.faults.push(fault),
        }
    }
    if instances == 0 {
        all.notes.push(format!("process {name} has 0 instances and does not run"));
        return Ok(None);
    }
    all.lines.push(format!("Starting {instances} {name} instances"));
    Ok(Some(Group {
        name,
        instances,
        isolation: Isolation::Process,
        nice: nice as i32,
        pinning: Pinning::Free,
        times: fathom_workload::Times::default(),
        threads,
    }))
}

fn thread(
    spanned: &Spanned<Thread>,
    process: &str,
    scope: &Scope,
    source: usize,
    flowops: &mut Flowops,
    all: &mut CompiledProcesses,
) -> Result<(fathom_workload::Thread, Vec<String>), (usize, Fault)> {
    let here = |fault: Fault| (source, fault);
    let a = &spanned.node.attributes;
    let name = scope.text(a, "name").map_err(here)?.ok_or_else(|| {
        here(
            Fault::new(spanned.span, format!("thread in process {process} specifies no name"))
                .hint("add name=..."),
        )
    })?;
    // 1.5 starts one thread even if none is requested.
    let instances =
        small(scope.integer(a, "instances").map_err(here)?.unwrap_or(1), "instances", spanned.span)
            .map_err(here)?
            .max(1);
    let memory = scope.integer(a, "memsize").map_err(here)?.unwrap_or(0);
    if scope.boolean(a, "useism").map_err(here)?.unwrap_or(false) {
        let note = "useism: every thread has its own buffer; a System V segment is not used".to_owned();
        if !all.notes.contains(&note) {
            all.notes.push(note);
        }
    }
    let io_priority = match scope.integer(a, "ioprio").map_err(here)?.unwrap_or(NO_PRIORITY) {
        NO_PRIORITY => None,
        n if n < NO_PRIORITY => Some(n as u8),
        n => {
            return Err(here(Fault::new(
                spanned.span,
                format!("ioprio={n} is not a priority: expected 0 to 7, or 8 for none"),
            )));
        }
    };
    let lines = match io_priority {
        Some(n) => (0..instances).map(|_| format!("ioprio set to {n} for thread {name}")).collect(),
        None => Vec::new(),
    };
    flowops.made = 0;
    let mut placed = Vec::new();
    for flowop in &spanned.node.flowops {
        match flowops.compile(flowop, scope, source) {
            Ok(op) => placed.push(op),
            Err(fault) => all.faults.push(fault),
        }
    }
    if let Some(sets) = slots::settle(&mut placed, flowops.sets, memory)? {
        all.notes.push(format!(
            "thread {name} uses {} without fd: each has its own slot (Filebench 1.5 would silently keep using the file of the first)",
            sets.join(", ")
        ));
    }
    let flow = Flow {
        ops: placed.into_iter().map(Placed::into_op).collect(),
        loops: None,
        offsets: Offsets::Mt19937(OFFSETS_FROM),
        cpu_time: flowops.options.format != Format::V1_5,
    };
    let thread = fathom_workload::Thread {
        name,
        instances,
        memory: Bytes(memory),
        locked_memory: Bytes(0),
        run_as: fathom_workload::RunAs::default(),
        io_priority,
        io_class: None,
        io_hint: 0,
        program: Program::Flow(flow),
    };
    Ok((thread, lines))
}

fn small(n: u64, what: &str, span: crate::filebench::Span) -> Result<u32, Fault> {
    u32::try_from(n).map_err(|_| Fault::new(span, format!("{what}={n} is too large")))
}

/// Every operation of the groups with its row name, in order of definition within each thread.
pub fn rows(groups: &[Group]) -> Vec<(String, &FlowOp)> {
    let mut all = Vec::new();
    for thread in groups.iter().flat_map(|g| &g.threads) {
        if let Program::Flow(flow) = &thread.program {
            rows_of(&flow.ops, "", &mut all);
        }
    }
    all
}

fn rows_of<'a>(ops: &'a [FlowOp], prefix: &str, all: &mut Vec<(String, &'a FlowOp)>) {
    for op in ops {
        let name = format!("{prefix}{}", op.name);
        all.push((name.clone(), op));
        rows_of(&op.ops, &format!("{name}."), all);
    }
}

/// Names shared by several operations, which therefore share a row.
fn same_names(groups: &[Group]) -> Option<String> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for (name, _) in rows(groups) {
        *counts.entry(name).or_default() += 1;
    }
    let names: Vec<String> = counts.into_iter().filter(|(_, n)| *n > 1).map(|(name, _)| name).collect();
    let shown = names.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    let more = if names.len() > 5 { format!(" and {} more", names.len() - 5) } else { String::new() };
    (!names.is_empty()).then(|| {
        format!("several flowops are named {shown}{more}: their figures are added up in one row, the others' rows stay empty")
    })
}

/// Targets that do not name an operation.
fn missing_targets(definitions: &[ProcessDefinition], groups: &[Group]) -> Vec<(usize, Fault)> {
    let rows = rows(groups);
    let mut faults: Vec<(usize, Fault)> = Vec::new();
    for (name, op) in &rows {
        let Some(target) = &op.target else { continue };
        if rows.iter().any(|(row, other)| row == target || other.name == *target) {
            continue;
        }
        let place = definitions.iter().find_map(|d| {
            let uses = d.process.threads.iter().flat_map(|t| &t.node.flowops);
            let mut found = uses
                .filter(|u| u.node.attributes.value("target").is_some_and(|v| v.node.text() == Some(target)));
            found.next_back().map(|u| (d.source, u.span))
        });
        let (source, span) = place
            .unwrap_or_else(|| definitions.first().map_or((0, Default::default()), |d| (d.source, d.span)));
        let fault = Fault::new(span, format!("flowop {name}: no flowop is named {target}"));
        let nearest = crate::filebench::suggest::nearest(target, rows.iter().map(|r| r.0.as_str()));
        let fault = match nearest {
            Some(known) => fault.hint(format!("{known} is one; is it meant?")),
            None => fault,
        };
        if !faults.iter().any(|f| f.1 == fault) {
            faults.push((source, fault));
        }
    }
    faults
}

/// The file sets modified by an operation of the groups.
pub(super) fn changed_sets(groups: &[Group]) -> Vec<String> {
    let changing =
        rows(groups).into_iter().filter(|(_, op)| slots::changes(op.act) && op.act != Act::Sequence);
    changing.filter_map(|(_, op)| op.fileset.clone()).collect()
}
