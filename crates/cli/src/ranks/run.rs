//! The run loop of a rank: its share of every phase, started together with all others, joined when all are done. Every rank goes through
//! the same steps in the same order; where one cannot go on, it breaks the circle, and all come to [`end`].

use super::circle::{Circle, Message, stop_here};
use super::clocks::{self, Offset};
use super::line::{self, Line};
use super::merged::Merged;
use super::order::Order;
use super::seats::Seats;
use super::{client_file, leave, place, tell};
use crate::commands::write;
use crate::observing::{Observe, Observer};
use crate::run_loop::{self, Listener, Turn};
use crate::{cold, console, exit, small, state, sweeper};
use fathom_engine::{Engine, Ledger, Moments};
use fathom_observe::cache::cold::Reach;
use fathom_observe::doubts::Seen;
use fathom_record::ranks::{RankIdentity, Share};
use fathom_record::{Repetition, Run};
use fathom_workload::Workload;
use fathom_workload::ranks::wear_out;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::time::Duration;

/// What rank 0 tells all before the first phase.
#[derive(Serialize, Deserialize)]
enum Told {
    Order(Box<Order>),
    /// There is nothing to be run; rank 0 says why.
    Nothing,
}

/// Everything that stays the same in a run.
struct Setting<'a> {
    seats: &'a Seats,
    workload: Workload,
    share: Workload,
    reach: Option<Reach>,
}

/// Executes the command line. The exit code is that of rank 0.
pub(super) fn all(circle: &mut Circle, words: &[OsString]) -> Result<u8, String> {
    let line = line::parse(words)?;
    circle.have_patience(Duration::from_secs(line.ranks.lost_after));
    let seats = Seats::find(circle).ok_or_else(|| why(circle, None))?;
    let odd = seats.0.iter().find(|w| w.version != env!("CARGO_PKG_VERSION"));
    if let Some(odd) = odd {
        return refused(
            circle,
            &format!(
                "rank {} on {} is fathom {}; all have to be of one version",
                odd.rank, odd.host, odd.version
            ),
        );
    }
    let order = if circle.is_first() {
        match Order::read(&line, seats.0.len() as u32) {
            Ok(order) => Some(Told::Order(Box::new(order))),
            Err(usage) => {
                let _ = circle.tell(Some(Told::Nothing));
                return refused(circle, &usage.0);
            }
        }
    } else {
        None
    };
    let Some(Told::Order(order)) = circle.tell(order) else {
        return circle.broken().map_or(Ok(exit::USAGE), |_| Err(why(circle, None)));
    };
    let rank = circle.team.rank();
    let prepared = prepare(&line, &order, &seats, rank);
    let error = prepared.as_ref().err().map(|e| format!("rank {rank} on {}: {e}", seats.host(rank)));
    let errors = circle.collect(error.into_iter().collect::<Vec<_>>(), |all, more| all.extend(more));
    let first = errors.ok_or_else(|| why(circle, Some(&seats)))?.map(|e| e.into_iter().next());
    let refusal = circle.tell(first).ok_or_else(|| why(circle, Some(&seats)))?;
    let (setting, mut engine, observer) = match (refusal, prepared) {
        (None, Ok(prepared)) => prepared,
        (Some(text), _) => return refused(circle, &text),
        (None, Err(text)) => return refused(circle, &text),
    };
    let checked = place::check(circle, &seats, &setting.workload).ok_or_else(|| why(circle, Some(&seats)))?;
    let shared = circle.tell(circle.is_first().then(|| checked.is_ok()));
    if let Err(text) = checked {
        console::error(&text);
        return Ok(exit::FAILED);
    }
    if shared != Some(true) {
        return Ok(exit::FAILED);
    }
    measure(circle, &line, &order, &setting, &mut engine, observer)
}

/// Says what is wrong with the input, once.
fn refused(circle: &Circle, text: &str) -> Result<u8, String> {
    if circle.is_first() {
        console::error(text);
    }
    Ok(exit::USAGE)
}

