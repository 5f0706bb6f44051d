//! What it costs to draw one operation: ns of `StreamOps::next` for every order of offsets, and of `Arrivals::next_due_ns`.
//! `cargo run --release -p fathom-workload --example generators`; the best of several rounds is printed.
//!
//! On an AMD EPYC in a virtual machine, ns, of which 2.2 are what every operation costs:
//!
//! ```text
//! records              2^20         2^21         2^36   set-up of 2^36
//! sequential         2.4 ns       2.4 ns       2.4 ns           0.8 us
//! backward           2.2 ns       2.2 ns       2.2 ns           0.1 us
//! strided            2.3 ns       2.3 ns       2.3 ns           0.1 us
//! permuted           7.2 ns       7.3 ns       7.2 ns           0.1 us
//! uniform            2.7 ns       2.7 ns       2.7 ns           0.1 us
//! zipf 0.5          12.0 ns      11.9 ns      11.4 ns          97.7 us
//! zipf 0.99         12.6 ns      12.7 ns      12.7 ns          71.8 us
//! zipf 1.2          12.5 ns      12.5 ns      12.4 ns          63.8 us
//! pareto 0.2        12.6 ns      12.4 ns      12.4 ns          58.5 us
//! normal 10 %        4.4 ns       4.4 ns       4.4 ns           0.1 us
//! zoned              6.2 ns       6.3 ns       6.2 ns           0.3 us
//! even               0.7 ns
//! poisson            3.9 ns
//! ```
//!
//! Zipf and Pareto are a rank (5 ns) and the permutation that scatters ranks over the region (5 ns). `rand_distr::Zipf`, in their place
//! before, took 44 ns for the rank on the same machine, and the permutation 2 ns for a power of four of records but 16 to 24 ns
//! for other numbers.

use fathom_workload::ops::{Arrivals, Done, Place, Region, StreamOps};
use fathom_workload::{Access, Amount, Bytes, Direction, Rate, Stream, Zone};
use std::hint::black_box;
use std::time::Instant;

const DRAWS: u64 = 2_000_000;
const ROUNDS: usize = 15;
const RECORD: u64 = 4096;

/// The shortest time of a draw over the rounds, ns.
fn best_ns(mut draw: impl FnMut() -> u64) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        for _ in 0..DRAWS {
            black_box(draw());
        }
        start.elapsed().as_nanos() as f64 / DRAWS as f64
    });
    rounds.fold(f64::INFINITY, f64::min)
}

/// ns of an operation, and us of making the generator.
fn order(access: Access, records: u64) -> Option<(f64, f64)> {
    let mut stream = Stream::new("f", Direction::Read, Bytes(RECORD));
    stream.access = access;
    stream.amount = Amount::Endless;
    let region = Region { start: 0, length: records * RECORD };
    let start = Instant::now();
    let mut ops = StreamOps::new(&stream, region, 1, Place::default())?;
    let setup_us = start.elapsed().as_nanos() as f64 / 1000.0;
    let done = Done::default();
    Some((best_ns(|| ops.next(&done).map_or(0, |op| op.offset)), setup_us))
}

fn main() {
    let zones = [(60.0, 10.0), (30.0, 20.0), (10.0, 70.0)]
        .map(|(operations_percent, region_percent)| Zone { operations_percent, region_percent });
    let accesses = [
        ("sequential", Access::Sequential),
        ("backward", Access::Backward),
        ("strided", Access::Strided { step: 17 }),
        ("permuted", Access::Permuted),
        ("uniform", Access::Uniform),
        ("zipf 0.5", Access::Zipf { theta: 0.5 }),
        ("zipf 0.99", Access::Zipf { theta: 0.99 }),
        ("zipf 1.2", Access::Zipf { theta: 1.2 }),
        ("pareto 0.2", Access::Pareto { h: 0.2 }),
        ("normal 10 %", Access::Normal { deviation_percent: 10.0 }),
        ("zoned", Access::Zoned(zones.to_vec())),
    ];
    println!("{:12} {:>12} {:>12} {:>12}   {:>14}", "records", "2^20", "2^21", "2^36", "set-up of 2^36");
    for (name, access) in accesses {
        let figures: Vec<(f64, f64)> =
            [20, 21, 36].iter().filter_map(|bits| order(access.clone(), 1 << bits)).collect();
        let cells: String = figures.iter().map(|f| format!(" {:9.1} ns", f.0)).collect();
        let setup_us = figures.last().map_or(0.0, |f| f.1);
        println!("{name:12}{cells}   {setup_us:11.1} us");
    }
    for (name, arrivals) in
        [("even", fathom_workload::Gaps::Even), ("poisson", fathom_workload::Gaps::Poisson)]
    {
        let mut due = Arrivals::new(
            &Rate { operations_per_s: 12_345.0, arrivals, per: fathom_workload::Bytes(0), common: false },
            1,
            Place::default(),
        );
        println!("{name:12} {:9.1} ns", best_ns(|| due.next_due_ns()));
    }
}
