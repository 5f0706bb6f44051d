//! The terminal: data goes to stdout, everything else to stderr. Colour and the progress line appear only where wanted;
//! anstream alone decides (terminal, NO_COLOR, CLICOLOR_FORCE).

use crate::printing;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use fathom_record::{escape_coloured, escape_controls, escape_lines};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default();

/// The command line for the record; file names that are not UTF-8 are shown escaped.
pub fn argv() -> Vec<String> {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    crate::secrets::masked(&words)
}

/// Set if anything that should have been stored or printed was not.
static INCOMPLETE: AtomicBool = AtomicBool::new(false);

/// Whether [`incomplete`] was called: the command was no success, whatever else happened.
pub fn is_incomplete() -> bool {
    INCOMPLETE.load(Ordering::Relaxed)
}

/// A result is missing where it should be. The command continues, but does not succeed.
pub fn incomplete(text: &str) {
    INCOMPLETE.store(true, Ordering::Relaxed);
    error(text);
}

/// Writes data to stdout and flushes it. A closed pipe (`| head`) is no error.
pub fn out(text: &str) {
    heed(line(text));
}

/// The same; the caller handles errors.
pub fn line(text: &str) -> std::io::Result<()> {
    let stdout = std::io::stdout().lock();
    let choice = AutoStream::choice(&stdout);
    printing::write(&stdout, &adapted(choice, &escape_coloured(text)))
}

/// Buffered text for stdout; writes whole lines.
#[derive(Default)]
pub struct Lines(Vec<u8>);

impl Lines {
    /// Bytes written at once.
    const AT_ONCE: usize = 64 << 10;

    /// The whole lines, if there are enough of them.
    fn ready(&mut self) -> Option<Vec<u8>> {
        let end = self.0.iter().rposition(|byte| *byte == b'\n').filter(|end| *end + 1 >= Self::AT_ONCE)?;
        let rest = self.0.split_off(end + 1);
        Some(std::mem::replace(&mut self.0, rest))
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.extend_from_slice(bytes);
        if self.0.len() >= Self::AT_ONCE
            && let Some(lines) = self.ready()
        {
            out(&String::from_utf8_lossy(&lines));
        }
        Ok(bytes.len())
    }

    /// Writes the rest.
    fn flush(&mut self) -> std::io::Result<()> {
        out(&String::from_utf8_lossy(&std::mem::take(&mut self.0)));
        Ok(())
    }
}

/// Writes another program's output to stdout, without our colours.
pub fn out_raw(text: &str) {
    heed(printing::write(std::io::stdout().lock(), harmless(text).as_bytes()));
}

/// The same to stderr.
pub fn error_raw(text: &str) {
    let _ = printing::write(std::io::stderr().lock(), harmless(text).as_bytes());
}

/// A line about what is going on, for standard error that is no terminal.
pub fn live(text: &str) {
    let _ = printing::write(std::io::stderr().lock(), format!("{}\n", escape_controls(text)).as_bytes());
}

/// Erases a status line from a terminal.
pub fn erase_line() {
    let _ = printing::write(std::io::stderr().lock(), b"\r\x1b[K");
}

/// Escapes control characters, since names may contain anything. The imitated programs print none but line breaks,
/// tabs, and the carriage return of a line that overwrites itself.
fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return escape_lines(text);
    }
    Cow::Owned(text.split('\r').map(escape_lines).collect::<Vec<_>>().join("\r"))
}

/// A full disk behind stdout is a loss; a closed pipe is not.
fn heed(written: std::io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
        && !is_incomplete()
    {
        incomplete(&format!("standard output could not be written to its end: {error}"));
    }
}

/// Prints an error that ends the command.
pub fn error(text: &str) {
    say(ERROR, "error", text);
}

/// Prints clap's message: an error to stderr, help to stdout. It contains words of the command line.
pub fn of_clap(said: &clap::Error) {
    let text = said.render().ansi().to_string();
    if said.use_stderr() {
        say_coloured(&text);
    } else {
        out(&text);
    }
}

/// Warns about a doubtful result, or a step that was skipped.
pub fn warning(text: &str) {
    say(WARNING, "warning", text);
}

/// Whether notes are suppressed.
static HUSHED: AtomicBool = AtomicBool::new(false);

/// From now on prints notes only if `FATHOM_QUIET=0` asks for them: the imitated program prints none.
pub fn hush() {
    HUSHED.store(true, Ordering::Relaxed);
}

/// Prints information for the user. `FATHOM_QUIET=1` suppresses it for callers who treat any stderr output as a
/// failure.
pub fn note(text: &str) {
    let asked = std::env::var_os("FATHOM_QUIET").filter(|value| !value.is_empty());
    if asked.map_or(!HUSHED.load(Ordering::Relaxed), |value| value == "0") {
        say(NOTE, "note", text);
    }
}

/// A warning that the imitated program does not print in a pipeline.
pub fn warning_unless_hushed(text: &str) {
    if HUSHED.load(Ordering::Relaxed) { note(text) } else { warning(text) }
}

fn say(style: Style, word: &str, text: &str) {
    say_coloured(&format!("{style}{word}:{style:#} {}\n", escape_lines(text)));
}

fn say_coloured(text: &str) {
    let stderr = std::io::stderr().lock();
    let choice = AutoStream::choice(&stderr);
    let _ = printing::write(&stderr, &adapted(choice, &escape_coloured(text)));
}

/// The text with or without its colours.
fn adapted(choice: ColorChoice, text: &str) -> Vec<u8> {
    let mut bytes = AutoStream::new(Vec::new(), choice);
    // Writing to memory cannot fail.
    let _ = bytes.write_all(text.as_bytes());
    bytes.into_inner()
}

/// Whether stdout takes colours.
pub fn colour() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// Columns of the terminal, at most 120 for readable text; 80 without a terminal.
pub fn width() -> usize {
    columns().clamp(40, 120)
}

/// All columns of the terminal, for tables; 80 without a terminal.
pub fn columns() -> usize {
    terminal_size::terminal_size().map_or(80, |(w, _)| usize::from(w.0))
}

/// A progress line on stderr: current step and remaining time. Nothing if stderr is no terminal.
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

/// A progress line without a known end. Nothing if stderr is no terminal.
pub fn spinner() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
    if let Ok(style) = ProgressStyle::with_template("{wide_msg} {elapsed_precise}") {
        line.set_style(style);
    }
    line
}

/// Sets the text of a progress line.
pub fn tell(bar: &ProgressBar, text: &str) {
    bar.set_message(escape_controls(text).into_owned());
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
    fn lines_are_written_whole_and_not_kept() {
        let mut lines = Lines(b"a line\n".to_vec());
        assert_eq!(lines.ready(), None, "not yet");
        lines.0.resize(Lines::AT_ONCE, b'.');
        lines.0.extend("\nno \u{e9}nd".as_bytes());
        assert_eq!(lines.ready().map(|lines| lines.len()), Some(Lines::AT_ONCE + 1));
        assert_eq!(lines.0, "no \u{e9}nd".as_bytes());
    }

    #[test]
    fn times_are_short() {
        assert_eq!(duration(Duration::from_millis(1340)), "1.3 s");
        assert_eq!(duration(Duration::from_secs(45)), "45 s");
        assert_eq!(duration(Duration::from_secs(720)), "12 min");
        assert_eq!(duration(Duration::from_secs(12600)), "3.5 h");
    }
}
