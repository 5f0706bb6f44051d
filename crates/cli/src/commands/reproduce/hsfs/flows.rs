//! A Filebench text as readers of the machine: its own dialect parses it, the flow interpreter shared by engine and
//! simulator says what each operation reads, and the figures are printed as Filebench did.

use super::Scale;
use super::reading::{HsfsRead, Reader, cpu_ns};
use super::texts::Text;
use fathom_dialects::filebench::output::{self, Figures, FiguresIo, FiguresRow};
use fathom_dialects::filebench::plan::{self, Found, Options, Wml, World};
use fathom_isofs::format::section::Extents;
use fathom_isofs::reader::{Core, Stream};
use fathom_record::Histogram;
use fathom_sim::SimError;
use fathom_workload::flow::{
    FlatProgram, FlowMembers, FlowThread, NextStep, Numbers, Set, Variables, Walk, Wrong,
};
use fathom_workload::ops::Place;
use fathom_workload::tree::Layouts;
use fathom_workload::{Act, Workload};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

type Words = Vec<AtomicU64>;

fn words<E>(count: usize) -> Result<Words, E> {
    Ok(std::iter::repeat_with(AtomicU64::default).take(count).collect())
}

/// Totals of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Total {
    pub ops: u64,
    pub bytes: u64,
    pub total_ns: u64,
    pub least_ns: u64,
    pub most_ns: u64,
    pub cpu_ns: u64,
}

impl Total {
    fn add(&mut self, other: &Self) {
        self.least_ns = if self.ops == 0 { other.least_ns } else { self.least_ns.min(other.least_ns) };
        self.most_ns = self.most_ns.max(other.most_ns);
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.total_ns += other.total_ns;
        self.cpu_ns += other.cpu_ns;
    }
}

/// State shared by the readers of a text.
pub(super) struct ReaderState {
    workload: Workload,
    cast: FlowMembers,
    sets: Vec<Set<Words>>,
    variables: Variables<Words>,
    extents: Vec<Arc<Extents>>,
}

impl ReaderState {
    /// `files`: locations of the files it names, in their order.
    pub(super) fn new(text: &Text, scale: &Scale, files: &[Arc<Extents>]) -> Result<Self, SimError> {
        let failed = |why: String| SimError::Unsupported(format!("{}: {why}", text.name));
        let world = World {
            look: &|_: &Path| Found::File { bytes: scale.file_bytes },
            read: &|_| None,
            environment: &|_| None,
            date: String::new(),
            hostname: String::new(),
        };
        let options = Options { wml: Wml::V1_0, ..Options::default() };
        let plan = plan::plan(text.name, &text.script(scale), &options, &world)
            .map_err(|found| failed(found.iter().map(|f| f.rendered.as_str()).collect()))?;
        let run = plan.runs().next().ok_or_else(|| failed("it runs nothing".into()))?;
        let workload = run.workload.clone();
        let phase = workload.phases.first().ok_or_else(|| failed("it has no phase".into()))?;
        let cast = FlowMembers::new(&workload, phase).ok_or_else(|| failed("it has no flow".into()))?;
        if let Some(op) = cast.programs.iter().flat_map(|p| &p.ops).find(|op| !is_known(op.act)) {
            return Err(failed(format!("{} is not modelled", op.name)));
        }
        let extents = workload.filesets.iter().map(|set| {
            let number = set.name.strip_prefix("largefile").and_then(|n| n.parse::<usize>().ok());
            let file = number.and_then(|n| files.get(n.wrapping_sub(1)));
            file.cloned().ok_or_else(|| failed(format!("the disc has no {}", set.name)))
        });
        let extents: Vec<_> = extents.collect::<Result<_, _>>()?;
        let set = |file: &Arc<Extents>| {
            Set::new(vec![file.bytes()], |_| true, (0, |_| false), 1, words::<SimError>)
        };
        let sets = extents.iter().map(set).collect::<Result<_, _>>()?;
        let layouts = Layouts::default();
        let variables = Variables::new(&workload, &layouts, cast.crews.len(), words::<SimError>)?;
        Ok(Self { cast, sets, variables, extents, workload })
    }

    pub(super) fn readers(&self) -> Result<Vec<Flow<'_>>, SimError> {
        let all = self.cast.places.iter().enumerate().filter_map(|(at, place)| Some((at, place.as_ref()?)));
        all.map(|(at, place)| {
            let program = &self.cast.programs[place.program];
            let stream = Place { phase: 0, worker: at as u32, repetition: 0 };
            let numbers = Numbers::new(&self.variables, place, program.offsets, &self.workload, stream)
                .ok_or_else(|| SimError::Unsupported("a variable is impossible".into()))?;
            Ok(Flow {
                number: place.program,
                program,
                walk: Walk::new(program),
                thread: FlowThread::new(
                    &program.ops,
                    &self.sets,
                    numbers,
                    None,
                    (place.process, place.memory),
                ),
                stage: self,
                totals: vec![Total::default(); program.ops.len()],
                marks: [(); 2].map(|()| vec![Total::default(); program.ops.len()]),
                doing: None,
                wrong: None,
            })
        })
        .collect()
    }

    /// Totals of all readers by operation, in Filebench's row order; the threads of a program are merged.
    pub(super) fn totals(&self, readers: &[Flow<'_>]) -> Vec<(String, Total)> {
        let mut rows = Vec::new();
        for (number, program) in self.cast.programs.iter().enumerate() {
            for (at, op) in program.ops.iter().enumerate().rev() {
                let mut sum = Total::default();
                for reader in readers.iter().filter(|reader| reader.number == number) {
                    if reader.totals[at].ops > 0 {
                        sum.add(&reader.totals[at]);
                    }
                }
                rows.push((op.name.clone(), sum));
            }
        }
        rows
    }
}

