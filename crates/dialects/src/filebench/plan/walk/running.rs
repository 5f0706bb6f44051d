//! Creates files and runs processes: definitions are evaluated with the current variables.

use super::*;

impl Walker<'_> {
    pub(super) fn create(&mut self) -> Outcome {
        let mut compiled = Vec::new();
        for definition in self.sets.iter().rev() {
            let set = definition
                .compile(&self.variables, self.options, self.world.look, &mut self.drawn)
                .map_err(|f| (definition.source, f))?;
            self.notes.extend(set.notes.iter().cloned());
            compiled.push(set);
        }
        let create = created::create(&compiled, &self.drawn.0).map_err(|(i, message)| {
            let definition = &self.sets[self.sets.len() - 1 - i];
            (definition.source, Fault::new(definition.span, message))
        })?;
        self.steps.push(Step::Create(Box::new(create)));
        self.created = Some(compiled);
        Ok(())
    }

    pub(super) fn list(&mut self, listed: Listed) -> Outcome {
        let lines = match listed {
            Listed::Flowops => self.flowops.lines(),
            Listed::Filesets => match &self.created {
                Some(sets) => listing::filesets(sets, true),
                None => {
                    let mut drawn = RandomVariables::default();
                    let mut sets = Vec::new();
                    for d in self.sets.iter().rev() {
                        let set = d.compile(&self.variables, self.options, self.world.look, &mut drawn);
                        sets.push(set.map_err(|f| (d.source, f))?);
                    }
                    listing::filesets(&sets, false)
                }
            },
        };
        for line in lines {
            self.log(line);
        }
        Ok(())
    }

    /// The run of the processes as defined now; missing files are created before.
    pub(super) fn prepare(&mut self, source: usize, span: Span) -> Result<Run, (usize, Fault)> {
        if self.created.is_some() {
            self.log("Attempting to create fileset more than once, ignoring");
        } else {
            self.create()?;
        }
        let sets = self.created.take().unwrap_or_default();
        let mut flowops = Flowops {
            variables: &self.variables,
            options: self.options,
            composites: &self.composites,
            possets: &self.possets,
            sets: &sets,
            drawn: &mut self.drawn,
            made: 0,
        };
        let compiled = processes::compile(&self.processes, &mut flowops);
        self.created = Some(sets);
        let mut faults = compiled.faults.into_iter();
        if let Some(first) = faults.next() {
            faults.for_each(|f| self.report(f));
            return Err(first);
        }
        if compiled.groups.is_empty() {
            let fault = Fault::new(span, "there is no process to run").hint("define process name=... before");
            return Err((source, fault));
        }
        for note in compiled.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.settle_sets(&compiled.groups)?;
        let events = match &self.eventgen {
            None => None,
            Some((source, attributes)) => {
                let scope =
                    Scope { variables: &self.variables, randoms_then: &self.no_randoms, locals: None };
                scope.integer(attributes, "rate").map_err(|f| (*source, f))?
            }
        };
        let file = Path::new(&self.sources[0].0);
        let name = file.file_stem().map_or_else(|| "script".into(), |n| n.to_string_lossy().into_owned());
        let phase = Phase {
            name: name.clone(),
            stop: Stop {
                exhausted: match self.quit {
                    QuitMode::Timeout => Exhausted::Early,
                    QuitMode::FirstDone => Exhausted::Phase,
                    QuitMode::AllDone => Exhausted::Worker,
                },
                finished: match self.quit {
                    QuitMode::Timeout | QuitMode::FirstDone => Finished::Phase,
                    QuitMode::AllDone if self.options.wml == Wml::V1_5 => Finished::Worker,
                    QuitMode::AllDone => Finished::Phase,
                },
                ..Stop::default()
            },
            events_per_s: events.filter(|&rate| rate > 0).map(|rate| rate as f64),
            groups: compiled.groups,
            ..Phase::default()
        };
        let workload = Workload {
            name,
            seed: Seed(1),
            repetitions: 1,
            variables: self.drawn.0.clone(),
            filesets: self.created.iter().flatten().map(|s| s.set.clone()).collect(),
            phases: vec![phase],
            ..Workload::default()
        };
        if let Err(errors) = workload.check() {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            return Err((source, Fault::new(span, format!("this cannot be run: {}", lines.join("; ")))));
        }
        Ok(Run {
            workload,
            starting: compiled.lines,
            period_s: None,
            reset: false,
            histograms: self.histograms,
            prints: true,
            shuts_down: true,
        })
    }

    /// Opens existing sets read-only unless they are written, never removes them, and refuses to write devices without
    /// permission.
    pub(super) fn settle_sets(&mut self, groups: &[fathom_workload::Group]) -> Outcome {
        let changed = processes::changed_sets(groups);
        let rows = processes::rows(groups);
        let removed = |name: &str| {
            rows.iter().any(|(_, op)| {
                matches!(op.act, Act::Delete | Act::RemoveDirectory) && op.fileset.as_deref() == Some(name)
            })
        };
        for set in self.created.iter_mut().flatten() {
            let definition = self.sets.iter().find(|d| d.name == set.set.name);
            let fault = |message: String, hint: String| {
                let (source, span) = definition.map_or((0, Span::default()), |d| (d.source, d.span));
                Err((source, Fault::new(span, message).hint(hint)))
            };
            let name = set.set.name.clone();
            let allowed = self.options.replaces(&set.root);
            let as_found = matches!(set.set.files, Files::List(_)) && set.set.existing == Existing::Reuse;
            if as_found && removed(&name) && !allowed {
                return fault(
                    format!("a flowop deletes {}, which fathom did not make", set.root.display()),
                    format!("--replace {} allows it", set.root.display()),
                );
            }
            let device = matches!((self.world.look)(&set.root), Found::BlockDevice { .. });
            if device && changed.contains(&name) && !allowed {
                return fault(
                    format!("{} is a block device, and a flowop writes to it", set.root.display()),
                    format!("if its contents may be lost: --replace {}", set.root.display()),
                );
            }
            let only_read = set.set.existing == Existing::Reuse && !changed.contains(&name);
            set.set.share = match set.share {
                Share::ReadWrite if only_read => Share::ReadOnly,
                asked => asked,
            };
        }
        let sets: Vec<_> = self.created.iter().flatten().map(|s| s.set.clone()).collect();
        let variables = self.drawn.0.clone();
        for step in &mut self.steps {
            if let Step::Create(create) = step {
                create.workload.filesets.clone_from(&sets);
                create.workload.variables.clone_from(&variables);
            }
        }
        Ok(())
    }

    pub(super) fn run(
        &mut self,
        source: usize,
        span: Span,
        seconds: Option<u64>,
        period: Option<i64>,
    ) -> Outcome {
        self.ran = true;
        let mut run = self.prepare(source, span)?;
        // The command line overrides the script's time.
        let seconds = self.options.run.or(seconds);
        let time = match (seconds.filter(|&s| s > 0), self.quit) {
            (Some(seconds), _) => Some(seconds),
            (None, QuitMode::Timeout) => Some(DEFAULT_RUN_S),
            (None, QuitMode::AllDone | QuitMode::FirstDone) => None,
        };
        run.period_s = period.map(i64::unsigned_abs);
        run.reset = period.is_some_and(|p| p < 0);
        self.timed(&mut run, 0, time);
        self.steps.push(Step::Run(Box::new(run)));
        self.ended = self.options.wml == Wml::V1_5;
        Ok(())
    }

    pub(super) fn timed(&self, run: &mut Run, before_s: u64, time_s: Option<u64>) {
        let nanoseconds = |s: u64| Duration(s.saturating_mul(1_000_000_000));
        for phase in &mut run.workload.phases {
            phase.ramp = nanoseconds(before_s);
            phase.stop.time = time_s.map(nanoseconds);
            phase.interval = nanoseconds(1);
        }
    }

    /// Checks a script without a run as if it had one; errors are reported as notes.
    pub(super) fn check_unused(&mut self) {
        let steps = self.steps.len();
        let notes = self.notes.len();
        let created = self.created.is_some();
        if let Err((source, fault)) = self.prepare(0, Span::default())
            && !self.processes.is_empty()
        {
            let (file, text) = &self.sources[source];
            let finding = located(file, text, fault);
            self.notes.truncate(notes);
            self.notes.push(format!("if it were run: {}", finding.rendered.trim_end()));
        }
        self.findings.clear();
        self.steps.truncate(steps);
        if !created {
            self.created = None;
        }
    }
}
