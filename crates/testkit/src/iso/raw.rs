//! Raw CD images: each 2048 bytes in a sector with sync, header and space for error correction (which is not checked).

/// Wraps an image into raw sectors of `bytes` bytes (2336, 2352 or 2448) of mode 1 or 2.
#[must_use]
pub fn wrap(image: &[u8], bytes: usize, mode: u8) -> Vec<u8> {
    let mut raw = Vec::with_capacity(image.len() / 2048 * bytes);
    for (n, data) in image.chunks(2048).enumerate() {
        let mut sector = Vec::with_capacity(bytes);
        if bytes != 2336 {
            sector.extend([0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0]);
            let frame = n + 150;
            let bcd = |v: usize| u8::try_from(v / 10 % 10 * 16 + v % 10).unwrap_or(0);
            sector.extend([bcd(frame / 75 / 60), bcd(frame / 75 % 60), bcd(frame % 75), mode]);
        }
        if mode == 2 {
            sector.extend([0, 0, 8, 0, 0, 0, 8, 0]);
        }
        sector.extend(data);
        sector.resize(bytes, 0);
        raw.extend(sector);
    }
    raw
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_stand_where_the_mode_says() {
        let image = vec![7; 4096];
        assert_eq!(wrap(&image, 2352, 1)[2352 + 16], 7);
        assert_eq!(wrap(&image, 2352, 2)[2352 + 24], 7);
        assert_eq!((wrap(&image, 2336, 2)[8], wrap(&image, 2336, 2).len()), (7, 2 * 2336));
    }
}
