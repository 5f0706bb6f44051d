//! The result of a fit to several traces, and its text as a profile.

use super::super::Value;
use super::super::fitting::{capacity, plain, queue_depth};
use std::fmt::Write as _;

/// Times of commands of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandTimes {
    /// Number of requests in the fit.
    pub requests: u64,
    /// Channel time without bytes, ns.
    pub held_ns: f64,
    /// From the end of the channel time to the completion, ns.
    pub beside_ns: f64,
    /// Channel time per byte, ns.
    pub ns_per_byte: f64,
    /// Scatter of the channel time: means of equal shares, ascending, us.
    pub shares_us: Vec<f64>,
}

/// A device as fitted to several traces.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Commands served in parallel.
    pub channels: u32,
    /// Reads, if there are enough.
    pub reads: Option<CommandTimes>,
    /// Writes, if there are enough.
    pub writes: Option<CommandTimes>,
    /// Flushes, if there are enough: number, mean and shares, us.
    pub flushes: Option<(u64, f64, Vec<f64>)>,
    /// From a completion to the program's next request, us, if a trace shows it.
    pub turnaround_us: Option<f64>,
    pub(super) end_sector: u64,
    /// The device's real capacity, if known.
    pub(super) capacity_bytes: Option<u64>,
    pub(super) most_open: usize,
}

/// Rates above this mean that bytes take no time.
const FASTEST_MB_S: f64 = 1e6;

impl CommandTimes {
    fn mb_s(&self) -> f64 {
        let mb_s = 1e3 / self.ns_per_byte;
        if self.ns_per_byte > 0.0 && mb_s <= FASTEST_MB_S { mb_s.max(0.001) } else { 0.0 }
    }
}

impl Model {
    /// Whether flushes were fitted.
    #[must_use]
    pub fn has_flushes(&self) -> bool {
        self.flushes.is_some()
    }

    /// The same model with the device's real capacity.
    #[must_use]
    pub fn of_capacity(self, bytes: u64) -> Self {
        Self { capacity_bytes: Some(bytes), ..self }
    }

    /// The values, for display.
    #[must_use]
    pub fn values(&self) -> Vec<Value> {
        let value = |key, value, note: String| Value { key, value, standard_error: None, src: "fit", note };
        let mut values = vec![value("service.channels", self.channels.into(), self.channels_note())];
        let keys = [
            ["service.read_us", "service.read_beside_us", "service.mb_s"],
            ["service.write_us", "service.write_beside_us", "service.write_mb_s"],
        ];
        for (command, [held, beside, rate]) in [&self.reads, &self.writes].into_iter().zip(keys) {
            let Some(command) = command else { continue };
            let note = format!(
                "mean of {} requests, minus the time per byte and the time outside the channel",
                command.requests
            );
            values.push(value(held, command.held_ns / 1e3, note));
            values.push(value(beside, command.beside_ns / 1e3, BESIDE.into()));
            values.push(value(rate, command.mb_s(), rate_note(command).into()));
        }
        if let Some((count, mean_us, _)) = &self.flushes {
            values.push(value("service.flush_us", *mean_us, format!("mean of {count} flushes")));
        }
        values.extend(self.turnaround_us.map(|us| value("host.turnaround_us", us, TURNAROUND.into())));
        values
    }

    fn channels_note(&self) -> String {
        "requests complete at least this many times as fast as one at a time".into()
    }

    /// The text of a profile. With `scatters` it has the distributions, otherwise only their means.
    #[must_use]
    pub fn profile(&self, about: &str, scatters: bool) -> String {
        let about: String = about.chars().map(plain).collect();
        let mut text = format!("kind = \"distribution\"\nabout = \"{about}\"\n\n[service]\n");
        text += &self.capacity_bytes.map_or_else(
            || capacity(self.end_sector),
            |bytes| {
                format!(
                    "capacity_gb = {{ value = {:.9}, src = \"measured\", note = \"read from the device\" }}\n",
                    bytes as f64 / 1e9
                )
            },
        );
        text += &queue_depth(self.most_open);
        let list = |shares: &[f64], mean_us: f64| {
            let times: Vec<String> = match scatters {
                true => shares.iter().map(|us| format!("{us:.3}")).collect(),
                false => vec![format!("{mean_us:.3}")],
            };
            times.join(", ")
        };
        let mut line = |key: &str, value: String, src: &str, note: &str| {
            let _ = writeln!(text, "{key} = {{ value = {value}, src = \"{src}\", note = \"{note}\" }}");
        };
        line("channels", self.channels.to_string(), "fit", &self.channels_note());
        for (command, other, keys) in [
            (&self.reads, &self.writes, ["read_us", "read_beside_us", "mb_s"]),
            (&self.writes, &self.reads, ["write_us", "write_beside_us", "write_mb_s"]),
        ] {
            let Some(of) = command.as_ref().or(other.as_ref()) else { continue };
            let known = command.is_some();
            let src = if known { "fit" } else { "guess" };
            let note = |fit: String| if known { fit } else { OTHER.to_owned() };
            let seen = format!(
                "{} of {} requests",
                if scatters { "means of equal shares" } else { "mean" },
                of.requests
            );
            let times = format!("[{}]", list(&of.shares_us, of.held_ns / 1e3));
            line(keys[0], times, src, &note(seen));
            line(keys[1], format!("{:.3}", of.beside_ns / 1e3), src, &note(BESIDE.into()));
            line(keys[2], format!("{:.6}", of.mb_s()), src, &note(rate_note(of).into()));
        }
        if let Some((count, mean_us, shares)) = &self.flushes {
            line("flush_us", format!("[{}]", list(shares, *mean_us)), "fit", &format!("of {count} flushes"));
        }
        if let Some(us) = self.turnaround_us {
            text += "\n# Of the traced host. A simulation of today's kernel uses it unless its host has a cpu.wake_us.\n[host]\n";
            let _ = writeln!(
                text,
                "turnaround_us = {{ value = {us:.3}, src = \"fit\", note = \"{TURNAROUND}\" }}"
            );
        }
        text
    }
}

const BESIDE: &str = "response time alone minus channel time under load";
const TURNAROUND: &str = "median time from a completion to the next request, one in flight";
const OTHER: &str = "copied from the other direction; this one had no requests";

fn rate_note(command: &CommandTimes) -> &'static str {
    if command.mb_s() > 0.0 {
        "times of requests of several sizes"
    } else {
        "times do not rise with sizes in these traces"
    }
}
