//! How the verify options define the checked blocks: checksum, header position, and remaining content.

use super::super::settings::Settings;
use super::super::version::Version;
use super::super::{UsageError, World};
use super::pattern;
use fathom_workload::{Bytes, Header, Record, Sealed, Stream, Sum};

/// The verify method of a job, "0" for none. As in fio, a pattern alone implies the pattern method.
pub fn family(s: &Settings) -> &str {
    let alone = || if s.text("verify_pattern").is_some() { "pattern" } else { "0" };
    s.word("verify").unwrap_or_else(alone)
}

/// The block format of a method; `None` for `verify=0` and `verify=null`, which check nothing.
pub fn sealed(
    s: &Settings,
    verify: &str,
    stream: &Stream,
    world: &World<'_>,
    version: Version,
) -> Result<Option<Sealed>, UsageError> {
    if verify != "0" && matches!(stream.record, Record::ByKind { .. }) {
        let name = s.last_of(&["bs", "bsrange", "bssplit"]).unwrap_or("bs");
        return Err(s
            .wrong(
                name,
                format!("{name}: with verify, reads and writes of one job have the same block sizes"),
            )
            .hint("instead: two jobs, one that reads and one that writes and verifies"));
    }
    // Handled after the run.
    let _ = s.on("verify_dump", false);
    let interval = s.number("verify_interval")?.filter(|bytes| *bytes > 0);
    let header_at = s.number("verify_offset")?.unwrap_or(0);
    let (pattern, offsets) = match s.text("verify_pattern") {
        None => (Vec::new(), Vec::new()),
        Some(text) => pattern::with_offsets(text, world)
            .map_err(|why| s.wrong("verify_pattern", format!("verify_pattern={text}: {why}")))?,
    };
    let sum = match verify {
        "0" | "null" => return Ok(None),
        "pattern" => None,
        "pattern_hdr" => Some(Sum::Pattern),
        "meta" => Some(Sum::Meta),
        "md5" => Some(Sum::Md5),
        "crc64" => Some(Sum::Crc64),
        "crc32" => Some(Sum::Crc32),
        "crc16" => Some(Sum::Crc16),
        "crc7" => Some(Sum::Crc7),
        "sha1" => Some(Sum::Sha1),
        "sha256" => Some(Sum::Sha256),
        "sha512" => Some(Sum::Sha512),
        "sha3-224" => Some(Sum::Sha3With224),
        "sha3-256" => Some(Sum::Sha3With256),
        "sha3-384" => Some(Sum::Sha3With384),
        "sha3-512" => Some(Sum::Sha3With512),
        "xxhash" => Some(Sum::Xxhash),
        _ => Some(Sum::Crc32c),
    };
    if matches!(sum, None | Some(Sum::Pattern)) && pattern.is_empty() {
        return Err(s
            .wrong("verify", format!("verify={verify} needs verify_pattern"))
            .hint("verify_pattern=0xdeadbeef, for example"));
    }
    // With varying sizes, the smallest is the block size, as all are multiples of it. A pattern alone continues through the whole
    // write, whatever the interval.
    let unit = stream.record.unit().0;
    // An interval that does not divide the unit is ignored.
    let divides = |bytes: &u64| unit.is_multiple_of(*bytes);
    let block = if sum.is_some() { interval.filter(divides).unwrap_or(unit) } else { unit };
    // The pattern ignores block boundaries as well.
    let longest = stream.record.largest().0;
    let anew_every = match s.number("verify_pattern_interval")? {
        _ if pattern.is_empty() => 0,
        Some(bytes) if bytes > 0 => bytes,
        _ if block == longest => 0,
        _ => longest,
    };
    let compressed = s.number("buffer_compress_percentage")?.unwrap_or(0);
    // As in fio 3.42; fully compressible content is random here.
    let zeros = u8::try_from(compressed).ok().filter(|percent| *percent < 100 && pattern.is_empty());
    Ok(Some(Sealed {
        block: Bytes(block),
        sum,
        header: match version {
            Version::V3_33 => Header::Fio3_33,
            Version::V3_42 => Header::Fio3_42,
        },
        header_at: Bytes(header_at),
        pattern,
        offsets,
        anew_every: Bytes(anew_every),
        zeros_percent: zeros.unwrap_or(0),
    }))
}

