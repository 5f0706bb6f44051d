//! The inner course of a simulated phase as pictures: positions of requests over time, as submitted and as issued to the
//! device, and where it was kept idle; queue depth and busy share of the device; how it spent its time; how far read-ahead
//! went. Real runs have no such pictures, and these are marked as simulated.

mod depths;
mod idle_waits;

pub use idle_waits::idle_words;

use super::{
    Anchor, Picture,
    bars::Bars,
    chart::{Frame, LEFT, RIGHT, TOP, WIDTH},
    line, text, text_width,
};
use crate::units;
use fathom_record::course::{Dot, PhaseCourse, Thinned};
use fathom_record::{Phase, Run};
use std::fmt::Write as _;

const HEIGHT: f64 = 200.0;
const SECTOR_BYTES: f64 = 512.0;
/// CSS class of submitted requests.
const HANDED_IN: &str = "r-mixed";

/// The pictures of a phase; empty for a real run.
#[must_use]
pub fn inside(run: &Run, phase: &Phase) -> Vec<Picture> {
    let found = run.simulation.as_ref().and_then(|s| s.phases.iter().find(|i| i.phase == phase.seq));
    let Some(found) = found else { return Vec::new() };
    let all = [
        places(phase, found),
        depths::depths(phase, found),
        depths::busy(phase, found),
        idle_waits::idle_waits(phase, found),
        service(phase, found),
        windows(phase, found),
    ];
    all.into_iter().flatten().collect()
}

/// Sector over time.
fn places(phase: &Phase, inside: &PhaseCourse) -> Option<Picture> {
    let all = || inside.served.kept.iter().chain(&inside.queued.kept);
    let waits = || inside.idle_waits.kept.kept.iter();
    let sectors = || all().map(|d| d.sector).chain(waits().map(|w| w.sector));
    let (low, high) = (sectors().min()?, sectors().max()?);
    let ends = waits().map(|w| w.at_ns.saturating_add(w.ns));
    let end_ns = all().map(|d| d.at_ns).chain(ends).max()?.max(1);
    let title = "Where requests lay over time, simulated";
    let mut body = String::new();
    text(&mut body, 8.0, 18.0, Anchor::Start, "t", title);
    let bottom = TOP + HEIGHT;
    let reach = (high - low).max(1) as f64;
    let across = |at_ns: u64| Frame::x(at_ns as f64 / end_ns as f64);
    let up = |sector: u64| bottom - (sector - low) as f64 / reach * HEIGHT;
    let place = |dot: &Dot| (across(dot.at_ns), up(dot.sector));
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = bottom - share * HEIGHT;
        line(&mut body, (LEFT, y), (WIDTH - RIGHT, y), if share == 0.0 { "axis" } else { "" });
        let bytes = (low as f64 + share * reach) * SECTOR_BYTES;
        text(&mut body, LEFT - 6.0, y + 3.8, Anchor::End, "v", &crate::block::rounded_bytes(bytes));
        let label = if share == 0.0 { "0".into() } else { units::time_ns(end_ns as f64 * share) };
        text(&mut body, Frame::x(share), bottom + 15.0, Anchor::Middle, "v", &label);
    }
    let kinds: [(&str, &str, &Thinned<Dot>, Option<bool>); 3] = [
        ("handed in", HANDED_IN, &inside.queued, None),
        ("reads served", "fa", &inside.served, Some(false)),
        ("writes served", "fb", &inside.served, Some(true)),
    ];
    let mut right = LEFT;
    for (name, class, dots, write) in kinds {
        let mine: Vec<&Dot> = dots.kept.iter().filter(|d| write.is_none_or(|w| w == d.write)).collect();
        if mine.is_empty() {
            continue;
        }
        marks(&mut body, class, mine.into_iter().map(place));
        marks(&mut body, class, std::iter::once((right + 4.0, 34.0)));
        text(&mut body, right + 13.0, 38.0, Anchor::Start, "v", name);
        right += 32.0 + text_width(name, 10.0);
    }
    if waits().next().is_some() {
        let (name, mut path) = ("device kept idle", format!("M{right:.1} 33h16v2h-16z"));
        for wait in waits() {
            let (left, y) = (across(wait.at_ns), up(wait.sector) - 1.0);
            let wide = (across(wait.at_ns.saturating_add(wait.ns)) - left).max(2.0);
            let _ = write!(path, "M{left:.1} {y:.1}h{wide:.1}v2h-{wide:.1}z");
        }
        let _ = writeln!(body, "<path d=\"{path}\" class=\"r-memory\"/>");
        text(&mut body, right + 21.0, 38.0, Anchor::Start, "v", name);
    }
    let thinned = |what: &str, dots: &Thinned<Dot>| match dots.one_of {
        1 => format!("every {what}"),
        n => format!("one {what} of {n}"),
    };
    let kept_idle = match inside.idle_waits.kept.one_of {
        _ if waits().next().is_none() => String::new(),
        1 => ", and every wait of the idle device".into(),
        n => format!(", and one wait of the idle device of {n}"),
    };
    let words = format!(
        "From {} to {} of the device within {}; shown: {} that was handed in and {} that was served{kept_idle}.",
        crate::block::rounded_bytes(low as f64 * SECTOR_BYTES),
        crate::block::rounded_bytes(high as f64 * SECTOR_BYTES),
        units::time_ns(end_ns as f64),
        thinned("bio", &inside.queued),
        thinned("request", &inside.served),
    );
    let slug = format!("places {} {}", phase.seq, phase.name);
    Some(Picture::new(&slug, title, words, WIDTH, bottom + 24.0, body))
}

