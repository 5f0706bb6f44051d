//! A band of a surface: neighbouring file sizes at one level, what served them, and why they do not belong to the previous
//! band. If the source is unknown, as in an imported table, the file sizes compared with cache and memory sizes say what is
//! possible, and a drop of the level is a knee. `regimes` finds the bands.

use crate::{Kind, Machine, units};
use fathom_compare::Summary;
use std::ops::Range;

/// Why a band begins where it does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// Throughput changed by this factor.
    Throughput(f64),
    /// The measured origin changed while throughput stayed about the same.
    Origin,
}

/// Neighbouring file sizes of one regime.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Rows of the surface.
    pub rows: Range<usize>,
    /// What served its cells.
    pub kind: Kind,
    /// Smallest file size in it.
    pub from_bytes: u64,
    /// Largest file size in it.
    pub to_bytes: u64,
    /// Throughput of its cells, bytes/s.
    pub rates: Summary,
    /// Why it does not belong to the previous band; `None` for the first.
    pub begins_by: Option<Cause>,
    /// If the source is unknown, as in an imported run: what the file sizes allow, such as "files larger than memory".
    pub sizes: Option<String>,
    /// Whether the file system is a network one.
    pub over_network: bool,
}

impl Band {
    /// What served it: its kind, or that it is unknown and what its sizes allow.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.sizes {
            Some(sizes) => format!("{}, {sizes}", self.kind.words()),
            None => self.kind.words().to_owned(),
        }
    }

    /// A drop of the level with an unknown source: "knee 0.21×", over NFS "NFS knee 0.21×".
    #[must_use]
    pub fn knee(&self) -> Option<String> {
        match self.begins_by {
            Some(Cause::Throughput(factor)) if self.kind == Kind::Unknown && factor < 1.0 => {
                let whose = if self.over_network { "NFS " } else { "" };
                Some(format!("{whose}knee {}", units::ratio(factor)))
            }
            _ => None,
        }
    }
}

/// What the file sizes allow as the source; `None` if neither cache nor memory size is known.
pub(crate) fn sizes(from_bytes: u64, to_bytes: u64, machine: &Machine) -> Option<String> {
    let cache = machine.caches.last();
    let fits_cache = |bytes: u64| cache.is_some_and(|c| bytes <= c.bytes);
    let memory = machine.memory_bytes;
    if fits_cache(to_bytes) {
        return cache.map(|c| format!("files fit {}", c.label));
    }
    match memory {
        Some(memory) if from_bytes > memory => Some("files larger than memory".into()),
        Some(memory) if to_bytes > memory => Some("some files beyond memory".into()),
        Some(_) if fits_cache(from_bytes) => {
            cache.map(|c| format!("files fit memory, small ones {}", c.label))
        }
        Some(_) => Some("files fit memory".into()),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Machine, Surface, regimes::bands, samples};
    use fathom_record::Regime;

    /// The read test of the NFS client in the report of 2005: 2 GiB of memory, the largest files slightly larger.
    #[test]
    fn where_nobody_knows_the_sizes_tell_and_a_fall_is_a_knee() {
        let mut surface = Surface::of_run(&samples::auto_run()).remove(0);
        let (last, first) = (surface.file_bytes.len() - 1, surface.file_bytes[0]);
        for (i, row) in surface.cells.iter_mut().enumerate() {
            for cell in row.iter_mut().flatten() {
                cell.value = if i == last { 44e6 } else { 206e6 };
                cell.origin = Regime::Unknown;
            }
        }
        let mut machine = Machine {
            memory_bytes: Some(surface.file_bytes[last] - 1),
            filesystem: Some("NFS".into()),
            ..Machine::default()
        };
        let found = bands(&surface, &machine);
        let told: Vec<(String, Option<String>)> = found.iter().map(|b| (b.words(), b.knee())).collect();
        assert_eq!(told[0], ("origin unknown, files fit memory".into(), None));
        assert_eq!(told[1].0, "origin unknown, files larger than memory");
        assert!(told[1].1.as_deref().is_some_and(|k| k.starts_with("NFS knee 0.21")), "{told:?}");
        machine.caches = vec![crate::Reference { label: "L2".into(), bytes: first }];
        machine.filesystem = None;
        let found = bands(&surface, &machine);
        assert_eq!(found[0].words(), "origin unknown, files fit memory, small ones L2");
        assert!(found[1].knee().is_some_and(|k| k.starts_with("knee")));
        assert_eq!(bands(&surface, &Machine::default())[1].sizes, None);
    }
}