/// Checks that records consist of whole blocks, and that a block holds its header.
pub fn fits(s: &Settings, stream: &Stream, sealed: &Sealed) -> Result<(), UsageError> {
    let (block, whole, at) = (sealed.block.0.max(1), sealed.header_bytes(), sealed.header_at.0);
    let odd = |bytes: &Bytes| !bytes.0.is_multiple_of(block);
    let records = match &stream.record {
        Record::Fixed(size) => odd(size),
        Record::Between { min, .. } => odd(min),
        Record::Split(sizes) => sizes.iter().any(|(size, _)| odd(size)),
        // Refused above: a read might not cover whole written blocks.
        Record::ByKind { .. } => true,
    };
    if records {
        return Err(s
            .wrong(
                "verify_interval",
                format!("verify_interval={block}: every block size is a multiple of it"),
            )
            .hint("leave it out: each block is checked as a whole then"));
    }
    if block < whole {
        return Err(s
            .wrong("verify", format!("a block of {block} bytes has no room for a header of {whole} bytes"))
            .hint("a larger block size, or verify_interval"));
    }
    if at > 0 && (at < whole || at > block - whole) {
        return Err(s
            .wrong(
                "verify_offset",
                format!("verify_offset={at}: the header of {whole} bytes stands at 0, or from byte {whole} to byte {} of a block", block - whole),
            )
            .hint("leave it out"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Bytes, Data, Program, Sealed, Sum, Verify};

    fn sealed(args: &str) -> Sealed {
        match &planned(&format!("--name=a --size=1m --rw=write {args}")).jobs[0].stream.data {
            Data::Sealed(sealed) => sealed.clone(),
            other => panic!("{args}: {other:?}"),
        }
    }

    #[test]
    fn a_pattern_alone_is_verified() {
        use super::super::super::tests::planned;
        let reads_back = |args: &str| {
            let plan = planned(&format!("--name=a --size=64k --rw=write --verify_pattern=0xdeadbeef {args}"));
            plan.jobs[0].reads_back
        };
        assert!(reads_back("") && reads_back("--verify=pattern"));
        assert!(!reads_back("--verify=0") && !reads_back("--do_verify=0"));
    }

    #[test]
    fn every_family_has_its_sum() {
        for (word, sum) in [
            ("md5", Some(Sum::Md5)),
            ("crc32c-intel", Some(Sum::Crc32c)),
            ("crc7", Some(Sum::Crc7)),
            ("sha3-384", Some(Sum::Sha3With384)),
            ("meta", Some(Sum::Meta)),
            ("pattern_hdr", Some(Sum::Pattern)),
            ("pattern", None),
        ] {
            let found = sealed(&format!("--verify={word} --verify_pattern=0xab%o --bs=8k"));
            assert_eq!(
                (found.sum, found.block, found.offsets.as_slice()),
                (sum, Bytes(8192), &[1][..]),
                "{word}"
            );
        }
        let found = sealed("--verify=crc32c --verify_interval=1k --verify_offset=64 --bs=4k");
        assert_eq!((found.block, found.header_at, found.pattern.len()), (Bytes(1024), Bytes(64), 0));
        assert_eq!(sealed("--verify=crc32c --bsrange=4k-16k --do_verify=0").block, Bytes(4096));
        // fio 3.33: a header for each written block.
        for interval in ["2222", "3791", "16k", "1m"] {
            let found = sealed(&format!("--verify=crc32c --verify_interval={interval} --bs=4k"));
            assert_eq!(found.block, Bytes(4096), "{interval}");
        }
        let pattern = "--verify_pattern=0xdeadbe --verify_interval=1k --bs=4k";
        assert_eq!(sealed(&format!("--verify=pattern {pattern}")).block, Bytes(4096), "it runs on");
        assert_eq!(sealed(&format!("--verify=pattern_hdr {pattern}")).block, Bytes(1024));
    }

    #[test]
    fn what_is_checked_begins_anywhere() {
        for offset in ["100", "120k", "33%"] {
            let found = sealed(&format!("--verify=md5 --bs=16k --offset={offset}"));
            assert_eq!(found.block, Bytes(16384), "{offset}");
        }
    }

    #[test]
    fn what_is_read_in_other_sizes_than_written_is_not_checked() {
        for (name, sizes) in [("bs", "--bs=4k,8k"), ("bssplit", "--bssplit=4k/50:8k/50,8k")] {
            for verify in ["crc32c", "null", "pattern --verify_pattern=0xab"] {
                let why = refused(&format!("--name=a --size=1m --rw=randrw {sizes} --verify={verify}"));
                assert!(why.contains(&format!("{name}: with verify")), "{why}");
            }
            // A write-only job has one kind of sizes.
            planned(&format!("--name=a --size=1m --rw=write {sizes} --verify=crc32c"));
        }
    }

    #[test]
    fn null_reads_back_and_looks_at_nothing() {
        let plan = planned("--name=a --size=1m --rw=write --verify=null");
        assert_eq!(plan.workload.phases.len(), 2);
        let Program::Stream(back) = &plan.workload.phases[1].groups[0].threads[0].program else { panic!() };
        assert_eq!(back.verify, Verify::No);
    }

    #[test]
    fn conflicting_verify_options_are_refused() {
        for (args, words) in [
            ("--verify=pattern", "needs verify_pattern"),
            ("--verify=crc32c --bssplit=4k/50:6k/50", "sizes are multiples of the smallest"),
            ("--verify=sha512 --bs=128", "no room for a header of 176 bytes"),
            ("--verify=crc32c --verify_offset=20", "stands at 0"),
            ("--verify=crc32c --verify_offset=4080", "stands at 0"),
            ("--verify=md5 --verify_pattern=0x", "digits are missing"),
        ] {
            let why = refused(&format!("--name=a --size=1m --rw=write {args}"));
            assert!(why.contains(words), "{args}: {why}");
        }
    }
}
