//! System use entries as bytes, for `Spec::susp`. Each function returns one whole entry, header and payload.

use super::both32;

/// Any entry.
#[must_use]
pub fn entry(signature: &[u8; 2], version: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len() + 4).expect("an entry has at most 255 bytes");
    let mut bytes = signature.to_vec();
    bytes.extend([length, version]);
    bytes.extend(payload);
    bytes
}

/// SP: entries are in use, after `skip` bytes of every other record.
#[must_use]
pub fn sp(skip: u8) -> Vec<u8> {
    entry(b"SP", 1, &[0xBE, 0xEF, skip])
}

/// ER: an extension by its identifier.
#[must_use]
pub fn er(id: &str) -> Vec<u8> {
    let mut payload = vec![u8::try_from(id.len()).expect("a short identifier"), 0, 0, 1];
    payload.extend(id.bytes());
    entry(b"ER", 1, &payload)
}

/// CE: entries continue elsewhere.
#[must_use]
pub fn ce(lbn: u32, offset: u32, length: u32) -> Vec<u8> {
    entry(b"CE", 1, &[both32(lbn), both32(offset), both32(length)].concat())
}

/// PX: mode, links, owner, group, and the serial number that RRIP 1.12 adds.
#[must_use]
pub fn px(mode: u32, links: u32, uid: u32, gid: u32, serial: Option<u32>) -> Vec<u8> {
    let numbers = [mode, links, uid, gid].into_iter().chain(serial);
    entry(b"PX", 1, &numbers.flat_map(both32).collect::<Vec<_>>())
}

/// PN: device number.
#[must_use]
pub fn pn(high: u32, low: u32) -> Vec<u8> {
    entry(b"PN", 1, &[both32(high), both32(low)].concat())
}

/// NM: a name or a piece of one.
#[must_use]
pub fn nm(flags: u8, name: &[u8]) -> Vec<u8> {
    entry(b"NM", 1, &[&[flags], name].concat())
}

/// SL: components of a target as (flags, text).
#[must_use]
pub fn sl(flags: u8, components: &[(u8, &[u8])]) -> Vec<u8> {
    let mut payload = vec![flags];
    for (flags, text) in components {
        payload.extend([*flags, u8::try_from(text.len()).expect("a short component")]);
        payload.extend(*text);
    }
    entry(b"SL", 1, &payload)
}

/// CL, PL: a block. RE has none.
#[must_use]
pub fn block(signature: &[u8; 2], lbn: u32) -> Vec<u8> {
    entry(signature, 1, &both32(lbn))
}

/// TF: flags and raw time stamps.
#[must_use]
pub fn tf(flags: u8, stamps: &[u8]) -> Vec<u8> {
    entry(b"TF", 1, &[&[flags], stamps].concat())
}

/// ZF of version 1.
#[must_use]
pub fn zf1(log2: u8, size: u32) -> Vec<u8> {
    entry(b"ZF", 1, &[&b"pz\x04"[..], &[log2], &both32(size)].concat())
}

/// ZF of version 2.
#[must_use]
pub fn zf2(algorithm: &[u8; 2], log2: u8, size: u64) -> Vec<u8> {
    entry(b"ZF", 2, &[&algorithm[..], &[6, log2], &size.to_le_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_text() {
        assert_eq!((sp(0).len(), ce(1, 2, 3).len(), px(0, 0, 0, 0, None).len()), (7, 28, 36));
        assert_eq!((px(0, 0, 0, 0, Some(1)).len(), pn(0, 0).len(), block(b"CL", 1).len()), (44, 20, 12));
        assert_eq!((zf1(15, 1).len(), zf2(b"PZ", 15, 1).len()), (16, 16));
        assert_eq!(nm(0, b"abc"), b"NM\x08\x01\0abc");
    }
}
