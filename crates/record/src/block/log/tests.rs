//! The event log as a whole: written events are read back, a cut file is read to its last whole record, and no input panics.

use super::*;
use proptest::prelude::*;

/// Any event a source could produce.
fn events() -> impl Strategy<Value = Vec<BlockEvent>> {
    let event = (
        (any::<u64>(), 0u32..4, 0u32..1 << 20, 0usize..BlockAction::ALL.len(), any::<u16>()),
        (any::<u64>(), any::<u32>(), any::<u32>(), any::<u16>(), -200i32..=0, "[a-z/:0-9]{0,15}"),
    );
    let event =
        event.prop_map(|((time, major, minor, action, flags), (sector, sectors, pid, cpu, error, name))| {
            BlockEvent {
                time_ns: time,
                device: DeviceNumber { major, minor: minor % 3 },
                action: BlockAction::ALL[action],
                flags: RequestFlags(flags),
                sector,
                sectors,
                pid,
                cpu,
                error,
                task: BlockEvent::task_of(&name),
            }
        });
    prop::collection::vec(event, 0..60)
}

fn header_of(source: &str) -> LogHeader {
    LogHeader {
        clock: LogClock::Monotonic,
        wall_ns: Some(-5),
        queueing: true,
        arrivals_only: false,
        source: source.into(),
        machine: "Linux 6.18.0 x86_64 vm".into(),
        writer: "fathom 0.1.0".into(),
    }
}

fn written(events: &[BlockEvent], end: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = LogWriter::new(&mut bytes, &header_of("tracefs")).unwrap();
    for event in events {
        writer.event(event).unwrap();
    }
    if end {
        writer.finish(&LogEnd { end_ns: 9, start_ns: 3, observer_cpu_ns: 7, ..LogEnd::default() }).unwrap();
    } else {
        writer.flush().unwrap();
    }
    bytes
}

