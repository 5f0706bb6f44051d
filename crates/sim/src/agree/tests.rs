//! Short traces, followed: requests that are held back, cut, requeued or bypass the scheduler, and how the result is printed.

use super::*;
use fathom_iopath::elevator;
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::{BlockAction, DeviceNumber, RequestFlags};

const DISK: DeviceNumber = DeviceNumber { major: 7, minor: 0 };

/// "Q R 8 8 1": action, flags, sector, sectors, pid; a microsecond apart.
fn events(text: &str) -> Vec<BlockEvent> {
    let one = |(n, line): (usize, &str)| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap();
        let action = BlockAction::ALL.into_iter().find(|a| words[0] == a.letter().to_string()).unwrap();
        BlockEvent {
            time_ns: n as u64 * 1000,
            device: DISK,
            action,
            flags: RequestFlags::parse(words[1]),
            sector: number(2),
            sectors: number(3) as u32,
            pid: number(4) as u32,
            cpu: 0,
            error: 0,
            task: [0; TASK_NAME_BYTES],
        }
    };
    text.lines().map(str::trim).filter(|l| !l.is_empty()).enumerate().map(one).collect()
}

fn followed(scheduler: &str, text: &str) -> Agreed {
    let events = events(text);
    let mut look = Look::default();
    events.iter().for_each(|e| look.event(e));
    let traced = look.busiest().unwrap();
    assert_eq!((traced.number, traced.missing()), (DISK, None));
    let schedulers = vec![(scheduler.to_owned(), elevator::by_name(scheduler).unwrap())];
    let places = traced.most_in_device;
    let mut follower =
        Follower::new(FollowerSetup { traced, schedulers, limits: Limits::LOOP_618, places, most_misses: 9 });
    events.iter().for_each(|e| follower.event(e));
    follower.finish(places)
}

#[test]
fn plugged_requests_cannot_be_chosen() {
    // Task 1 keeps sector 8 in its plug while task 2's sector 800 is inserted and issued.
    let text = "Q R 8 8 1\n G R 8 8 1\n Q R 800 8 2\n G R 800 8 2\n I R 800 8 2\n D R 800 8 2\n I R 8 8 1\n D R 8 8 1\n\
                C R 800 8 0\n C R 8 8 0";
    let row = &followed("mq-deadline", text).rows[0];
    assert_eq!((row.issued, row.same, row.not_followed), (2, 2, 0), "{row:?}");
    // Without insert events no task is known to hold anything back: the lower sector would have gone first.
    let without: String =
        text.lines().filter(|l| !l.trim_start().starts_with('I')).collect::<Vec<_>>().join("\n");
    let row = &followed("mq-deadline", &without).rows[0];
    assert_eq!((row.issued, row.same, row.contested), (2, 1, 1), "{row:?}");
    let first = &row.disagreements[0];
    assert_eq!((first.kernel.sector, first.model.as_ref().map(|m| m.sector)), (800, Some(8)));
    assert_eq!((first.issue, first.waiting, first.kernel.waited_ns), (1, 2, 1000));
}

#[test]
fn a_bio_that_was_cut_is_two_requests() {
    let text = "Q W 0 5120 1\n X W 0 2560 1\n G W 0 2560 1\n I W 0 2560 1\n G W 2560 2560 1\n I W 2560 2560 1\n D W 0 2560 1\n\
                C W 0 2560 0\n D W 2560 2560 1\n C W 2560 2560 0";
    let row = &followed("none", text).rows[0];
    assert_eq!((row.issued, row.same, row.not_followed, row.merges_differ), (2, 2, 0, 0), "{row:?}");
}

#[test]
fn a_requeued_request_is_not_a_second_choice() {
    let text = "Q R 0 8 1\n G R 0 8 1\n I R 0 8 1\n D R 0 8 1\n R R 0 8 1\n D R 0 8 1\n C R 0 8 0";
    let row = &followed("mq-deadline", text).rows[0];
    assert_eq!((row.issued, row.same, row.not_followed), (1, 1, 0), "{row:?}");
}

#[test]
fn flushes_and_their_parts_bypass_the_scheduler() {
    let text = "Q FWFS 64 8 1\n G FWFS 64 8 1\n D FF 0 0 1\n C FF 0 0 0\n D WS 64 8 1\n C WS 64 8 0\n D FF 0 0 1\n C FF 0 0 0\n\
                Q W 8 8 1\n G W 8 8 1\n I W 8 8 1\n D W 8 8 1\n C W 8 8 0";
    let agreed = followed("mq-deadline", text);
    let row = &agreed.rows[0];
    assert_eq!((agreed.passed_by, row.issued, row.same, row.not_followed), (3, 1, 1, 0), "{agreed:?}");
}

