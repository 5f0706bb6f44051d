//! Compressed logs as stored by fio 3.33 (`NAME.log.fz`); the format was derived from its files. Concatenated zlib streams, each of
//! whole entries. An entry is little-endian: 8 bytes time in ms, 8 bytes value, 4 bytes direction with two flags in its highest bits
//! (31: an offset follows, 30: the priority is logged), 2 bytes priority, 2 bytes padding, 8 bytes block size, and 8 bytes offset if
//! there is one.

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};

const WITH_OFFSET: u32 = 1 << 31;
const WITH_PRIORITY: u32 = 1 << 30;
/// Size of an entry without an offset, in bytes.
const ENTRY: usize = 32;
/// fio compresses at most half of this at once.
const LARGEST_PIECE: u64 = 1 << 30;

/// Whether a file name is that of a compressed log.
#[must_use]
pub fn is_packed(name: &std::path::Path) -> bool {
    name.extension().is_some_and(|extension| extension == "fz")
}

/// Compresses log lines to one stream; empty for no lines. `None` if a line is malformed.
#[must_use]
pub fn pack(lines: &str) -> Option<Vec<u8>> {
    if lines.is_empty() {
        return Some(Vec::new());
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    for line in lines.lines() {
        encoder.write_all(&entry(line)?).ok()?;
    }
    encoder.finish().ok()
}

/// Encodes a line: `time, value, direction, block size[, offset], priority`.
fn entry(line: &str) -> Option<Vec<u8>> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let (offset, priority) = match fields.as_slice() {
        [_, _, _, _, priority] => (None, priority),
        [_, _, _, _, offset, priority] => (Some(offset), priority),
        _ => return None,
    };
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let given_priority =
        priority.strip_prefix("0x").map(|hex| u16::from_str_radix(hex, 16)).transpose().ok()?;
    let mut direction = u32::try_from(number(2)?).ok()?;
    direction |= if offset.is_some() { WITH_OFFSET } else { 0 };
    direction |= if given_priority.is_some() { WITH_PRIORITY } else { 0 };
    let mut entry = Vec::with_capacity(ENTRY + 8);
    entry.extend(number(0)?.to_le_bytes());
    entry.extend(number(1)?.to_le_bytes());
    entry.extend(direction.to_le_bytes());
    entry.extend(given_priority.unwrap_or(0).to_le_bytes());
    entry.extend([0; 2]);
    entry.extend(number(3)?.to_le_bytes());
    if let Some(offset) = offset {
        entry.extend(offset.parse::<u64>().ok()?.to_le_bytes());
    }
    Some(entry)
}

/// Passes the lines of a compressed log to `out` piece by piece.
///
/// # Errors
/// A message if the log is malformed or truncated.
pub fn unpack(mut bytes: &[u8], out: &mut dyn FnMut(&str)) -> Result<(), String> {
    while !bytes.is_empty() {
        let mut piece = Vec::new();
        let mut decoder = ZlibDecoder::new(bytes).take(LARGEST_PIECE + 1);
        decoder
            .read_to_end(&mut piece)
            .map_err(|error| format!("it is no log that log_store_compressed stored, or is cut: {error}"))?;
        if piece.len() as u64 > LARGEST_PIECE {
            return Err("a piece of it is larger than any that fio or fathom writes".into());
        }
        bytes = decoder.into_inner().into_inner();
        out(&lines(&piece)?);
    }
    Ok(())
}

fn lines(piece: &[u8]) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = piece;
    while !rest.is_empty() {
        let cut = || "its last entry is cut".to_owned();
        let (head, after) = rest.split_first_chunk::<ENTRY>().ok_or_else(cut)?;
        let word = |at: usize| {
            head.get(at..).and_then(<[u8]>::first_chunk::<8>).map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let (flags, priority) = (word(16) as u32, (word(16) >> 32) as u16);
        rest = after;
        let direction = flags & !(WITH_OFFSET | WITH_PRIORITY);
        let _ = write!(text, "{}, {}, {direction}, {}", word(0), word(8), word(24));
        if flags & WITH_OFFSET > 0 {
            let (offset, after) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
            let _ = write!(text, ", {}", u64::from_le_bytes(*offset));
            rest = after;
        }
        let _ = if flags & WITH_PRIORITY > 0 {
            writeln!(text, ", 0x{priority:04x}")
        } else {
            writeln!(text, ", {priority}")
        };
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unpacked(bytes: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        unpack(bytes, &mut |piece| text += piece).map(|()| text)
    }

    /// Two log lines written by fio 3.33, and the first of a log with priorities, with its encoding.
    const OFFSETS: &str = "0, 40404438, 1, 131072, 0, 0\n0, 4369066666, 1, 131072, 131072, 0\n";
    const PRIORITY: &str = "0, 211405, 1, 131072, 0x2003\n";

    #[test]
    fn entries_are_laid_out_as_those_of_fio() {
        let hex = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut of_offsets = OFFSETS.lines().map(|line| hex(entry(line).unwrap()));
        assert_eq!(
            of_offsets.next().unwrap(),
            "0000000000000000d685680200000000010000800000000000000200000000000000000000000000"
        );
        assert_eq!(
            hex(entry(PRIORITY.trim()).unwrap()),
            "0000000000000000cd3903000000000001000040032000000000020000000000"
        );
    }

    #[test]
    fn streams_follow_each_other() {
        let mut bytes = pack(OFFSETS).unwrap();
        bytes.extend(pack(PRIORITY).unwrap());
        assert_eq!(unpacked(&bytes).unwrap(), format!("{OFFSETS}{PRIORITY}"));
        assert_eq!(unpacked(&[]).unwrap(), "");
        assert_eq!(pack("").unwrap(), Vec::<u8>::new());
    }

    #[test]
    fn an_invalid_iolog_is_reported() {
        assert!(unpacked(b"0, 1, 0, 4096, 0\n").unwrap_err().contains("no log"));
        let whole = pack(OFFSETS).unwrap();
        assert!(unpacked(&whole[..whole.len() / 2]).is_err());
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&[0; 33]).unwrap();
        assert!(unpacked(&encoder.finish().unwrap()).unwrap_err().contains("cut"));
        assert_eq!(pack("no line\n"), None);
    }

    proptest! {
        #[test]
        fn lines_come_back(
            lines in prop::collection::vec((any::<u64>(), any::<u64>(), 0u8..3, any::<u64>(), any::<u64>(), any::<u16>()), 0..20),
            offset: bool,
            priority: bool,
        ) {
            let mut text = String::new();
            for (time, value, direction, size, at, class) in lines {
                let _ = write!(text, "{time}, {value}, {direction}, {size}");
                if offset {
                    let _ = write!(text, ", {at}");
                }
                let _ = if priority { writeln!(text, ", 0x{class:04x}") } else { writeln!(text, ", 0") };
            }
            prop_assert_eq!(unpacked(&pack(&text).unwrap()).unwrap(), text);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = unpacked(&bytes);
            let _ = lines(&bytes);
        }
    }
}
