//! `modern` compared with linux 6.18: block_bio_queue events for reads of one file on a fresh ext4 (a loop device with direct I/O, the
//! file in one extent, caches dropped by remounting). Sizes in KiB, in submission order.

use super::testing::{Story, shuffled};

/// Sizes of the reads, in KiB.
fn sizes(story: &Story) -> Vec<u32> {
    story.reads().iter().map(|&(_, pages)| pages * 4).collect()
}

fn stream(policy: &str, first: u64, bytes: u64, calls: u64) -> Vec<u32> {
    let mut story = Story::of(policy);
    story.file_bytes = 256 << 20;
    (0..calls).for_each(|n| story.read(first + n * bytes, bytes));
    sizes(&story)
}

#[test]
fn four_kib_in_order() {
    let seen = [16, 32, 16, 32, 32, 64, 64, 128, 128, 128, 128, 128, 128, 128];
    assert_eq!(stream("modern", 0, 4096, 256), seen);
}

#[test]
fn sixteen_kib_in_order() {
    let seen = [32, 64, 96, 64, 128, 128, 128, 128, 128, 128, 128];
    assert_eq!(stream("modern", 0, 16384, 64), seen);
}

#[test]
fn twelve_kib_and_calls_that_do_not_lie_on_pages() {
    assert_eq!(stream("modern", 0, 12288, 60), [32, 64, 96, 64, 128, 128, 128, 128, 128]);
    let seen = [64, 128, 128, 64, 128, 128, 128, 128, 128, 128, 128, 128];
    assert_eq!(stream("modern", 0, 20000, 60), seen);
}

#[test]
fn a_stream_that_begins_inside_the_file() {
    let seen = [4, 16, 28, 56, 8, 16, 32, 64, 16, 32, 64, 32, 64, 64, 128, 128, 128, 128];
    assert_eq!(stream("modern", 409_600, 4096, 200), seen);
    let seen = [16, 32, 64, 128, 128, 128, 128, 128, 128, 128, 128];
    assert_eq!(stream("modern", 409_600, 16384, 60), seen);
}

#[test]
fn calls_longer_than_the_window() {
    assert_eq!(stream("modern", 0, 256 << 10, 16), [256; 17]);
    assert_eq!(stream("modern", 0, 1 << 20, 8), [1024; 9]);
}

#[test]
fn other_maxima() {
    assert_eq!(stream("modern,max=0", 0, 16384, 64), [4; 256]);
    assert_eq!(stream("modern,max=1", 0, 4096, 256), [4; 256]);
    assert_eq!(stream("modern,max=1", 0, 16384, 64), [16; 65]);
    let seen = stream("modern,max=4", 0, 4096, 256);
    assert_eq!((&seen[..3], seen.len()), (&[8, 8, 16][..], 66));
    assert_eq!(stream("modern,max=4", 0, 16384, 64), [16; 65]);
    let seen = stream("modern,max=16", 0, 4096, 256);
    assert_eq!((&seen[..5], seen.len()), (&[8, 8, 16, 32, 64][..], 20));
    let seen = stream("modern,max=16", 0, 16384, 64);
    assert_eq!((&seen[..4], seen.len()), (&[32, 64, 32, 64][..], 18));
    assert_eq!(stream("modern,max=128", 0, 4096, 256), [16, 64, 112, 64, 128, 128, 256, 256, 512]);
    assert_eq!(stream("modern,max=128", 0, 16384, 64), [64, 128, 256, 320, 256, 512]);
}

#[test]
fn three_hundred_random_calls_are_three_hundred_requests() {
    let mut story = Story::of("modern");
    story.file_bytes = 256 << 20;
    for block in &shuffled(16384, 7)[..300] {
        story.read(block * 16384, 16384);
    }
    assert_eq!(sizes(&story), [16; 300]);
}

#[test]
fn sixteen_threads_at_random_are_single_requests() {
    let mut story = Story::of("modern");
    story.file_bytes = 3 << 30;
    for round in shuffled(196_608, 5)[..4688].chunks(16) {
        story.interleaved(round.iter().map(|&block| (block * 16384, 16384)));
    }
    let sizes = sizes(&story);
    let single = sizes.iter().filter(|&&kib| kib == 16).count();
    // The kernel: 4688 of 4691.
    assert!(single >= 4670 && sizes.len() <= 4695, "{single} of {}", sizes.len());
}

#[test]
fn strides_and_backwards_are_left_alone() {
    let mut story = Story::of("modern");
    (0..100).for_each(|n| story.read(n * 12288, 4096));
    let seen = sizes(&story);
    assert_eq!((seen[0], seen.len(), seen[1..].iter().all(|&kib| kib == 4)), (16, 99, true));
    let mut story = Story::of("modern");
    (0..100).for_each(|n| story.read((200 - n) * 4096, 4096));
    assert_eq!(sizes(&story), [4; 100]);
}

#[test]
fn two_streams_through_one_file() {
    let mut story = Story::of("modern");
    for n in 0..60 {
        story.read(n * 4096, 4096);
        story.read((20_000 + n) * 4096, 4096);
    }
    // Then they diverge: looking back from a missing page, 6.18 miscounts pages in a large folio, and a policy does not know the layout
    // of folios. The kernel continues with 128, 68, 4, 48, 128.
    assert_eq!(sizes(&story)[..10], [16, 4, 32, 4, 12, 76, 16, 28, 56, 4]);
    let large = sizes(&story).iter().filter(|&&kib| kib >= 112).count();
    assert!(large >= 2, "both streams come to the maximum: {:?}", sizes(&story));
}

#[test]
fn four_mib_windows() {
    let seen = [16, 64, 240, 960, 1792, 1024, 2048, 2048, 4096, 4096, 4096];
    assert_eq!(stream("modern,max=1024", 0, 4096, 4096), seen);
    let seen = [64, 256, 512, 960, 1280, 1024, 2048, 2048, 4096, 4096, 4096];
    assert_eq!(stream("modern,max=1024", 0, 16384, 1024), seen);
}
