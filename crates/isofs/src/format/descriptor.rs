//! Volume descriptors: one sector each, from the 16th of a session to the terminator. Parses a sector into a [`Descriptor`]; the volume
//! checks whether its numbers fit the image. ECMA-119 section 8, Joliet 1.0, High Sierra 1986.

use super::bytes::{Both, be32, both16, both32, le32};
use super::date::{self, Date};

/// Size of a logical sector, whatever the logical block size.
pub const SECTOR: usize = 2048;

/// Content of a sector of the descriptor area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// Type 0, a boot record.
    Boot {
        /// Block of the boot catalogue, if the system identifier is El Torito's.
        catalog: Option<u32>,
    },
    /// A readable volume.
    Volume(Box<Volume>),
    /// Type 3, a partition; ignored.
    Partition,
    /// Type 255, the end of the descriptors.
    Terminator,
    /// A sector of the recognition area of UDF: NSR02 or NSR03.
    Udf,
    /// BEA01, TEA01, BOOT2, CDW02: a recognition descriptor without content.
    Recognition,
    /// An ISO 9660 descriptor of undefined type.
    Unknown(u8),
}

/// Kind of volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Type 1.
    Primary,
    /// Type 2 with Joliet's escape sequence; level 1 to 3.
    Joliet(u8),
    /// Type 2, version 2: ISO 9660:1999.
    Enhanced,
    /// Type 2 in a character set other than UCS-2; its tree is not offered.
    Supplementary,
    /// High Sierra's standard descriptor.
    HighSierra,
}

/// The fields of a primary, supplementary or High Sierra descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Kind of volume.
    pub flavour: Flavour,
    /// System identifier as recorded, without trailing blanks and zeros.
    pub system_id: Vec<u8>,
    /// Volume identifier without trailing blanks and zeros; UCS-2 big-endian in Joliet.
    pub volume_id: Vec<u8>,
    /// Volume size in logical blocks.
    pub space: Both<u32>,
    /// Volumes in the set.
    pub set_size: Both<u16>,
    /// Number of this volume in the set, from 1.
    pub sequence: Both<u16>,
    /// Logical block size in bytes.
    pub block: Both<u16>,
    /// Size of the path table in bytes.
    pub path_table_bytes: Both<u32>,
    /// Block of the little-endian path table.
    pub path_table_l: u32,
    /// Block of the big-endian path table.
    pub path_table_m: u32,
    /// The root's directory record, unparsed.
    pub root: [u8; 34],
    /// Creation date of the volume.
    pub created: Date,
    /// Date of the last change.
    pub modified: Date,
    /// Application identifier (not read for High Sierra).
    pub application_id: Vec<u8>,
}

/// Parses a sector; `None` if it is no descriptor or shorter than a sector, which ends the scan.
#[must_use]
pub fn parse(sector: &[u8]) -> Option<Descriptor> {
    if sector.len() < SECTOR {
        return None;
    }
    match &sector[1..6] {
        b"CD001" => iso(sector),
        b"NSR02" | b"NSR03" => Some(Descriptor::Udf),
        b"BEA01" | b"TEA01" | b"BOOT2" | b"CDW02" => Some(Descriptor::Recognition),
        _ if &sector[9..14] == b"CDROM" => high_sierra(sector),
        _ => None,
    }
}

fn iso(sector: &[u8]) -> Option<Descriptor> {
    Some(match sector[0] {
        0 => Descriptor::Boot { catalog: boot_catalog(sector) },
        1 => Descriptor::Volume(Box::new(iso_volume(sector, Flavour::Primary)?)),
        2 => Descriptor::Volume(Box::new(iso_volume(sector, supplementary(sector))?)),
        3 => Descriptor::Partition,
        255 => Descriptor::Terminator,
        other => Descriptor::Unknown(other),
    })
}

fn boot_catalog(sector: &[u8]) -> Option<u32> {
    sector[7..].starts_with(b"EL TORITO SPECIFICATION").then(|| le32(sector, 71))?
}

