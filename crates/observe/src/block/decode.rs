//! Decodes a ring record into a [`BlockEvent`], by the field offsets that the kernel describes. Pure.

use super::format::{EventFormat, Field};
use super::page::Record;
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber, RequestFlags};

/// Decodes the records of all events added to it.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    /// Indexed by event number minus the lowest one.
    events: Vec<Option<FieldOffsets>>,
    lowest: u16,
    /// The last flags word read and its decoded value: most events repeat the one before.
    last_rwbs: (u64, RequestFlags),
}

/// Field offsets of one event.
#[derive(Clone, Copy, Debug)]
struct FieldOffsets {
    action: BlockAction,
    bytes: usize,
    pid: usize,
    dev: Option<usize>,
    sector: Option<usize>,
    count: Count,
    error: Option<usize>,
    rwbs: Option<Field>,
    task: Option<Field>,
}

/// Where an event's `sectors` comes from.
#[derive(Clone, Copy, Debug)]
enum Count {
    Field(usize),
    /// A split's second sector minus its first.
    Difference(usize),
    None,
}

/// An event with no field decoded yet.
pub(super) const BLANK: BlockEvent = BlockEvent {
    time_ns: 0,
    device: DeviceNumber { major: 0, minor: 0 },
    action: BlockAction::Plug,
    flags: RequestFlags(0),
    sector: 0,
    sectors: 0,
    pid: 0,
    cpu: 0,
    error: 0,
    task: [0; TASK_NAME_BYTES],
};

impl Decoder {
    /// Adds an event. The error says what its description lacks.
    pub fn add(&mut self, action: BlockAction, format: &EventFormat) -> Result<(), String> {
        let layout = FieldOffsets::new(action, format)?;
        let ids = if self.events.is_empty() {
            [format.id, format.id]
        } else {
            let highest = self.lowest.saturating_add((self.events.len() - 1) as u16);
            [self.lowest.min(format.id), highest.max(format.id)]
        };
        let mut events = vec![None; usize::from(ids[1] - ids[0]) + 1];
        let before = usize::from(self.lowest.saturating_sub(ids[0]));
        for (i, known) in self.events.drain(..).enumerate() {
            events[before + i] = known;
        }
        events[usize::from(format.id - ids[0])] = Some(layout);
        (self.events, self.lowest) = (events, ids[0]);
        Ok(())
    }

    /// Decodes a record; `None` for unknown events and truncated records. Plugs have no device.
    #[must_use]
    pub fn decode(&mut self, record: &Record<'_>, cpu: u16) -> Option<BlockEvent> {
        let mut event = BLANK;
        self.decode_into(record, cpu, &mut event)?;
        Some(event)
    }

    /// Decodes in place: copying an event right after it was written stalls on store forwarding, which takes longer than decoding. If it
    /// returns `None`, the content of `event` is meaningless.
    #[inline]
    pub(super) fn decode_into(
        &mut self,
        record: &Record<'_>,
        cpu: u16,
        event: &mut BlockEvent,
    ) -> Option<()> {
        let data = record.data;
        let id = u16::from_ne_bytes(data.get(..2)?.try_into().ok()?);
        let layout = *self.events.get(usize::from(id.checked_sub(self.lowest)?))?.as_ref()?;
        if data.len() < layout.bytes {
            return None;
        }
        event.time_ns = record.time_ns;
        event.action = layout.action;
        event.cpu = cpu;
        event.pid = word(data, layout.pid)?;
        if let Some(at) = layout.dev {
            event.device = DeviceNumber::from_kernel(word(data, at)?);
        }
        if let Some(at) = layout.sector {
            event.sector = long(data, at)?;
        }
        event.sectors = match layout.count {
            Count::Field(at) => word(data, at)?,
            Count::Difference(at) => {
                u32::try_from(long(data, at)?.saturating_sub(event.sector)).unwrap_or(u32::MAX)
            }
            Count::None => 0,
        };
        if let Some(at) = layout.error {
            event.error = word(data, at)? as i32;
        }
        if let Some(field) = layout.rwbs {
            event.flags = self.flags(data, field);
        }
        if let Some(field) = layout.task {
            event.task = task(data, field);
        }
        Some(())
    }

    #[inline]
    fn flags(&mut self, data: &[u8], field: Field) -> RequestFlags {
        let Some(text) = data.get(field.offset..field.offset + field.size) else {
            return RequestFlags::default();
        };
        if let Some(&first) = text.first_chunk::<8>()
            && let Some(word) = up_to_zero(u64::from_le_bytes(first))
        {
            if self.last_rwbs.0 != word {
                let bytes = word.to_le_bytes();
                let text = bytes.split(|&b| b == 0).next().unwrap_or_default();
                self.last_rwbs = (word, RequestFlags::parse(&String::from_utf8_lossy(text)));
            }
            return self.last_rwbs.1;
        }
        let text = text.split(|&b| b == 0).next().unwrap_or_default();
        RequestFlags::parse(&String::from_utf8_lossy(text))
    }
}

