//! A flow made ready: its operations in one flat list, which is also the order of their rows, and the steps that lead through them.
//! Names have become numbers: of file sets, variables, slots. What belongs to more than one program (who wakes whom) is filled in by
//! [`super::Cast`].

use super::act::{Class, Kind};
use crate::{Act, Flow, FlowOp, Offsets, Value, Workload};

/// Slots that operations name; default slots and rotating ones come after them, see [`super::Slots`].
pub const NAMED_SLOTS: u32 = 128;

/// A flow, flat.
#[derive(Debug)]
pub struct Program {
    /// What leads through the operations.
    pub steps: Vec<Step>,
    /// The operations.
    pub ops: Vec<Op>,
    /// Complete passes; without it until something ends it.
    pub loops: Option<u64>,
    /// Where random offsets come from.
    pub offsets: Offsets,
    /// The CPU time of each operation is wanted.
    pub cpu_time: bool,
    /// Repeat counters that the steps use.
    pub counters: usize,
    /// Operations at which others find a worker waiting.
    pub waits: usize,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The operation, so often.
    Do {
        /// Its position.
        op: usize,
        /// How often.
        repeat: Number,
    },
    /// A sequence begins: how often is kept in the counter; if never, on behind its end.
    Begin {
        /// Number of its counter.
        counter: usize,
        /// How often.
        repeat: Number,
        /// The step of its end.
        end: usize,
    },
    /// It ends: back to behind its beginning, unless it was done often enough.
    End {
        /// Number of its counter.
        counter: usize,
        /// The step of its beginning.
        begin: usize,
    },
}

/// A number of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// The same each time.
    Fixed(u64),
    /// Drawn from the variable of this number.
    Drawn(usize),
}

impl Number {
    /// The number, if it is the same each time.
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
pub struct Op {
    /// Of its row: "use.inner" inside a sequence.
    pub name: String,
    /// Position among the operations, and of its row.
    pub row: usize,
    /// What it does.
    pub act: Act,
    /// Which totals it belongs to.
    pub class: Class,
    /// What it counts as.
    pub kind: Option<Kind>,
    /// Number of its file set.
    pub set: Option<usize>,
    /// The slot that it names.
    pub slot: Option<usize>,
    /// The slot whose file gives a length.
    pub source_slot: Option<usize>,
    /// Bytes of one transfer.
    pub size: Number,
    /// Range of random offsets; 0: the file.
    pub working_set: Number,
    /// Random offsets are taken from these instead.
    pub positions: Vec<u64>,
    /// A random offset instead of the next one.
    pub random: bool,
    /// The next slot each time.
    pub rotate: bool,
    /// The entry of the set to take, instead of the next one.
    pub entry: Option<Number>,
    /// Opens with O_DIRECT.
    pub direct: bool,
    /// Opens with O_SYNC.
    pub sync: bool,
    /// Switches read-ahead off on what it opens.
    pub no_readahead: bool,
    /// Count, bytes, seconds or loops, by kind of act.
    pub value: Number,
    /// What it says.
    pub text: String,
    /// As the model names it.
    pub target: Option<String>,
    /// The operation of this program that it names.
    pub target_row: Option<usize>,
    /// Places of all workers at which the named operation waits, with how far a poster may be ahead.
    pub target_waits: Vec<(usize, Number)>,
    /// A poster waits when it is `high_water` ahead.
    pub blocking: bool,
    /// See `blocking`.
    pub high_water: Number,
    /// Its place among those at which its worker waits.
    pub wait: usize,
}

impl Program {
    /// The flow, flat. Names that nothing has are as if they were not given: [`super::refusal`] has refused them before.
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

    fn op(&mut self, op: &FlowOp, prefix: &str, row: usize, workload: &Workload) -> Op {
        let waits = matches!(op.act, Act::Block | Act::SemaphoreWait);
        let wait = self.waits;
        self.waits += usize::from(waits);
        Op {
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

    /// The operation that one of the name `from` means by `target`: beside it in its sequence, or of that very name, or the first
    /// whose name ends so.
    fn find(&self, target: &str, from: &str) -> Option<usize> {
        let beside = from.rfind('.').map(|dot| format!("{}{target}", &from[..=dot]));
        let named = |name: &str| self.ops.iter().position(|op| op.name == name);
        beside
            .and_then(|name| named(&name))
            .or_else(|| named(target))
            .or_else(|| self.ops.iter().position(|op| is_called(&op.name, target)))
    }
}

/// Whether the operation of this row goes by that name.
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
        let program = Program::new(&flow, &Workload::default());
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
        assert_eq!(Program::new(&flow, &Workload::default()).ops[4].target_row, Some(3));
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
        let program = Program::new(&flow, &Workload::default());
        assert_eq!((program.ops[2].target_row, program.ops[5].target_row), (Some(1), Some(4)));
        assert!(is_called("a.r", "r") && is_called("r", "r") && !is_called("ar", "r"));
    }
}
