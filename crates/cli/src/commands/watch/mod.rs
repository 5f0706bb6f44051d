//! `fathom watch`: activity of a device interval by interval: on a terminal as a redrawn screen, elsewhere as rows like
//! iostat's, with `--json` one line of JSON each. Uses events where the user has access, else the device's counters.

mod draw;
mod history;
mod json;
mod plain;
mod screen;
mod source;

use crate::console;
use crate::exit::{self, Usage};
use crate::line::WatchDevice;
use fathom_observe::block::{Watched, availability, watched};
use fathom_observe::device;
use history::{Moment, WatchHistory};
use source::WatchSource;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Shorter intervals would show the observer itself.
const SHORTEST: Duration = Duration::from_millis(50);

pub fn run(options: &WatchDevice) -> anyhow::Result<ExitCode> {
    let interval = options.interval.as_duration();
    if interval < SHORTEST {
        return Err(Usage(format!("--interval must be at least {} ms", SHORTEST.as_millis())).into());
    }
    let target = options.target.as_deref().unwrap_or(Path::new("."));
    let devices = devices(target)?;
    let available = availability();
    if !options.counters
        && let Some(degraded) = available.degraded()
    {
        console::note(&degraded);
    }
    let events = available.events.is_ok() && !options.counters;
    if options.queue && !events {
        return Err(Usage("--queue needs block events, which only root may see as a rule".into()).into());
    }
    fathom_engine::watch_signals();
    let mut source = WatchSource::start(devices, events, options.queue)?;
    let mut history = WatchHistory::new(source.names());
    let drawn = std::io::stdout().is_terminal() && !options.json && !options.plain;
    let mut out: Box<dyn WatchOutput> = if drawn {
        Box::new(screen::Screen::new()?)
    } else if options.json {
        Box::new(json::JsonLines)
    } else {
        Box::new(plain::Rows::default())
    };
    let mut shown = 0;
    let mut due = Instant::now() + interval;
    while options.count.is_none_or(|count| shown < count) {
        match out.wait(due, &history)? {
            UserInput::Quit => break,
            UserInput::Pause => {}
            UserInput::Go => {
                due += interval;
                history.push(source.take()?);
                if !going_on(out.show(&history))? {
                    break;
                }
                shown += 1;
            }
        }
    }
    drop(out);
    source.stop();
    Ok(ExitCode::from(exit::DONE))
}

fn put(line: &str) -> anyhow::Result<()> {
    Ok(console::line(&format!("{line}\n"))?)
}

/// False if the reader is gone (`| head`), which is not an error.
fn going_on(shown: anyhow::Result<()>) -> anyhow::Result<bool> {
    match shown {
        Ok(()) => Ok(true),
        Err(e) => match e.downcast_ref::<std::io::Error>() {
            Some(io) if io.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
            _ => Err(e),
        },
    }
}

/// The user's input during a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UserInput {
    Go,
    /// Freeze the display.
    Pause,
    Quit,
}

/// An output format.
trait WatchOutput {
    /// Waits until then, or until the user acts.
    fn wait(&mut self, until: Instant, _history: &WatchHistory) -> anyhow::Result<UserInput> {
        Ok(doze(until))
    }
    /// Shows the latest interval.
    fn show(&mut self, history: &WatchHistory) -> anyhow::Result<()>;
}

/// Sleeps until then or until a signal arrives.
fn doze(until: Instant) -> UserInput {
    const NAP: Duration = Duration::from_millis(50);
    loop {
        if fathom_engine::interrupted_by().is_some() {
            return UserInput::Quit;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return UserInput::Go;
        }
        std::thread::sleep(left.min(NAP));
    }
}

/// The devices below a path, or the device of that name.
fn devices(target: &Path) -> Result<Vec<Watched>, Usage> {
    use std::os::unix::fs::FileTypeExt as _;
    let bare = target.components().count() == 1;
    if let Some(name) = target.to_str().filter(|_| bare && !target.exists())
        && let Some(device) = Watched::of_name(name)
    {
        return Ok(vec![device]);
    }
    let about = target.metadata().map_err(|e| {
        Usage(format!("{}: {e}; name a directory, a file or a block device", target.display()))
    })?;
    if about.file_type().is_block_device() {
        let real = target.canonicalize().unwrap_or_else(|_| target.into());
        let name = real.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        return Watched::of_name(&name).map(|d| vec![d]).ok_or_else(|| {
            Usage(format!(
                "{} is a part of a disk; requests are those of the whole disk: name that one",
                target.display()
            ))
        });
    }
    let stack = device::stack_of(target);
    let devices = watched(&stack);
    if devices.is_empty() {
        let why = stack.note.unwrap_or_else(|| "no block device lies below it".into());
        return Err(Usage(format!("{}: {why}; there is nothing to watch", target.display())));
    }
    Ok(devices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_device_is_said() {
        let said = devices(Path::new("/proc/self")).unwrap_err().to_string();
        assert!(said.contains("nothing to watch"), "{said}");
        let said = devices(Path::new("no-such-thing-here")).unwrap_err().to_string();
        assert!(said.contains("name a directory, a file or a block device"), "{said}");
    }

    #[test]
    fn a_wait_ends_at_its_time() {
        let due = Instant::now() + Duration::from_millis(5);
        assert_eq!(doze(due), UserInput::Go);
        assert!(Instant::now() >= due);
    }
}
