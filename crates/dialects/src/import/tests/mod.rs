//! Imports of every program's outputs.

mod formats;
mod more_programs;
mod properties;
mod seeds;
mod suites;
mod tables;

use super::{Imported, import};

/// All results as text for golden files.
pub(super) fn text_of(imported: &Imported) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for found in &imported.found {
        let _ = writeln!(
            text,
            "lines {}-{}: {}, {} figures",
            found.first_line,
            found.last_line,
            found.what,
            found.figures()
        );
        for run in &found.runs {
            let program = run.source.as_ref().map_or("", |s| &s.program);
            let _ = writeln!(
                text,
                "  run {:?} of {program} ({}) {} {}",
                run.label,
                run.dialect,
                run.started_at,
                run.status.word()
            );
            for phase in &run.phases {
                let _ = writeln!(
                    text,
                    "    {} {:?}{}",
                    phase.name,
                    phase.axes,
                    if phase.direct { " direct" } else { "" }
                );
                for r in &phase.repetitions {
                    for f in &r.figures {
                        let better = f.higher_is_better.map_or("", |b| if b { " higher" } else { " lower" });
                        let _ = writeln!(
                            text,
                            "      {:>4}: {} = {} -> {} {}{better}",
                            f.line, f.name, f.printed, f.value, f.unit
                        );
                    }
                    for w in &r.workers {
                        for s in &w.stats {
                            let _ = writeln!(text, "      {} {} of {} bytes", s.ops, s.op.word(), s.bytes);
                        }
                    }
                    if !r.intervals.is_empty() {
                        let _ = writeln!(text, "      {} intervals", r.intervals.len());
                    }
                }
            }
            for doubt in &run.doubts {
                let _ = writeln!(text, "    {}: {}", doubt.code, doubt.sentence);
            }
        }
    }
    let _ = writeln!(text, "prose: {:?}", imported.prose);
    for (n, line) in &imported.not_understood {
        let _ = writeln!(text, "not understood {n}: {line}");
    }
    text
}
