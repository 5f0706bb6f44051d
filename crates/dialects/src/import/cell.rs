//! Runs, phases and figures as the parsers make them: a cell is a phase with one repetition that holds what was printed.

use super::units::Unit;
use fathom_record::imported::units::{BYTES_PER_S, NS, OPS_PER_S};
use fathom_record::{Axes, Figure, Phase, Repetition, Run, Source, Status};

/// A figure; rates are better when high, times when low, and nothing else is better or worse.
pub(super) fn figure(name: &str, value: f64, unit: &str, printed: String, line: usize) -> Figure {
    let higher_is_better = match unit {
        BYTES_PER_S | OPS_PER_S => Some(true),
        NS => Some(false),
        _ => None,
    };
    // Sums of minutes and seconds end in the last digit of a float; a thousandth of a nanosecond was never measured.
    let value = if unit == NS && value < 1e15 { (value * 1e3).round() / 1e3 } else { value };
    Figure { name: name.into(), value, unit: unit.into(), printed, higher_is_better, line: line as u64 + 1 }
}

/// A figure in a unit of the program's.
pub(super) fn converted(name: &str, value: f64, unit: Unit, printed: String, line: usize) -> Figure {
    figure(name, value * unit.factor, unit.base, printed, line)
}

/// An empty cell.
pub(super) fn cell(name: &str) -> Phase {
    Phase {
        seq: 0,
        name: name.into(),
        axes: Axes::default(),
        reads: false,
        writes: false,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![Repetition::default()],
    }
}

/// What a name says of the direction.
pub(super) fn directed(mut phase: Phase) -> Phase {
    let name = phase.name.to_ascii_lowercase();
    phase.reads = name.contains("read");
    phase.writes = name.contains("writ");
    phase
}

/// Adds a figure to the last repetition of a cell.
pub(super) fn add(phase: &mut Phase, figure: Figure) {
    if let Some(r) = phase.repetitions.last_mut() {
        r.figures.push(figure);
    }
}

/// A run of a program; its phases are numbered in order, and those without any figure are left out.
pub(super) fn run(dialect: &str, program: String, phases: Vec<Phase>) -> Run {
    let mut phases: Vec<Phase> = phases.into_iter().filter(|p| figures(p) > 0).collect();
    for (seq, phase) in (0u32..).zip(&mut phases) {
        phase.seq = seq;
    }
    Run {
        dialect: dialect.into(),
        status: Status::Completed,
        phases,
        source: Some(Source { program, ..Source::default() }),
        ..Run::default()
    }
}

/// Number of figures of a cell: what was printed, intervals and timed operations.
pub(super) fn figures(phase: &Phase) -> usize {
    let of = |r: &Repetition| {
        r.figures.len() + r.intervals.len() + r.workers.iter().map(|w| w.stats.len()).sum::<usize>()
    };
    phase.repetitions.iter().map(of).sum()
}
