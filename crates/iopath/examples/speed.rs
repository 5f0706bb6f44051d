//! Requests per second through a queue of 256: submit, next and completed of random 4 KiB reads and writes, for every elevator. Prints the
//! median of nine rounds, in millions per second and in nanoseconds per request. Run it with
//! `cargo run --release -p fathom-iopath --example speed [ELEVATOR...]`.

use fathom_iopath::elevator::{self, Elevator};
use fathom_iopath::{Bio, Limits, Nanos, Next, Op, Queue, Rules, TaskId};
use std::time::Instant;

const DEPTH: u64 = 256;
const REQUESTS: u64 = 500_000;

fn main() -> Result<(), elevator::ElevatorNameError> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let names = if asked.is_empty() { elevator::known().map(str::to_string).collect() } else { asked };
    println!("{:<20} {:>12} {:>14}", "elevator", "M requests/s", "ns per request");
    for name in names {
        let mut rounds = (0..9).map(|_| round(&name)).collect::<Result<Vec<f64>, _>>()?;
        rounds.sort_by(f64::total_cmp);
        let seconds = rounds[4];
        let (rate, each) = (REQUESTS as f64 / seconds / 1e6, seconds / REQUESTS as f64 * 1e9);
        println!("{:<20} {rate:>12.2} {each:>14.0}", elevator::by_name(&name)?.name());
    }
    Ok(())
}

/// Seconds for all requests, with 256 waiting at all times and one in flight.
fn round(name: &str) -> Result<f64, elevator::ElevatorNameError> {
    let mut queue = Queue::new(elevator::by_name(name)?, Rules::bare(Limits::LOOP_618));
    let mut state = 1u64;
    let mut now = Nanos::ZERO;
    let mut submit = |queue: &mut Queue, now: Nanos| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = state >> 20;
        let op = if draw.is_multiple_of(3) { Op::Write } else { Op::Read };
        queue.submit(now, Bio::new(op, draw % 25_000_000 * 8, 8).by(TaskId((draw >> 30) as u16 % 16)));
    };
    for _ in 0..DEPTH {
        submit(&mut queue, now);
    }
    let start = Instant::now();
    let mut served = 0;
    while served < REQUESTS {
        match queue.next(now, 1) {
            Next::Request(id) => {
                now += Nanos::from_micros(50);
                queue.completed(now, id, |_| {});
                served += 1;
                submit(&mut queue, now);
            }
            Next::NotBefore(until) => now = until,
            Next::Nothing => submit(&mut queue, now),
        }
    }
    Ok(start.elapsed().as_secs_f64())
}
