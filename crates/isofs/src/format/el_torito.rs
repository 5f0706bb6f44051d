//! El Torito: the boot catalogue and the images it lists. The boot record says which block the catalogue is in.

use super::bytes::{le16, le32};

/// Medium that a boot image emulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// No emulation: the sectors are loaded as they are.
    None,
    /// A floppy of 1200, 1440 or 2880 KiB.
    Floppy(u16),
    /// A hard disk with a partition table.
    Disk,
    /// An undefined number.
    Unknown(u8),
}

/// One boot image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootImage {
    /// 0 x86 BIOS, 1 PowerPC, 2 Mac, 0xEF EFI.
    pub platform: u8,
    /// Whether it is marked bootable.
    pub bootable: bool,
    /// Emulated medium.
    pub media: Media,
    /// Load segment; 0 means 0x7C0.
    pub segment: u16,
    /// 512-byte sectors loaded at boot.
    pub sectors: u16,
    /// First 2048-byte sector.
    pub lbn: u32,
}

impl BootImage {
    /// Size of the image: by type for a floppy, otherwise the loaded sectors. A disk's real size is in its own partition table: see
    /// [`disk_bytes`].
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self.media {
            Media::Floppy(kib) => u64::from(kib) * 1024,
            _ => u64::from(self.sectors) * 512,
        }
    }
}

/// Size of an emulated disk according to the partition table in its first sector: the highest end of any partition.
#[must_use]
pub fn disk_bytes(first_sector: &[u8]) -> Option<u64> {
    if first_sector.get(510..512)? != [0x55, 0xAA] {
        return None;
    }
    let ends = (0..4).filter_map(|n| {
        let entry = first_sector.get(446 + n * 16..462 + n * 16)?;
        let sectors = le32(entry, 12).filter(|&sectors| sectors > 0)?;
        Some((u64::from(le32(entry, 8)?) + u64::from(sectors)) * 512)
    });
    ends.max()
}

/// Maximum number of entries read from a catalogue.
const MOST: usize = 2048;

/// Parses a catalogue: validation entry, default entry, sections with their entries; extensions are skipped.
///
/// # Errors
/// A missing validation entry, or one whose checksum is not zero.
pub fn catalog(bytes: &[u8]) -> Result<Vec<BootImage>, &'static str> {
    let (entries, _) = bytes.as_chunks::<32>();
    let validation = entries.first().ok_or("a boot catalogue without a validation entry")?;
    if validation[0] != 1 || validation[30..] != [0x55, 0xAA] {
        return Err("a boot catalogue without a validation entry");
    }
    let sum =
        validation.as_chunks::<2>().0.iter().fold(0u16, |sum, &w| sum.wrapping_add(u16::from_le_bytes(w)));
    if sum != 0 {
        return Err("a boot catalogue whose validation entry does not sum to zero");
    }
    let mut images: Vec<BootImage> =
        entries.get(1).and_then(|entry| image(entry, validation[1])).into_iter().collect();
    let mut rest = entries.get(2..).unwrap_or_default().iter().take(MOST);
    // Sections are headers (0x90, the last 0x91) with the number of entries that follow; 0x44 extends the entry before it.
    while let Some(header) = rest.next() {
        if !matches!(header[0], 0x90 | 0x91) {
            break;
        }
        let mut left = le16(header, 2).unwrap_or(0);
        while left > 0 {
            let Some(entry) = rest.next() else { break };
            if entry[0] == 0x44 {
                continue;
            }
            images.extend(image(entry, header[1]));
            left -= 1;
        }
        if header[0] == 0x91 {
            break;
        }
    }
    Ok(images)
}

fn image(entry: &[u8; 32], platform: u8) -> Option<BootImage> {
    if !matches!(entry[0], 0x88 | 0) {
        return None;
    }
    let media = match entry[1] & 0x0F {
        0 => Media::None,
        1 => Media::Floppy(1200),
        2 => Media::Floppy(1440),
        3 => Media::Floppy(2880),
        4 => Media::Disk,
        other => Media::Unknown(other),
    };
    let found = BootImage {
        platform,
        bootable: entry[0] == 0x88,
        media,
        segment: le16(entry, 2)?,
        sectors: le16(entry, 6)?,
        lbn: le32(entry, 8)?,
    };
    (found.lbn != 0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u8, media: u8, sectors: u8, lbn: u8) -> [u8; 32] {
        let mut entry = [0; 32];
        (entry[0], entry[1], entry[6], entry[8]) = (id, media, sectors, lbn);
        entry
    }

    fn validation() -> [u8; 32] {
        let mut entry = [0; 32];
        entry[0] = 1;
        entry[30..].copy_from_slice(&[0x55, 0xAA]);
        entry[28..30].copy_from_slice(&0u16.wrapping_sub(0xAA55).wrapping_sub(1).to_le_bytes());
        entry
    }

    #[test]
    fn default_and_sections() {
        let mut section = entry(0x91, 0xEF, 0, 0);
        section[2] = 1;
        let bytes = [validation(), entry(0x88, 0, 4, 50), section, entry(0x88, 2, 8, 60)].concat();
        let images = catalog(&bytes).unwrap();
        assert_eq!(
            images.iter().map(|i| (i.platform, i.lbn, i.bytes())).collect::<Vec<_>>(),
            [(0, 50, 2048), (0xEF, 60, 1_474_560)]
        );
    }

    #[test]
    fn a_catalogue_is_validated_and_bounded() {
        assert!(catalog(&[0; 64]).is_err());
        let mut wrong = validation();
        wrong[5] = 1;
        assert!(catalog(&wrong).is_err());
        let mut endless = [validation(), entry(0x88, 0, 4, 50)].concat();
        let mut header = entry(0x90, 0, 0, 0);
        header[2..4].copy_from_slice(&u16::MAX.to_le_bytes());
        endless.extend(header);
        assert_eq!(catalog(&endless).unwrap().len(), 1);
    }

    #[test]
    fn a_disk_is_as_large_as_its_partitions() {
        let mut mbr = [0u8; 512];
        mbr[510..].copy_from_slice(&[0x55, 0xAA]);
        mbr[446 + 8] = 63;
        mbr[446 + 12] = 100;
        assert_eq!(disk_bytes(&mbr), Some(163 * 512));
        assert_eq!(disk_bytes(&[0; 512]), None);
    }
}
