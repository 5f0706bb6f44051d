//! A separate process examines leftovers of killed runs: on a mount whose server is gone this may block for ever, and a
//! process blocked so cannot be killed. It announces each step; if it gets stuck, it is left behind and the command
//! continues.

use crate::{console, exit};
use fathom_engine::{Fate, Ledger, Sweeping, Swept};
use fathom_observe::knobs;
use fathom_state::lines::{coded, coded_path, decoded_path, decoded_text};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

const COMMAND: &str = "__sweep";
/// How long a file system may take to examine a path.
const PATIENCE: Duration = Duration::from_secs(5);
/// After this long the removal in progress is reported.
const SOON: Duration = Duration::from_secs(1);
/// How long a removal is waited for after that.
const LONG: Duration = Duration::from_secs(60);
/// Whose files they are.
const LEFT: &str = "left behind by a run that was killed";

pub fn is_sweeper(words: &[OsString]) -> bool {
    words.get(1).is_some_and(|w| w == COMMAND)
}

/// `fathom __sweep DIRECTORY`: sweeps, and prints each step as a line.
pub fn work(words: &[OsString]) -> ExitCode {
    let Some(directory) = words.get(2) else {
        console::error(&format!("{COMMAND} is started by fathom itself"));
        return ExitCode::from(exit::USAGE);
    };
    let mut stdout = std::io::stdout().lock();
    Ledger::sweep_telling(Path::new(directory), &mut |step| {
        let line = match step {
            Sweeping::Looks(path) => format!("looks {}", coded_path(&path)),
            Sweeping::Removes(path) => format!("removes {}", coded_path(&path)),
            Sweeping::Did(swept) => {
                let (is_good, text) = words_of(&swept);
                format!("{} {}", if is_good { "note" } else { "warning" }, coded(text.as_bytes()))
            }
            _ => return,
        };
        // The parent may be gone; the sweep continues.
        let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    });
    ExitCode::SUCCESS
}

/// Sweeps a state directory and reports the result. Starts no process if nothing is left.
pub fn sweep(directory: &Path) {
    start(directory, true);
}

/// The same without a report, which the caller makes.
pub fn sweep_quietly(directory: &Path) {
    start(directory, false);
}

fn start(directory: &Path, says: bool) {
    if !Ledger::needs_sweep(directory) {
        return;
    }
    let mut command = Command::new("/proc/self/exe");
    command.arg(COMMAND).arg(directory).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    match command.spawn() {
        Ok(mut child) => follow(&mut child, says),
        Err(error) => {
            console::warning(&format!("the files that killed runs left could not be checked: {error}"))
        }
    }
}

fn follow(child: &mut Child, says: bool) {
    let receiver = lines(child);
    let mut at = Doing::Nothing;
    loop {
        match receiver.recv_timeout(at.patience()) {
            Ok(line) => at = hear(&line, says),
            Err(RecvTimeoutError::Disconnected) => {
                let _ = child.wait();
                return;
            }
            Err(RecvTimeoutError::Timeout) => match at {
                Doing::Removing(path) => {
                    console::note(&format!("removing {}, {LEFT}", path.display()));
                    at = Doing::StillRemoving(path);
                }
                Doing::StillRemoving(path) => {
                    console::warning(&format!(
                        "{}, {LEFT}, is still being removed; this command goes on without waiting for it",
                        path.display()
                    ));
                    return;
                }
                Doing::Looking(path) => {
                    // Reported even where nothing else is: it took five seconds.
                    console::warning(&format!(
                        "{}, {LEFT}, is on a file system that does not answer; it stays, and a later run tries again",
                        path.display()
                    ));
                    // Not waited for: it may not be killable.
                    let _ = child.kill();
                    return;
                }
                Doing::Nothing => {}
            },
        }
    }
}

/// What the sweeper is doing.
enum Doing {
    Nothing,
    Looking(PathBuf),
    Removing(PathBuf),
    /// Already reported.
    StillRemoving(PathBuf),
}

impl Doing {
    fn patience(&self) -> Duration {
        match self {
            Self::Removing(_) => SOON,
            Self::StillRemoving(_) => LONG,
            _ => PATIENCE,
        }
    }
}

fn hear(line: &str, says: bool) -> Doing {
    match line.split_once(' ') {
        Some(("looks", path)) => return Doing::Looking(decoded_path(path)),
        Some(("removes", path)) => return Doing::Removing(decoded_path(path)),
        Some(("note", text)) if says => console::note(&decoded_text(text)),
        Some(("warning", text)) if says => console::warning(&decoded_text(text)),
        _ => {}
    }
    Doing::Nothing
}

/// Its output lines as they arrive.
fn lines(child: &mut Child) -> Receiver<String> {
    let (send, lines) = channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
    }
    lines
}

/// The outcome in words, and whether it is the wanted one.
fn words_of(Swept { path, fate }: &Swept) -> (bool, String) {
    let path = path.display();
    let text = match fate {
        Fate::Removed => return (true, format!("removed {path}, {LEFT}")),
        Fate::Replaced => format!("{path} was {LEFT}, and something else lies there now; it stays"),
        Fate::Unproven => format!(
            "{path} may have been {LEFT}, or may belong to another user: its file system cannot tell. It stays; remove it if you do not need it"
        ),
        Fate::Stays(why) => format!("{path}, {LEFT}, could not be removed: {why}"),
        Fate::NoJournal(why) => knobs::no_journal(why),
        _ => format!("{path} was {LEFT}"),
    };
    (false, text)
}