impl FieldOffsets {
    fn new(action: BlockAction, format: &EventFormat) -> Result<Self, String> {
        let at = |name: &str, size| format.wanted(name, size).map(|f| f.offset);
        let plugging = matches!(action, BlockAction::Plug | BlockAction::Unplug);
        let count = match action {
            BlockAction::Plug => Count::None,
            BlockAction::Unplug => Count::Field(at("nr_rq", 4)?),
            BlockAction::Split => Count::Difference(at("new_sector", 8)?),
            _ => Count::Field(at("nr_sector", 4)?),
        };
        let completion = matches!(action, BlockAction::Complete | BlockAction::BioComplete);
        // Kernels before 4.12 call a request's result `errors` and store a count in it.
        let error = format.field("error").filter(|f| f.size == 4).map(|f| f.offset);
        let named = |name: &str| format.field(name).filter(|f| f.size <= 64);
        Ok(Self {
            action,
            bytes: format.end(),
            pid: at("common_pid", 4)?,
            dev: if plugging { None } else { Some(at("dev", 4)?) },
            sector: if plugging { None } else { Some(at("sector", 8)?) },
            count,
            error: if completion { error } else { None },
            rwbs: if plugging { None } else { Some(named("rwbs").ok_or("it has no field `rwbs`")?) },
            task: named("comm"),
        })
    }
}

#[inline]
fn word(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(data.get(at..)?.get(..4)?.try_into().ok()?))
}

#[inline]
fn long(data: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(data.get(at..)?.get(..8)?.try_into().ok()?))
}

/// Eight letters up to the first NUL, lowest byte first; the bytes behind it become zero. `None` if there is no NUL.
#[inline]
fn up_to_zero(letters: u64) -> Option<u64> {
    const ONES: u64 = u64::MAX / 255;
    // The lowest zero byte sets its highest bit. Higher bytes may set theirs wrongly, which does not matter.
    let zeros = letters.wrapping_sub(ONES) & !letters & (ONES << 7);
    (zeros != 0).then(|| letters & ((1 << (zeros.trailing_zeros() & !7)) - 1))
}

