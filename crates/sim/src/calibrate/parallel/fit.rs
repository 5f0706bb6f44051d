//! The fit: a device serves several commands in parallel, each for a fixed time plus a time per byte, and its completion is seen some
//! time after that. The total time of a command follows from requests that found the device nearly empty. The part that occupies a
//! channel follows from windows in which the device was full: there requests complete as fast as channels become free.

use super::super::FitError;
use super::super::spread::TimeSample;
use super::gathered::{CellSums, Gathered, LoadCell, WINDOW, Window};
use super::model::{CommandTimes, Model};
use std::collections::BTreeMap;

/// Minimum number of requests.
const LEAST: u64 = 20;
/// Minimum number of windows for a depth.
const LEAST_WINDOWS: usize = 4;
/// Windows from this share of the largest depth on count as deep.
const DEEP: f64 = 0.7;
/// Requests that take longer than alone by this factor wait for a channel.
const WAITS: f64 = 1.05;
/// A command cannot hold a channel longer than its total time; allows for scatter.
const AT_MOST: f64 = 1.02;
/// Channel counts whose error is within this of the best are as good (error of the logarithm).
const AS_GOOD: f64 = 0.02;
/// Weight of the assumption that both kinds hold a channel for the same share of their time: small, so that windows that separate the
/// kinds dominate.
const ALIKE: f64 = 1e-3;
/// Largest number of channels tried.
const MOST_CHANNELS: usize = 256;

/// Time of requests of one kind and about one size that found the device nearly empty.
#[derive(Clone, Copy)]
struct UnqueuedTime {
    bytes: f64,
    ns: f64,
    depth: f64,
    /// Size and time of the other kind in the same traffic, if there was some. What waits for a channel waits equally long whichever
    /// kind it is, so the difference of the times is that of the services.
    other: Option<(f64, f64)>,
}

/// Time per command and per byte.
#[derive(Clone, Copy, Debug)]
struct LinearTime {
    command_ns: f64,
    ns_per_byte: f64,
}

impl LinearTime {
    fn at(self, bytes: f64) -> f64 {
        self.command_ns + self.ns_per_byte * bytes
    }

    /// Least-squares line with relative errors; no time is below 0.
    ///
    /// `other`: the line of the other kind.
    fn through(points: &[UnqueuedTime], channels: f64, other: Option<Self>) -> Self {
        let (mut n, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for point in points {
            let beside = other.zip(point.other).map(|(line, (bytes, ns))| line.at(bytes) + point.ns - ns);
            let by_depth = point.ns * (channels / point.depth).min(1.0);
            let ns = beside.filter(|&ns| ns > 0.0 && point.depth > channels).unwrap_or(by_depth);
            let weight = 1.0 / (ns * ns).max(1.0);
            n += weight;
            x += weight * point.bytes;
            y += weight * ns;
            xx += weight * point.bytes * point.bytes;
            xy += weight * point.bytes * ns;
        }
        let determinant = n * xx - x * x;
        let level = Self { command_ns: y / n, ns_per_byte: 0.0 };
        if determinant <= 1e-9 * n * xx {
            return level;
        }
        let ns_per_byte = (n * xy - x * y) / determinant;
        let command_ns = (y - ns_per_byte * x) / n;
        match (command_ns >= 0.0, ns_per_byte > 0.0) {
            (true, true) => Self { command_ns, ns_per_byte },
            (false, _) => Self { command_ns: 0.0, ns_per_byte: xy / xx },
            (true, false) => level,
        }
    }
}

/// The combined data of all traces.
struct Observations {
    cells: BTreeMap<LoadCell, CellSums>,
    flushes: TimeSample,
    windows: Vec<Window>,
    groups: Vec<WindowGroup>,
    alone: [Vec<UnqueuedTime>; 2],
    /// The depth from which a window dominated by this kind counts as deep; `None` where there is never more than one request.
    deep: [Option<f64>; 2],
}

/// A number of channels, with its fit.
struct ChannelFit {
    channels: f64,
    alone: [Option<LinearTime>; 2],
    /// The part of a command's time that holds its channel, where windows determine it.
    held_ns: [Option<f64>; 2],
    off: f64,
    possible: bool,
}

/// Fits a model to all traces.
///
/// # Errors
/// Too few requests.
pub fn fit(all: &[&Gathered]) -> Result<Model, FitError> {
    let data = Observations::of(all);
    if data.alone.iter().all(Vec::is_empty) {
        return Err(FitError::TooFew { found: all.iter().map(|g| g.requests()).sum(), wanted: LEAST });
    }
    let most = all.iter().map(|g| g.most_open()).max().unwrap_or(1).max(1);
    let tries: Vec<ChannelFit> =
        (1..=most.min(MOST_CHANNELS)).map(|n| data.with_channels(n as f64)).collect();
    let nearest = |possible: bool| {
        let some = tries.iter().filter(|t| t.possible || !possible);
        some.map(|t| t.off).min_by(f64::total_cmp)
    };
    let (best, possible) = match nearest(true) {
        Some(best) => (best, true),
        None => (nearest(false).unwrap_or(0.0), false),
    };
    let good = |t: &&ChannelFit| (t.possible || !possible) && t.off <= best + AS_GOOD;
    // The largest of the equally good counts: time spent outside the channel is whatever nothing else explains.
    let Some(chosen) = tries.iter().filter(good).max_by(|a, b| a.channels.total_cmp(&b.channels)) else {
        return Err(FitError::Undetermined("their times are not finite"));
    };
    let end_sector = all.iter().map(|g| g.end_sector()).max().unwrap_or(0);
    // The other traces' programs, or their file systems, had more to do in between.
    let turnaround_us = all.iter().filter_map(|g| g.turnaround_us()).min_by(f64::total_cmp);
    Ok(data.model(chosen, turnaround_us, end_sector, most))
}

impl Observations {
    fn of(all: &[&Gathered]) -> Self {
        let mut cells: BTreeMap<LoadCell, CellSums> = BTreeMap::new();
        let mut flushes = TimeSample::default();
        let mut windows = Vec::new();
        for one in all {
            one.cells.iter().for_each(|(cell, sums)| cells.entry(*cell).or_default().merge(sums));
            flushes.merge(&one.flushes);
            windows.extend_from_slice(&one.windows);
        }
        cells.retain(|_, sums| sums.seen.count() >= LEAST);
        let alone = [false, true].map(|write| alone(&cells, write));
        let deep = [0, 1].map(|kind| {
            let mut depths: Vec<f64> =
                windows.iter().filter(|w| w.is_of(kind)).map(Window::mean_depth).collect();
            depths.sort_by(|a, b| b.total_cmp(a));
            depths.get(LEAST_WINDOWS - 1).map(|deepest| deepest * DEEP).filter(|depth| *depth > 1.0)
        });
        let groups = grouped(&windows);
        Self { cells, flushes, windows, groups, alone, deep }
    }