#[test]
fn a_flush_among_writes_does_not_count_as_a_choice() {
    // The flush is at sector 0 where a write waits, and so are both flushes of a write that came with one. Some recorders show a flush as
    // a write of no sectors, and a second completion of a request that had no data left.
    for flush in ["FF", "FWS", "WS", "W", "FN"] {
        let text = format!(
            "Q W 0 8 1\n G W 0 8 1\n I W 0 8 1\n Q {flush} 0 0 2\n G {flush} 0 0 2\n D {flush} 0 0 2\n Q W 80 8 1\n G W 80 8 1\n\
             I W 80 8 1\n D W 0 8 1\n C {flush} 0 0 0\n D W 80 8 1\n C W 0 8 0\n C W 8 0 0\n C W 80 8 0"
        );
        let agreed = followed("mq-deadline", &text);
        let row = &agreed.rows[0];
        assert_eq!((row.issued, row.same, row.contested, row.not_followed), (2, 2, 1, 0), "{flush}: {row:?}");
        assert_eq!((agreed.passed_by, row.merges_differ), (1, 0), "{flush}: {agreed:?}");
        let text = format!(
            "Q FWFS 0 8 1\n G FWFS 0 8 1\n D {flush} 0 0 1\n C {flush} 0 0 0\n D WS 0 8 1\n C WS 0 8 0\n D {flush} 0 0 1\n\
             C {flush} 0 0 0\n Q W 8 8 1\n G W 8 8 1\n I W 8 8 1\n D W 8 8 1\n C W 8 8 0"
        );
        let agreed = followed("mq-deadline", &text);
        let row = &agreed.rows[0];
        let found = (agreed.passed_by, row.issued, row.same, row.not_followed);
        assert_eq!(found, (3, 1, 1, 0), "{flush}: {agreed:?}");
    }
}

#[test]
fn of_two_entries_with_the_same_start_the_older_is_used() {
    let text = "Q W 8 8 1\n G W 8 8 1\n Q W 80 8 1\n G W 80 8 1\n Q W 8 8 1\n G W 8 8 1\n D W 8 8 1\n D W 80 8 1\n D W 8 8 1\n\
                C W 8 8 0\n C W 80 8 0\n C W 8 8 0";
    let row = &followed("none", text).rows[0];
    assert_eq!((row.issued, row.same), (3, 3), "{row:?}");
}

#[test]
fn merges_are_counted_on_both_sides() {
    let text = "Q R 0 8 1\n G R 0 8 1\n Q R 8 8 1\n M R 8 8 1\n Q R 16 8 1\n G R 16 8 1\n I R 0 16 1\n I R 16 8 1\n D R 0 16 1\n D R 16 8 1\n\
                C R 0 16 0\n C R 16 8 0";
    let row = &followed("mq-deadline", text).rows[0];
    // Here the model merges the third bio too; the kernel allocated a request for it.
    assert_eq!((row.kernel_merges, row.model_merges, row.merges_differ), (1, 2, 1), "{row:?}");
    assert!(!row.holds(0.0));
    let miss = &row.merge_disagreements[0];
    assert_eq!((miss.sector, miss.merged_by), (16, "model"));
    assert_eq!(miss.with.as_ref().map(|with| (with.sector, with.sectors)), Some((0, 16)));
    // One difference counts once: from then on the model has the kernel's two requests.
    assert_eq!((row.issued, row.same), (2, 2), "{row:?}");
}

#[test]
fn merges_of_the_kernel_are_reproduced() {
    // Two tasks: bfq does not merge a bio of one with a request of the other, but this kernel did.
    let text = "Q R 0 8 1\n G R 0 8 1\n I R 0 8 1\n Q R 8 8 2\n M R 8 8 2\n D R 0 16 1\n C R 0 16 0";
    let row = &followed("bfq-lite", text).rows[0];
    assert_eq!((row.kernel_merges, row.model_merges, row.merges_differ), (1, 0, 1), "{row:?}");
    assert_eq!((row.issued, row.same, row.not_followed), (1, 1, 0), "{row:?}");
    assert_eq!(row.merge_disagreements[0].merged_by, "kernel");
}

