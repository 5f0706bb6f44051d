//! Output formats: their text, and round trips of what they can represent.

use super::*;
use crate::trace::{TraceFormat, open};
use fathom_record::block::log::{LogDevice, LogHeader};
use fathom_record::block::{BlockAction, DeviceNumber, RequestFlags};
use proptest::prelude::*;
use std::cell::RefCell;
use std::io::Cursor;
use std::rc::Rc;

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const LOOP0: DeviceNumber = DeviceNumber { major: 7, minor: 0 };

fn about() -> About {
    let header = LogHeader { queueing: true, source: "tracefs".into(), ..LogHeader::default() };
    let devices = vec![LogDevice { number: LOOP0, name: "loop0".into(), ..LogDevice::default() }];
    About { header, devices, ..About::default() }
}

fn written(output: Output, events: &[BlockEvent], about: &About) -> (Vec<u8>, Vec<String>) {
    let out = Shared::default();
    let mut writer = writer(output, Box::new(out.clone()), about, "fathom test").unwrap();
    for event in events {
        writer.event(event, &|| about.clone()).unwrap();
    }
    let notes = writer.finish(about).unwrap();
    let bytes = out.0.borrow().clone();
    (bytes, notes)
}

fn text(output: Output, events: &[BlockEvent]) -> String {
    String::from_utf8(written(output, events, &about()).0).unwrap()
}

fn read(bytes: Vec<u8>, form: Option<TraceFormat>) -> (Vec<BlockEvent>, About) {
    let mut trace = open("t", Box::new(Cursor::new(bytes)), form).unwrap();
    let events = trace.by_ref().map(|e| e.unwrap_or_else(|e| panic!("{e}"))).collect();
    (events, trace.about())
}

fn event(action: BlockAction, time_ns: u64, rwbs: &str, sector: u64, sectors: u32) -> BlockEvent {
    BlockEvent {
        time_ns,
        device: LOOP0,
        action,
        flags: RequestFlags::parse(rwbs),
        sector,
        sectors,
        pid: 300,
        cpu: 1,
        error: 0,
        task: BlockEvent::task_of("dd"),
    }
}

/// A request of two bios, a flush, a failed read, a request that never completed, and one of each rarer kind.
fn story() -> Vec<BlockEvent> {
    use BlockAction::*;
    let at = 1_301_773_439_000;
    let flush = |action, time| BlockEvent { flags: RequestFlags::PREFLUSH, ..event(action, time, "", 0, 0) };
    let mut events = vec![
        event(Queue, at, "WS", 64, 8),
        event(GetRequest, at + 1_000, "WS", 64, 8),
        event(Plug, at + 2_000, "", 0, 0),
        event(Queue, at + 3_000, "WS", 72, 8),
        event(BackMerge, at + 3_500, "WS", 72, 8),
        event(FrontMerge, at + 3_600, "WS", 56, 8),
        event(Unplug, at + 4_000, "", 0, 1),
        event(Insert, at + 5_000, "WS", 64, 16),
        event(RequestMerge, at + 5_500, "WS", 80, 8),
        event(Issue, at + 6_000, "WS", 64, 16),
        event(Requeue, at + 6_500, "WS", 64, 16),
        event(Issue, at + 6_900, "WS", 64, 16),
        event(Complete, at + 106_000, "WS", 64, 16),
        flush(Issue, at + 107_000),
        flush(Complete, at + 207_000),
        event(Split, at + 300_000, "RA", 512, 256),
        event(Issue, at + 301_000, "RA", 512, 256),
        event(Complete, at + 401_000, "RA", 512, 256),
        event(Issue, at + 500_000, "DS", 0, 2048),
        event(Remap, at + 500_100, "R", 8, 8),
        event(BioComplete, at + 500_200, "R", 8, 8),
        event(Issue, at + 600_000, "R", 4096, 8),
    ];
    events[17].error = -5;
    events[18].task = BlockEvent::task_of("a, \"b\"");
    events
}

