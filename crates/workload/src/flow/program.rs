//! A prepared flow: its operations in one flat list, which is also the order of their rows, and the steps that lead through them. Names
//! are resolved to indices of file sets, variables and slots. [`super::FlowMembers`] fills in what involves several programs (who wakes whom).

use super::act::{Class, Kind};
use crate::{Act, Flow, FlowOp, Offsets, Value, Workload};

/// Number of slots that operations can name; default and rotating slots follow, see [`super::Slots`].
pub const NAMED_SLOTS: u32 = 128;

/// A flattened flow.
#[derive(Debug)]
pub struct FlatProgram {
    /// The steps that lead through the operations.
    pub steps: Vec<Step>,
    /// The operations.
    pub ops: Vec<FlatOp>,
    /// Complete passes; `None`: until something else ends it.
    pub loops: Option<u64>,
    /// Where random offsets come from.
    pub offsets: Offsets,
    /// Whether to measure the CPU time of each operation.
    pub cpu_time: bool,
    /// Number of repeat counters that the steps use.
    pub counters: usize,
    /// Number of operations at which the worker can wait for others.
    pub waits: usize,
}

/// One step of the control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Execute an operation repeatedly.
    Do {
        /// Its index.
        op: usize,
        /// Number of executions.
        repeat: Number,
    },
    /// Start of a sequence: loads the counter, or jumps past the end if the count is 0.
    Begin {
        /// Index of its counter.
        counter: usize,
        /// Number of executions.
        repeat: Number,
        /// Index of its end step.
        end: usize,
    },
    /// End of a sequence: jumps back to after its beginning until the counter is used up.
    End {
        /// Index of its counter.
        counter: usize,
        /// Index of its begin step.
        begin: usize,
    },
}

/// A numeric parameter of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// The same each time.
    Fixed(u64),
    /// Drawn from the variable with this index.
    Drawn(usize),
}

impl Number {
    /// The number, if it is fixed.
    #[must_use]
    pub fn fixed(self) -> Option<u64> {
        match self {
            Self::Fixed(n) => Some(n),
            Self::Drawn(_) => None,
        }
    }
}

/// One operation.
#[derive(Debug)]
pub struct FlatOp {
    /// Name of its row: "use.inner" inside a sequence.
    pub name: String,
    /// Index of the operation and of its row.
    pub row: usize,
    /// What it does.
    pub act: Act,
    /// Which totals it belongs to.
    pub class: Class,
    /// The kind it is counted as.
    pub kind: Option<Kind>,
    /// Index of its file set.
    pub set: Option<usize>,
    /// The slot that it names.
    pub slot: Option<usize>,
    /// The slot whose file gives the length.
    pub source_slot: Option<usize>,
    /// Bytes of one transfer.
    pub size: Number,
    /// Range of random offsets; 0: the file.
    pub working_set: Number,
    /// Random offsets are picked from these, if any.
    pub positions: Vec<u64>,
    /// Use a random offset instead of the next one.
    pub random: bool,
    /// Use the next slot each time.
    pub rotate: bool,
    /// The entry of the set to take; `None`: the next one.
    pub entry: Option<Number>,
    /// Opens with O_DIRECT.
    pub direct: bool,
    /// Opens with O_SYNC.
    pub sync: bool,
    /// Disables read-ahead on what it opens.
    pub no_readahead: bool,
    /// Count, bytes, seconds or loops, by kind of act.
    pub value: Number,
    /// Text to print.
    pub text: String,
    /// Target name as in the model.
    pub target: Option<String>,
    /// The target operation in this program.
    pub target_row: Option<usize>,
    /// Wait points of the target operation in all workers, with how far a poster may get ahead.
    pub target_waits: Vec<(usize, Number)>,
    /// Whether a poster waits when it is `high_water` ahead.
    pub blocking: bool,
    /// How far a poster may get ahead before it waits; see `blocking`.
    pub high_water: Number,
    /// The operation's index among the wait points of its worker.
    pub wait: usize,
}

impl FlatProgram {
    /// Flattens the flow. Unresolvable names are treated as absent: [`super::refusal`] has rejected them before.
    #[must_use]
    pub fn new(flow: &Flow, workload: &Workload) -> Self {
        let mut this = Self {
            steps: Vec::new(),
            ops: Vec::new(),
            loops: flow.loops,
            offsets: flow.offsets,
            cpu_time: flow.cpu_time,
            counters: 0,
            waits: 0,
        };
        this.add(&flow.ops, "", workload);
        for row in 0..this.ops.len() {
            this.ops[row].target_row =
                this.ops[row].target.as_deref().and_then(|t| this.find(t, &this.ops[row].name));
        }
        this
    }

