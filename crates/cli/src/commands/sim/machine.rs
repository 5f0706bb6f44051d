//! Set-up of a simulation: a host and a device, each a name or a file, read once, with the changed values; and the part
//! of it that a record keeps, so that runs on different profiles can be distinguished and repeated.

use crate::commands::fio::JobHost;
use crate::console;
use crate::exit::Usage;
use crate::input;
use fathom_iopath::Limits;
use fathom_record::{BlockLayer, OffHeldOut, ProfileText, Simulation, Uncertainty, ValueSources};
use fathom_sim::changed::ProfileChange;
use fathom_sim::devices::{self, DeviceProfile, HeldOut, KernelQueue, is_file};
use fathom_sim::host::{self, Host, QueueRules};
use fathom_sim::sources::{Sourced, Uncertain};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The scheduler of a device that was not recorded.
pub const SCHEDULER: &str = "mq-deadline";

/// Owners of the values that `--set` and `--vary` change.
const OWNERS: [&str; 2] = ["host", "device"];

#[derive(Clone, Copy, Debug)]
pub struct Wanted<'o> {
    pub host: &'o str,
    pub device: &'o str,
    pub limits: Option<&'o str>,
    /// As typed: "device.layout.unit_kib=128".
    pub set: &'o [String],
}

#[derive(Debug)]
pub struct SimulatedMachine {
    pub host: Host,
    pub device: DeviceProfile,
    pub limits: Limits,
    /// Their description in a record.
    simulation: Simulation,
    /// Whether it was said that the scheduler of the traced device is not simulated: once, not for each run of a sweep.
    scheduler_noted: AtomicBool,
}

impl SimulatedMachine {
    pub fn read(wanted: &Wanted<'_>) -> Result<Self, Usage> {
        let set = changes(wanted.set)?;
        let [of_host, of_device] = OWNERS.map(|owner| {
            let of = set.iter().filter(|s| s.0 == owner);
            of.map(|(_, key, value)| (key.clone(), value.clone())).collect::<Vec<ProfileChange>>()
        });
        let texts = RefCell::new(Vec::new());
        let text = file_or(&texts, "host", wanted.host, host::text)?;
        let host = match text {
            Some(text) => Host::parse_changed(wanted.host, &text, &of_host),
            None => host::shipped(wanted.host),
        };
        let mut host = host.map_err(|e| Usage(e.to_string()))?;
        let text = file_or(&texts, "device", wanted.device, devices::text)?;
        // The disks of an array are relative to its profile.
        let near = Path::new(wanted.device).parent().filter(|_| is_file(wanted.device));
        let members = |name: &str| {
            let own = of_device.iter().any(|(key, value)| key == "members.disk" && value == name);
            let path: PathBuf =
                near.filter(|_| !own).map_or_else(|| name.into(), |directory| directory.join(name));
            let text = input::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            keep(&texts, "device members.disk", name, &text);
            Ok(text)
        };
        let device = match text {
            Some(text) => DeviceProfile::parse_changed(wanted.device, &text, &of_device, &members),
            None => devices::by_name(wanted.device),
        };
        let device = device.map_err(|e| Usage(e.to_string()))?;
        if host.block.queue.get() == QueueRules::Today && host.cpu.wake_us.is_none() {
            host.cpu.wake_us = wake_us(&device, &host);
        }
        let limits = match wanted.limits {
            Some(name) => limits_by_name(name)?,
            None => device.limits(host.block.queue.get()),
        };
        let preset = Limits::PRESETS.iter().find(|p| p.1 == limits);
        let preset = preset.map_or_else(
            || format!("loop-6.18,max_sectors={}", limits.max_sectors),
            |(name, ..)| (*name).to_owned(),
        );
        let simulation = Simulation {
            host: wanted.host.into(),
            device: wanted.device.into(),
            limits: wanted.limits.map_or(preset, str::to_owned),
            set: set.iter().map(|(owner, key, value)| (format!("{owner}.{key}"), value.clone())).collect(),
            values: values(&host, &device),
            rests_on: rests_on(&host, &device),
            texts: texts.into_inner(),
            ..Simulation::default()
        };
        Ok(Self { host, device, limits, simulation, scheduler_noted: AtomicBool::new(false) })
    }