#[test]
fn a_merge_missing_for_a_possibly_full_scatter_list_is_agreement() {
    // 16 bios of 64 KiB are 256 pages; the device takes 128 segments. The ninth and tenth form a separate request.
    let bio = |n: u64| (n * 128, 128);
    let mut text = String::new();
    for n in 0..10 {
        let (sector, sectors) = bio(n);
        let what = if n == 0 || n == 8 { 'G' } else { 'M' };
        text += &format!("Q R {sector} {sectors} 1\n {what} R {sector} {sectors} 1\n");
    }
    text += "I R 0 1024 1\n I R 1024 256 1\n D R 0 1024 1\n D R 1024 256 1\n C R 0 1024 0\n C R 1024 256 0";
    for scheduler in ["none", "mq-deadline", "bfq-lite"] {
        let row = &followed(scheduler, &text).rows[0];
        assert_eq!((row.kernel_merges, row.model_merges), (8, 8), "{row:?}");
        assert_eq!((row.merges_differ, row.merges_explained), (0, 1), "{row:?}");
        assert_eq!((row.issued, row.same), (2, 2), "{row:?}");
    }
    // With eight of them the pages fit, so segments cannot be the reason.
    let text = text.replace("G R 1024 128", "M R 1024 128").replace("M R 896 128", "G R 896 128");
    assert!(followed("mq-deadline", &text).rows[0].merges_differ > 0);
}

#[test]
fn a_request_that_is_joined_leaves_its_plug() {
    // Sector 8 is in task 1's plug when task 2 inserts sector 0. When the plug is flushed, sector 8 merges behind sector 0, so it
    // has no insert event. Task 1's next request is then not behind it in the plug, and a contiguous bio merges with the combined
    // request.
    let text = "Q R 8 8 1\n G R 8 8 1\n Q R 0 8 2\n G R 0 8 2\n I R 0 8 2\n m R 8 8 1\n Q R 800 8 1\n G R 800 8 1\n\
                Q R 16 8 1\n M R 16 8 1\n I R 800 8 1\n D R 0 24 1\n D R 800 8 1\n C R 0 24 0\n C R 800 8 0";
    let row = &followed("mq-deadline", text).rows[0];
    assert_eq!((row.kernel_merges, row.merges_differ, row.not_followed), (1, 0, 0), "{row:?}");
    assert_eq!((row.issued, row.same), (2, 2), "{row:?}");
}

#[test]
fn requests_issued_directly_do_not_count_as_choices() {
    // Without a scheduler a request that finds a free tag goes straight to the driver, past an inserted one that waits.
    let text = "Q R 0 8 1\n G R 0 8 1\n I R 0 8 1\n Q R 80 8 1\n G R 80 8 1\n D R 80 8 1\n Q R 160 8 1\n G R 160 8 1\n D R 160 8 1\n\
                D R 0 8 1\n C R 80 8 0\n C R 160 8 0\n C R 0 8 0";
    let agreed = followed("none", text);
    let row = &agreed.rows[0];
    assert_eq!((agreed.direct, row.issued, row.same, row.not_followed), (2, 1, 1, 0), "{agreed:?}");
    assert!(
        agreed.to_string().contains("2 requests went from their tasks straight to the driver"),
        "{agreed}"
    );
}

#[test]
fn requests_from_before_the_trace_are_counted_as_not_followed() {
    let text = "D R 900 8 1\n C R 901 8 1\n Q R 0 8 1\n G R 0 8 1\n I R 0 8 1\n D R 0 8 1\n C R 0 8 0";
    let row = &followed("mq-deadline", text).rows[0];
    assert_eq!((row.issued, row.same, row.not_followed), (1, 1, 2), "{row:?}");
}

#[test]
fn a_device_without_arrivals_cannot_be_followed_and_says_so() {
    let mut look = Look::default();
    events("D R 900 8 1\n C R 900 8 1").iter().for_each(|e| look.event(e));
    assert!(look.busiest().unwrap().missing().unwrap().contains("--full"));
    assert_eq!(Look::default().busiest(), None);
}

#[test]
fn a_second_end_without_data_frees_no_place() {
    let most = |text: &str| {
        let mut look = Look::default();
        events(text).iter().for_each(|e| look.event(e));
        look.devices()[0].most_in_device
    };
    let writes = "D W 0 8 1\n D W 80 8 1\n C W 0 8 0\n C W 8 0 0\n D W 160 8 1\n D W 240 8 1";
    assert_eq!(most(writes), 3);
    let flush = "D FF 0 0 1\n D W 0 8 1\n C FF 0 0 0\n D W 80 8 1\n C W 0 8 0\n C FF 0 0 0\n D W 160 8 1";
    assert_eq!(most(flush), 2);
}

#[test]
fn the_table_names_what_differs() {
    let text = "Q R 8 8 1\n G R 8 8 1\n Q R 800 8 2\n G R 800 8 2\n D R 800 8 2\n D R 8 8 1\n C R 800 8 0\n C R 8 8 0";
    let told = followed("mq-deadline", text).to_string();
    for words in [
        "50.0 %",
        "0.0 %",
        "mq-deadline: disagreements",
        "kernel  read of sectors 800 + 8",
        "here    read of sectors 8 + 8",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(told.lines().all(|l| l.chars().count() <= 104), "{told}");
}
