//! The run loop of a rank: its share of every phase, started together with all others and merged when all are done.
//! Every rank takes the same steps in the same order; one that cannot continue breaks the communicator, and all reach
//! [`end`].

use super::clocks::{self, Offset};
use super::comm::{Comm, Message, stop_here};
use super::count::Count;
use super::hosts::Hosts;
use super::line::{self, RankLine};
use super::live::RanksLive;
use super::merged::Merged;
use super::order::RunOrder;
use super::{client_file, host_list, leave, place, tell};
use crate::commands::write;
use crate::exit::Usage;
use crate::observing::{Observe, Observer};
use crate::run_loop::{self, Listener, PhaseRepetition};
use crate::{cold, console, exit, small, state, sweeper};
use fathom_engine::{Engine, Ledger, Moments};
use fathom_observe::cache::cold::Reach;
use fathom_observe::doubts::DoubtInputs;
use fathom_record::ranks::{RankIdentity, Share};
use fathom_record::{Repetition, Run};
use fathom_workload::Workload;
use fathom_workload::ranks::{read_what_was_written, wear_out};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::time::Duration;

/// Broadcast by rank 0 before the first phase.
#[derive(Serialize, Deserialize)]
enum StartMessage {
    Order(Box<RunOrder>),
    /// Nothing to run; rank 0 prints why.
    Nothing,
}

/// Constants of a run.
struct Setting<'a> {
    hosts: &'a Hosts,
    workload: Workload,
    share: Workload,
    /// The share as it was before any phase.
    planned: Workload,
    reach: Option<Reach>,
}

/// Executes the command line. The exit code is rank 0's.
pub(super) fn all(comm: &mut Comm, words: &[OsString]) -> Result<u8, String> {
    let line = line::parse(words)?;
    comm.have_patience(Duration::from_secs(line.ranks.lost_after));
    let hosts = Hosts::find(comm).ok_or_else(|| why(comm, None))?;
    if let Some(odd) = hosts.odd_version() {
        return refused(comm, &odd);
    }
    if let Some(differ) = hosts.kernels_differ().filter(|_| comm.is_first()) {
        console::note(&differ);
    }
    let order = if comm.is_first() {
        match hosts_agree(&line, &hosts).and_then(|()| RunOrder::read(&line, hosts.0.len() as u32)) {
            Ok(order) => Some(StartMessage::Order(Box::new(order))),
            Err(usage) => {
                let _ = comm.tell(Some(StartMessage::Nothing));
                return refused(comm, &usage.0);
            }
        }
    } else {
        None
    };
    let Some(StartMessage::Order(order)) = comm.tell(order) else {
        return comm.broken().map_or(Ok(exit::USAGE), |_| Err(why(comm, None)));
    };
    let rank = comm.team.rank();
    let prepared = prepare(&line, &order, &hosts, rank);
    let error = prepared.as_ref().err().map(|e| format!("rank {rank} on {}: {e}", hosts.host(rank)));
    let errors = comm.collect(error.into_iter().collect::<Vec<_>>(), |all, more| all.extend(more));
    let first = errors.ok_or_else(|| why(comm, Some(&hosts)))?.map(|e| e.into_iter().next());
    let refusal = comm.tell(first).ok_or_else(|| why(comm, Some(&hosts)))?;
    let (mut setting, mut engine, observer) = match (refusal, prepared) {
        (None, Ok(prepared)) => prepared,
        (Some(text), _) => return refused(comm, &text),
        (None, Err(text)) => return refused(comm, &text),
    };
    let checked = place::check(comm, &hosts, &setting.workload).ok_or_else(|| why(comm, Some(&hosts)))?;
    let shared = comm.tell(comm.is_first().then(|| checked.is_ok()));
    if let Err(text) = checked {
        console::error(&text);
        return Ok(exit::FAILED);
    }
    if shared != Some(true) {
        return Ok(exit::FAILED);
    }
    measure(comm, &line, &order, &mut setting, &mut engine, observer)
}

/// `--hosts` must name the hosts that the ranks are on.
fn hosts_agree(line: &RankLine, hosts: &Hosts) -> Result<(), Usage> {
    let Some(option) = &line.ranks.hosts else { return Ok(()) };
    host_list::read(option).and_then(|listed| host_list::check(&listed, &hosts.hosts())).map_err(Usage)
}

/// Reports an input error once.
fn refused(comm: &Comm, text: &str) -> Result<u8, String> {
    if comm.is_first() {
        console::error(text);
    }
    Ok(exit::USAGE)
}

