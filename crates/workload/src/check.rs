//! Validation of workloads: names that resolve, sizes that divide, ends that are reached. Executors add what they cannot do; no error
//! should remain to be found half-way through a run.

mod alignment;
mod by_kind;
mod calls;
mod contradictions;
mod kept;
mod limits;
mod names;
mod nodes;
mod pass_over;
mod passes;
mod pooled;
mod priority;
mod stop;
mod stream;
mod syncs;
mod times;
mod trims;
mod zoned_device;

use crate::ops::Sampler;
use crate::{
    Bytes, Data, FileSet, Files, Flow, FlowOp, Group, Phase, Pinning, Program, Sizing, Thread, Times,
    Workload,
};

/// The largest file offset (the kernel's offsets are signed).
const LARGEST_OFFSET: u64 = i64::MAX as u64;
/// Maximum number of workers in one phase. Each needs memory for its figures; no real workload needs more.
const MOST_WORKERS: u64 = 1 << 16;

/// An error and its place in the workload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct CheckError {
    /// "phase 3 (read), group readers"
    pub place: String,
    /// What is wrong, and what is expected.
    pub message: String,
}

impl Workload {
    /// Checks everything and returns all errors found, in order of the text.
    ///
    /// # Errors
    /// Every inconsistency, not only the first.
    pub fn check(&self) -> Result<(), Vec<CheckError>> {
        let mut errors = Vec::new();
        if self.repetitions == 0 {
            errors.push(error("workload", "repetitions is 0; at least 1 is needed"));
        }
        errors.extend(names::errors(self));
        for (name, variable) in &self.variables {
            if Sampler::new(variable, 0).is_none() {
                errors.push(error(
                    &format!("variable {name}"),
                    "its distribution has parameters out of range; docs/formats/workload.md lists the ranges",
                ));
            }
        }
        for (i, set) in self.filesets.iter().enumerate() {
            let place = format!("fileset {i} ({})", set.name);
            if self.filesets[..i].iter().any(|s| s.name == set.name) {
                errors.push(error(&place, "another file set has this name"));
            }
            errors.extend(self.fileset_errors(set).iter().map(|message| error(&place, message)));
        }
        for (i, phase) in self.phases.iter().enumerate() {
            self.check_phase(i, phase, &mut errors);
        }
        errors.extend(self.ranks_errors().iter().map(|message| error("ranks", message)));
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Like [`Workload::check`], for a workload that is to be run: it must have a phase. A command line of a dialect may select no test
    /// at all (`iozone -a -i 8`); such a workload is valid, does nothing, and prints empty tables. It may also combine options that
    /// contradict each other (`iozone -B -I`), and then does what the original program does.
    ///
    /// # Errors
    /// Every inconsistency, a missing phase, and combinations in which one part undoes the other.
    pub fn check_to_run(&self) -> Result<(), Vec<CheckError>> {
        let mut errors = self.check().err().unwrap_or_default();
        if self.phases.is_empty() {
            errors.insert(0, error("workload", "it has no phase; nothing would be measured"));
        }
        errors.extend(contradictions::errors(self));
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn fileset_errors(&self, set: &FileSet) -> Vec<String> {
        let mut errors = Vec::new();
        if set.files.count() == 0 && !matches!(set.files, Files::Tree(_)) {
            errors.push("it names no file".into());
        }
        errors.extend(self.sizing_error("its size", &set.size));
        match (&set.files, &set.size) {
            (Files::Tree(_), Sizing::Each(_)) => errors.push("a tree has no list of sizes".into()),
            (files, Sizing::Each(sizes)) if sizes.len() as u64 != files.count() => {
                errors.push(format!("it lists {} sizes for {} files", sizes.len(), files.count()));
            }
            _ => {}
        }
        if let Files::Tree(tree) = &set.files {
            errors.extend(self.sizing_error("its width", &tree.width));
            if matches!(tree.width, Sizing::Each(_)) {
                errors.push("its width must be either one number or drawn from a variable".into());
            }
            if let Some(depth) = &tree.depth {
                errors.extend(self.sizing_error("its depth", &Sizing::Variable(depth.clone())));
            }
        }
        if let Sizing::Fixed(Bytes(size)) = set.size
            && size > LARGEST_OFFSET
        {
            errors.push(format!("files of {} are larger than any file can be", Bytes(size)));
        }
        if set.preallocated_percent > 100 {
            errors.push("preallocated_percent is above 100".into());
        }
        if set.mode > 0o7777 {
            errors.push(format!("mode {} is not a set of permission bits; 0o640 is one", set.mode));
        }
        if set.prepare_record.0 == 0 || set.prepare_record > FileSet::LARGEST_PREPARE_RECORD {
            let (given, most) = (set.prepare_record, FileSet::LARGEST_PREPARE_RECORD);
            errors.push(format!("its prepare_record is {given}; 1 byte to {most} is allowed"));
        }
        errors.extend(data_error(&set.data));
        errors
    }

    fn sizing_error(&self, what: &str, sizing: &Sizing) -> Option<String> {
        match sizing {
            Sizing::Each(sizes) if sizes.iter().any(|size| size.0 > LARGEST_OFFSET) => {
                Some(format!("{what} is larger than any file can be"))
            }
            Sizing::Variable(v) if !self.variables.contains_key(v) => {
                Some(format!("{what} is drawn from variable {v:?}, which is not defined"))
            }
            _ => None,
        }
    }

    fn check_phase(&self, number: usize, phase: &Phase, errors: &mut Vec<CheckError>) {
        let place = format!("phase {number} ({})", phase.name);
        for action in phase.before.iter().chain(&phase.after) {
            use crate::Action::{
                Command, Evict, Extend, MakeDirectories, Prepare, Recreate, Remove, Reserve, ReserveBehind,
                Warm,
            };
            match action {
                Evict(s) | Warm(s) | Prepare(s) | Reserve(s) | ReserveBehind(s) | Extend(s)
                | MakeDirectories(s) | Recreate(s) | Remove(s)
                    if self.fileset(s).is_none() =>
                {
                    errors.push(error(&place, &format!("no file set is named {s:?}")));
                }
                Command(words) if words.is_empty() => errors.push(error(&place, "the command is empty")),
                _ => {}
            }
        }
        for message in stop::errors(phase) {
            errors.push(error(&place, &message));
        }
        let workers = phase.groups.iter().map(|g| {
            g.threads.iter().map(|t| u64::from(t.instances)).sum::<u64>().saturating_mul(g.instances.into())
        });
        let workers = workers.fold(0, u64::saturating_add);
        for message in times::phase_errors(phase, workers) {
            errors.push(error(&place, &message));
        }
        if workers > MOST_WORKERS {
            errors.push(error(&place, &format!("more than {MOST_WORKERS} workers")));
        }
        for group in &phase.groups {
            if group.instances == 0 || group.threads.iter().all(|t| t.instances == 0) {
                errors.push(error(&format!("{place}, group {}", group.name), "it has no worker"));
            }
            if matches!(&group.pinning, Pinning::Among(cpus) if cpus.is_empty()) {
                errors.push(error(&format!("{place}, group {}", group.name), "pinning among no CPU"));
            }
            for thread in &group.threads {
                let place = format!("{place}, group {} {}", group.name, thread.name).trim_end().to_owned();
                self.check_thread(&place, (phase, group), thread, errors);
            }
        }
    }

    fn check_thread(
        &self,
        place: &str,
        (phase, group): (&Phase, &Group),
        thread: &Thread,
        errors: &mut Vec<CheckError>,
    ) {
        errors.extend(priority::of_thread(thread).map(|message| error(place, &message)));
        errors.extend(priority::of_run_as(thread).map(|message| error(place, message)));
        match &thread.program {
            Program::Stream(stream) => {
                for message in stream::errors(self, (phase, group), stream) {
                    errors.push(error(place, &message));
                }
            }
            Program::Flow(flow) => {
                if group.times != Times::default() {
                    errors.push(error(place, "flows have the times of their phase; leave times out"));
                }
                for message in self.flow_errors(phase, flow) {
                    errors.push(error(place, &message));
                }
            }
        }
    }

    fn flow_errors(&self, phase: &Phase, flow: &Flow) -> Vec<String> {
        let mut errors = Vec::new();
        if flow.ops.is_empty() {
            errors.push("the flow has no operation".into());
        }
        for op in every(&flow.ops) {
            if let Some(set) = &op.fileset
                && self.fileset(set).is_none()
            {
                errors.push(format!("operation {}: no file set is named {set:?}", op.name));
            }
            for value in [&op.size, &op.working_set, &op.repeat, &op.value, &op.high_water]
                .into_iter()
                .chain(&op.entry)
            {
                if let crate::Value::Variable { variable } = value
                    && !self.variables.contains_key(variable)
                {
                    errors.push(format!("operation {}: variable {variable:?} is not defined", op.name));
                }
            }
            if let Some(target) = &op.target
                && !self.has_flow_op(phase, target)
            {
                errors.push(format!("operation {}: no operation of the phase is named {target:?}", op.name));
            }
        }
        errors
    }

    fn has_flow_op(&self, phase: &Phase, name: &str) -> bool {
        phase.groups.iter().flat_map(|g| &g.threads).any(|t| match &t.program {
            Program::Flow(flow) => is_there(&flow.ops, name),
            Program::Stream(_) => false,
        })
    }
}

/// Whether an operation has the name, alone or with those of the sequences around it ("use.inner").
fn is_there(ops: &[FlowOp], name: &str) -> bool {
    let inside = |op: &FlowOp| {
        let rest = name.strip_prefix(op.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
        is_there(&op.ops, name) || rest.is_some_and(|rest| is_there(&op.ops, rest))
    };
    ops.iter().any(|op| op.name == name || inside(op))
}

/// Every operation, including those inside sequences.
fn every(ops: &[FlowOp]) -> Vec<&FlowOp> {
    ops.iter().flat_map(|op| std::iter::once(op).chain(every(&op.ops))).collect()
}

fn data_error(data: &Data) -> Option<String> {
    match *data {
        Data::Checksummed { block } if block.0 < 13 => Some(format!(
            "a checksummed block of {block} has no room for data: checksum and offset take 12 bytes"
        )),
        Data::Marked { stride, length, .. } if stride.0 == 0 || length > stride => {
            Some(format!("marks of {length} every {stride}: a mark is at most as long as the distance"))
        }
        Data::Reducible { compressible_percent, duplicate_percent, within_percent, .. }
            if compressible_percent.max(duplicate_percent).max(within_percent) > 100 =>
        {
            Some("a percentage of reducible data is above 100".into())
        }
        Data::Sealed(ref sealed) => sealed.error(),
        Data::Repeated { ref bytes } if bytes.is_empty() => {
            Some("the repeated pattern is empty; at least one byte is needed".into())
        }
        _ => None,
    }
}

fn error(place: &str, message: &str) -> CheckError {
    CheckError { place: place.into(), message: message.into() }
}

#[cfg(test)]
mod tests {
    use crate::Workload;

    /// The errors of `check` for a valid text with `old` replaced by `new`.
    fn said(old: &str, new: &str) -> String {
        said_of_all(&[(old, new)])
    }

    fn said_of_all(changes: &[(&str, &str)]) -> String {
        const TEXT: &str = r#"
name = "t"
[variables.size]
shape = { exponential = { mean = 4096.0 } }
[[fileset]]
name = "f"
files = { numbered = { prefix = "x", count = 2 } }
size = { fixed = "1MiB" }
mode = 0o640
data = { marked = { byte = 1, stride = "4KiB", length = 8 } }
[[phase]]
name = "p"
[[phase.group]]
name = "g"
instances = 2
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "f"
direction = "write"
access = "sequential"
record = { fixed = "4KiB" }
start = "4KiB"
amount = "pass"
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "f"
direction = "read"
record = { fixed = "4KiB" }
data = { reducible = { duplicate_percent = 100 } }
"#;
        let mut text = TEXT.to_owned();
        for (old, new) in changes {
            assert!(text.contains(old), "{old} is not in the text");
            text = text.replacen(old, new, 1);
        }
        let workload = Workload::from_toml(&text).unwrap_or_else(|d| panic!("{}", d.render("t", &text)));
        match workload.check_to_run() {
            Ok(()) => String::new(),
            Err(errors) => errors.iter().map(|e| format!("{e}\n")).collect(),
        }
    }

    #[test]
    fn an_alignment_needs_an_order_that_draws_each_record() {
        assert!(said("amount", "align = \"8KiB\"\namount").contains("an order that draws each record"));
        let checked = "direction = \"read\"\naccess = \"uniform\"\nalign = \"8KiB\"\nverify = \"full\"";
        assert!(said("direction = \"read\"", checked).contains("align must be a multiple of the block"));
    }

    #[test]
    fn the_valid_text_is_valid() {
        assert_eq!(said("pass", "pass"), "");
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let cases = [
            (
                "name = \"t\"",
                "name = \"t\\n::error::\"",
                "the name \"t\\n::error::\" holds a control character",
            ),
            ("name = \"p\"", "name = \"p\\u001b[2J\"", "phase 0: the name"),
            ("mean = 4096.0", "mean = -1.0", "variable size: its distribution"),
            ("mode = 0o640", "mode = 0o100640", "permission bits"),
            ("length = 8", "length = \"8KiB\"", "a mark is at most as long"),
            ("stride = \"4KiB\"", "stride = 0", "a mark is at most as long"),
            ("duplicate_percent = 100", "duplicate_percent = 101", "a percentage of reducible data"),
            ("size = { fixed = \"1MiB\" }", "size = { fixed = \"9000000TiB\" }", "larger than any file"),
            (
                "size = { fixed = \"1MiB\" }",
                "size = { variable = \"none\" }",
                "variable \"none\", which is not",
            ),
            ("size = { fixed = \"1MiB\" }", "size = { each = [1, 2, 3] }", "it lists 3 sizes for 2 files"),
            (
                "size = { fixed = \"1MiB\" }",
                "size = { each = [\"1MiB\", \"4KiB\"] }",
                "larger than the region of 0B",
            ),
            ("mode = 0o640", "prepare_record = 0", "its prepare_record is 0"),
            ("mode = 0o640", "prepare_record = \"2GiB\"", "1 byte to 1GiB is allowed"),
            ("instances = 2", "instances = 40000", "more than 65536 workers"),
            ("instances = 2", "instances = 0", "group g: it has no worker"),
            ("instances = 2", "pinning = { among = [] }", "group g: pinning among no CPU"),
            ("instances = 2", "times = { ramp = \"87601h\" }", "the ramp of group g is longer"),
            ("instances = 2", "times = { ramp_together = true }", "group g lacks one of them"),
            (
                "instances = 2",
                "times = { ramp_bytes = \"1MiB\", ramp_together = true }",
                "group g lacks one of them",
            ),
            ("start = \"4KiB\"", "turns = {}", "turns belong to streams over all files"),
            (
                "start = \"4KiB\"",
                "pick = \"all\"\nturns = { order = \"sequential-by-kind\" }",
                "turns cannot be combined with the orders",
            ),
            (
                "start = \"4KiB\"",
                "pick = \"all\"\nturns = {}\nsequence = \"common\"",
                "whose files take turns has its own sequence",
            ),
            ("start = \"4KiB\"", "start = \"1MiB\"", "larger than the region of 0B"),
            ("start = \"4KiB\"", "start = \"8388607TiB\"\nlength = \"1TiB\"", "beyond the largest offset"),
            (
                "\"sequential\"",
                "{ listed = [{ offset = 0, bytes = 0 }] }",
                "operation 0 of the list has 0 bytes",
            ),
            (
                "\"sequential\"",
                "{ listed = [{ offset = 9223372036854775807, bytes = 1 }] }",
                "beyond the largest offset",
            ),
            (
                "access = \"sequential\"",
                "access = { shuffled = { key = [1] } }\nlength = \"32TiB\"",
                "permuted visits each record once",
            ),
            ("\"pass\"", "\"endless\"", "it never ends: give an amount"),
            ("\"sequential\"", "{ zipf = { theta = 0.0 } }", "theta 0 is not above 0"),
            ("\"sequential\"", "{ pareto = { h = 1.0 } }", "h 1 of the pareto access"),
            ("\"sequential\"", "{ pareto = { h = nan } }", "h NaN of the pareto access"),
            (
                "\"sequential\"",
                "{ normal = { deviation_percent = 0.0 } }",
                "deviation_percent 0 is not above 0",
            ),
            ("\"sequential\"", "{ normal = { deviation_percent = 101.0 } }", "at most 100"),
            ("\"sequential\"", "{ zoned = [] }", "has no zone"),
            (
                "\"sequential\"",
                "{ zoned = [{ operations_percent = 100.0, region_percent = 99.9 }] }",
                "region_percent add up to 99.9; 100 is needed",
            ),
            (
                "\"sequential\"",
                "{ zoned = [{ operations_percent = -1, region_percent = 10 }, { operations_percent = 101, region_percent = 90 }] }",
                "every zone needs a share",
            ),
            (
                "access = \"sequential\"",
                "length = 4096\naccess = { zoned = [{ operations_percent = 50, region_percent = 50 }, { operations_percent = 50, region_percent = 50 }] }",
                "2 zones are more than the region's records, of which there are 1",
            ),
            ("amount", "pace = { rate = { operations_per_s = inf } }\namount", "a rate of inf"),
            ("amount", "pace = { rate = { operations_per_s = 0.0 } }\namount", "a rate of 0"),
            ("amount", "queue_depth = 0\namount", "queue_depth is 0"),
            (
                "amount",
                "adaptive_depth = { goal = { knee = { gain_percent = 5 } } }\namount",
                "nothing to choose",
            ),
            (
                "amount",
                "queue_depth = 8\nadaptive_depth = { goal = { knee = { gain_percent = 0 } }, window = 0 }\namount",
                "the window of adaptive_depth is 0",
            ),
            (
                "amount",
                "queue_depth = 8\nadaptive_depth = { goal = { knee = { gain_percent = 5 } }, longest = 0 }\namount",
                "takes no time",
            ),
            (
                "amount",
                "queue_depth = 8\nadaptive_depth = { goal = { knee = { gain_percent = 5 } }, goes_on = true }\namount",
                "only for a latency",
            ),
            (
                "amount",
                "queue_depth = 8\nadaptive_depth = { goal = { knee = { gain_percent = 0 } } }\namount",
                "gain_percent 0 of adaptive_depth",
            ),
            (
                "amount",
                "queue_depth = 8\nadaptive_depth = { goal = { latency = { percentile = 100.1, at_most = 1 } } }\namount",
                "percentile 100.1 of adaptive_depth",
            ),
            (
                "amount",
                "queue_depth = 8\nadaptive_depth = { goal = { latency = { percentile = 99, at_most = 0 } } }\namount",
                "no operation takes no time",
            ),
            ("amount", "backend = { mmap = { flush_every = 0 } }\namount", "flush_every is 0"),
            ("name = \"p\"", "name = \"p\"\nstop = { operations = 0 }", "stop after 0 operations"),
            ("name = \"p\"", "name = \"p\"\nstop = { bytes = 0 }", "stop after 0 bytes"),
            ("name = \"p\"", "name = \"p\"\nstop = { steady = { round = 0 } }", "the round of steady is 0"),
            (
                "name = \"p\"",
                "name = \"p\"\nstop = { steady = { window = 1 } }",
                "a window of steady of 1 rounds",
            ),
            (
                "name = \"p\"",
                "name = \"p\"\nstop = { steady = { most_rounds = 4 } }",
                "less than its window of 5 rounds",
            ),
            (
                "name = \"p\"",
                "name = \"p\"\nstop = { steady = { range_percent = 0 } }",
                "range_percent 0 of steady",
            ),
            (
                "name = \"p\"",
                "name = \"p\"\nstop = { steady = { slope_percent = -1 } }",
                "slope_percent -1 of steady",
            ),
            (
                "name = \"p\"",
                "name = \"p\"\nstop = { steady = { criterion = { slope = { percent = 0 } } } }",
                "the limit 0 of the criterion",
            ),
            (
                "name = \"p\"",
                "name = \"p\"\nstop = { steady = { range_percent = 5, criterion = { deviation = { absolute = 3 } } } }",
                "have no effect with a criterion",
            ),
            ("name = \"p\"", "name = \"p\"\nstop = { steady = { most_rounds = 0 } }", "less than its window"),
            (
                "amount",
                "backend = { pvsync2 = { high_priority_percent = 30 } }\namount",
                "high_priority_percent is a share",
            ),
            ("amount", "buffers = { node = { bind = [] } }\namount", "buffers on no NUMA node"),
            ("amount", "buffers = { node = { prefer = 64 } }\namount", "node numbers must be below 64"),
            (
                "[phase.group.thread.program",
                "io_priority = 8\nio_class = \"idle\"\n[phase.group.thread.program",
                "io_priority is 8; 0 to 7 is expected",
            ),
            (
                "[phase.group.thread.program",
                "io_hint = 1024\n[phase.group.thread.program",
                "io_hint is 1024; 0 to 1023 is expected",
            ),
            (
                "amount",
                "priorities = [{ percent = 20, class = \"idle\" }]\namount",
                "need the back-end uring or aio",
            ),
            (
                "amount",
                "backend = { aio = {} }\npriorities = [{ percent = 70, class = \"idle\" }, { percent = 70, class = \"real-time\" }]\namount",
                "more than 100 percent",
            ),
            (
                "amount",
                "backend = { aio = {} }\npriorities = [{ percent = 0, class = \"idle\", level = 8 }]\namount",
                "a priority for 0 percent",
            ),
            ("name = \"p\"", "name = \"p\"\nstop = { steady_groups = [{ groups = [] }] }", "without a group"),
            ("name = \"p\"", "name = \"p\"\nstop = { steady_groups = [{ groups = [7] }] }", "has a group 7"),
            (
                "name = \"p\"",
                "name = \"p\"\nstop = { steady_groups = [{ groups = [0] }, { groups = [0] }] }",
                "group 0 is in steady_groups twice",
            ),
            (
                "\"pass\"",
                "\"endless\"\nwhen_stopped = \"finish-uncounted\"",
                "goes on to the end of an amount",
            ),
        ];
        for (old, new, expected) in cases {
            let said = said(old, new);
            assert!(said.contains(expected), "{new}: {said:?} does not say {expected:?}");
        }
    }

    #[test]
    fn amounts_of_nothing_are_named() {
        for (amount, expected) in [
            ("{ operations = 0 }", "an amount of 0 operations"),
            ("{ passes = 0 }", "an amount of 0 passes"),
            ("{ bytes = 0 }", "an amount of 0 bytes"),
        ] {
            let said = said("\"pass\"", amount);
            assert!(said.contains(expected), "{amount}: {said:?}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_named() {
        let cases = [
            (
                "amount",
                "queue_depth = 8\nadaptive_depth = { goal = { knee = { gain_percent = 5 } } }\npace = { rate = { operations_per_s = 1 } }\namount",
                "adaptive_depth and rate do not go together",
            ),
            ("amount", "backend = \"null\"\nlock = \"file\"\namount", "there is no file to lock"),
            ("amount", "backend = \"null\"\nlock = \"record\"\namount", "there is no file to lock"),
            (
                "amount",
                "backend = \"null\"\nopen = { sync = \"dsync\" }\namount",
                "there is no write to sync",
            ),
            (
                "amount",
                "queue_depth = 8\nadaptive_depth = { goal = { knee = { gain_percent = 5 } } }\ntimed = { open = true }\namount",
                "timed.open cannot be combined with",
            ),
            (
                "amount",
                "backend = { mmap = {} }\nopen = { direct = true }\namount",
                "no effect on a mapped file",
            ),
            ("amount", "backend = { mmap = {} }\nopen = { sync = \"sync\" }\namount", "use flush = \"sync\""),
            (
                "amount",
                "backend = { mmap = {} }\nopen = { sync = \"rsync\" }\namount",
                "use flush = \"sync\"",
            ),
            (
                "amount",
                "pace = { rate = { operations_per_s = 9 }, think = { time = 1 } }\namount",
                "rate and think contradict",
            ),
            (
                "amount",
                "pace = { rate = { operations_per_s = 9 }, burst = { bytes = 1, pause = 1 } }\namount",
                "rate and burst contradict",
            ),
        ];
        for (old, new, expected) in cases {
            let said = said(old, new);
            assert!(said.contains(expected), "{new}: {said:?} does not say {expected:?}");
        }
        let said = said_of_all(&[
            ("name = \"p\"", "name = \"p\"\nramp = \"1s\""),
            ("amount", "timed = { open = true }\namount"),
        ]);
        assert!(said.contains("timed.open cannot be combined with"), "{said}");
        let said = said_of_all(&[
            ("instances = 2", "instances = 2\ntimes = { ramp_bytes = \"1MiB\" }"),
            (
                "amount",
                "queue_depth = 8\nadaptive_depth = { goal = { latency = { percentile = 99, at_most = \"1ms\" } } }\namount",
            ),
        ]);
        assert!(said.contains("would count as ramp_bytes"), "{said}");
    }

    #[test]
    fn what_a_program_that_is_stood_in_for_may_combine_is_not_refused_to_it() {
        let text = "name = 't'\n[[fileset]]\nname = 'f'\nfiles = { list = ['x'] }\nsize = { fixed = 9 }\n[[phase]]\nname = 'p'\n[[phase.group]]\nname = 'g'\n[[phase.group.thread]]\n[phase.group.thread.program.stream]\nfileset = 'f'\ndirection = 'write'\nrecord = { fixed = 1 }\nbackend = { mmap = {} }\nopen = { direct = true, sync = 'dsync' }\npace = { rate = { operations_per_s = 1 }, think = { time = 1 }, burst = { bytes = 1, pause = 1 } }\n";
        let workload = Workload::from_toml(text).unwrap();
        assert_eq!(workload.check(), Ok(()));
        assert_eq!(workload.check_to_run().unwrap_err().len(), 4);
    }

    #[test]
    fn times_that_no_clock_holds_and_intervals_that_hold_nothing_are_named() {
        let long = "\"87601h\"";
        let phase = |key: &str, value: &str| ("name = \"p\"", format!("name = \"p\"\n{key} = {value}"));
        let stream = |line: String| ("amount", format!("{line}\namount"));
        let cases = [
            (phase("before", &format!("[{{ sleep = {long} }}]")), "a sleep is longer than 10 years"),
            (phase("after", &format!("[{{ sleep = {long} }}]")), "a sleep is longer than 10 years"),
            (phase("ramp", long), "the ramp is longer"),
            (phase("stagger", "\"40000h\""), "the stagger, up to its last worker, is longer"),
            (phase("interval", long), "the interval is longer"),
            (phase("interval", "\"999us\""), "the interval is 999us; at least 1ms"),
            (phase("stop", &format!("{{ time = {long} }}")), "the time of stop is longer"),
            (phase("stop", &format!("{{ steady = {{ round = {long} }} }}")), "the round of steady is longer"),
            (
                phase("stop", "{ steady = { round = \"999us\" } }"),
                "the round of steady is 999us; at least 1ms",
            ),
            (stream(format!("pace = {{ think = {{ time = {long} }} }}")), "the time of think is longer"),
            (
                stream(format!("pace = {{ burst = {{ bytes = 1, pause = {long} }} }}")),
                "the pause of burst is longer",
            ),
            (
                stream(format!(
                    "queue_depth = 2\nadaptive_depth = {{ window = {long}, goal = {{ knee = {{ gain_percent = 1 }} }} }}"
                )),
                "the window of adaptive_depth is longer",
            ),
            (
                ("\"sequential\"", format!("{{ listed = [{{ offset = 0, bytes = 1, think = {long} }}] }}")),
                "a think time of the list is longer",
            ),
        ];
        for ((old, new), expected) in &cases {
            let said = said(old, new);
            assert!(said.contains(expected), "{new}: {said:?} does not say {expected:?}");
        }
        let (old, new) = phase("stop", "{ time = \"87600h\" }\ninterval = \"1ms\"\nramp = \"87600h\"");
        assert_eq!(said(old, &new), "", "the limits themselves");
    }

    #[test]
    fn what_ends_a_phase_ends_an_endless_stream() {
        let stops = ["time = \"1s\"", "operations = 1", "bytes = 1", "steady = {}"];
        for stop in stops {
            let text = format!("stop = {{ {stop} }}\n[[phase.group]]");
            assert_eq!(
                said_of_all(&[("[[phase.group]]", text.as_str()), ("\"pass\"", "\"endless\"")]),
                "",
                "{stop}"
            );
        }
    }

    #[test]
    fn what_is_new_in_a_stream_is_accepted() {
        let accepted = [
            ("\"sequential\"", "{ pareto = { h = 0.2 } }"),
            ("\"sequential\"", "{ pareto = { h = 0.9 } }"),
            ("\"sequential\"", "{ normal = { deviation_percent = 100.0 } }"),
            ("\"sequential\"", "\"uniform\"\nalign = \"512B\""),
            (
                "\"sequential\"",
                "{ zoned = [{ operations_percent = 33.333, region_percent = 50 }, { operations_percent = 66.667, region_percent = 50.009 }] }",
            ),
            (
                "amount",
                "queue_depth = 8\nadaptive_depth = { goal = { latency = { percentile = 100, at_most = \"1ms\" } } }\namount",
            ),
            ("amount", "pace = { rate = { operations_per_s = 0.1, arrivals = \"poisson\" } }\namount"),
            (
                "name = \"p\"",
                "name = \"p\"\nramp = \"3s\"\nstop = { time = \"2s\", steady = { most_rounds = 5 } }",
            ),
            (
                "name = \"p\"",
                "name = \"p\"\nstop = { steady_groups = [{ groups = [0], rule = { most_rounds = 0, after = \"3s\", criterion = { slope = { percent = 0.3 } } } }] }",
            ),
            ("name = \"p\"", "name = \"p\"\nramp = \"2s\"\ncache = \"cold\"\nholes = \"leave\""),
        ];
        for (old, new) in accepted {
            assert_eq!(said(old, new), "", "{new}");
        }
    }

    #[test]
    fn a_workload_without_phases_is_nothing_to_run() {
        let mut workload = Workload::from_toml("name = 't'\n").unwrap();
        assert_eq!(workload.check(), Ok(()), "a dialect's command line may select no test");
        let said =
            |w: &Workload| w.check_to_run().unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(said(&workload), ["workload: it has no phase; nothing would be measured"]);
        workload.repetitions = 0;
        assert_eq!(said(&workload).len(), 2, "beside what else is wrong");
    }

    #[test]
    fn an_endless_stream_may_wait_for_one_that_ends_but_not_for_others_like_it() {
        let waits = "name = \"p\"\nstop = { first_done = {} }";
        let text = |amounts: [&str; 2]| {
            let streams = amounts.map(|amount| {
                format!(
                    "[[phase.group.thread]]\n[phase.group.thread.program.stream]\nfileset = 'f'\ndirection = 'read'\nrecord = {{ fixed = 1 }}\namount = '{amount}'\n"
                )
            });
            format!(
                "name = 't'\n[[fileset]]\nname = 'f'\nfiles = {{ list = ['x'] }}\nsize = {{ fixed = 9 }}\n[[phase]]\n{waits}\n[[phase.group]]\nname = 'g'\n{}",
                streams.concat()
            )
        };
        let check = |amounts| Workload::from_toml(&text(amounts)).unwrap().check();
        assert!(check(["endless", "pass"]).is_ok());
        assert!(check(["endless", "endless"]).is_err());
    }
}
