//! Current step and remaining time, on a terminal.

use crate::run_loop::Listener;
use fathom_report::units;
use fathom_workload::{Phase, Program};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

pub struct ProgressLine {
    bar: ProgressBar,
    started: Instant,
    total: Duration,
}

impl ProgressLine {
    /// Prints nothing if stderr is no terminal.
    pub fn new(total: Duration) -> Self {
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::with_draw_target(
                Some(total.as_secs().max(1) * 10),
                ProgressDrawTarget::stderr_with_hz(5),
            )
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template("{bar:16} {prefix:11} {wide_msg}") {
            bar.set_style(style);
        }
        Self { bar, started: Instant::now(), total }
    }

    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn tick(&self) {
        let passed = self.started.elapsed();
        self.bar.set_position((passed.as_millis() / 100) as u64);
        self.bar.set_prefix(left(self.total.saturating_sub(passed)));
    }
}

/// The current step in at most fifty columns: the variable of each part.
fn running(phase: &Phase, repetition: u32) -> String {
    let stage = phase.axes.tags.get("stage").map_or("", String::as_str);
    let depth = phase.groups.iter().flat_map(|g| &g.threads).filter_map(|t| match &t.program {
        Program::Stream(stream) => Some(stream.queue_depth),
        Program::Flow(_) => None,
    });
    let what = match (stage, phase.axes.file, phase.axes.record) {
        ("surface", Some(file), Some(record)) => {
            format!(", file {} by {}", units::bytes_short(file.0), units::bytes_short(record.0))
        }
        ("depth", ..) => format!(", {} in flight", depth.max().unwrap_or(1)),
        ("mix", ..) => phase.axes.tags.get("reads").map_or(String::new(), |share| format!(", {share} reads")),
        _ => phase.axes.streams.map_or(String::new(), |n| format!(" x{n}")),
    };
    let round = if repetition > 0 { format!(", round {}", repetition + 1) } else { String::new() };
    format!("{}{what}{round}", phase.name)
}

fn left(time: Duration) -> String {
    match time.as_secs() {
        0 => "nearly done".into(),
        s if s < 100 => format!("{s} s left"),
        s => format!("{} min left", s.div_ceil(60)),
    }
}

impl Listener for ProgressLine {
    fn begins(&mut self, phase: &Phase, repetition: u32) {
        crate::console::tell(&self.bar, &running(phase, repetition));
        self.tick();
    }

    fn interval(&mut self, _interval: &fathom_record::Interval) {
        self.tick();
    }

    fn ends(&mut self, _phase: &fathom_record::Phase) {
        self.tick();
    }
}

#[cfg(test)]
mod tests {
    use super::super::effort::{Effort, EffortChoice};
    use super::super::place::SurveyPlace;
    use super::super::plan::SurveyPlan;
    use super::super::surface::Surfaces;
    use super::super::{ladder, mix, scaling, small};
    use super::*;

    #[test]
    fn what_runs_fits_a_line_of_eighty_columns() {
        let place = SurveyPlace::for_test(true, 1 << 30, false);
        let mut plan = SurveyPlan::new(&place, Effort::of(EffortChoice::Thorough, 8), 1);
        ladder::add(&mut plan);
        small::add(&mut plan);
        scaling::add(&mut plan);
        mix::add(&mut plan);
        let _ = Surfaces::new(&plan).expect("large enough").all(&mut plan);
        for phase in &plan.workload.phases {
            let line = format!("{} {:11} {}", "#".repeat(16), "nearly done", running(phase, 4));
            assert!(line.chars().count() <= 80, "{line}");
        }
        let of = |name: &str| -> Vec<String> {
            plan.workload.phases.iter().filter(|p| p.name == name).map(|p| running(p, 0)).collect()
        };
        assert_eq!(of("cached random read"), ["cached random read"]);
        assert_eq!(of("mixed direct")[0], "mixed direct, 100 % reads");
        assert_eq!(of("parallel writers").last().map(String::as_str), Some("parallel writers x8"));
        assert_eq!(of("cold read")[0], "cold read, file 1M by 4K");
    }

    #[test]
    fn time_left_is_short() {
        assert_eq!(left(Duration::from_millis(900)), "nearly done");
        assert_eq!(left(Duration::from_secs(42)), "42 s left");
        assert_eq!(left(Duration::from_secs(301)), "6 min left");
    }
}
