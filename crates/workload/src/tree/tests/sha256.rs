//! SHA-256 (FIPS 180-4) of short texts, for the listings of trees; the crate has no other use for it, so it is not a dependency. Its
//! constants are computed as the standard defines them: the fraction bits of roots of the first primes.

fn primes() -> impl Iterator<Item = u64> {
    (2u64..).filter(|n| (2..*n).all(|d| n % d != 0))
}

/// The first 32 bits of the fraction of the root (square: 2, cube: 3) of `n`.
fn root_fraction(n: u64, degree: u32) -> u32 {
    // The largest r with r^degree <= n * 2^(32 * degree), bit by bit.
    let below = |r: u128| {
        let whole = r.checked_pow(degree);
        whole.is_some_and(|p| p >> (32 * degree) < u128::from(n))
    };
    let root = (0..36).rev().fold(0u128, |r, bit| if below(r | 1 << bit) { r | 1 << bit } else { r });
    root as u32
}

/// The first 16 hexadecimal digits.
pub fn sha256_start(text: &str) -> String {
    let mut hash: Vec<u32> = primes().take(8).map(|p| root_fraction(p, 2)).collect();
    let constants: Vec<u32> = primes().take(64).map(|p| root_fraction(p, 3)).collect();
    let mut message = text.as_bytes().to_vec();
    message.push(0x80);
    message.resize((message.len() + 8).next_multiple_of(64), 0);
    let end = message.len();
    message[end - 8..].copy_from_slice(&(text.len() as u64 * 8).to_be_bytes());
    for block in message.chunks_exact(64) {
        let mut w: Vec<u32> =
            block.chunks_exact(4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]])).collect();
        for i in 16..64 {
            let (a, b) = (w[i - 15], w[i - 2]);
            let a = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let b = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            w.push(w[i - 16].wrapping_add(a).wrapping_add(w[i - 7]).wrapping_add(b));
        }
        let mut v = hash.clone();
        for i in 0..64 {
            let sum = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let chosen = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let first = [sum, chosen, constants[i], w[i]].into_iter().fold(v[7], u32::wrapping_add);
            let sum = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let second = sum.wrapping_add((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(first);
            v[0] = first.wrapping_add(second);
        }
        hash.iter_mut().zip(v).for_each(|(h, v)| *h = h.wrapping_add(v));
    }
    format!("{:08x}{:08x}", hash[0], hash[1])
}

#[test]
fn the_standards_examples() {
    assert_eq!(sha256_start("abc"), "ba7816bf8f01cfea");
    assert_eq!(sha256_start(""), "e3b0c44298fc1c14");
    assert_eq!(sha256_start("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), "248d6a61d20638b8");
}
