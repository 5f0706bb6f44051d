//! Block traces of a running 6.18, and how far the elevators choose the same requests. Recorded on a loop device over a loop device
//! throttled to 400 requests per second, so that a queue forms: 800 requests of 4 KiB in adjacent pairs at random places, submitted 512
//! at a time, each by a separate call. The driver has 128 tags; beyond these the scheduler chooses.
//!
//! A line of `agree/*.txt`: event (Q bio, G new request, B back merge, F front merge, I issued, C completed), microseconds since the
//! previous line, CPU, operation (R, W, S: synchronous write), first block of 4 KiB, blocks.

use fathom_iopath::agree::{Agreement, TraceEvent};
use fathom_iopath::{Bio, Limits, MergeKind, Nanos, Op, Queue, Rules, elevator};

fn followed(name: &str, trace: &str) -> Agreement {
    let queue = Queue::new(elevator::by_name(name).expect("it exists"), Rules::today(Limits::LOOP_618, 128));
    let mut agreement = Agreement::new(queue, 128);
    // A day after the start, so that subtractions from now stay positive.
    let mut now = Nanos::from_secs(86_400);
    for line in trace.lines() {
        let parts: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| parts[at].parse::<u64>().expect("a number");
        let (sector, sectors) = (number(4) * 8, (number(5) * 8) as u32);
        let op = if parts[3] == "R" { Op::Read } else { Op::Write };
        now += Nanos::from_micros(number(1));
        let bio = Bio::new(op, sector, sectors).on(number(2) as u8);
        agreement.see(
            now,
            match parts[0] {
                "Q" => TraceEvent::Bio(if parts[3] == "S" { bio.sync() } else { bio }),
                "G" => TraceEvent::Request { sector },
                "B" => TraceEvent::Merge { sector, kind: MergeKind::Back },
                "F" => TraceEvent::Merge { sector, kind: MergeKind::Front },
                "I" => TraceEvent::Issue { op, sector, sectors },
                "C" => TraceEvent::Complete { op, sector },
                other => panic!("event {other:?}"),
            },
        );
    }
    agreement
}

/// Merges must match the kernel's exactly, and at least this many of the choices.
fn agrees(name: &str, trace: &str, issued: u64, at_least: u64) {
    let agreement = followed(name, trace);
    let counts = agreement.counts();
    assert_eq!((counts.merges_differ, counts.lost, counts.issued), (0, 0, issued), "{name}: {counts:?}");
    assert_eq!((counts.model_merges, counts.merges_told), (counts.kernel_merges, 0), "{name}: {counts:?}");
    assert!(counts.same >= at_least, "{name}: {counts:?}");
}

#[test]
fn mq_deadline_chooses_as_the_kernel() {
    agrees("mq-deadline", include_str!("agree/mq-deadline-read.txt"), 486, 485);
    agrees("mq-deadline", include_str!("agree/mq-deadline-mixed.txt"), 465, 461);
}

#[test]
fn none_chooses_nothing() {
    agrees("none", include_str!("agree/none-mixed.txt"), 800, 800);
}

#[test]
fn kyber_chooses_as_the_kernel() {
    agrees("kyber", include_str!("agree/kyber-read.txt"), 465, 465);
    agrees("kyber", include_str!("agree/kyber-mixed.txt"), 488, 482);
}

#[test]
fn bfq_lite_chooses_as_the_kernels_bfq() {
    agrees("bfq-lite", include_str!("agree/bfq-read.txt"), 481, 477);
}

#[test]
fn another_scheduler_would_be_noticed() {
    let counts = *followed("kyber", include_str!("agree/mq-deadline-read.txt")).counts();
    assert!(counts.contested_same * 10 < counts.contested, "{counts:?}");
}
