//! El Torito: boot images of any platform and emulation, and their catalogue: a validation entry, the first image, and a separate
//! section for each other one.

use super::records::put;

/// One boot image.
#[derive(Clone, Debug)]
pub struct Boot {
    /// 0 for a BIOS, 0xEF for EFI.
    pub platform: u8,
    /// Emulated medium: 0 none, 2 a floppy of 1440 KiB, 4 a hard disk.
    pub media: u8,
    /// Contents of the image.
    pub image: Vec<u8>,
}

impl Boot {
    /// Its 32-byte catalogue entry; `sector` is the image's first sector.
    fn entry(&self, sector: u32) -> [u8; 32] {
        // With an emulated medium only its first sector is loaded; the rest is read on demand.
        let loaded = if self.media == 0 { self.image.len().div_ceil(512) } else { 1 };
        let mut entry = [0; 32];
        put(&mut entry, 0, &[0x88, self.media]);
        put(&mut entry, 6, &u16::try_from(loaded).expect("a small image").to_le_bytes());
        put(&mut entry, 8, &sector.to_le_bytes());
        entry
    }
}

/// The catalogue of images with the given first sectors.
pub(super) fn catalog(boots: &[Boot], sectors: &[u32]) -> Vec<u8> {
    let mut catalog = vec![0; 2048];
    let platform = boots.first().map_or(0, |boot| boot.platform);
    put(&mut catalog, 0, &[1, platform]);
    put(&mut catalog, 30, &[0x55, 0xAA]);
    // All words of the entry sum to zero.
    let rest = 0xAA55_u16.wrapping_add(u16::from_le_bytes([1, platform]));
    put(&mut catalog, 28, &0_u16.wrapping_sub(rest).to_le_bytes());
    for (n, (boot, &sector)) in boots.iter().zip(sectors).enumerate() {
        let at = 32 + n * 64;
        if n > 0 {
            let header = if n + 1 == boots.len() { 0x91 } else { 0x90 };
            put(&mut catalog, at - 32, &[header, boot.platform, 1, 0]);
        }
        put(&mut catalog, at, &boot.entry(sector));
    }
    catalog
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_validation_entry_sums_to_nothing_and_sections_follow() {
        let boot = |platform, media| Boot { platform, media, image: vec![1; 2048] };
        let catalog = catalog(&[boot(0, 0), boot(0xEF, 0), boot(0, 4)], &[50, 60, 70]);
        let words = catalog[..32].chunks(2).map(|w| u16::from_le_bytes([w[0], w[1]]));
        assert_eq!(words.fold(0, u16::wrapping_add), 0);
        assert_eq!((&catalog[32..34], catalog[38], catalog[40]), (&[0x88, 0][..], 4, 50));
        assert_eq!((&catalog[64..68], catalog[104]), (&[0x90, 0xEF, 1, 0][..], 60));
        assert_eq!((&catalog[128..132], catalog[161], catalog[168]), (&[0x91, 0, 1, 0][..], 4, 70));
    }
}
