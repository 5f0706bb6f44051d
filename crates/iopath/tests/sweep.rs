//! The sweep with deadlines by class, in virtual time: any requests at any times, on a device of any speed. A few lines of plain code
//! give the expected order: of the overdue, or else of all, the next one upward, or the lowest. Nothing is lost or served twice, and a
//! wait is bounded by the deadline and the work queued before.

use fathom_iopath::{Bio, IoClass, Limits, Nanos, Next, Op, Queue, Rules, TaskId, TaskInfo, elevator};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Deadlines of the classes, ms, in the order of the tasks.
const DEADLINES: [u64; 3] = [100, 500, 5000];

fn queue() -> Queue {
    let limits = Limits { max_segments: 1, ..Limits::LOOP_618 };
    let mut queue = Queue::new(elevator::by_name("sweep").expect("it exists"), Rules::bare(limits));
    for (task, class) in [(0, IoClass::RealTime), (1, IoClass::BestEffort), (2, IoClass::Idle)] {
        queue.describe(TaskId(task), TaskInfo { class, ..TaskInfo::alone(TaskId(task)) });
    }
    queue
}

/// The next sector upward from `position`, or the lowest.
fn next_of(sectors: impl Iterator<Item = u64> + Clone, position: u64) -> Option<u64> {
    let above = sectors.clone().filter(|&sector| sector >= position).min();
    above.or(sectors.min())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_overdue_go_in_one_sweep_and_the_rest_in_another(
        steps in prop::collection::vec((0..300_u64, 0..2000_u64, 0..3_u16), 1..120),
        service_ms in 1..150_u64,
    ) {
        let mut queue = queue();
        let mut coming: Vec<(u64, u64, u16)> = Vec::new();
        let mut at_ms = 0;
        for (gap_ms, place, class) in steps {
            at_ms += gap_ms;
            // No two requests start at the same sector or are adjacent, so none can merge.
            if coming.iter().all(|step| step.1 != place * 100) {
                coming.push((at_ms, place * 100, class));
            }
        }
        let all = coming.len();
        let mut coming = coming.into_iter().peekable();
        // Sector: (submitted at, deadline), ms.
        let mut waiting: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        let mut overdue: Vec<u64> = Vec::new();
        let (mut now_ms, mut position, mut served) = (0, 0, 0);
        loop {
            while let Some((asked, sector, class)) = coming.next_if(|step| step.0 <= now_ms) {
                let now = Nanos::from_millis(now_ms);
                queue.submit(now, Bio::new(Op::Read, sector, 8).by(TaskId(class)));
                let due = now_ms + DEADLINES[usize::from(class)];
                waiting.insert(sector, (asked, due));
            }
            if waiting.is_empty() {
                let Some(&(next, ..)) = coming.peek() else { break };
                now_ms = next;
                continue;
            }
            if overdue.is_empty() {
                overdue = waiting.iter().filter(|(_, about)| about.1 <= now_ms).map(|(&sector, _)| sector).collect();
            }
            let expected = match overdue.is_empty() {
                true => next_of(waiting.keys().copied(), position),
                false => next_of(overdue.iter().copied(), position),
            };
            let Next::Request(id) = queue.next(Nanos::from_millis(now_ms), 1) else { panic!("requests wait") };
            let sector = queue.request(id).expect("it is there").sector();
            prop_assert_eq!(Some(sector), expected);
            let about = waiting.remove(&sector);
            prop_assert!(about.is_some(), "nothing comes twice");
            // S2: at most everything that was waiting when it became overdue, and one sweep of those that became overdue with it.
            let (_, due) = about.unwrap_or_default();
            prop_assert!(now_ms <= due + 2 * (all as u64 + 1) * service_ms);
            overdue.retain(|&other| other != sector);
            position = sector;
            served += 1;
            now_ms += service_ms;
            prop_assert!(queue.completed(Nanos::from_millis(now_ms), id, |_| ()));
        }
        prop_assert_eq!(served, all);
        prop_assert_eq!(queue.waiting(), 0);
    }
}
