//! `fathom backends`: what each back-end supports here, as a table or as JSON. The engine probes; this file only
//! prints.

use crate::console;
use crate::exit::Usage;
use crate::line::Backends;
use anstyle::{AnsiColor, Style};
use fathom_engine::{Capability, State, capabilities_in};
use std::fmt::Write as _;
use std::process::ExitCode;

pub fn run(options: &Backends) -> anyhow::Result<ExitCode> {
    if !options.dir.is_dir() {
        return Err(Usage(format!("{} is not a directory", options.dir.display())).into());
    }
    // Absolute: "files in ." means nothing in a log.
    let dir = options.dir.canonicalize()?;
    let all = capabilities_in(&dir);
    console::out(&if options.json { json(&all)? } else { table(&all, console::width()) });
    Ok(ExitCode::SUCCESS)
}

fn json(all: &[Capability]) -> serde_json::Result<String> {
    let rows: Vec<_> = all
        .iter()
        .map(|c| {
            serde_json::json!({
                "backend": c.backend, "feature": c.feature, "state": c.state.word(), "sentence": c.sentence,
            })
        })
        .collect();
    Ok(serde_json::to_string_pretty(&rows)? + "\n")
}

/// One block per back-end: feature, state, sentence.
fn table(all: &[Capability], width: usize) -> String {
    let of = |s: State| s.word().len();
    let feature_width = all.iter().map(|c| c.feature.len()).max().unwrap_or(0);
    let state_width = all.iter().map(|c| of(c.state)).max().unwrap_or(0);
    let indent = 2 + feature_width + 2 + state_width + 2;
    let mut text = String::new();
    for block in all.chunk_by(|a, b| a.backend == b.backend) {
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{gap}{}", block[0].backend);
        for c in block {
            let style = style(c.state);
            let state =
                format!("{style}{}{style:#}{:pad$}", c.state.word(), "", pad = state_width - of(c.state));
            let mut lines = super::wrapped(&c.sentence, width.saturating_sub(indent).max(20)).into_iter();
            let first = lines.next().unwrap_or_default();
            let _ = writeln!(text, "  {:<feature_width$}  {state}  {first}", c.feature);
            for line in lines {
                let _ = writeln!(text, "{:indent$}{line}", "");
            }
        }
    }
    text
}

fn style(state: State) -> Style {
    match state {
        State::Works => AnsiColor::Green.on_default(),
        State::Lacks => AnsiColor::Red.on_default(),
        State::Unknown => AnsiColor::Yellow.on_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capability(backend: &'static str, feature: &'static str, state: State, sentence: &str) -> Capability {
        Capability { backend, feature, state, sentence: sentence.into() }
    }

    #[test]
    fn columns_line_up_and_sentences_hang() {
        let all = [
            capability("psync", "pread", State::Works, "short"),
            capability(
                "uring",
                "a longer name",
                State::Unknown,
                "words that need more than a single line here",
            ),
            capability("uring", "rings", State::Lacks, "no"),
        ];
        let text = anstream::adapter::strip_str(&table(&all, 50)).to_string();
        let expected = "\
psync
  pread          works    short

uring
  a longer name  unknown  words that need more
                          than a single line here
  rings          lacks    no
";
        assert_eq!(text, expected);
    }
}
