//! `--log FILE`: every event of the simulated device in one of the forms that traces of real ones are written in, so that what reads
//! those reads it too.

use super::super::super::trace::writer;
use super::super::line::{LogForm, Replay};
use crate::exit::Usage;
use anyhow::Context as _;
use fathom_dialects::trace::{self, About, EventWriter, Format};
use fathom_record::BlockEvent;
use fathom_record::block::log::{self, LogClock, LogDevice, LogHeader};
use fathom_sim::replay::DEVICE;
use std::io::{self, BufWriter};

/// Takes events; without a file it does nothing.
pub struct Log {
    writing: Option<Box<dyn EventWriter>>,
    about: About,
    path: String,
    /// The first error; nothing is written after it.
    pub failed: Option<io::Error>,
}

impl Log {
    /// Makes the file. One that is there is not overwritten unless that is asked for.
    pub fn begin(o: &Replay) -> anyhow::Result<Self> {
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
        let out = match log::create(path, o.force) {
            Ok(file) => BufWriter::new(file),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Usage(format!(
                    "{shown} exists; name another file, or add --force to overwrite it"
                ))
                .into());
            }
            Err(e) => return Err(e).with_context(|| format!("cannot write {shown}")),
        };
        let writing = trace::writer(form, Box::new(out), &about, &writer())
            .with_context(|| format!("cannot write {shown}"))?;
        Ok(Self { writing: Some(writing), about, path: shown, failed: None })
    }

    /// The next event.
    pub fn event(&mut self, event: &BlockEvent) {
        let Self { writing: Some(writing), about, failed, .. } = self else { return };
        if failed.is_none() {
            *failed = writing.event(event, &|| about.clone()).err();
        }
    }

    /// The end.
    pub fn finish(self) -> anyhow::Result<()> {
        let failed = || format!("cannot write {}", self.path);
        if let Some(error) = self.failed {
            return Err(error).with_context(failed);
        }
        if let Some(writing) = self.writing {
            for lost in writing.finish(&self.about).with_context(failed)? {
                crate::console::note(&lost);
            }
        }
        Ok(())
    }
}

/// What the file says of itself: virtual time, and what was simulated.
fn about(o: &Replay) -> About {
    let device = LogDevice { number: DEVICE, name: o.device.clone(), ..LogDevice::default() };
    let header = LogHeader {
        clock: LogClock::Virtual,
        queueing: true,
        source: "sim".into(),
        machine: format!("simulated: host {}, device {}, scheduler {}", o.host, o.device, o.scheduler),
        writer: writer(),
        ..LogHeader::default()
    };
    About { format: Format::Own, header, devices: vec![device], ..About::default() }
}