fn supplementary(sector: &[u8]) -> Flavour {
    if sector[6] == 2 {
        return Flavour::Enhanced;
    }
    // The field may list several escape sequences; the first known one determines the level.
    let level = sector[88..120].windows(3).find_map(|escape| match escape {
        b"%/@" => Some(1),
        b"%/C" => Some(2),
        b"%/E" => Some(3),
        _ => None,
    });
    level.map_or(Flavour::Supplementary, Flavour::Joliet)
}

fn iso_volume(sector: &[u8], flavour: Flavour) -> Option<Volume> {
    Some(Volume {
        flavour,
        system_id: text(&sector[8..40]),
        volume_id: text(&sector[40..72]),
        space: both32(sector, 80)?,
        set_size: both16(sector, 120)?,
        sequence: both16(sector, 124)?,
        block: both16(sector, 128)?,
        path_table_bytes: both32(sector, 132)?,
        path_table_l: le32(sector, 140)?,
        path_table_m: be32(sector, 148)?,
        root: *sector[156..].first_chunk()?,
        created: date::long(&sector[813..830]),
        modified: date::long(&sector[830..847]),
        application_id: text(&sector[574..702]),
    })
}

fn high_sierra(sector: &[u8]) -> Option<Descriptor> {
    match sector[8] {
        0 => return Some(Descriptor::Boot { catalog: None }),
        1 => {}
        255 => return Some(Descriptor::Terminator),
        other => return Some(Descriptor::Unknown(other)),
    }
    Some(Descriptor::Volume(Box::new(Volume {
        flavour: Flavour::HighSierra,
        system_id: text(&sector[16..48]),
        volume_id: text(&sector[48..80]),
        space: both32(sector, 88)?,
        set_size: both16(sector, 128)?,
        sequence: both16(sector, 132)?,
        block: both16(sector, 136)?,
        path_table_bytes: both32(sector, 140)?,
        path_table_l: le32(sector, 148)?,
        path_table_m: be32(sector, 164)?,
        root: *sector[180..].first_chunk()?,
        created: Date::Unset,
        modified: Date::Unset,
        application_id: Vec::new(),
    })))
}

/// A text field without its padding of blanks and zeros.
fn text(field: &[u8]) -> Vec<u8> {
    let end = field.iter().rposition(|&b| b != b' ' && b != 0).map_or(0, |last| last + 1);
    // UCS-2 ends on a whole character: "A" is 00 41, but a character such as U+0100 is 01 00.
    field[..end].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sector(kind: u8, id: &[u8], version: u8) -> Vec<u8> {
        let mut sector = vec![0; SECTOR];
        sector[0] = kind;
        sector[1..6].copy_from_slice(id);
        sector[6] = version;
        sector
    }

    #[test]
    fn kinds_of_descriptors() {
        assert_eq!(parse(&sector(255, b"CD001", 1)), Some(Descriptor::Terminator));
        assert_eq!(parse(&sector(9, b"CD001", 1)), Some(Descriptor::Unknown(9)));
        assert_eq!(parse(&sector(0, b"NSR03", 1)), Some(Descriptor::Udf));
        assert_eq!(parse(&sector(1, b"XXXXX", 1)), None);
        assert_eq!(parse(&[1; 100]), None);
    }

    #[test]
    fn supplementary_volumes_by_version_and_escape_sequence() {
        let flavour = |sector: &[u8]| match parse(sector) {
            Some(Descriptor::Volume(volume)) => volume.flavour,
            other => panic!("{other:?}"),
        };
        assert_eq!(flavour(&sector(2, b"CD001", 2)), Flavour::Enhanced);
        assert_eq!(flavour(&sector(2, b"CD001", 1)), Flavour::Supplementary);
        let mut joliet = sector(2, b"CD001", 1);
        joliet[88..91].copy_from_slice(b"%/E");
        assert_eq!(flavour(&joliet), Flavour::Joliet(3));
    }

    #[test]
    fn a_boot_record_is_el_toritos_or_just_one() {
        let mut boot = sector(0, b"CD001", 1);
        assert_eq!(parse(&boot), Some(Descriptor::Boot { catalog: None }));
        boot[7..30].copy_from_slice(b"EL TORITO SPECIFICATION");
        boot[71] = 33;
        assert_eq!(parse(&boot), Some(Descriptor::Boot { catalog: Some(33) }));
    }
}