    fn with_channels(&self, channels: f64) -> ChannelFit {
        let lines = self.lines(channels);
        let held_ns = self.held(channels, lines);
        let (mut squares, mut count) = (0.0, 0.0_f64);
        for group in &self.groups {
            let alone_ns = group.alone_ns(lines);
            let mut held = 0.0;
            for kind in 0..2 {
                let Some(line) = lines[kind].or(lines[1 - kind]) else { continue };
                let command_ns = held_ns[kind].unwrap_or(line.command_ns);
                held += command_ns * group.requests[kind] + line.ns_per_byte * group.bytes[kind];
            }
            let predicted_ns = (held / channels).max(alone_ns / group.depth);
            squares += (predicted_ns.max(1.0) / group.busy_ns.max(1.0)).ln().powi(2);
            count += 1.0;
        }
        let impossible = [0, 1].into_iter().any(|kind: usize| match (lines[kind], held_ns[kind]) {
            (Some(line), Some(held)) => self.waits(kind, lines) && held > AT_MOST * line.command_ns.max(1.0),
            _ => false,
        });
        let off = (squares / count.max(1.0)).sqrt();
        ChannelFit { channels, alone: lines, held_ns, off, possible: !impossible && off.is_finite() }
    }

    /// The time alone of each kind. The kind that found the device emptier is known better, and helps with the other.
    fn lines(&self, channels: f64) -> [Option<LinearTime>; 2] {
        let emptiest = |kind: usize| {
            self.alone[kind].iter().map(|point| point.depth).min_by(f64::total_cmp).unwrap_or(f64::INFINITY)
        };
        let first = usize::from(emptiest(1) < emptiest(0));
        let line = |kind: usize, other| {
            let points = &self.alone[kind];
            (!points.is_empty()).then(|| LinearTime::through(points, channels, other))
        };
        let known = line(first, None);
        let mut lines = [None, None];
        (lines[first], lines[1 - first]) = (known, line(1 - first, known));
        lines
    }

    fn deep_windows(&self, kind: usize) -> impl Iterator<Item = &Window> {
        let deep = self.deep[kind].unwrap_or(f64::INFINITY);
        self.windows.iter().filter(move |w| w.is_of(kind) && w.mean_depth() >= deep)
    }