#[test]
fn the_kernels_text() {
    fathom_testkit::golden("golden/trace/tracefs.txt", &text(Output::Tracefs, &story()));
}

#[test]
fn blkparses_text() {
    fathom_testkit::golden("golden/trace/blkparse.txt", &text(Output::Blkparse, &story()));
}

#[test]
fn rows_of_requests() {
    fathom_testkit::golden("golden/trace/requests.csv", &text(Output::Csv, &story()));
    let (_, notes) = written(Output::Csv, &story(), &about());
    assert_eq!(notes, ["2 requests have no completion in the trace; their rows end empty."]);
}

#[test]
fn an_iolog() {
    fathom_testkit::golden("golden/trace/iolog.txt", &text(Output::Iolog, &story()));
}

#[test]
fn files_of_an_iolog_are_never_devices() {
    let mut about = about();
    about.devices[0].name = "/dev/sda".into();
    let (bytes, _) = written(Output::Iolog, &[event(BlockAction::Issue, 5, "W", 8, 8)], &about);
    assert!(String::from_utf8(bytes).unwrap().contains("0 sda write 4096 4096"));
    about.devices[0].name = "..".into();
    let (bytes, _) = written(Output::Iolog, &[event(BlockAction::Issue, 5, "W", 8, 8)], &about);
    assert!(String::from_utf8(bytes).unwrap().contains("0 device write 4096 4096"));
}

#[test]
fn an_iolog_is_read_again_as_what_was_asked() {
    let (bytes, _) = written(Output::Iolog, &story(), &about());
    let (events, about) = read(bytes, None);
    let asked: Vec<(u64, u64, u32)> = events.iter().map(|e| (e.time_ns, e.sector, e.sectors)).collect();
    assert_eq!(
        asked,
        [(0, 64, 16), (101_000, 0, 0), (295_000, 512, 256), (494_000, 0, 2048), (594_000, 4096, 8)]
    );
    assert_eq!(about.devices[0].name, "loop0");
}

#[test]
fn arrivals_become_rows_and_lines_too() {
    let spc = "0,8,4096,R,0.5\n0,8,4096,W,0.75\n";
    for (output, expected) in [
        (
            Output::Csv,
            "asu0,0:1,read,R,8,4096,500000000,,,,,0,0,0,\nasu0,0:1,write,W,8,4096,750000000,,,,,0,0,0,\n",
        ),
        (
            Output::Iolog,
            "0 asu0 add\n0 asu0 open\n0 asu0 read 4096 4096\n250000 asu0 write 4096 4096\n250000 asu0 close\n",
        ),
    ] {
        let mut trace = open("t", Box::new(Cursor::new(spc.as_bytes().to_vec())), None).unwrap();
        let out = Shared::default();
        let mut writer = writer(output, Box::new(out.clone()), &trace.about(), "fathom").unwrap();
        while let Some(event) = trace.next() {
            writer.event(&event.unwrap(), &|| trace.about()).unwrap();
        }
        writer.finish(&trace.about()).unwrap();
        let text = String::from_utf8(out.0.borrow().clone()).unwrap();
        assert_eq!(text.split_once('\n').unwrap().1, expected);
    }
}

#[test]
fn losses_are_carried_on() {
    let lossy = About { lost: 12, ..about() };
    for (output, form) in [(Output::Own, TraceFormat::Own), (Output::Tracefs, TraceFormat::Tracefs)] {
        let (bytes, notes) = written(output, &story(), &lossy);
        let (_, read) = read(bytes, None);
        assert_eq!((read.format, read.lost, notes.len()), (form, 12, 0));
    }
    let (_, notes) = written(Output::Blkparse, &story(), &lossy);
    assert_eq!(notes, ["blkparse's text has no place for the 12 events that were lost."]);
}

/// The kernel's rwbs words, as the readers parse them.
const WORDS: [&str; 9] = ["R", "RA", "RSM", "W", "WS", "FWS", "FWFSM", "D", "DS"];