/// What can go wrong before anything is made.
fn prepare<'a>(
    line: &Line,
    order: &Order,
    seats: &'a Seats,
    rank: u32,
) -> Result<(Setting<'a>, Engine, Observer), String> {
    if let Some(client) = order.clients.get(rank as usize) {
        let host = seats.host(rank);
        if !client_file::is_on(client, host) {
            return Err(format!(
                "-+m says that client {} is on {}; the launcher put this rank on {host}",
                rank + 1,
                client.host
            ));
        }
        fathom_state::go(&client.directory).map_err(|e| format!("{}: {e}", client.directory.display()))?;
    }
    let workload = order.workload()?;
    let mut share = workload.for_rank(seats.seat(rank))?;
    if let Err(errors) = share.check() {
        return Err(errors.first().map_or_else(String::new, ToString::to_string));
    }
    // Steps after a phase wait for all ranks.
    share.phases.iter_mut().for_each(|p| p.after.clear());
    let common = line.common();
    let reach = cold::wanted(&common)?;
    // Ranks of several hosts may share a home directory: a journal of another host's process must not be swept as a dead one's.
    let directory = state::directory().map(|state| state.join("ranks").join(seats.host(rank)));
    let ledger = directory.map_or_else(Ledger::nowhere, |directory| {
        sweeper::sweep(&directory);
        Ledger::new(&directory)
    });
    let mut engine = Engine::new(ledger);
    engine.check(&share).map_err(|e| e.to_string())?;
    let device = seats.reports_machine_counters(rank) && run_loop::meets_a_device(&share, &order.directory);
    let observe = if device { common.observe } else { Some(Observe::None) };
    let observer =
        Observer::new(observe, &mut engine, device, small::is_small(&share)).map_err(|e| e.to_string())?;
    Ok((Setting { seats, workload, share, reach }, engine, observer))
}

/// What a rank remembers of its last phase, for rank 0 when the circle breaks.
#[derive(Serialize, Deserialize)]
struct LeftOver {
    number: usize,
    repetition: u32,
    share: Option<Share>,
}

fn measure(
    circle: &mut Circle,
    line: &Line,
    order: &Order,
    setting: &Setting,
    engine: &mut Engine,
    mut observer: Observer,
) -> Result<u8, String> {
    let common = line.common();
    let rank = circle.team.rank();
    let head = order.head();
    // Findings of each rank speak of its own host.
    let environment = fathom_observe::environment::capture(&head.directory);
    let mut run = Run { dialect: order.dialect.clone(), environment: environment.clone(), ..Run::default() };
    let mut merged = circle.is_first().then(|| {
        let mut whole = run_loop::begin(engine, &setting.workload, &head, environment);
        if let Some(environment) = whole.environment.as_object_mut().filter(|_| setting.reach.is_some()) {
            environment.insert("cold".into(), setting.reach.map_or("", Reach::word).into());
        }
        Merged::new(whole, &common)
    });
    let mut seen = run_loop::first_seen(&setting.share);
    let first_offset = clocks::measure(circle).unwrap_or_default();
    let mut last = LeftOver { number: 0, repetition: 0, share: None };
    'rounds: for repetition in 0..setting.share.repetitions {
        for number in 0..setting.share.phases.len() {
            last = LeftOver { number, repetition, share: None };
            let done = phase(
                circle,
                setting,
                (engine, &mut observer),
                (number, repetition),
                (&mut run, &mut seen),
                &mut last,
            );
            let Some(joined) = done else { break 'rounds };
            if let (Some(merged), Some(share)) = (&mut merged, joined) {
                merged.take(share);
            }
            let after =
                setting.workload.for_rank(setting.seats.seat(rank)).map(|w| w.phases[number].after.clone());
            for action in after.unwrap_or_default() {
                if let Err(e) = engine.act(&setting.share, &action) {
                    circle.break_up(e.to_string());
                    break 'rounds;
                }
            }
        }
    }
    observer.leave();
    circle.falls_silent();
    // The others first: files of rank 0 are those that all work on.
    let offsets = if circle.broken().is_none() { offsets(circle, first_offset) } else { None };
    let left = end(circle, &last);
    if let Err(e) = engine.keep(&setting.share) {
        console::warning(&format!("rank {rank}: files that were to be kept are removed: {e}"));
    }
    let code = merged.map(|mut merged| {
        merged.run.clock = engine.describe_clock();
        let report = Report { line, setting, left, offsets: offsets.flatten().unwrap_or_default() };
        conclude(circle, merged, report, seen, &last)
    });
    for path in leave::clean_up(circle, engine) {
        console::warning(&format!(
            "rank {rank}: {} could not be removed; the next run will try again",
            path.display()
        ));
    }
    Ok(code.unwrap_or(exit::DONE))
}

/// The distances of all clocks at the begin and now.
type Offsets = Vec<(u32, Offset, Offset)>;

fn offsets(circle: &mut Circle, first: Offset) -> Option<Option<Offsets>> {
    let now = clocks::measure(circle)?;
    let mine = vec![(circle.team.rank(), first, now)];
    circle.collect(mine, |all, more| all.extend(more))
}

