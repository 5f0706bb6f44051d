//! The terminal: data goes to stdout, everything else to stderr. Colour and the progress line only where they are wanted; the
//! decision is anstream's (terminal, NO_COLOR, CLICOLOR_FORCE) and is taken nowhere else.

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal as _, Write as _};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default();

/// The words of the command line for the record; what is no UTF-8 in the name of a file is shown as such.
pub fn argv() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Writes data to stdout and flushes it. A reader that has gone (`| head`) ends nothing.
pub fn out(text: &str) {
    let mut stdout = anstream::stdout().lock();
    let _ = stdout.write_all(text.as_bytes());
    let _ = stdout.flush();
}

/// Writes bytes of another program's output format to stdout, untouched.
pub fn out_raw(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes());
    let _ = stdout.flush();
}

/// Writes text of another program's form to stderr, untouched.
pub fn error_raw(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes());
}

/// What went wrong and ends the command.
pub fn error(text: &str) {
    say(ERROR, "error", text);
}

/// What makes a result doubtful, or was not done.
pub fn warning(text: &str) {
    say(WARNING, "warning", text);
}

/// What the user may want to know. `FATHOM_QUIET=1` keeps it from those who take any word on stderr for a failure.
pub fn note(text: &str) {
    if std::env::var_os("FATHOM_QUIET").is_none_or(|value| value.is_empty() || value == "0") {
        say(NOTE, "note", text);
    }
}

fn say(style: Style, word: &str, text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = writeln!(stderr, "{style}{word}:{style:#} {text}");
}

/// Whether stdout takes colours.
pub fn colour() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// Columns of the terminal, at most 120, so that text is easy to read; 80 where there is none.
pub fn width() -> usize {
    columns().clamp(40, 120)
}

/// All columns of the terminal, for tables; 80 where there is none.
pub fn columns() -> usize {
    terminal_size::terminal_size().map_or(80, |(w, _)| usize::from(w.0))
}

/// A progress line on stderr: what is running now and how much time is left. Nothing where stderr is no terminal.
pub fn progress(phases: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(phases), ProgressDrawTarget::stderr_with_hz(5));
    let template = "{bar:24} {pos}/{len} {elapsed_precise} (left about {eta}) {wide_msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// "1 run", "2 runs".
pub fn counted(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// "45 s", "12 min", "3.5 h".
pub fn duration(time: std::time::Duration) -> String {
    match time.as_secs_f64() {
        s if s < 9.5 => format!("{s:.1} s"),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_short() {
        assert_eq!(duration(Duration::from_millis(1340)), "1.3 s");
        assert_eq!(duration(Duration::from_secs(45)), "45 s");
        assert_eq!(duration(Duration::from_secs(720)), "12 min");
        assert_eq!(duration(Duration::from_secs(12600)), "3.5 h");
    }
}