/// The name up to its NUL: the kernel does not clear the bytes behind it.
#[inline]
fn task(data: &[u8], field: Field) -> [u8; TASK_NAME_BYTES] {
    let mut task = [0; TASK_NAME_BYTES];
    let text = data.get(field.offset..field.offset + field.size).unwrap_or_default();
    if let Some(&whole) = text.first_chunk::<TASK_NAME_BYTES>() {
        let (low, high) = (u128::from_le_bytes(whole) as u64, (u128::from_le_bytes(whole) >> 64) as u64);
        let name = match up_to_zero(low) {
            Some(low) => Some(u128::from(low)),
            None => up_to_zero(high).map(|high| u128::from(high) << 64 | u128::from(low)),
        };
        if let Some(name) = name {
            return name.to_le_bytes();
        }
    }
    let name = text.split(|&b| b == 0).next().unwrap_or_default();
    let length = name.len().min(TASK_NAME_BYTES - 1);
    task[..length].copy_from_slice(&name[..length]);
    task
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::synthetic::{ISSUE_FORMAT, format_of};

    fn issue_data() -> Vec<u8> {
        let mut data = vec![0; 64];
        data[0..2].copy_from_slice(&2104_u16.to_ne_bytes());
        data[4..8].copy_from_slice(&4711_u32.to_ne_bytes());
        data[8..12].copy_from_slice(&(7_u32 << 20 | 3).to_ne_bytes());
        data[16..24].copy_from_slice(&2048_u64.to_ne_bytes());
        data[24..28].copy_from_slice(&16_u32.to_ne_bytes());
        data[34..38].copy_from_slice(b"WSM\0");
        data[44..53].copy_from_slice(b"dd\0rubbis");
        data
    }

    fn decoder() -> Decoder {
        let mut decoder = Decoder::default();
        decoder.add(BlockAction::Issue, &EventFormat::parse(ISSUE_FORMAT).expect("read")).expect("complete");
        decoder
    }

    #[test]
    fn an_issue_is_read_by_its_offsets() {
        let data = issue_data();
        let event = decoder().decode(&Record { time_ns: 99, data: &data }, 1).expect("an event");
        let wanted = BlockEvent {
            time_ns: 99,
            device: DeviceNumber { major: 7, minor: 3 },
            action: BlockAction::Issue,
            flags: RequestFlags::parse("WSM"),
            sector: 2048,
            sectors: 16,
            pid: 4711,
            cpu: 1,
            error: 0,
            task: BlockEvent::task_of("dd"),
        };
        assert_eq!(event, wanted);
    }

    #[test]
    fn completions_splits_and_unplugs_have_their_own_fields() {
        let complete = format_of(
            2107,
            &[
                ("dev_t dev", 8, 4),
                ("sector_t sector", 16, 8),
                ("unsigned int nr_sector", 24, 4),
                ("int error", 28, 4),
                ("char rwbs[8]", 32, 8),
            ],
        );
        let split = format_of(
            2092,
            &[
                ("dev_t dev", 8, 4),
                ("sector_t sector", 16, 8),
                ("sector_t new_sector", 24, 8),
                ("char rwbs[10]", 32, 10),
                ("char comm[16]", 42, 16),
            ],
        );
        let unplug = format_of(2093, &[("int nr_rq", 8, 4), ("char comm[16]", 12, 16)]);
        let mut decoder = decoder();
        for (action, text) in
            [(BlockAction::Complete, complete), (BlockAction::Split, split), (BlockAction::Unplug, unplug)]
        {
            decoder.add(action, &EventFormat::parse(&text).expect("read")).expect("complete");
        }
        let mut read = |id: u16, fill: &dyn Fn(&mut [u8])| {
            let mut data = vec![0; 60];
            data[..2].copy_from_slice(&id.to_ne_bytes());
            fill(&mut data);
            decoder.decode(&Record { time_ns: 1, data: &data }, 0).expect("an event")
        };
        let failed = read(2107, &|d| {
            d[28..32].copy_from_slice(&(-5_i32).to_ne_bytes());
            d[32] = b'R';
        });
        assert_eq!((failed.error, failed.flags, failed.task_name().as_ref()), (-5, RequestFlags::READ, ""));
        let cut = read(2092, &|d| {
            d[16..24].copy_from_slice(&100_u64.to_ne_bytes());
            d[24..32].copy_from_slice(&356_u64.to_ne_bytes());
        });
        assert_eq!((cut.action, cut.sector, cut.sectors), (BlockAction::Split, 100, 256));
        let let_go = read(2093, &|d| d[8] = 32);
        assert_eq!((let_go.action, let_go.sectors), (BlockAction::Unplug, 32));
        let again = read(2107, &|d| d[32] = b'W');
        assert_eq!(again.flags, RequestFlags::WRITE, "another word than before");
    }

    proptest::proptest! {
        #[test]
        fn texts_end_at_their_zero(bytes in proptest::collection::vec(0_u8..4, 16)) {
            let name: Vec<u8> = bytes.iter().copied().take(15).take_while(|&b| b != 0).collect();
            let read = task(&bytes, Field { offset: 0, size: 16 });
            proptest::prop_assert_eq!(&read[..name.len()], &name[..]);
            proptest::prop_assert!(read[name.len()..].iter().all(|&b| b == 0));
            let mut word = [0; 8];
            let short = name.len().min(8);
            word[..short].copy_from_slice(&name[..short]);
            let letters = u64::from_le_bytes(*bytes.first_chunk().expect("sixteen"));
            proptest::prop_assert_eq!(up_to_zero(letters), (name.len() < 8).then(|| u64::from_le_bytes(word)));
        }
    }

    #[test]
    fn unknown_and_cut_records_are_nothing() {
        let mut decoder = decoder();
        let data = issue_data();
        for cut in [0, 1, 8, 63] {
            assert_eq!(decoder.decode(&Record { time_ns: 0, data: &data[..cut] }, 0), None, "{cut} bytes");
        }
        let mut other = data;
        for id in [0_u16, 2103, 2105, u16::MAX] {
            other[..2].copy_from_slice(&id.to_ne_bytes());
            assert_eq!(decoder.decode(&Record { time_ns: 0, data: &other }, 0), None, "event {id}");
        }
    }

    #[test]
    fn what_a_description_lacks_is_named() {
        let text = ISSUE_FORMAT.replace("nr_sector", "other");
        let format = EventFormat::parse(&text).expect("read");
        let said = Decoder::default().add(BlockAction::Issue, &format).expect_err("lacking");
        assert!(said.contains("nr_sector"), "{said}");
    }

    proptest::proptest! {
        #[test]
        fn no_record_makes_it_panic(data in proptest::collection::vec(proptest::num::u8::ANY, 0..100), known: bool) {
            let mut data = data;
            if known && data.len() >= 2 {
                data[..2].copy_from_slice(&2104_u16.to_ne_bytes());
            }
            let event = decoder().decode(&Record { time_ns: 0, data: &data }, 0);
            proptest::prop_assert!(event.is_none() || data.len() >= 64);
        }
    }
}