    /// Their description in a record; scheduler, layers and counts are filled in later.
    pub fn simulation(&self) -> Simulation {
        self.simulation.clone()
    }

    /// Their description in the record of a replay, which uses only the kernel's queue of the host.
    pub fn of_replay(&self) -> Simulation {
        let (tally, uncertain) = self.host.queue_sources();
        let host = Host { tally, uncertain, ..self.host.clone() };
        let (values, rests_on) = (values(&host, &self.device), rests_on(&host, &self.device));
        Simulation { values, rests_on, ..self.simulation() }
    }

    /// An error bar holds for requests like those the device was fitted to. `ran`: the device's requests in the
    /// simulation.
    pub fn judge<'b>(&self, simulation: &mut Simulation, ran: impl Iterator<Item = &'b BlockLayer>) {
        let rests_on = &mut simulation.rests_on;
        let Some(coverage) = self.device.coverage.as_ref().filter(|_| rests_on.percent().is_some()) else {
            return;
        };
        for words in ran.flat_map(|block| &block.devices).flat_map(|device| coverage.instead_of(device)) {
            if !rests_on.instead.contains(&words) {
                rests_on.instead.push(words);
            }
        }
        if !rests_on.instead.is_empty() {
            (rests_on.demerit_percent, rests_on.held_out) = (None, None);
        }
    }

    /// What the kernel had set for the traced device; `None` on a host of another time.
    fn kernel_queue(&self) -> Option<&KernelQueue> {
        self.device.queue.as_ref().filter(|_| self.host.block.queue.get() == QueueRules::Today)
    }

    /// The scheduler that the traced device had.
    pub fn scheduler(&self) -> Option<String> {
        let queue = self.kernel_queue()?;
        if let Some(unknown) = queue.unknown_scheduler()
            && !self.scheduler_noted.swap(true, Ordering::Relaxed)
        {
            console::note(&format!(
                "the scheduler of the traced device, {unknown}, is not simulated: {} takes its place",
                SCHEDULER
            ));
        }
        queue.scheduler().map(str::to_owned)
    }

    /// The read-ahead that the traced device had.
    pub fn readahead(&self) -> Option<String> {
        self.kernel_queue().map(KernelQueue::readahead)
    }

    /// What a dialect needs to know about the machine.
    pub fn place(&self) -> JobHost {
        let host = &self.host;
        JobHost::Simulated {
            memory_mib: host.memory.cache_mib.get().into(),
            cpus: host.cpu.cpus.get().into(),
        }
    }
}

/// Whether a setting is a value of a profile: "device.layout.unit_kib".
pub fn is_value(setting: &str) -> bool {
    setting.split_once('.').is_some_and(|(owner, _)| OWNERS.contains(&owner))
}

/// Rejects host values that a replay, which has no calls, does not use.
pub fn check_for_replay(set: &[String]) -> Result<(), Usage> {
    let set = changes(set)?;
    let unused =
        set.iter().find(|(owner, key, _)| owner == "host" && !Host::OF_QUEUE.contains(&key.as_str()));
    match unused {
        None => Ok(()),
        Some((_, key, _)) => Err(Usage(format!(
            "host.{key}: a replay makes no use of it; of a host it takes the kernel's queue: {}",
            Host::OF_QUEUE.map(|key| format!("host.{key}")).join(", ")
        ))),
    }
}

/// Parses OWNER.KEY=VALUE, each key once.
fn changes(set: &[String]) -> Result<Vec<(String, String, String)>, Usage> {
    let mut all: Vec<(String, String, String)> = Vec::new();
    for typed in set {
        let wrong = |why: &str| Usage(format!("--set {typed}: {why}"));
        let parts = typed.split_once('=').and_then(|(name, value)| {
            let (owner, key) = name.trim().split_once('.')?;
            Some((owner.to_owned(), key.to_owned(), value.trim().to_owned()))
        });
        let change = parts
            .filter(|(owner, _, value)| OWNERS.contains(&owner.as_str()) && !value.is_empty())
            .ok_or_else(|| {
                wrong("device.KEY=VALUE or host.KEY=VALUE is expected, as in device.layout.unit_kib=128")
            })?;
        if all.iter().any(|c| (&c.0, &c.1) == (&change.0, &change.1)) {
            return Err(wrong("this value is set twice"));
        }
        all.push(change);
    }
    Ok(all)
}