proptest! {
    #[test]
    fn events_come_back(events in events()) {
        let bytes = written(&events, true);
        let mut reader = LogReader::new(bytes.as_slice()).unwrap();
        let read: Vec<BlockEvent> = reader.by_ref().map(Result::unwrap).collect();
        prop_assert_eq!(&read, &events);
        prop_assert_eq!(reader.header(), &header_of("tracefs"));
        let end = LogEnd { events: events.len() as u64, lost: 0, end_ns: 9, start_ns: 3, observer_cpu_ns: 7 };
        prop_assert_eq!(reader.end(), Some(&end));
    }

    #[test]
    fn a_cut_file_reads_to_its_last_whole_record(events in events(), cut in any::<prop::sample::Index>()) {
        let bytes = written(&events, true);
        let header = written(&[], false).len();
        let at = header + cut.index(bytes.len() - header);
        let mut reader = LogReader::new(&bytes[..at]).unwrap();
        let read: Vec<BlockEvent> = reader.by_ref().map(Result::unwrap).collect();
        prop_assert!(reader.end().is_none());
        prop_assert_eq!(&read[..], &events[..read.len()]);
    }

    #[test]
    fn damage_is_an_error_or_other_events_and_never_a_panic(
        events in events(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = written(&events, true);
        for (place, byte) in damage {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(reader) = LogReader::new(bytes.as_slice()) {
            let _ = reader.take(10_000).count();
        }
    }

    #[test]
    fn noise_behind_a_header_never_panics(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = written(&[], false);
        bytes.extend(noise);
        let _ = LogReader::new(bytes.as_slice()).unwrap().count();
    }
}

fn event(time_ns: u64, sector: u64) -> BlockEvent {
    BlockEvent { time_ns, sector, sectors: 8, device: DeviceNumber { major: 7, minor: 2 }, ..start() }
}

/// The example bytes in docs/formats/trace.md.
#[test]
fn the_bytes_are_those_of_the_page() {
    let mut bytes = Vec::new();
    let header = LogHeader { clock: LogClock::Monotonic, source: "tracefs".into(), ..LogHeader::default() };
    let mut writer = LogWriter::new(&mut bytes, &header).unwrap();
    writer
        .device(&LogDevice {
            number: DeviceNumber { major: 7, minor: 2 },
            name: "loop2".into(),
            ..LogDevice::default()
        })
        .unwrap();
    let mut issue = BlockEvent {
        action: BlockAction::Issue,
        flags: RequestFlags::READ.with(RequestFlags::AHEAD),
        pid: 300,
        cpu: 1,
        task: BlockEvent::task_of("dd"),
        ..event(1000, 2048)
    };
    writer.event(&issue).unwrap();
    (issue.action, issue.time_ns, issue.error) = (BlockAction::Complete, 1130, -5);
    writer.event(&issue).unwrap();
    writer.finish(&LogEnd::default()).unwrap();
    #[rustfmt::skip]
    let expected: &[&[u8]] = &[
        b"fathomBL", &[1, 0], &[20, 0, 0, 0],
        &[1, 0], &[0; 8], b"\x07tracefs", b"\x00", b"\x00",
        &[0, 1, 7, 2, 0, 0], b"\x05loop2",
        &[0, 2], b"\x02dd",
        &[0x08, 0xe8, 0x07, 0, 0x41, 0x80, 0x20, 8, 0xac, 0x02, 1, 1],
        &[0x7a, 0x82, 0x01, 0x41, 0, 8, 9],
        &[0, 6, 2, 0, 0, 0, 0],
    ];
    assert_eq!(bytes, expected.concat());
}

#[test]
fn devices_losses_and_notes_are_kept_in_a_cut_file_too() {
    let mut bytes = Vec::new();
    let mut writer = LogWriter::new(&mut bytes, &header_of("tracefs")).unwrap();
    let device = LogDevice {
        number: DeviceNumber { major: 7, minor: 2 },
        level: 1,
        bio_based: true,
        name: "loop2".into(),
        queue: Some(QueueSettings {
            sectors: 1 << 40,
            scheduler: "mq-deadline".into(),
            read_ahead_kb: 2560,
            max_sectors_kb: 1280,
        }),
    };
    writer.device(&device).unwrap();
    writer.event(&event(5, 100)).unwrap();
    writer.lost(3).unwrap();
    writer.lost(3).unwrap();
    writer.lost(4).unwrap();
    writer.note("the ring was small").unwrap();
    writer.flush().unwrap();
    let mut reader = LogReader::new(bytes.as_slice()).unwrap();
    assert_eq!(reader.by_ref().count(), 1);
    assert_eq!((reader.lost(), reader.end().is_none()), (4, true));
    assert_eq!(reader.devices(), [device]);
    assert_eq!(reader.notes(), ["the ring was small"]);
}

#[test]
fn more_names_than_the_table_holds_begin_it_again() {
    let events: Vec<BlockEvent> = (0..MAX_TASKS as u32 * 2 + 5)
        .map(|n| BlockEvent { task: BlockEvent::task_of(&format!("t{n}")), pid: n, ..event(n.into(), 8) })
        .collect();
    let bytes = written(&events, true);
    let read: Vec<BlockEvent> = LogReader::new(bytes.as_slice()).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, events);
}

#[test]
fn mistakes_have_their_byte() {
    let read = |bytes: &[u8]| match LogReader::new(bytes) {
        Err(e) => e.to_string(),
        Ok(mut reader) => reader.find_map(Result::err).map(|e| e.to_string()).unwrap_or_default(),
    };
    let whole = written(&[event(5, 100)], true);
    assert!(read(b"something else").starts_with("byte 0: an event log of fathom begins"));
    let mut newer = whole.clone();
    newer[8] = 2;
    assert!(read(&newer).contains("version 2 of the event log"), "{}", read(&newer));
    let mut longer = whole.clone();
    longer.push(1);
    assert_eq!(read(&longer), format!("byte {}: bytes follow the end of the log", whole.len()));
    let mut strange = written(&[], false);
    let at = strange.len();
    strange.push(0x0f);
    assert_eq!(read(&strange), format!("byte {at}: a record that begins with 0x0f, which no event does"));
    let mut unknown = written(&[], false);
    unknown.extend([0x01, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert!(read(&unknown).contains("device 0 of 0"), "{}", read(&unknown));
}

#[test]
fn a_killed_compressed_recording_reads_up_to_its_last_flush() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.fbl.zst");
    let events: Vec<BlockEvent> = (0..1000).map(|n| event(n * 10, n * 8)).collect();
    let mut writer = LogWriter::new(file_at(&path), &header_of("tracefs")).unwrap();
    for event in &events {
        writer.event(event).unwrap();
    }
    writer.flush().unwrap();
    // The file's current content is what a SIGKILL would leave.
    let bytes = std::fs::read(&path).unwrap();
    let decoder = zstd::Decoder::new(bytes.as_slice()).unwrap();
    let mut reader = LogReader::new(decoder).unwrap();
    let read: Vec<BlockEvent> = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!((read, reader.end().is_none()), (events, true));
}

#[test]
fn a_compressed_file_that_was_ended_has_its_trailer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.fbl.zst");
    let mut writer = LogWriter::new(file_at(&path), &header_of("tracefs")).unwrap();
    writer.event(&event(10, 8)).unwrap();
    writer.finish(&LogEnd::default()).unwrap().end().unwrap();
    let mut reader =
        LogReader::new(zstd::Decoder::new(std::fs::File::open(&path).unwrap()).unwrap()).unwrap();
    assert_eq!((reader.by_ref().count(), reader.end().is_some()), (1, true));
}

fn file_at(path: &std::path::Path) -> LogFile {
    LogFile::new(std::fs::File::create_new(path).unwrap(), path).unwrap()
}
