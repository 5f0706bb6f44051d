//! Progress of a comparison on stderr: a redrawn line on a terminal, elsewhere a note per quad. Never shows figures, or
//! users would stop when they look good.

use crate::console;
use crate::run_loop::Listener;
use indicatif::ProgressBar;
use std::io::IsTerminal as _;
use std::time::Duration;

pub struct CompareProgress {
    bar: ProgressBar,
    part: String,
    run: String,
}

impl CompareProgress {
    /// `runs`: the maximum.
    pub fn new(runs: u64) -> Self {
        Self { bar: console::progress(runs), part: String::new(), run: String::new() }
    }

    pub fn part(&mut self, words: &str) {
        self.part = words.into();
        if !std::io::stderr().is_terminal() {
            console::note(words);
        }
    }

    pub fn quad(&mut self, what: &str, number: usize, most: &str, order: &str, left: Option<Duration>) {
        let left = left.map_or(String::new(), |t| format!(", about {} left at most", console::duration(t)));
        self.part(&format!("{what} {number} of {most} ({order}){left}"));
    }

    pub fn run(&mut self, letter: &str, name: &str) {
        self.run = format!("{letter} {name}");
        crate::console::tell(&self.bar, &format!("{}: {}", self.part, self.run));
        self.bar.tick();
    }

    pub fn done(&self) {
        self.bar.inc(1);
    }

    /// Prints a sentence that stays on the screen.
    pub fn say(&self, words: &str) {
        self.bar.suspend(|| console::note(words));
    }

    /// The same as a warning.
    pub fn warn(&self, words: &str) {
        self.bar.suspend(|| console::warning(words));
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Listener for CompareProgress {
    fn begins(&mut self, phase: &fathom_workload::Phase, _repetition: u32) {
        crate::console::tell(&self.bar, &format!("{}: {} ({})", self.part, self.run, phase.name));
        self.bar.tick();
    }
}
