//! Checks whether separate sizes for reads and writes are compatible with the rest of a stream.

use crate::{Direction, Record, Stream};

pub(super) fn errors(stream: &Stream) -> Vec<String> {
    let Record::ByKind { read, write } = &stream.record else { return Vec::new() };
    let mut errors: Vec<String> = Vec::new();
    let mut wrong = |is: bool, text: &str| {
        if is {
            errors.push(text.into());
        }
    };
    wrong(
        [read, write].into_iter().any(|own| matches!(**own, Record::ByKind { .. })),
        "with by-kind, the record sizes of reads and of writes must each be fixed, between or split",
    );
    wrong(
        matches!(stream.direction, Direction::Trim | Direction::TrimWrite),
        "record sizes by-kind are for reads and writes; a stream that trims needs one size for both",
    );
    wrong(
        stream.align.0 > 0,
        "with record sizes by-kind each kind is aligned to its smallest size; leave align out",
    );
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, Mix};

    #[test]
    fn they_go_with_reads_and_writes_that_nothing_else_aligns() {
        let fixed = |bytes| Box::new(Record::Fixed(Bytes(bytes)));
        let record = Record::ByKind { read: fixed(4096), write: fixed(65536) };
        let mix = Direction::Mix(Mix::ReadPercent(50));
        let good = Stream { record: record.clone(), ..Stream::new("f", mix, Bytes(1)) };
        assert_eq!(errors(&good), Vec::<String>::new());
        let nested = Record::ByKind { read: Box::new(record), write: fixed(1) };
        for bad in [
            Stream { align: Bytes(512), ..good.clone() },
            Stream { direction: Direction::TrimWrite, ..good.clone() },
            Stream { record: nested, ..good },
        ] {
            assert_eq!(errors(&bad).len(), 1, "{bad:?}");
        }
    }
}
