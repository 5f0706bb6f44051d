//! A run on its way: what is printed while it goes on, and its figures when it ends, however it ends.

use super::session::Log;
use crate::run_loop::{Failure, Finished, Listener};
use fathom_dialects::filebench::output::{self, Figures, Stopped};
use fathom_dialects::filebench::plan::{Format, Run};
use fathom_engine::EngineError;
use fathom_record::{Ending, OpError, Repetition};

/// Prints what Filebench prints.
pub struct Printer<'a> {
    run: &'a Run,
    log: &'a Log,
    format: Format,
}

impl<'a> Printer<'a> {
    pub fn new(run: &'a Run, log: &'a Log, format: Format) -> Self {
        Self { run, log, format }
    }

    /// The end of a run: its figures, marked if they stand on part of it only. Answers the figures, if there are any.
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
        let figures = repetition.map(|r| self.figures(r));
        if let Some(figures) = &figures {
            let whole = finished.signal.is_none() && finished.failure.is_none();
            self.log.line(&format!("Run took {:.0} seconds...", figures.seconds.round()));
            if !whole {
                self.log.line("PARTIAL RESULTS: the run was stopped before its end");
            }
            if self.run.prints || !whole {
                self.breakdown(figures);
            }
            if !whole {
                self.log.error("NO VALID RESULTS! Filebench run terminated prematurely");
            }
        }
        if self.run.shuts_down {
            self.log.line("Shutting down processes");
        }
        figures
    }

    /// What stopped the run, in the original's words and in ours.
    fn tell(&self, error: &OpError, repetition: Option<&Repetition>) {
        let (thread, instance) = failed_thread(repetition);
        // The engine's sentences about flows begin with "operation NAME: ".
        let flowop =
            error.message.strip_prefix("operation ").and_then(|m| m.split(':').next()).unwrap_or("flowop");
        let stopped = if error.call == "pick" {
            Stopped::NoFile { flowop, instance }
        } else {
            Stopped::Failed { thread: &thread, thread_instance: instance, flowop }
        };
        self.log.error(&output::stopped_early(stopped).join("\n"));
        crate::console::error(&error.message);
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

    fn figures(&self, repetition: &Repetition) -> Figures {
        let groups = self.run.workload.phases.first().map_or(&[][..], |p| &p.groups);
        output::figures(groups, repetition, self.format)
    }
}

impl Listener for Printer<'_> {
    fn starts(&mut self) {
        self.log.line("Running...");
    }
}

/// Name and number, among the threads of that name, of the thread that failed.
fn failed_thread(repetition: Option<&Repetition>) -> (String, u32) {
    let workers = repetition.map_or(&[][..], |r| &r.workers);
    let Some(failed) = workers.iter().find(|w| matches!(w.ending, Ending::Failed(_))) else {
        return ("thread".into(), 1);
    };
    let before = workers.iter().filter(|w| w.group == failed.group && w.index < failed.index).count();
    (failed.group.clone(), before as u32 + 1)
}

/// An error of the engine, with the option that allows what it refused.
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