/// Does what can fail before anything is made.
fn prepare<'a>(
    line: &RankLine,
    order: &RunOrder,
    hosts: &'a Hosts,
    rank: u32,
) -> Result<(Setting<'a>, Engine, Observer), String> {
    if let Some(client) = order.clients.get(rank as usize) {
        let host = hosts.host(rank);
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
    let mut share = workload.for_rank(hosts.seat(rank))?;
    if let Err(errors) = share.check() {
        return Err(errors.first().map_or_else(String::new, ToString::to_string));
    }
    // Steps after a phase wait for all ranks.
    share.phases.iter_mut().for_each(|p| p.after.clear());
    let common = line.common();
    let reach = cold::wanted(&common)?;
    // Ranks of several hosts may share a home directory; a journal of another host's process must not be swept as a
    // dead one's.
    let directory = state::directory().map(|state| state.join("ranks").join(hosts.host(rank)));
    let ledger = directory.map_or_else(Ledger::nowhere, |directory| {
        sweeper::sweep(&directory);
        Ledger::new(&directory)
    });
    let mut engine = Engine::new(ledger);
    engine.check(&share).map_err(|e| e.to_string())?;
    let device = hosts.reports_machine_counters(rank) && run_loop::meets_a_device(&share, &order.directory);
    let observe = if device { common.observe } else { Some(Observe::None) };
    let observer =
        Observer::new(observe, &mut engine, device, small::is_small(&share)).map_err(|e| e.to_string())?;
    let planned = share.clone();
    Ok((Setting { hosts, workload, share, planned, reach }, engine, observer))
}

/// A rank's last phase, kept for rank 0 in case the communicator breaks.
#[derive(Serialize, Deserialize)]
struct LeftOver {
    number: usize,
    repetition: u32,
    share: Option<Share>,
}

fn measure(
    comm: &mut Comm,
    line: &RankLine,
    order: &RunOrder,
    setting: &mut Setting,
    engine: &mut Engine,
    mut observer: Observer,
) -> Result<u8, String> {
    let common = line.common();
    let rank = comm.team.rank();
    let head = order.head();
    // Each rank's findings concern its own host.
    let environment = fathom_observe::environment::capture(&head.directory);
    let mut run = Run { dialect: order.dialect.clone(), environment: environment.clone(), ..Run::default() };
    let mut merged = comm.is_first().then(|| {
        let mut whole = run_loop::begin(engine, &setting.workload, &head, environment);
        if let Some(environment) = whole.environment.as_object_mut().filter(|_| setting.reach.is_some()) {
            environment.insert("cold".into(), setting.reach.map_or("", Reach::word).into());
        }
        Merged::new(whole, &common)
    });
    let mut seen = run_loop::first_seen(&setting.share);
    let mut live = RanksLive::new(order.live);
    let first_offset = clocks::measure(comm).unwrap_or_default();
    let mut last = LeftOver { number: 0, repetition: 0, share: None };
    'rounds: for repetition in 0..setting.share.repetitions {
        for number in 0..setting.share.phases.len() {
            last = LeftOver { number, repetition, share: None };
            let done = phase(
                comm,
                setting,
                (engine, &mut observer),
                (number, repetition),
                (&mut run, &mut seen),
                &mut live,
                &mut last,
            );
            live.end();
            let Some(joined) = done else { break 'rounds };
            if let (Some(merged), Some(share)) = (&mut merged, joined) {
                merged.take(share);
            }
            let after =
                setting.workload.for_rank(setting.hosts.seat(rank)).map(|w| w.phases[number].after.clone());
            for action in after.unwrap_or_default() {
                if let Err(e) = engine.act(&setting.share, &action) {
                    comm.break_up(e.to_string());
                    break 'rounds;
                }
            }
        }
    }
    observer.leave();
    comm.falls_silent();
    // The other ranks clean up first: all work on files of rank 0.
    let offsets = if comm.broken().is_none() { offsets(comm, first_offset) } else { None };
    let left = end(comm, &last);
    if let Err(e) = engine.keep(&setting.share) {
        console::warning(&format!("rank {rank}: files that were to be kept are removed: {e}"));
    }
    let code = merged.map(|mut merged| {
        merged.run.clock = engine.describe_clock();
        let report = ReportInput { line, setting, left, offsets: offsets.flatten().unwrap_or_default() };
        conclude(comm, merged, report, seen, &last)
    });
    for path in leave::clean_up(comm, engine) {
        console::warning(&format!(
            "rank {rank}: {} could not be removed; the next run will try again",
            path.display()
        ));
    }
    Ok(code.unwrap_or(exit::DONE))
}

/// The offsets of all clocks at the start and now.
type Offsets = Vec<(u32, Offset, Offset)>;

fn offsets(comm: &mut Comm, first: Offset) -> Option<Option<Offsets>> {
    let now = clocks::measure(comm)?;
    let mine = vec![(comm.team.rank(), first, now)];
    comm.collect(mine, |all, more| all.extend(more))
}

/// One repetition of one phase. `None` if the communicator broke; on rank 0 the merged shares of all.
fn phase(
    comm: &mut Comm,
    setting: &mut Setting,
    (engine, observer): (&mut Engine, &mut Observer),
    (number, repetition): (usize, u32),
    (run, seen): (&mut Run, &mut DoubtInputs),
    live: &mut RanksLive,
    last: &mut LeftOver,
) -> Option<Option<Share>> {
    let share = &setting.share;
    let rank = comm.team.rank();
    let common_files = setting.workload.shares_files_in(&setting.workload.phases[number]);
    comm.begin();
    comm.falls_silent();
    if common_files && !comm.is_first() {
        // Rank 0 makes the files first.
        comm.barrier()?;
    }
    let hosts = setting.hosts;
    let mut meeting = Meeting { comm, makes_first: common_files, release: None, live, hosts };
    let turn = PhaseRepetition { number, repetition, reach: setting.reach };
    let (at, outcome) = run_loop::one_phase(engine, share, turn, run, (seen, observer), &mut meeting);
    let met = meeting.release.is_some();
    let comm = meeting.comm;
    comm.falls_silent();
    if let Some(mut measured) = at.and_then(|at| run.phases.get(at)).cloned() {
        measured.repetitions = measured.repetitions.pop().into_iter().collect();
        let rank_identity = RankIdentity {
            rank,
            host: setting.hosts.host(rank),
            reports_machine_counters: setting.hosts.reports_machine_counters(rank),
            alone: comm.alone(),
        };
        last.share = Some(Share::of(rank_identity, measured));
    }
    let goes_on = share.phases[number].stop.failed != fathom_workload::Failed::Run;
    match outcome {
        Err(failure) if !(goes_on && matches!(failure, run_loop::Failure::Operation(_))) => {
            comm.break_up(failure.to_string());
        }
        _ => {}
    }
    comm.tend();
    if comm.broken().is_some() || !met {
        return None;
    }
    if setting.workload.ranks.wear_out.contains(&share.phases[number].name) {
        worn_out(comm, setting, engine, (number, repetition), run, last)?;
    }
    let joined = comm.join(last.share.clone())?;
    // No rank may remove files that others still read.
    comm.barrier()?;
    last.share = None;
    Some(joined)
}

/// Every worker continues until it has done as much as the one that had done most.
fn worn_out(
    comm: &mut Comm,
    setting: &mut Setting,
    engine: &mut Engine,
    (number, repetition): (usize, u32),
    run: &Run,
    last: &mut LeftOver,
) -> Option<()> {
    let measured = run.phases.iter().find(|p| p.seq as usize == number).and_then(|p| p.repetitions.last());
    let done: Vec<u64> = measured.map(|r| r.workers.iter().map(|w| w.ops).collect()).unwrap_or_default();
    let most = done.iter().copied().max().unwrap_or(0);
    let most = comm.collect(most, |all, more| *all = more.max(*all))?;
    let most = comm.tell(most)?;
    read_what_was_written(&setting.workload, &setting.planned, &mut setting.share, number, most);
    let until_stop =
        measured.map_or(0, |r| r.workers.iter().map(|w| w.start_ns + w.elapsed_ns).max().unwrap_or(0));
    let Some(rest) = wear_out(&setting.share, number, &done, most) else { return Some(()) };
    let began = crate::observing::monotonic_ns();
    let worn: Repetition = match engine.execute(&rest, number, repetition, &mut Wearing(comm)) {
        Ok(worn) => worn,
        Err(e) => {
            comm.break_up(format!("wear-out: {e}"));
            return None;
        }
    };
    if let Some(error) = worn.error() {
        comm.break_up(format!("wear-out: {}", error.message));
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

/// Follows a phase of this rank, and starts it together with all others.
struct Meeting<'c, 't> {
    comm: &'c mut Comm<'t>,
    /// Rank 0 makes files for all, so the others wait until it is ready.
    makes_first: bool,
    release: Option<u64>,
    live: &'c mut RanksLive,
    hosts: &'c Hosts,
}

/// Waits until all ranks are ready, then agrees on a start time with them. `None`: a rank cannot take part any more.
fn meet(comm: &mut Comm, makes_first: bool) -> Option<u64> {
    if makes_first && comm.is_first() {
        comm.barrier()?;
    }
    comm.barrier()?;
    let offset = clocks::measure(comm)?;
    let at = clocks::agree(comm, offset);
    comm.beats();
    at
}

impl Listener for Meeting<'_, '_> {
    fn begins(&mut self, phase: &fathom_workload::Phase, _repetition: u32) {
        self.live.begin(&phase.name);
    }

    fn starts(&mut self) {
        self.release = meet(self.comm, self.makes_first);
        self.comm.forget_counts();
        self.live.start();
        if self.release.is_none() {
            // Without a common start time the phase must not run: the workers stop as soon as they are released.
            stop_here();
        }
    }

    fn release_at(&mut self) -> Option<u64> {
        self.release.filter(|_| !self.comm.alone())
    }

    fn looks(&mut self) {
        self.comm.tend();
    }

    fn look_every_ns(&self) -> u64 {
        if self.comm.alone() { u64::MAX } else { 10_000_000 }
    }

    fn wants_state(&mut self) -> bool {
        self.live.is_due()
    }

    fn state(&mut self, so_far: fathom_record::Phase) {
        self.comm.tell_count(Count::of(&so_far));
        if self.comm.is_first() {
            self.live.show(self.comm.counts(), self.hosts);
        }
    }

    fn first_done(&mut self, here: bool) -> bool {
        if here {
            self.comm.tell_first_done();
        }
        self.comm.first_done()
    }

    fn stopped(&mut self) {
        self.comm.falls_silent();
    }
}

/// Keeps the communicator alive during a wear-out.
struct Wearing<'c, 't>(&'c mut Comm<'t>);

impl Moments for Wearing<'_, '_> {
    fn look(&mut self) {
        self.0.tend();
    }
}

/// Collects what the other ranks had when the communicator broke. Every rank gets here, however the run ended.
fn end(comm: &mut Comm, last: &LeftOver) -> Vec<Message> {
    if comm.broken().is_none() {
        return Vec::new();
    }
    let mine = serde_json::to_vec(last).unwrap_or_default();
    comm.hand_over(&mine)
}

/// Input of rank 0's report.
struct ReportInput<'a> {
    line: &'a RankLine,
    setting: &'a Setting<'a>,
    left: Vec<Message>,
    offsets: Offsets,
}

/// Merges what is left, stores and prints the record; returns the exit code.
fn conclude(
    comm: &mut Comm,
    mut merged: Merged,
    report: ReportInput,
    seen: DoubtInputs,
    last: &LeftOver,
) -> u8 {
    let hosts = report.setting.hosts;
    let broken = comm.broken().cloned();
    let error = broken.is_some().then(|| {
        let answered: Vec<u32> = report.left.iter().map(|m| m.from).collect();
        ended(comm, hosts, &answered)
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
    let carrier = comm.team.carrier();
    merged.introduce(hosts, &carrier, &report.offsets);
    if broken.as_ref().is_none_or(|b| !b.signal) {
        // A launcher that has lost a rank leaves a second; use it for the measured data first.
        run_loop::judge(&report.setting.workload, &mut merged.run, seen);
    }
    let (run, times, stored) = merged.close(error.clone(), false);
    if report.line.ranks.json {
        console::out(&fathom_record::export::json(&run));
    } else {
        console::out(&fathom_report::terminal::summary(&run, console::width(), console::colour()));
        let uncertain = report.offsets.iter().map(|o| o.1.error_ns.max(o.2.error_ns)).max().unwrap_or(0);
        console::out(&tell::table(hosts, &carrier, uncertain, &times));
    }
    if let Some(error) = &error {
        console::error(&format!("{error}; what was measured until then is kept and marked as incomplete"));
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

/// Why the run ended early, in one sentence.
fn ended(comm: &Comm, hosts: &Hosts, answered: &[u32]) -> String {
    let missing: Vec<String> = (1..comm.team.size())
        .filter(|r| !answered.contains(r))
        .take(8)
        .map(|r| format!("{r} on {}", hosts.host(r)))
        .collect();
    match comm.broken() {
        Some(broken) if broken.signal && !missing.is_empty() => {
            format!(
                "rank {} does not answer: it died or was killed, and the launcher ends the others",
                missing.join(", rank ")
            )
        }
        _ => why(comm, Some(hosts)),
    }
}

/// Why the communicator broke.
fn why(comm: &Comm, hosts: Option<&Hosts>) -> String {
    match comm.broken() {
        None => "the ranks lost contact with each other".into(),
        Some(broken) if broken.signal => broken.why.clone(),
        Some(broken) if broken.by == 0 && broken.why.starts_with("rank ") => broken.why.clone(),
        Some(broken) => match hosts {
            Some(hosts) => format!("rank {} on {}: {}", broken.by, hosts.host(broken.by), broken.why),
            None => format!("rank {}: {}", broken.by, broken.why),
        },
    }
}