/// Marks of one kind in one path, since thousands of elements would be slow. Submitted requests are visible behind the served ones.
fn marks(out: &mut String, class: &str, places: impl Iterator<Item = (f64, f64)>) {
    let mut path = String::new();
    for (x, y) in places {
        let side = if class == HANDED_IN { 4.4 } else { 2.4 };
        let _ = write!(path, "M{:.1} {:.1}h{side}v{side}h-{side}z", x - side / 2.0, y - side / 2.0);
    }
    let faint = if class == HANDED_IN { " fill-opacity=\".35\"" } else { "" };
    let _ = writeln!(out, "<path d=\"{path}\" class=\"{class}\"{faint}/>");
}

/// How the device spent its busy time.
fn service(phase: &Phase, inside: &PhaseCourse) -> Option<Picture> {
    let s = &inside.service;
    // For several arms or channels these are sums; only their mean can be a share.
    let each = |ns: u64| ns / u64::from(s.members.max(1));
    let parts = [
        ("overhead", s.overhead_ns),
        ("seek", each(s.seek_ns)),
        ("rotation", each(s.rotation_ns)),
        ("transfer", each(s.transfer_ns)),
    ];
    let share = |ns: u64| ns as f64 / s.busy_ns.max(1) as f64;
    // Writing the cache back consists of seeks, rotation and transfers, so it is not a separate part.
    let destage = match s.destage_ns {
        0 => String::new(),
        ns => format!("; of it, destage {} ({})", units::time_ns(ns as f64), units::percent(share(ns))),
    };
    let side_by_side = match s.members {
        0 | 1 => String::new(),
        n => format!("; seek, rotation and transfer are the mean of {n} that work side by side"),
    };
    let shares: Vec<String> = parts
        .iter()
        .filter(|p| p.1 > 0)
        .map(|(name, ns)| format!("{name} {} ({})", units::time_ns(*ns as f64), units::percent(share(*ns))))
        .collect();
    let hits = match (s.buffer_hits, s.cached_writes) {
        (0, 0) => String::new(),
        (reads, 0) => format!("; {} reads from its buffer", units::count(reads)),
        (0, writes) => format!("; {} writes into its cache", units::count(writes)),
        (reads, writes) => {
            format!(
                "; {} reads from its buffer, {} writes into its cache",
                units::count(reads),
                units::count(writes)
            )
        }
    };
    Bars {
        slug: format!("service {} {}", phase.seq, phase.name),
        title: "What the device's busy time was spent on, simulated".into(),
        words: format!(
            "{}, of {} busy{destage}{side_by_side}{hits}.",
            shares.join(", "),
            units::time_ns(s.busy_ns as f64)
        ),
        series: vec![("share of the busy time".into(), "fa")],
        classes: parts.iter().map(|(name, ns)| ((*name).to_string(), vec![share(*ns)])).collect(),
        frame: Frame::of_shares,
        value: units::percent,
    }
    .draw()
}