    /// Whether requests of a kind take longer than alone where the device has most of them.
    fn waits(&self, kind: usize, lines: [Option<LinearTime>; 2]) -> bool {
        let (mut took, mut alone) = (0.0, 0.0);
        for window in self.deep_windows(kind) {
            took += window.response_ns as f64;
            alone += window.alone_ns(lines);
        }
        took > WAITS * alone
    }

    /// Channel time of a command of each kind: a window's time multiplied by the number of channels served all its requests. The unknowns
    /// are the shares of the commands' total times; where windows do not separate the kinds, both have the same share.
    fn held(&self, channels: f64, lines: [Option<LinearTime>; 2]) -> [Option<f64>; 2] {
        let (mut xx, mut xy) = ([[0.0_f64; 2]; 2], [0.0_f64; 2]);
        let deep = |w: &&Window| {
            [0, 1].into_iter().any(|kind: usize| {
                w.is_of(kind) && self.deep[kind].is_some_and(|deep| w.mean_depth() >= deep)
            })
        };
        let (command_ns, ns_per_byte) =
            (lines.map(|l| l.map_or(0.0, |l| l.command_ns)), lines.map(|l| l.map_or(0.0, |l| l.ns_per_byte)));
        for window in self.windows.iter().filter(deep) {
            let alone_ns = window.alone_ns(lines).max(1.0);
            let mut served_ns = channels * window.busy_ns as f64;
            let mut x = [0.0; 2];
            for kind in 0..2 {
                x[kind] = f64::from(window.requests[kind]) * command_ns[kind];
                served_ns -= ns_per_byte[kind] * window.bytes[kind] as f64;
            }
            for row in 0..2 {
                for column in 0..2 {
                    xx[row][column] += x[row] * x[column] / alone_ns;
                }
                xy[row] += x[row] * served_ns / alone_ns;
            }
        }
        let alike = ALIKE * (xx[0][0] + xx[1][1]);
        for row in 0..2 {
            xx[row][row] += alike;
            xx[row][1 - row] -= alike;
        }
        let determinant = xx[0][0] * xx[1][1] - xx[0][1] * xx[1][0];
        [0, 1].map(|kind: usize| {
            self.deep[kind]?;
            let other = 1 - kind;
            let share = (xy[kind] * xx[other][other] - xy[other] * xx[0][1]) / determinant;
            share.is_finite().then_some(share.max(0.0) * command_ns[kind])
        })
    }

    fn model(
        &self,
        chosen: &ChannelFit,
        turnaround_us: Option<f64>,
        end_sector: u64,
        most_open: usize,
    ) -> Model {
        let beside = |kind: usize| -> Option<f64> {
            let (line, held) = (chosen.alone[kind]?, chosen.held_ns[kind]?);
            self.waits(kind, chosen.alone).then(|| (line.command_ns - held).max(0.0))
        };
        let commands = [0, 1].map(|kind: usize| {
            let line = chosen.alone[kind]?;
            // Where no request waited, the time outside the channel is taken from the other kind.
            let (beside_ns, held_ns) = match beside(kind) {
                Some(ns) => (ns, chosen.held_ns[kind].unwrap_or(line.command_ns)),
                None => {
                    let ns = beside(1 - kind).unwrap_or(0.0).min(line.command_ns / 2.0);
                    (ns, line.command_ns - ns)
                }
            };
            let of_kind = self.cells.iter().filter(|(cell, _)| usize::from(cell.write) == kind);
            let requests = of_kind.map(|(_, sums)| sums.seen.count()).sum();
            let shares_us = self.shares(kind, line, held_ns, chosen.channels);
            let ns_per_byte = line.ns_per_byte;
            Some(CommandTimes { requests, held_ns, beside_ns, ns_per_byte, shares_us })
        });
        let [reads, writes] = commands;
        let flushes = (self.flushes.count() >= LEAST)
            .then(|| (self.flushes.count(), self.flushes.mean_us().unwrap_or(0.0), self.flushes.shares_us()));
        Model {
            channels: chosen.channels as u32,
            reads,
            writes,
            flushes,
            turnaround_us,
            end_sector,
            capacity_bytes: None,
            most_open,
        }
    }