/// One repetition of one phase. `None` if the circle broke; on rank 0 the joined shares of all.
fn phase(
    circle: &mut Circle,
    setting: &Setting,
    (engine, observer): (&mut Engine, &mut Observer),
    (number, repetition): (usize, u32),
    (run, seen): (&mut Run, &mut Seen),
    last: &mut LeftOver,
) -> Option<Option<Share>> {
    let share = &setting.share;
    let rank = circle.team.rank();
    let common_files = setting.workload.shares_files_in(&setting.workload.phases[number]);
    circle.begin();
    circle.falls_silent();
    if common_files && !circle.is_first() {
        // Rank 0 makes the files first.
        circle.barrier()?;
    }
    let mut meeting = Meeting { circle, makes_first: common_files, release: None };
    let turn = Turn { number, repetition, reach: setting.reach };
    let (at, outcome) = run_loop::one_phase(engine, share, turn, run, (seen, observer), &mut meeting);
    let met = meeting.release.is_some();
    let circle = meeting.circle;
    circle.falls_silent();
    if let Some(mut measured) = at.and_then(|at| run.phases.get(at)).cloned() {
        measured.repetitions = measured.repetitions.pop().into_iter().collect();
        let rank_identity = RankIdentity {
            rank,
            host: setting.seats.host(rank),
            reports_machine_counters: setting.seats.reports_machine_counters(rank),
            alone: circle.alone(),
        };
        last.share = Some(Share::of(rank_identity, measured));
    }
    let goes_on = share.phases[number].stop.failed != fathom_workload::Failed::Run;
    match outcome {
        Err(failure) if !(goes_on && matches!(failure, run_loop::Failure::Operation(_))) => {
            circle.break_up(failure.to_string());
        }
        _ => {}
    }
    circle.tend();
    if circle.broken().is_some() || !met {
        return None;
    }
    if setting.workload.ranks.wear_out.contains(&share.phases[number].name) {
        worn_out(circle, setting, engine, (number, repetition), run, last)?;
    }
    let joined = circle.join(last.share.clone())?;
    // Nobody goes on to remove files that others still read.
    circle.barrier()?;
    last.share = None;
    Some(joined)
}

/// Every worker goes on until it has done as much as the one that had done most.
fn worn_out(
    circle: &mut Circle,
    setting: &Setting,
    engine: &mut Engine,
    (number, repetition): (usize, u32),
    run: &Run,
    last: &mut LeftOver,
) -> Option<()> {
    let measured = run.phases.iter().find(|p| p.seq as usize == number).and_then(|p| p.repetitions.last());
    let done: Vec<u64> = measured.map(|r| r.workers.iter().map(|w| w.ops).collect()).unwrap_or_default();
    let most = done.iter().copied().max().unwrap_or(0);
    let most = circle.collect(most, |all, more| *all = more.max(*all))?;
    let most = circle.tell(most)?;
    let until_stop =
        measured.map_or(0, |r| r.workers.iter().map(|w| w.start_ns + w.elapsed_ns).max().unwrap_or(0));
    let Some(rest) = wear_out(&setting.share, number, &done, most) else { return Some(()) };
    let began = crate::observing::monotonic_ns();
    let worn: Repetition = match engine.execute(&rest, number, repetition, &mut Wearing(circle)) {
        Ok(worn) => worn,
        Err(e) => {
            circle.break_up(format!("wear-out: {e}"));
            return None;
        }
    };
    if let Some(error) = worn.error() {
        circle.break_up(format!("wear-out: {}", error.message));
        return None;
    }
    let lacking: u64 = done.iter().map(|n| most.saturating_sub(*n)).sum();
    let record = worn.bytes().checked_div(worn.ops()).unwrap_or(0);
    let took = crate::observing::monotonic_ns().saturating_sub(began);
    if let Some(share) = &mut last.share {
        share.wore_out(lacking.saturating_mul(record), until_stop.saturating_add(took));
    }
    Some(())
}

/// Hears of a phase of this rank, and has it start with all others.
struct Meeting<'c, 't> {
    circle: &'c mut Circle<'t>,
    /// Rank 0 makes files of all, so the others wait until it is ready.
    makes_first: bool,
    release: Option<u64>,
}

/// All are ready: they agree on a time.
fn meet(circle: &mut Circle, makes_first: bool) -> Option<u64> {
    if makes_first && circle.is_first() {
        circle.barrier()?;
    }
    circle.barrier()?;
    let offset = clocks::measure(circle)?;
    let at = clocks::agree(circle, offset);
    circle.beats();
    at
}

impl Listener for Meeting<'_, '_> {
    fn starts(&mut self) {
        self.release = meet(self.circle, self.makes_first);
        if self.release.is_none() {
            // The workers are let go without doing anything.
            stop_here();
        }
    }

    fn release_at(&mut self) -> Option<u64> {
        self.release.filter(|_| !self.circle.alone())
    }

