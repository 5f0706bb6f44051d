//! The explicit life cycle of the older language (create processes, stats clear, sleep, stats snap, shutdown processes), combined
//! into one run in which sleeps before the last `stats clear` are the warm-up.

use super::*;

impl Walker<'_> {
    pub(super) fn sleep(&mut self, source: usize, value: &Spanned<Value>) -> Outcome {
        let seconds = self.seconds(value).map_err(|f| (source, f))?;
        self.pause(seconds, matches!(value.node, Value::Variable(_)));
        Ok(())
    }

    /// A sleep; it counts as run time of started processes.
    pub(super) fn pause(&mut self, seconds: u64, variable: bool) {
        if let Some(life) = self.life.as_mut().filter(|l| !l.snapped) {
            life.since_s += seconds;
            return;
        }
        // 1.5 prints this for a variable; nothing runs.
        let (before, after) = if variable && self.options.wml == Wml::V1_5 {
            ("Running...".to_owned(), format!("Run took {seconds} seconds..."))
        } else {
            ("Sleeping...".to_owned(), format!("Slept for {seconds} seconds..."))
        };
        self.steps.push(Step::Sleep { seconds, before, after });
    }

    pub(super) fn create_processes(&mut self, source: usize, span: Span) -> Outcome {
        if self.life.is_some() {
            let fault = Fault::new(span, "processes run already").hint("shutdown processes ends them");
            return Err((source, fault));
        }
        let mut run = self.prepare(source, span)?;
        run.shuts_down = false;
        self.life = Some(RunningProcesses { source, span, run, before_s: 0, since_s: 0, snapped: false });
        Ok(())
    }

    pub(super) fn stats(&mut self, source: usize, span: Span, stats: &Stats) -> Outcome {
        let here = |fault: Fault| (source, fault);
        match stats {
            Stats::Clear => {
                if let Some(life) = self.life.as_mut().filter(|l| !l.snapped) {
                    life.before_s += std::mem::take(&mut life.since_s);
                }
                Ok(())
            }
            Stats::Snap => match &self.life {
                Some(life) if life.snapped => Err(here(
                    Fault::new(span, "a second stats snap of one run is not supported: a run is measured once")
                        .hint("psrun prints figures in the middle; or shutdown processes and create processes again"),
                )),
                Some(_) => self.measure(true),
                None if self.steps.iter().any(|s| matches!(s, Step::Run(_))) => Ok(()),
                None => Err(here(Fault::new(span, "stats snap without processes").hint("create processes before"))),
            },
            Stats::Dump(value) => {
                let file = self.scope().known(value).map_err(here)?.words().unwrap_or_default();
                if file.is_empty() {
                    return Err(here(Fault::new(value.span, "stats dump needs the name of a file")));
                }
                if !self.steps.iter().any(|s| matches!(s, Step::Run(_))) {
                    return Err(here(Fault::new(span, "stats dump has nothing to write yet").hint("stats snap before")));
                }
                self.steps.push(Step::Dump(self.dump_directory.join(file)));
                Ok(())
            }
            Stats::Directory(value) => {
                self.dump_directory = self.scope().known(value).map_err(here)?.words().unwrap_or_default().into();
                Ok(())
            }
            Stats::XmlDump(_) => Err(here(
                Fault::new(span, "stats xmldump is not supported: its form is not documented")
                    .hint("fathom export writes JSON and CSV"),
            )),
            Stats::MultiDump(_) => Err(here(
                Fault::new(span, "stats multidump is not supported: its form is not documented")
                    .hint("stats dump writes a file for each run; fathom export writes JSON and CSV"),
            )),
            Stats::Command(_) => Err(here(
                Fault::new(span, "stats command is not supported: what runs beside disturbs what is measured")
                    .hint("start the command with system \"COMMAND &\" before the run"),
            )),
        }
    }

    /// Ends the run started by `create processes`.
    pub(super) fn measure(&mut self, prints: bool) -> Outcome {
        let Some(mut life) = self.life.take() else { return Ok(()) };
        let time_s = self.options.run.unwrap_or(life.since_s);
        if time_s == 0 {
            let fault =
                Fault::new(life.span, "these processes are given no time").hint("sleep 60 before stats snap");
            return Err((life.source, fault));
        }
        let mut run = life.run.clone();
        run.prints = prints;
        self.timed(&mut run, life.before_s, Some(time_s));
        self.steps.push(Step::Run(Box::new(run)));
        self.ran = true;
        life.snapped = true;
        self.life = Some(life);
        Ok(())
    }

    pub(super) fn shut_down(&mut self) -> Outcome {
        match &self.life {
            None => Ok(()),
            Some(life) => {
                if !life.snapped {
                    // A run time on the command line implies that its figures are wanted.
                    self.measure(self.options.run.is_some())?;
                }
                self.life = None;
                self.log("Shutting down processes");
                Ok(())
            }
        }
    }
}