    /// The scatter of command times, from the most frequent size, scaled so that the mean is the channel time.
    fn shares(&self, kind: usize, line: LinearTime, held_ns: f64, channels: f64) -> Vec<f64> {
        let nearly_alone = nearly_alone(&self.cells, kind == 1);
        let Some(sums) = nearly_alone.into_iter().map(|(_, sums)| sums).max_by_key(|sums| sums.seen.count())
        else {
            return vec![held_ns / 1e3];
        };
        let n = sums.seen.count() as f64;
        let part = (channels / (sums.depth / n)).min(1.0);
        let for_bytes_us = line.ns_per_byte * sums.bytes / n / 1e3;
        let times: Vec<f64> =
            sums.seen.shares_us().into_iter().map(|us| (us * part - for_bytes_us).max(0.0)).collect();
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        if mean <= 0.0 {
            return vec![held_ns / 1e3];
        }
        times.into_iter().map(|us| us * held_ns / 1e3 / mean).collect()
    }
}

/// Windows of about the same mix, size and depth, together.
#[derive(Default)]
struct WindowGroup {
    windows: usize,
    requests: [f64; 2],
    bytes: [f64; 2],
    /// Mean of the windows' depths.
    depth: f64,
    busy_ns: f64,
}

impl WindowGroup {
    fn alone_ns(&self, lines: [Option<LinearTime>; 2]) -> f64 {
        let of = |kind: usize| {
            let line = lines[kind].or(lines[1 - kind]);
            line.map_or(0.0, |l| l.command_ns * self.requests[kind] + l.ns_per_byte * self.bytes[kind])
        };
        of(0) + of(1)
    }
}

fn grouped(windows: &[Window]) -> Vec<WindowGroup> {
    let mut groups: BTreeMap<(u32, u32, u32), WindowGroup> = BTreeMap::new();
    for window in windows {
        let requests = window.requests[0] + window.requests[1];
        let bytes = window.bytes[0] + window.bytes[1];
        let size = (bytes / u64::from(requests.max(1))).max(1).ilog2();
        let depth = window.mean_depth().max(1.0);
        let key = (window.requests[1] * 8 / requests.max(1), size, (depth.log2() * 2.0) as u32);
        let group = groups.entry(key).or_default();
        group.windows += 1;
        for kind in 0..2 {
            group.requests[kind] += f64::from(window.requests[kind]);
            group.bytes[kind] += window.bytes[kind] as f64;
        }
        group.depth += depth;
        group.busy_ns += window.busy_ns as f64;
    }
    let mut groups: Vec<WindowGroup> = groups.into_values().collect();
    groups.retain(|group| group.windows >= LEAST_WINDOWS);
    groups.iter_mut().for_each(|group| group.depth /= group.windows as f64);
    groups
}

impl Window {
    fn mean_depth(&self) -> f64 {
        self.depth as f64 / f64::from(WINDOW)
    }

    /// Whether at least one in eight requests is of this kind.
    fn is_of(&self, kind: usize) -> bool {
        self.requests[kind] * 8 >= WINDOW
    }

    /// The time that its requests would take alone.
    fn alone_ns(&self, lines: [Option<LinearTime>; 2]) -> f64 {
        let of = |kind: usize| {
            let line = lines[kind].or(lines[1 - kind]);
            line.map_or(0.0, |l| {
                l.command_ns * f64::from(self.requests[kind]) + l.ns_per_byte * self.bytes[kind] as f64
            })
        };
        of(0) + of(1)
    }
}

/// For each size of a kind, the cell with the emptiest device.
fn emptiest(cells: &BTreeMap<LoadCell, CellSums>, write: bool) -> Vec<(&LoadCell, &CellSums)> {
    let mut sizes: BTreeMap<u32, (&LoadCell, &CellSums)> = BTreeMap::new();
    for (cell, sums) in cells.iter().filter(|(cell, _)| cell.write == write) {
        let known = sizes.entry(cell.size).or_insert((cell, sums));
        if cell.depth < known.0.depth {
            *known = (cell, sums);
        }
    }
    sizes.into_values().collect()
}

/// As [`emptiest`], without the sizes that never found the device about as empty as the others did.
fn nearly_alone(cells: &BTreeMap<LoadCell, CellSums>, write: bool) -> Vec<(&LoadCell, &CellSums)> {
    let mut sizes = emptiest(cells, write);
    let least = sizes.iter().map(|(cell, _)| cell.depth).min().unwrap_or(0);
    sizes.retain(|(cell, _)| cell.depth <= least + 1);
    sizes
}

fn alone(cells: &BTreeMap<LoadCell, CellSums>, write: bool) -> Vec<UnqueuedTime> {
    let mean = |sums: &CellSums| {
        let n = sums.seen.count() as f64;
        (sums.bytes / n, sums.response_ns / n, sums.depth / n)
    };
    let of = |(cell, sums): (&LoadCell, &CellSums)| {
        let (bytes, ns, depth) = mean(sums);
        let other =
            cells.get(&LoadCell { write: !write, ..*cell }).map(mean).map(|(bytes, ns, _)| (bytes, ns));
        UnqueuedTime { bytes, ns, depth, other }
    };
    // A size that only a full device had says least of all about the time alone, but without it nothing is known of its bytes.
    emptiest(cells, write).into_iter().map(of).collect()
}
