//! Invariants of every read-ahead policy for any reads: no page read is already present or beyond the end of the file, no read is larger
//! than the tunables allow, the touched page is present afterwards, and the same history gives the same reads.

use super::testing::Story;
use super::{NAMES, Pages};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Read { offset: u64, bytes: u64 },
    Together(Vec<(u64, u64)>),
    Drop(u64),
}

fn step(file_bytes: u64) -> impl Strategy<Value = Step> {
    let call = move || (0..file_bytes + 10_000, 0u64..300_000);
    prop_oneof![
        4 => call().prop_map(|(offset, bytes)| Step::Read { offset, bytes }),
        4 => (0..file_bytes / 16384 + 1).prop_map(|n| Step::Read { offset: n * 16384, bytes: 16384 }),
        2 => prop::collection::vec(call(), 1..6).prop_map(Step::Together),
        1 => (0..file_bytes / 4096 + 1).prop_map(Step::Drop),
    ]
}

fn story() -> impl Strategy<Value = (u64, Vec<Step>)> {
    (1u64..4_000_000).prop_flat_map(|bytes| (Just(bytes), prop::collection::vec(step(bytes), 1..40)))
}

/// Largest read that a policy may request.
fn bound(story: &Story, longest_call_pages: u64) -> u64 {
    let view = story.policy.tunables();
    let max = view.get("max").unwrap_or(1);
    match story.policy.name() {
        "none" => 1,
        "ra24" => max + 1,
        // A window walked to its end before a jump leads to one that is a page longer; the kernel ignored the maximum there.
        "ra26-shared" | "ra26-private" => {
            (max + story.counters().sync_windows + story.counters().cached_windows).max(1)
        }
        "hsfs" => max.max(view.get("window").unwrap_or(0) + view.get("extend").unwrap_or(0) * max),
        _ => max.max(view.get("device").unwrap_or(0).min(longest_call_pages)).max(1),
    }
}

fn play(name: &str, file_bytes: u64, steps: &[Step]) -> Story {
    let mut story = Story::of(name);
    story.file_bytes = file_bytes;
    for step in steps {
        match step {
            Step::Read { offset, bytes } => story.read(*offset, *bytes),
            Step::Together(calls) => story.interleaved(calls.iter().copied()),
            Step::Drop(page) => story.cache.drop_page(*page),
        }
    }
    story
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn reads_are_of_absent_pages_of_the_file_within_bounds((file_bytes, steps) in story()) {
        let variants = NAMES.iter().map(|(name, _)| (*name).to_string());
        let small = NAMES.iter().filter(|(name, _)| *name != "none").map(|(name, _)| format!("{name},max=3"));
        let off = NAMES.iter().filter(|(name, _)| *name != "none").map(|(name, _)| format!("{name},max=0"));
        let extended = std::iter::once("hsfs,extend=1".to_string());
        for name in variants.chain(small).chain(off).chain(extended) {
            let story = play(&name, file_bytes, &steps);
            prop_assert_eq!(story.cache.twice, 0, "{}", &name);
            prop_assert!(story.reads().is_empty() || story.cache.last < file_bytes.div_ceil(4096), "{}", &name);
            prop_assert!(u64::from(story.cache.largest) <= bound(&story, 75), "{}: {}", &name, story.cache.largest);
            let counted = story.counters().window_pages + story.counters().single_pages;
            let read: u64 = story.reads().iter().map(|&(_, pages)| u64::from(pages)).sum();
            prop_assert_eq!(counted, read, "{}", &name);
            let again = play(&name, file_bytes, &steps);
            prop_assert_eq!(again.reads(), story.reads());
            prop_assert_eq!(again.state, story.state);
        }
    }
}

#[test]
fn reading_a_file_in_order_reads_each_page_once() {
    for (name, _) in NAMES {
        let mut story = Story::of(name);
        story.file_bytes = 3_000_001;
        for n in 0..3_000_001u64.div_ceil(5000) {
            story.read(n * 5000, 5000);
        }
        let read: u64 = story.reads().iter().map(|&(_, pages)| u64::from(pages)).sum();
        assert_eq!(read, 733, "{name}");
        assert!((0..733).all(|page| story.cache.present(page)));
    }
}
