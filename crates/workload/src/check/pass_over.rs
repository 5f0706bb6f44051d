//! Checks that the errors a stream tolerates can occur in it, and that it can continue after them.

use crate::{Backend, ErrorNumber, Stream, Verify};

pub(super) fn errors(stream: &Stream) -> Vec<String> {
    let passed = &stream.pass_over;
    let mut errors = Vec::new();
    if *passed == crate::PassOver::default() {
        return errors;
    }
    let mut wrong = |is: bool, what: &str| {
        if is {
            errors.push(what.into());
        }
    };
    let reads = stream.direction.reads() || stream.keep_written.is_some() || stream.written_by.is_some();
    wrong(!passed.reads.is_empty() && !reads, "pass_over lists read errors, but the stream reads nothing");
    wrong(
        passed.wrong_data && stream.verify == Verify::No,
        "pass_over has wrong_data, but the stream does not verify; leave it out, or set verify",
    );
    let what = match stream.backend {
        Backend::Mmap { .. } => Some("an error of a mapped file ends its process"),
        Backend::Stdio { .. } => Some("the C library reports an error later than at its operation"),
        Backend::Splice => Some("after an error the contents of its pipe are unknown"),
        _ => None,
    };
    if let Some(what) = what {
        wrong(true, &format!("pass_over: {what}; take another back-end"));
    }
    wrong(
        stream.until_full && passed.writes.contains(&ErrorNumber::NO_SPACE),
        "until_full and pass_over of ENOSPC do not go together: one ends the stream at ENOSPC, the other continues",
    );
    errors
}

#[cfg(test)]
mod tests {
    use crate::{Backend, Bytes, Direction, ErrorNumber, PassOver, Stream, Verify};

    fn wrong(direction: Direction, set: impl FnOnce(&mut Stream)) -> String {
        let mut stream = Stream::new("f", direction, Bytes(4096));
        set(&mut stream);
        super::errors(&stream).join("; ")
    }

    #[test]
    fn errors_that_cannot_come_or_cannot_be_passed_over_are_wrong() {
        let full = || PassOver { writes: vec![ErrorNumber::NO_SPACE], ..PassOver::default() };
        let reads = || PassOver { reads: vec![ErrorNumber::IO], ..PassOver::default() };
        let data = || PassOver { wrong_data: true, ..PassOver::default() };
        assert_eq!(wrong(Direction::Write, |s| s.pass_over = full()), "");
        assert_eq!(wrong(Direction::Read, |s| s.pass_over = reads()), "");
        assert!(wrong(Direction::Write, |s| s.pass_over = reads()).contains("reads nothing"));
        assert!(wrong(Direction::Read, |s| s.pass_over = data()).contains("does not verify"));
        assert_eq!(wrong(Direction::Read, |s| (s.pass_over, s.verify) = (data(), Verify::Full)), "");
        let late = Backend::Stdio { buffer: Bytes(0) };
        assert!(wrong(Direction::Write, |s| (s.pass_over, s.backend) = (full(), late)).contains("later"));
        let both = wrong(Direction::Write, |s| (s.pass_over, s.until_full) = (full(), true));
        assert!(both.contains("until_full"), "{both}");
    }
}