fn is_known(act: Act) -> bool {
    matches!(act, Act::Read | Act::LimitEvents)
}

/// One thread.
pub(super) struct Flow<'s> {
    number: usize,
    program: &'s FlatProgram,
    walk: Walk,
    thread: FlowThread<'s, Words, Stream>,
    stage: &'s ReaderState,
    /// By operation.
    totals: Vec<Total>,
    /// The totals when it last restarted its file, and the time before that.
    marks: [Vec<Total>; 2],
    /// The current operation and its byte count.
    doing: Option<(usize, u64)>,
    wrong: Option<Wrong>,
}

impl Flow<'_> {
    /// Why it ended early.
    pub(super) fn wrong(&self) -> Option<String> {
        self.wrong.as_ref().map(|wrong| format!("{wrong:?}"))
    }

    fn read(&mut self, at: usize, core: &mut Core) -> Result<HsfsRead, Wrong> {
        let op = &self.program.ops[at];
        self.thread.at_file = None;
        let slot = self.thread.slot_of(op)?;
        if !self.thread.slots.is_open(slot) {
            let pick = self.thread.to_open(op, slot)?;
            let entry = self.thread.try_pick(&pick)?.ok_or(Wrong::Exhausted)?;
            pick.pool(&self.stage.sets).release(entry);
            let stream = core.open(&self.stage.extents[pick.set]);
            self.thread.opened(slot, stream, (pick.set, entry));
        }
        self.thread.works_on(op, slot)?;
        let transfer = self.thread.transfer(op, slot)?;
        let opened = self.thread.slots.get(slot);
        let stream = opened.file.ok_or(Wrong::ClosedSlot(slot as u64))?;
        let size = opened.of.map_or(0, |(set, _)| self.stage.extents[set].bytes());
        let moved = size.saturating_sub(transfer.offset).min(transfer.bytes);
        let restarts = !op.random && transfer.offset == 0;
        self.thread.was_read(op, &transfer, moved);
        self.doing = Some((at, moved));
        if restarts {
            let before = std::mem::replace(&mut self.marks[1], self.totals.clone());
            self.marks[0] = before;
        }
        Ok(HsfsRead { stream, offset: transfer.offset, bytes: moved, restarts })
    }
}

impl Reader for Flow<'_> {
    fn next(&mut self, core: &mut Core) -> Option<HsfsRead> {
        loop {
            match self.walk.next(self.program, &mut self.thread.numbers) {
                NextStep::Do(at) if self.program.ops[at].act == Act::Read => {
                    return match self.read(at, core) {
                        Ok(read) => Some(read),
                        Err(wrong) => {
                            self.wrong = Some(wrong);
                            None
                        }
                    };
                }
                // No event rate is set, so a limit never blocks.
                NextStep::Do(_) | NextStep::Again | NextStep::Through => {}
                NextStep::Over => return None,
            }
        }
    }

    fn done(&mut self, began_ns: u64, now_ns: u64) {
        let Some((at, bytes)) = self.doing.take() else { return };
        let took_ns = now_ns - began_ns;
        let cpu_ns = cpu_ns(bytes);
        self.totals[at].add(&Total {
            ops: 1,
            bytes,
            total_ns: took_ns,
            least_ns: took_ns,
            most_ns: took_ns,
            cpu_ns,
        });
    }

    fn repeat(&mut self, passes: u64) {
        for ((total, then), now) in self.totals.iter_mut().zip(&self.marks[0]).zip(&self.marks[1]) {
            total.ops += (now.ops - then.ops) * passes;
            total.bytes += (now.bytes - then.bytes) * passes;
            total.total_ns += (now.total_ns - then.total_ns) * passes;
            total.cpu_ns += (now.cpu_ns - then.cpu_ns) * passes;
        }
    }
}

/// The figures in the output format of that Filebench version.
pub(super) fn printed(rows: &[(String, Total)], seconds: f64) -> String {
    let row = |(name, total): &(String, Total)| FiguresRow {
        name: name.clone(),
        ops: total.ops,
        bytes: total.bytes,
        total_ns: total.total_ns as f64,
        min_ns: total.least_ns,
        max_ns: total.most_ns,
        cpu_ns: total.cpu_ns,
        latency: Histogram::default(),
        buckets: [0; 64],
    };
    let mut io = FiguresIo::default();
    for (_, total) in rows {
        io.ops += total.ops;
        io.reads += total.ops;
        io.bytes += total.bytes;
        io.total_ns += total.total_ns as f64;
        io.cpu_ns += total.cpu_ns;
    }
    let cpu_ns = io.cpu_ns as f64;
    output::dump(&Figures { seconds, rows: rows.iter().map(row).collect(), io, cpu_ns })
}