/// Length of read-ahead windows over time.
fn windows(phase: &Phase, inside: &PhaseCourse) -> Option<Picture> {
    const PAGE_BYTES: f64 = 4096.0;
    let kept = &inside.windows.kept;
    let end_ns = kept.iter().map(|w| w.at_ns).max()?.max(1) as f64;
    let most = kept.iter().map(|w| w.pages).max()?;
    let least = kept.iter().map(|w| w.pages).min()?;
    let title = "What read-ahead had read at once, simulated";
    let mut body = String::new();
    let frame = Frame::of_bytes(&mut body, title, f64::from(most) * PAGE_BYTES, 110.0);
    let places =
        kept.iter().map(|w| (Frame::x(w.at_ns as f64 / end_ns), frame.y(f64::from(w.pages) * PAGE_BYTES)));
    marks(&mut body, "fa", places);
    frame.times_below(&mut body, end_ns);
    let bytes = |pages: u32| units::bytes(u64::from(pages) * 4096);
    let words = format!(
        "Between {} and {} at once{}.",
        bytes(least),
        bytes(most),
        if inside.windows.one_of > 1 {
            format!("; one of {} is shown", inside.windows.one_of)
        } else {
            String::new()
        }
    );
    let slug = format!("windows {} {}", phase.seq, phase.name);
    Some(Picture::new(&slug, title, words, WIDTH, frame.bottom() + 24.0, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_simulated_phase_has_its_pictures_and_a_real_one_none() {
        let run = samples::simulated_run();
        let pictures = inside(&run, &run.phases[0]);
        let words: Vec<&str> = pictures.iter().map(|p| p.description.as_str()).collect();
        assert_eq!(words.len(), 6);
        let shown = "shown: one bio of 2 that was handed in and every request that was served, and every wait of the idle device.";
        assert!(words[0].ends_with(shown), "{}", words[0]);
        assert_eq!(
            words[1],
            "in the device between 0.50 and 1.0, waiting above it between 2.0 and 9.0 in 195 ms."
        );
        assert_eq!(
            words[2],
            "The device had a command for 74 % of 195 ms, kept idle by the scheduler although requests waited for 8.2 %; shares of 10.0 ms each."
        );
        assert!(words[3].ends_with("; 75 % paid."), "{}", words[3]);
        assert!(words[4].starts_with("overhead 1.00 ms (10 %), seek 4.00 ms (40 %)"), "{}", words[4]);
        assert_eq!(words[5], "Between 4 KiB and 128 KiB at once.");
        assert!(pictures.iter().all(|p| p.title.contains("simulated")));
        let real = Run { simulation: None, ..run.clone() };
        assert!(inside(&real, &real.phases[0]).is_empty());
    }

    #[test]
    fn destage_is_no_part_beside_the_others() {
        let mut run = samples::simulated_run();
        let found = run.simulation.as_mut().and_then(|s| s.phases.first_mut()).unwrap();
        found.service.destage_ns = found.service.busy_ns / 2;
        let pictures = inside(&run, &run.phases[0]);
        let words = &pictures[4].description;
        assert!(words.contains(" busy; of it, destage 5.00 ms (50 %)"), "{words}");
        assert!(pictures[4].title.starts_with("What the device's busy time was spent on"));
        assert!(!pictures[4].body.contains("destage"), "{}", pictures[4].body);
    }

    #[test]
    fn nothing_inside_is_no_picture() {
        let mut run = samples::simulated_run();
        if let Some(simulation) = &mut run.simulation {
            simulation.phases[0] =
                PhaseCourse { phase: simulation.phases[0].phase, ..PhaseCourse::default() };
        }
        assert!(inside(&run, &run.phases[0]).is_empty());
    }
}
