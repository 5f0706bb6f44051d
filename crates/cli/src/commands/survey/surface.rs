//! Surfaces of file size by record size: few cells where they are flat, many at knees. The three tests take turns cell
//! by cell, so that each gets its share of the time.

use super::plan::{Step, SurveyPlan, SurveyStage, sets};
use fathom_compare::adaptive::{Node, Sampler};
use fathom_record::Run;
use fathom_report::survey::lattice::Lattice;
use fathom_workload::{Action, Amount, Bytes, Direction, Stream, Timed};

const STAGE: SurveyStage = SurveyStage(
    "surface",
    "One stream, sequential, over file sizes and record sizes, denser where the rate changes. Writes include the fsync; cold reads start with evicted pages.",
);
/// A test is done when its expected error is at most this.
const TOLERANCE: f64 = 0.1;

#[derive(Clone, Copy, PartialEq)]
enum SurfaceKind {
    Write,
    Cold,
    Cached,
}

impl SurfaceKind {
    fn name(self) -> &'static str {
        match self {
            Self::Write => "write to fsync",
            Self::Cold => "cold read",
            Self::Cached => "cached read",
        }
    }
}

struct Test {
    kind: SurfaceKind,
    lattice: Lattice,
    sampler: Sampler,
    /// The cell being measured, and its phase.
    asked: Option<(Node, usize)>,
}

pub struct Surfaces {
    tests: Vec<Test>,
    turn: usize,
}

impl Surfaces {
    /// `None` if files are too small for a surface.
    pub fn new(plan: &SurveyPlan<'_>) -> Option<Self> {
        let place = plan.place;
        let kinds: &[SurfaceKind] = if plan.writes() {
            &[SurfaceKind::Write, SurfaceKind::Cold, SurfaceKind::Cached]
        } else {
            &[SurfaceKind::Cold]
        };
        let test = |&kind: &SurfaceKind| {
            let lattice = Lattice::of(match kind {
                SurfaceKind::Write => place.made_anew(),
                SurfaceKind::Cold => place.largest,
                SurfaceKind::Cached => place.written(),
            })?;
            Some(Test { kind, sampler: lattice.sampler(TOLERANCE)?, lattice, asked: None })
        };
        let tests: Option<Vec<Test>> = kinds.iter().map(test).collect();
        Some(Self { tests: tests?, turn: 0 })
    }

    /// The phase of the next cell; `None` when every test is done, or with `hurry` has its first cells.
    pub fn next(&mut self, plan: &mut SurveyPlan<'_>, run: &Run, hurry: bool) -> Option<usize> {
        for _ in 0..self.tests.len() {
            let at = self.turn % self.tests.len();
            self.turn = at + 1;
            let test = self.tests.get_mut(at)?;
            if let Some((node, number)) = test.asked.take() {
                let phase = run.phases.iter().find(|p| p.seq as usize == number && !p.failed());
                test.sampler
                    .tell(node, phase.and_then(fathom_record::Phase::bytes_per_s).unwrap_or(f64::NAN));
            }
            let begun = test.sampler.expected_error().is_some();
            let Some(node) = test.sampler.next_node().filter(|_| !(hurry && begun)) else { continue };
            let number = cell(plan, test.kind, &test.lattice, node);
            test.asked = Some((node, number?));
            return number;
        }
        None
    }

    /// The last phase cannot be executed, nor can others of its test.
    pub fn leave(&mut self, plan: &mut SurveyPlan<'_>, number: usize) {
        self.tests.retain(|test| test.asked.is_none_or(|(_, asked)| asked != number));
        plan.workload.phases.truncate(number);
    }

    /// Every cell of every surface, for a comparison with sampling.
    pub fn all(&self, plan: &mut SurveyPlan<'_>) -> Vec<usize> {
        let mut numbers = Vec::new();
        for test in &self.tests {
            for row in 0..test.lattice.rows.len() {
                for column in 0..test.lattice.columns.len() {
                    numbers.extend(cell(plan, test.kind, &test.lattice, (column, row)));
                }
            }
        }
        numbers
    }
}

fn cell(
    plan: &mut SurveyPlan<'_>,
    kind: SurfaceKind,
    lattice: &Lattice,
    (column, row): Node,
) -> Option<usize> {
    let (&record, &size) = (lattice.columns.get(column)?, lattice.rows.get(row)?);
    let stream = |set: &str, direction| Stream {
        length: Some(Bytes(size)),
        ..Stream::new(set, direction, Bytes(record))
    };
    let (stream, before) = match kind {
        SurfaceKind::Write => {
            let write = stream(sets::CELL, Direction::Write);
            let timed = Timed { fsync: true, ..Timed::default() };
            (Stream { timed, ..write }, vec![Action::Recreate(sets::CELL.into())])
        }
        SurfaceKind::Cold => (stream(sets::READ, Direction::Read), plan.prepare(sets::READ)),
        SurfaceKind::Cached => {
            let mut before = plan.prepare(sets::WRITTEN);
            before.push(Action::Warm(sets::WRITTEN.into()));
            (Stream { amount: Amount::Endless, ..stream(sets::WRITTEN, Direction::Read) }, before)
        }
    };
    let step = Step::new(STAGE, kind.name(), stream, plan.effort.cell).sizes(size, record).before(before);
    Some(plan.push(if kind == SurfaceKind::Cold { step.cold() } else { step }))
}
