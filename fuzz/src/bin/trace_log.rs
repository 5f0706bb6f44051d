//! fathom's event log: no bytes panic; what is read is written and read back the same.

#![no_main]

use fathom_record::BlockEvent;
use fathom_record::block::log::{LogEnd, LogReader, LogWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut reader) = LogReader::new(bytes) else { return };
    let events: Vec<BlockEvent> = reader.by_ref().map_while(Result::ok).collect();
    let mut written = Vec::new();
    let mut writer = LogWriter::new(&mut written, reader.header()).expect("a vector has room");
    for device in reader.devices() {
        writer.device(device).expect("as many as were read");
    }
    for event in &events {
        writer.event(event).expect("a vector has room");
    }
    writer.finish(&LogEnd::default()).expect("a vector has room");
    let mut again = LogReader::new(written.as_slice()).expect("what was written is a log");
    assert_eq!(again.header(), reader.header());
    let read: Vec<BlockEvent> = again.by_ref().map(|e| e.expect("what was written is read")).collect();
    // Names are kept to their first zero.
    let cut = |e: &BlockEvent| {
        let end = e.task.iter().position(|&b| b == 0).unwrap_or(e.task.len());
        let mut e = *e;
        e.task[end..].fill(0);
        e
    };
    assert_eq!(read, events.iter().map(cut).collect::<Vec<_>>());
});
