//! A run in progress: what is printed during it, and its figures when it ends.

use super::session::SessionLog;
use crate::run_loop::{Failure, Finished, Listener};
use fathom_dialects::filebench::output::{self, CpuTimes, Figures, Stopped};
use fathom_dialects::filebench::plan::{Format, Run};
use fathom_engine::{EngineError, Said};
use fathom_record::{Ending, OpError, Repetition, Row};
use fathom_workload::Group;

/// The engine's advice when no file is left, and the same in a script's terms.
const ENDS_PHASE: &str = "let this end the phase (stop.exhausted)";
const ENDS_RUN: &str = "let this end the run (set mode quit firstdone)";

pub struct Printer<'a> {
    run: &'a Run,
    log: &'a SessionLog,
    format: Format,
    /// Periods printed.
    periods: u64,
    /// The counters when last zeroed.
    zeroed: Option<Figures>,
}

impl<'a> Printer<'a> {
    pub fn new(run: &'a Run, log: &'a SessionLog, format: Format) -> Self {
        Self { run, log, format, periods: 0, zeroed: None }
    }

    /// Ends the run: prints its figures, marked if partial, and returns them if there are any.
    pub fn conclude(&self, finished: &Finished) -> Option<Figures> {
        let repetition = finished.run.phases.first().and_then(|p| p.repetitions.last());
        let failure = match &finished.failure {
            Some(Failure::Operation(e)) => Some(e),
            _ => None,
        };
        if finished.signal.is_some() {
            self.log.line("Aborting...");
        }
        if let Some(error) = failure {
            self.tell(error, repetition);
        }
        let figures = repetition.map(|r| output::figures(self.groups(), r, self.format));
        if let Some(figures) = &figures {
            let whole = finished.signal.is_none() && finished.failure.is_none();
            self.log.line(&format!("Run took {:.0} seconds...", figures.seconds.round()));
            if !whole {
                self.log.line("PARTIAL RESULTS: the run was stopped before its end");
            }
            if self.run.prints || !whole {
                self.breakdown(&self.since_zeroed(figures));
            }
            if failure.is_some_and(|e| !found_nothing(e)) {
                self.log.error("NO VALID RESULTS! Filebench run terminated prematurely");
            }
        }
        if self.run.shuts_down {
            self.log.line("Shutting down processes");
        }
        figures
    }

    /// Reports what stopped the run, in the original's terms and in ours.
    fn tell(&self, error: &OpError, repetition: Option<&Repetition>) {
        let (thread, instance) = failed_thread(repetition);
        if let Some(flowop) = flowop_of(error) {
            let stopped = if found_nothing(error) {
                Stopped::NoFile { flowop, instance }
            } else {
                Stopped::Failed { thread: &thread, thread_instance: instance, flowop }
            };
            self.log.error(&output::stopped_early(stopped).join("\n"));
        }
        crate::console::error(&error.message.replace(ENDS_PHASE, ENDS_RUN));
    }

    fn breakdown(&self, figures: &Figures) {
        if self.format == Format::Dump {
            self.log.plain(&output::dump(figures));
            return;
        }
        self.log.line("Per-Operation Breakdown");
        self.log.plain(&output::rows(figures, self.format, self.run.histograms));
        self.log.line(&output::summary(figures, self.format));
    }

    fn groups(&self) -> &'a [Group] {
        self.run.workload.phases.first().map_or(&[], |p| &p.groups)
    }

    /// The figures to print: after a zeroing, only the part since then.
    fn since_zeroed(&self, figures: &Figures) -> Figures {
        self.zeroed.as_ref().map_or_else(|| figures.clone(), |before| figures.since(before))
    }
}

/// The flowop of an error; none for a killed process. The engine's sentences about flows begin with "operation NAME: ".
fn flowop_of(error: &OpError) -> Option<&str> {
    error.message.strip_prefix("operation ")?.split_once(':').map(|(name, _)| name)
}

/// Whether an operation found no file or directory to work on, which is not a failure in Filebench.
fn found_nothing(error: &OpError) -> bool {
    error.call == "pick"
}

impl Listener for Printer<'_> {
    fn starts(&mut self) {
        self.log.line("Running...");
    }

    fn wants_rows(&self) -> bool {
        self.run.period_s.is_some()
    }

    /// Prints the periodic psrun rows, except the last, at the end of the run.
    fn rows(&mut self, counted_ns: u64, rows: Vec<Row>) {
        let Some(period_s) = self.run.period_s else { return };
        let seconds = counted_ns as f64 / 1e9;
        let whole = self.run.workload.phases.first().and_then(|p| p.stop.time).map_or(u64::MAX, |t| t.0);
        let due_ns = (self.periods + 1).saturating_mul(period_s).saturating_mul(1_000_000_000);
        if counted_ns < due_ns || due_ns >= whole {
            return;
        }
        self.periods = counted_ns / (period_s * 1_000_000_000);
        let figures = Figures::new(self.groups(), &rows, seconds, CpuTimes::default(), self.format);
        self.breakdown(&self.since_zeroed(&figures));
        if self.run.reset {
            self.zeroed = Some(figures);
        }
    }

    fn said(&mut self, said: &Said<'_>) {
        let Said { group, process, thread, instance, text } = *said;
        self.log.line(&format!(
            "Message from process ({group},{}), thread ({thread},{}): {text}",
            process + 1,
            instance + 1
        ));
    }
}

/// Name of the failed thread, and its number among the threads of that name.
fn failed_thread(repetition: Option<&Repetition>) -> (String, u32) {
    let workers = repetition.map_or(&[][..], |r| &r.workers);
    let Some(failed) = workers.iter().find(|w| matches!(w.ending, Ending::Failed(_))) else {
        return ("thread".into(), 1);
    };
    let before = workers.iter().filter(|w| w.group == failed.group && w.index < failed.index).count();
    (failed.group.clone(), before as u32 + 1)
}

/// An engine error, with the option that allows what was refused.
pub fn advised(error: &EngineError) -> String {
    match error {
        EngineError::NotOurs(path) | EngineError::NotOurTree(path) | EngineError::NotATree(path) => {
            format!("{error} (here: --replace {})", path.display())
        }
        EngineError::Foreign { .. } | EngineError::WouldChange { .. } => {
            format!("{error} (here: --replace with the path of its file or fileset)")
        }
        _ => error.to_string(),
    }
}
