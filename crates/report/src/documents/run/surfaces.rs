//! Surfaces: for each test those of all runs in one scale, and the ratio of each later run to the first.

use super::{RunView, Stage, latency};
use crate::colour::Scale;
use crate::document::{Document, Link, Part, SurfaceFigure, Target, Tone};
use crate::section::Section;
use crate::{Machine, Mapped, Surface};

/// A test's surfaces, one per run that has it.
struct Test<'v, 'r> {
    title: String,
    runs: Vec<(&'v RunView<'r>, Mapped)>,
}

pub(super) fn write(out: &mut Document, stage: &Stage<'_, '_>) {
    let tests = tests(&stage.shown);
    if tests.is_empty() {
        return;
    }
    if stage.level == 2 {
        out.heading(2, "Throughput over file and record size");
    }
    for test in &tests {
        let surfaces: Vec<Surface> = test.runs.iter().map(|(_, m)| m.surface.clone()).collect();
        let Some(scale) = Scale::of_all(&surfaces) else { continue };
        let lead =
            |(view, _): &(&RunView<'_>, Mapped)| Target::figure(Link::Surface, &view.run.id, &test.title);
        out.targets(test.runs.iter().map(lead).collect());
        out.heading(3, test.title.as_str());
        for (view, mapped) in &test.runs {
            stage.whose(out, view);
            surface(out, mapped.clone(), &view.machine, scale, String::new());
        }
        if let [(a, before), others @ ..] = test.runs.as_slice() {
            for (n, (_, after)) in others.iter().enumerate() {
                ratio(out, &a.machine, [&before.surface, &after.surface], (n + 2, others.len() + 1));
            }
        }
    }
    for (view, section) in &stage.shown {
        latency::of_surfaces(out, view, &section.phases);
    }
}

fn tests<'v, 'r>(shown: &[(&'v RunView<'r>, &'v Section<'r>)]) -> Vec<Test<'v, 'r>> {
    let mut tests: Vec<Test<'v, 'r>> = Vec::new();
    for (view, section) in shown {
        for surface in Surface::of_phases(&section.phases) {
            let mapped = Mapped::of(surface, &view.machine);
            let title = mapped.surface.title.clone();
            match tests.iter_mut().find(|t| t.title == title) {
                Some(test) => test.runs.push((view, mapped)),
                None => tests.push(Test { title, runs: vec![(view, mapped)] }),
            }
        }
    }
    tests
}

/// A later run over the first: the number of the run, and of all.
fn ratio(out: &mut Document, machine: &Machine, [before, after]: [&Surface; 2], (n, all): (usize, usize)) {
    let Some(ratio) = Surface::ratio(before, after) else { return };
    let Some(scale) = Scale::of(&ratio) else { return };
    let name = if all > 2 { format!("Run {n}") } else { "Second run".into() };
    out.text(Tone::Label, format!("{name} divided by the first (ratio)"));
    let caption = format!("{name} over the first; 1 is the same speed.");
    surface(out, Mapped::of(ratio, machine), machine, scale, caption);
}

fn surface(out: &mut Document, mapped: Mapped, machine: &Machine, scale: Scale, caption: String) {
    let machine = machine.clone();
    out.parts.push(Part::Surface(Box::new(SurfaceFigure { mapped, machine, scale, caption })));
}
