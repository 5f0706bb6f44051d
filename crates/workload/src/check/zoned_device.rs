//! Checks of streams on zoned devices: one file, whose zones are written in order, and never while they are read back.

use crate::{Access, Backend, Pick, Sequence, Stream};

pub(super) fn errors(stream: &Stream) -> Vec<String> {
    let Some(zoned) = stream.zoned_device else { return Vec::new() };
    let mut errors: Vec<String> = Vec::new();
    let mut wrong = |is: bool, text: &str| {
        if is {
            errors.push(text.into());
        }
    };
    wrong(
        !matches!(
            stream.backend,
            Backend::Psync(_) | Backend::Pvsync2(_) | Backend::Uring(_) | Backend::Aio { .. }
        ),
        "zoned_device needs a back-end that reads and writes at offsets: psync, pvsync2, uring or aio",
    );
    wrong(
        stream.pick == Pick::All || stream.turns.is_some() || stream.sequence == Sequence::Common,
        "zoned_device needs one file for each stream; leave pick = \"all\", turns and a common sequence out",
    );
    wrong(
        matches!(stream.access, Access::Listed(_)),
        "zoned_device moves writes to the write pointers, so the operations cannot be listed",
    );
    wrong(stream.trims(), "zoned_device cannot be combined with trims: zones are reset instead");
    wrong(
        stream.keep_written.is_some_and(|kept| kept.each_pass),
        "zoned_device cannot be combined with keep_written.each_pass: its zones are written once (fio: verify with loops, or io_size above size)",
    );
    wrong(
        zoned.capacity > zoned.zone,
        "zoned_device.capacity is the writable part of a zone of zoned_device.zone bytes, and cannot be larger",
    );
    if let Some(collect) = zoned.collect {
        wrong(
            !(0.0..=100.0).contains(&collect.above_percent) || collect.every == 0,
            "zoned_device.collect needs above_percent from 0 to 100, and every = 1 or more",
        );
        wrong(
            stream.keep_written.is_some(),
            "zoned_device.collect resets zones, so what was written cannot be read back; leave keep_written out",
        );
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, CollectZones, Direction, KeepWritten, ZonedDevice};

    #[test]
    fn zones_are_those_of_one_file_and_keep_what_is_read_back() {
        let zoned = ZonedDevice { zone: Bytes(1 << 20), ..ZonedDevice::default() };
        let good = Stream { zoned_device: Some(zoned), ..Stream::new("f", Direction::Write, Bytes(4096)) };
        assert_eq!(errors(&good), Vec::<String>::new());
        let with = |changed: ZonedDevice| Stream { zoned_device: Some(changed), ..good.clone() };
        let collect = |above_percent, every| Some(CollectZones { above_percent, every });
        for (wrong, why) in [
            (Stream { backend: Backend::Splice, ..good.clone() }, "at offsets"),
            (Stream { pick: Pick::All, ..good.clone() }, "one file"),
            (Stream { access: Access::Listed(Vec::new()), ..good.clone() }, "listed"),
            (Stream { direction: Direction::Trim, ..good.clone() }, "trims"),
            (
                Stream {
                    keep_written: Some(KeepWritten { each_pass: true, ..KeepWritten::default() }),
                    ..good.clone()
                },
                "written once",
            ),
            (with(ZonedDevice { capacity: Bytes(2 << 20), ..zoned }), "cannot be larger"),
            (with(ZonedDevice { collect: collect(101.0, 1), ..zoned }), "from 0 to 100"),
            (with(ZonedDevice { collect: collect(50.0, 0), ..zoned }), "every = 1"),
            (
                Stream {
                    keep_written: Some(KeepWritten::default()),
                    ..with(ZonedDevice { collect: collect(50.0, 4), ..zoned })
                },
                "read back",
            ),
        ] {
            let found = errors(&wrong);
            assert!(found.len() == 1 && found[0].contains(why), "{why}: {found:?}");
        }
    }
}