/// The text of a profile file, which is kept, or of a built-in profile; `None` if there is none of this name.
fn file_or(
    texts: &RefCell<Vec<ProfileText>>,
    of: &str,
    name: &str,
    shipped: fn(&str) -> Option<&'static str>,
) -> Result<Option<String>, Usage> {
    if !is_file(name) {
        return Ok(shipped(name).map(str::to_owned));
    }
    let text = input::read_to_string(name).map_err(|e| Usage(format!("cannot read {name}: {e}")))?;
    keep(texts, of, name, &text);
    Ok(Some(text))
}

fn keep(texts: &RefCell<Vec<ProfileText>>, of: &str, file: &str, text: &str) {
    texts.borrow_mut().push(ProfileText { of: of.into(), file: file.into(), text: text.into() });
}

/// A preset by name, with changed numbers if given.
pub fn limits_by_name(name: &str) -> Result<Limits, Usage> {
    Limits::by_name(name).map_err(|e| Usage(format!("--limits {name}: {e}")))
}

/// What the calls of the simulated host leave of the traced host's time from a completion to the next request.
fn wake_us(device: &DeviceProfile, host: &Host) -> Option<Sourced<f64>> {
    let turnaround = device.turnaround_us.clone()?;
    let calls_us = host.cpu.call_us.get() + host.cpu.bio_us.get();
    Some(Sourced { value: (turnaround.value - calls_us).max(0.0), ..turnaround })
}

fn values(host: &Host, device: &DeviceProfile) -> ValueSources {
    let all = host.tally + device.tally;
    ValueSources {
        datasheet: all.datasheet,
        measured: all.measured,
        fitted: all.fitted,
        guessed: all.guessed,
    }
}

fn rests_on(host: &Host, device: &DeviceProfile) -> Uncertainty {
    let all = Uncertain::default().and("host", &host.uncertain).and("device", &device.uncertain);
    Uncertainty {
        fitted: all.fitted,
        guessed: all.guessed,
        demerit_percent: device.demerit_percent,
        held_out: HeldOut::bar_percent(&device.held_out)
            .map(|percent| OffHeldOut { percent, traces: device.held_out.len() as u64 }),
        instead: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence_of(set: &[&str]) -> String {
        let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
        let wanted = Wanted { host: "today", device: "smartarray-6i-h1", limits: None, set: &set };
        SimulatedMachine::read(&wanted).map_or_else(|e| e.0, |machine| machine.simulation().sentence())
    }

    #[test]
    fn values_that_are_set_are_told() {
        let sentence = sentence_of(&["device.layout.unit_kib=128", "host.cpu.cpus=8"]);
        assert!(sentence.contains(", device.layout.unit_kib 128, host.cpu.cpus 8; values"), "{sentence}");
        assert!(sentence_of(&[]).contains(", limits loop-6.18; values"), "{}", sentence_of(&[]));
    }

    #[test]
    fn limits_have_their_full_name() {
        let with = |limits: &'static str| {
            let limits = Some(limits);
            let wanted = Wanted { host: "today", device: "smartarray-6i-h1", limits, set: &[] };
            SimulatedMachine::read(&wanted).map_or_else(|e| e.0, |machine| machine.simulation().sentence())
        };
        let sentence = with("cciss,max_segments=64");
        assert!(sentence.contains(", limits cciss,max_segments=64; values"), "{sentence}");
        assert!(with("cciss,max_segments=0").starts_with("--limits cciss,max_segments=0: cciss: "));
    }

    #[test]
    fn slips_are_told() {
        for (set, why) in [
            (&["unit_kib=1"][..], "device.KEY=VALUE or host.KEY=VALUE is expected"),
            (&["device.layout.unit_kib="][..], "is expected"),
            (&["disk.layout=1"][..], "is expected"),
            (&["host.cpu.cpus=1", "host.cpu.cpus=2"][..], "set twice"),
            (&["device.layout.unit=1"][..], "similar names: layout.unit_kib"),
            (&["device.members.disk=./none.toml"][..], "none.toml"),
        ] {
            assert!(sentence_of(set).contains(why), "{set:?}: {}", sentence_of(set));
        }
        assert!(is_value("device.x.y") && !is_value("device") && !is_value("iosched/x.y"));
    }
}