/// Plausible kernel events, in order of time.
fn events() -> impl Strategy<Value = Vec<BlockEvent>> {
    let one = (
        (0u64..5_000_000, 0..BlockAction::ALL.len(), 0..WORDS.len(), 0u64..1 << 40, 0u32..1 << 20),
        (1u32..1 << 22, 0u16..512, -200i32..=0, "[a-z][a-z0-9:/_. -]{0,13}[a-z0-9]", 0u32..3),
    );
    prop::collection::vec(one, 1..40).prop_map(|all| {
        let mut time_ns = 1_000_000_000;
        let one = |((step, action, word, sector, sectors), (pid, cpu, error, name, minor)): (
            _,
            (_, _, _, String, _),
        )| {
            time_ns += step;
            let (action, sectors): (BlockAction, u32) = (BlockAction::ALL[action], sectors);
            let mut event = BlockEvent {
                time_ns,
                device: DeviceNumber { major: 7, minor },
                action,
                flags: RequestFlags::parse(WORDS[word]),
                sector,
                sectors,
                pid,
                cpu,
                error: 0,
                task: BlockEvent::task_of(&name),
            };
            match action {
                BlockAction::Plug => {
                    (event.sector, event.sectors, event.flags) = (0, 0, RequestFlags::default())
                }
                BlockAction::Unplug => (event.sector, event.flags) = (0, RequestFlags::default()),
                BlockAction::Complete | BlockAction::BioComplete => event.error = error,
                _ => {}
            }
            event
        };
        all.into_iter().map(one).collect()
    })
}

proptest! {
    #[test]
    fn our_own_log_loses_nothing(events in events()) {
        let (bytes, _) = written(Output::Own, &events, &about());
        let (read, about) = read(bytes, None);
        prop_assert_eq!(read, events);
        prop_assert_eq!(&about.devices[0].name, "loop0");
    }

    #[test]
    fn the_kernels_text_loses_what_is_below_a_microsecond_and_whose_a_plug_is(events in events()) {
        let (bytes, _) = written(Output::Tracefs, &events, &about());
        let (read, _) = read(bytes, None);
        let plug = |e: &BlockEvent| matches!(e.action, BlockAction::Plug | BlockAction::Unplug);
        let expected: Vec<BlockEvent> = events.iter().map(|e| {
            let mut e = BlockEvent { time_ns: e.time_ns / 1000 * 1000, ..*e };
            if plug(&e) {
                e.device = DeviceNumber::default();
            }
            e
        }).collect();
        let read: Vec<BlockEvent> = read.into_iter().map(|e| {
            if plug(&e) { BlockEvent { device: DeviceNumber::default(), ..e } } else { e }
        }).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn blkparses_text_loses_the_origin_and_the_tasks_of_completions(events in events()) {
        let (bytes, _) = written(Output::Blkparse, &events, &about());
        let (read, _) = read(bytes, Some(TraceFormat::Blkparse));
        let origin = events[0].time_ns;
        let expected: Vec<BlockEvent> = events.iter().map(|e| {
            let mut e = BlockEvent { time_ns: e.time_ns - origin, ..*e };
            match e.action {
                BlockAction::RequestMerge => e.action = BlockAction::BackMerge,
                BlockAction::BioComplete => e.action = BlockAction::Complete,
                _ => {}
            }
            let unnamed = matches!(e.action, BlockAction::Complete | BlockAction::Requeue | BlockAction::Remap);
            if unnamed {
                e.task = [0; 16];
            }
            // A line without sectors has no position either, except for completions.
            let placed = matches!(
                e.action,
                BlockAction::Complete | BlockAction::Requeue | BlockAction::Split | BlockAction::Remap
            );
            if e.sectors == 0 && !placed {
                e.sector = 0;
            }
            e
        }).collect();
        prop_assert_eq!(read, expected);
    }
}
