//! `--log FILE`: writes every event of the simulated device in one of the trace formats, so that trace readers can read
//! it.

use super::super::super::trace::event_file::{EventFile, cannot_write};
use super::super::super::trace::writer;
use super::super::line::{LogForm, Replay};
use crate::exit::Usage;
use anyhow::Context as _;
use fathom_dialects::trace::{self, About, EventWriter, TraceFormat};
use fathom_record::BlockEvent;
use fathom_record::block::log::{LogClock, LogDevice, LogHeader};
use fathom_sim::replay::DEVICE;
use std::io;

/// Takes events; does nothing without a file.
pub struct ReplayLog<'o> {
    writing: Option<(Box<dyn EventWriter>, EventFile<'o>)>,
    about: About,
    path: String,
    /// The first error; nothing is written after it.
    pub failed: Option<io::Error>,
}

impl<'o> ReplayLog<'o> {
    /// Creates the file. An existing one is overwritten only if requested.
    pub fn begin(o: &'o Replay) -> anyhow::Result<Self> {
        let about = about(o);
        let Some(path) = &o.log else {
            let alone = [("--force", o.force), ("--log-format", o.log_format.is_some())];
            if let Some((option, _)) = alone.into_iter().find(|a| a.1) {
                return Err(Usage(format!("{option} belongs to --log")).into());
            }
            return Ok(Self { writing: None, about, path: String::new(), failed: None });
        };
        let shown = path.display().to_string();
        let form = o.log_format.unwrap_or(LogForm::Own).output();
        let file = EventFile::begin(path, o.force)?;
        let writing =
            trace::writer(form, file.writer(), &about, &writer()).with_context(|| cannot_write(path))?;
        Ok(Self { writing: Some((writing, file)), about, path: shown, failed: None })
    }

    pub fn event(&mut self, event: &BlockEvent) {
        let Self { writing: Some((writing, _)), about, failed, .. } = self else { return };
        if failed.is_none() {
            *failed = writing.event(event, &|| about.clone()).err();
        }
    }

    pub fn finish(self) -> anyhow::Result<()> {
        let failed = || format!("cannot write {}", self.path);
        if let Some(error) = self.failed {
            return Err(error).with_context(failed);
        }
        let Some((writing, file)) = self.writing else { return Ok(()) };
        let lost = writing.finish(&self.about).with_context(failed)?;
        lost.iter().for_each(|lost| crate::console::note(lost));
        file.finish()
    }
}

/// The file's header: virtual time, and what was simulated.
fn about(o: &Replay) -> About {
    let device = LogDevice { number: DEVICE, name: o.device.clone(), ..LogDevice::default() };
    let header = LogHeader {
        clock: LogClock::Virtual,
        queueing: true,
        source: "sim".into(),
        machine: format!("simulated: host {}, device {}, scheduler {}", o.host, o.device, o.scheduler()),
        writer: writer(),
        ..LogHeader::default()
    };
    About { format: TraceFormat::Own, header, devices: vec![device], ..About::default() }
}