    fn looks(&mut self) {
        self.circle.tend();
    }

    fn look_every_ns(&self) -> u64 {
        if self.circle.alone() { u64::MAX } else { 10_000_000 }
    }

    fn first_done(&mut self, here: bool) -> bool {
        if here {
            self.circle.tell_first_done();
        }
        self.circle.first_done()
    }

    fn stopped(&mut self) {
        self.circle.falls_silent();
    }
}

/// A wear-out that looks after the others.
struct Wearing<'c, 't>(&'c mut Circle<'t>);

impl Moments for Wearing<'_, '_> {
    fn look(&mut self) {
        self.0.tend();
    }
}

/// What the others had when the circle broke. All come here, however the run ended.
fn end(circle: &mut Circle, last: &LeftOver) -> Vec<Message> {
    if circle.broken().is_none() {
        return Vec::new();
    }
    let mine = serde_json::to_vec(last).unwrap_or_default();
    circle.hand_over(&mine)
}

/// What rank 0 reports on.
struct Report<'a> {
    line: &'a Line,
    setting: &'a Setting<'a>,
    left: Vec<Message>,
    offsets: Offsets,
}

/// Joins what is left, keeps the record, prints it; gives the exit code.
fn conclude(circle: &mut Circle, mut merged: Merged, report: Report, seen: Seen, last: &LeftOver) -> u8 {
    let seats = report.setting.seats;
    let broken = circle.broken().cloned();
    let error = broken.is_some().then(|| {
        let answered: Vec<u32> = report.left.iter().map(|m| m.from).collect();
        ended(circle, seats, &answered)
    });
    if broken.is_some() {
        let mut all = last.share.clone();
        for message in &report.left {
            let Ok(theirs) = serde_json::from_slice::<LeftOver>(&message.bytes) else { continue };
            if (theirs.number, theirs.repetition) != (last.number, last.repetition) {
                continue;
            }
            match (&mut all, theirs.share) {
                (Some(all), Some(share)) => all.join(share),
                (None, share) => all = share,
                (Some(_), None) => {}
            }
        }
        if let Some(share) = all {
            merged.take(share);
        }
    }
    let carrier = circle.team.carrier();
    merged.introduce(seats, &carrier, &report.offsets);
    if broken.as_ref().is_none_or(|b| !b.signal) {
        // A launcher that has lost a rank leaves a second: it is for what was measured.
        run_loop::judge(&report.setting.workload, &mut merged.run, seen);
    }
    let (run, times, stored) = merged.close(error.clone(), false);
    if report.line.ranks.json {
        console::out(&fathom_record::export::json(&run));
    } else {
        console::out(&fathom_report::terminal::summary(&run, console::width(), console::colour()));
        let uncertain = report.offsets.iter().map(|o| o.1.error_ns.max(o.2.error_ns)).max().unwrap_or(0);
        console::out(&tell::table(seats, &carrier, uncertain, &times));
    }
    if let Some(error) = &error {
        console::error(&format!("{error}; what was measured until then is kept and marked as not complete"));
    }
    if stored {
        console::note(&format!("kept as run {0}; `fathom report {0} -o page.html` draws it", run.id));
    }
    if let Some(output) = &report.line.ranks.output {
        match write::runs(&[&run], output, false) {
            Ok(written) => write::tell(&written),
            Err(e) => console::error(&format!("{e:#}")),
        }
    }
    if error.is_some() { exit::FAILED } else { exit::DONE }
}

/// Why the run ended before its time, in one sentence.
fn ended(circle: &Circle, seats: &Seats, answered: &[u32]) -> String {
    let missing: Vec<String> = (1..circle.team.size())
        .filter(|r| !answered.contains(r))
        .take(8)
        .map(|r| format!("{r} on {}", seats.host(r)))
        .collect();
    match circle.broken() {
        Some(broken) if broken.signal && !missing.is_empty() => {
            format!(
                "no word from rank {}: it died or was killed, and the launcher ends the others",
                missing.join(", rank ")
            )
        }
        _ => why(circle, Some(seats)),
    }
}

/// Why the circle broke.
fn why(circle: &Circle, seats: Option<&Seats>) -> String {
    match circle.broken() {
        None => "the ranks lost touch with each other".into(),
        Some(broken) if broken.signal => broken.why.clone(),
        Some(broken) if broken.by == 0 && broken.why.starts_with("rank ") => broken.why.clone(),
        Some(broken) => match seats {
            Some(seats) => format!("rank {} on {}: {}", broken.by, seats.host(broken.by), broken.why),
            None => format!("rank {}: {}", broken.by, broken.why),
        },
    }
}
