//! Constructors for runs, phases and figures: a cell is a phase with one repetition holding the printed figures.

use super::units::Unit;
use fathom_record::imported::units::{BYTES_PER_S, NS, OPS_PER_S};
use fathom_record::{Axes, Figure, Phase, Repetition, Run, Source, Status};

/// A figure; higher rates are better, lower times are better, other figures have no better direction.
pub(super) fn figure(name: &str, value: f64, unit: &str, printed: String, line: usize) -> Figure {
    let higher_is_better = match unit {
        BYTES_PER_S | OPS_PER_S => Some(true),
        NS => Some(false),
        _ => None,
    };
    // Sums of minutes and seconds have rounding errors; a thousandth of a nanosecond was never measured.
    let value = if unit == NS && value < 1e15 { (value * 1e3).round() / 1e3 } else { value };
    Figure { name: name.into(), value, unit: unit.into(), printed, higher_is_better, line: line as u64 + 1 }
}

/// A figure converted from a program's unit.
pub(super) fn converted(name: &str, value: f64, unit: Unit, printed: String, line: usize) -> Figure {
    figure(name, value * unit.factor, unit.base, printed, line)
}

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

/// Sets reading and writing according to the phase's name.
pub(super) fn directed(mut phase: Phase) -> Phase {
    let name = phase.name.to_ascii_lowercase();
    phase.reads = name.contains("read");
    phase.writes = name.contains("writ");
    phase
}

/// Adds a figure to the last repetition.
pub(super) fn add(phase: &mut Phase, figure: Figure) {
    if let Some(r) = phase.repetitions.last_mut() {
        r.figures.push(figure);
    }
}

/// A run of a program; phases are numbered in order, and those without figures are dropped.
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

/// Number of figures of a cell: printed figures, intervals and timed operations.
pub(super) fn figures(phase: &Phase) -> usize {
    let of = |r: &Repetition| {
        r.figures.len() + r.intervals.len() + r.workers.iter().map(|w| w.stats.len()).sum::<usize>()
    };
    phase.repetitions.iter().map(of).sum()
}
