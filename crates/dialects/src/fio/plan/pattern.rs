//! Buffer patterns, as in `buffer_pattern`: concatenated `0x` digits (bytes as written), integers (little-endian, in as few bytes as
//! possible; four if negative), `"text"` and `'FILE'`.

use super::super::World;
use std::path::Path;

/// Maximum length of a pattern in bytes.
const MOST: usize = 1 << 16;

/// The bytes of a pattern.
///
/// # Errors
/// A message that says what was expected.
pub fn bytes(text: &str, world: &World<'_>) -> Result<Vec<u8>, String> {
    match with_offsets(text, world)? {
        (bytes, offsets) if offsets.is_empty() => Ok(bytes),
        _ => Err("%o, the offset of the block, belongs to verify_pattern".into()),
    }
}

/// The bytes of a pattern with optional `%o`, and the positions of the eight-byte block offsets that replace it.
///
/// # Errors
/// A message that says what was expected.
pub fn with_offsets(text: &str, world: &World<'_>) -> Result<(Vec<u8>, Vec<u32>), String> {
    let mut out = Vec::new();
    let mut offsets = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        rest = if let Some(inside) = rest.strip_prefix('"') {
            let (word, after) = inside.split_once('"').ok_or("the closing \" of a text is missing")?;
            out.extend_from_slice(word.as_bytes());
            after
        } else if let Some(inside) = rest.strip_prefix('\'') {
            let (name, after) = inside.split_once('\'').ok_or("the closing ' of a file's name is missing")?;
            let held = (world.read)(Path::new(name)).map_err(|why| format!("{name}: {why}"))?;
            out.extend_from_slice(&held);
            after
        } else if let Some(after) = rest.strip_prefix("%o") {
            offsets.push(out.len() as u32);
            out.extend_from_slice(&[0; 8]);
            after
        } else if let Some(digits) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            hexadecimal(&digits[..end], &mut out)?;
            &digits[end..]
        } else {
            let sign = usize::from(rest.starts_with('-'));
            let end = rest[sign..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |at| at + sign);
            // A 0 before x starts a hexadecimal number.
            let hexadecimal =
                rest[end..].starts_with(['x', 'X']) && rest[..end].ends_with('0') && end > sign + 1;
            let end = end - usize::from(hexadecimal);
            number(&rest[..end], &mut out)?;
            &rest[end..]
        };
        if out.len() > MOST {
            return Err(format!("the pattern is longer than {MOST} bytes"));
        }
    }
    if out.is_empty() { Err("the pattern has no bytes".into()) } else { Ok((out, offsets)) }
}

/// An odd number of digits is padded with a leading zero.
fn hexadecimal(digits: &str, out: &mut Vec<u8>) -> Result<(), String> {
    if digits.is_empty() {
        return Err("digits are missing after 0x".into());
    }
    let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
    let (odd, pairs) = digits.as_bytes().split_at(digits.len() % 2);
    out.extend(odd.iter().map(|digit| value(*digit)));
    out.extend(pairs.chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])));
    Ok(())
}

fn number(digits: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let expected = || format!("{digits:?}: 0x.., a whole number of 32 bits, \"text\" or 'FILE' is expected");
    let value: i64 = digits.parse().map_err(|_| expected())?;
    if let Ok(negative) = i32::try_from(value)
        && negative < 0
    {
        out.extend_from_slice(&negative.to_le_bytes());
        return Ok(());
    }
    let word = u32::try_from(value).map_err(|_| expected())?.to_le_bytes();
    let needed = word.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
    out.extend_from_slice(&word[..needed]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::world;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_are_those_that_fio_writes() {
        // As read back from files written by fio 3.33.
        for (text, written) in [
            ("90", &[0x5a][..]),
            ("0x5a", &[0x5a]),
            ("0xdeadbeef", &[0xde, 0xad, 0xbe, 0xef]),
            ("\"abc\"", b"abc"),
            ("300", &[0x2c, 1]),
            ("-12", &[0xf4, 0xff, 0xff, 0xff]),
            ("0xdead\"ab\"-12", &[0xde, 0xad, 0x61, 0x62, 0xf4, 0xff, 0xff, 0xff]),
            ("0xabc", &[0x0a, 0xbc]),
            ("\"abcd\"-120xdeadface", b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce"),
            ("'dir/more.inc'", b"iodepth=4\n"),
        ] {
            assert_eq!(bytes(text, &world()).as_deref(), Ok(written), "{text}");
        }
        for text in ["0x", "4k", "", "\"abc", "'none'", "99999999999"] {
            assert!(bytes(text, &world()).is_err(), "{text}");
        }
    }

    #[test]
    fn places_are_eight_bytes_that_are_filled_in_later() {
        let (found, offsets) = with_offsets("0xdead%o\"ab\"-12%o", &world()).unwrap();
        assert_eq!((found.len(), offsets.as_slice()), (2 + 8 + 2 + 4 + 8, &[2, 16][..]));
        assert_eq!(found[10..16], [0x61, 0x62, 0xf4, 0xff, 0xff, 0xff]);
        assert!(bytes("%o", &world()).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", pieces in "(0x[0-9a-f]{0,5}|-?[0-9]{0,12}|\"[^\"]{0,3}\"?|%o){0,4}") {
            let _ = (bytes(&text, &world()), bytes(&pieces, &world()));
        }
    }
}