    fn add(&mut self, ops: &[FlowOp], prefix: &str, workload: &Workload) {
        for op in ops {
            let row = self.ops.len();
            let repeat = number(&op.repeat, workload);
            let flat = self.op(op, prefix, row, workload);
            self.ops.push(flat);
            if op.act != Act::Sequence {
                self.steps.push(Step::Do { op: row, repeat });
                continue;
            }
            let (counter, begin) = (self.counters, self.steps.len());
            self.counters += 1;
            self.steps.push(Step::Begin { counter, repeat, end: 0 });
            self.add(&op.ops, &format!("{prefix}{}.", op.name), workload);
            let end = self.steps.len();
            self.steps.push(Step::End { counter, begin });
            self.steps[begin] = Step::Begin { counter, repeat, end };
        }
    }

    fn op(&mut self, op: &FlowOp, prefix: &str, row: usize, workload: &Workload) -> FlatOp {
        let waits = matches!(op.act, Act::Block | Act::SemaphoreWait);
        let wait = self.waits;
        self.waits += usize::from(waits);
        FlatOp {
            name: format!("{prefix}{}", op.name),
            row,
            act: op.act,
            class: op.act.class(),
            kind: op.act.kind(),
            set: op.fileset.as_deref().and_then(|n| workload.filesets.iter().position(|s| s.name == n)),
            slot: op.slot.map(|s| s as usize),
            source_slot: op.source_slot.map(|s| s as usize),
            size: number(&op.size, workload),
            working_set: number(&op.working_set, workload),
            positions: op.positions.iter().map(|p| p.0).collect(),
            random: op.random,
            rotate: op.rotate,
            entry: op.entry.as_ref().map(|e| number(e, workload)),
            direct: op.direct,
            sync: op.sync,
            no_readahead: op.no_readahead,
            value: number(&op.value, workload),
            text: op.text.clone(),
            target: op.target.clone(),
            target_row: None,
            target_waits: Vec::new(),
            blocking: op.blocking,
            high_water: number(&op.high_water, workload),
            wait,
        }
    }

    /// Resolves `target` as named by the operation `from`: a sibling in its sequence, an exact match, or the first whose name ends with
    /// it.
    fn find(&self, target: &str, from: &str) -> Option<usize> {
        let beside = from.rfind('.').map(|dot| format!("{}{target}", &from[..=dot]));
        let named = |name: &str| self.ops.iter().position(|op| op.name == name);
        beside
            .and_then(|name| named(&name))
            .or_else(|| named(target))
            .or_else(|| self.ops.iter().position(|op| is_called(&op.name, target)))
    }
}

/// Whether the operation of this row goes by the name `target`.
#[must_use]
pub fn is_called(row: &str, target: &str) -> bool {
    row.strip_suffix(target).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

fn number(value: &Value, workload: &Workload) -> Number {
    match value {
        Value::Number(n) => Number::Fixed(u64::from(*n)),
        Value::Bytes(bytes) => Number::Fixed(bytes.0),
        Value::Variable { variable } => workload
            .variables
            .keys()
            .position(|name| name == variable)
            .map_or(Number::Fixed(0), Number::Drawn),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(name: &str, act: Act) -> FlowOp {
        FlowOp::new(name, act)
    }

    #[test]
    fn sequences_become_steps_and_names_get_longer() {
        let mut inner = op("in", Act::Sequence);
        inner.ops = vec![op("w", Act::Write)];
        let mut outer = op("out", Act::Sequence);
        outer.repeat = Value::Number(5);
        outer.ops = vec![op("r", Act::Read), inner];
        let mut finish = op("f", Act::FinishOnCount);
        finish.target = Some("w".into());
        let flow = Flow { ops: vec![outer, finish], ..Flow::default() };
        let program = FlatProgram::new(&flow, &Workload::default());
        let names: Vec<&str> = program.ops.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names, ["out", "out.r", "out.in", "out.in.w", "f"]);
        let once = Number::Fixed(1);
        assert_eq!(
            program.steps,
            [
                Step::Begin { counter: 0, repeat: Number::Fixed(5), end: 5 },
                Step::Do { op: 1, repeat: once },
                Step::Begin { counter: 1, repeat: once, end: 4 },
                Step::Do { op: 3, repeat: once },
                Step::End { counter: 1, begin: 2 },
                Step::End { counter: 0, begin: 0 },
                Step::Do { op: 4, repeat: once },
            ]
        );
        assert_eq!(program.ops[4].target_row, Some(3));
        let mut flow = flow;
        flow.ops[1].target = Some("out.in.w".into());
        assert_eq!(FlatProgram::new(&flow, &Workload::default()).ops[4].target_row, Some(3));
    }

    #[test]
    fn a_target_is_looked_for_nearby_first() {
        let pair = |name: &str| {
            let mut s = op(name, Act::Sequence);
            let mut finish = op("f", Act::FinishOnCount);
            finish.target = Some("r".into());
            s.ops = vec![op("r", Act::Read), finish];
            s
        };
        let flow = Flow { ops: vec![pair("a"), pair("b")], ..Flow::default() };
        let program = FlatProgram::new(&flow, &Workload::default());
        assert_eq!((program.ops[2].target_row, program.ops[5].target_row), (Some(1), Some(4)));
        assert!(is_called("a.r", "r") && is_called("r", "r") && !is_called("ar", "r"));
    }
}
