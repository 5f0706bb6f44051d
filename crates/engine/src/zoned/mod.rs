//! Zoned block devices: the zones of the files of a phase, and the operations of a stream moved to the write pointers.

mod kernel;
mod source;
mod table;

use crate::EngineError;
use crate::error::unsupported;
use fathom_workload::ops::{Region, Source};
use fathom_workload::{Access, Backend, Stream};
use source::ZonedOps;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Seek as _;
use std::path::{Path, PathBuf};
pub(crate) use table::ZoneTable;
use table::ZoneWriter;

/// The zones of the files of a phase, shared by its workers.
#[derive(Default)]
pub(crate) struct ZoneTables(BTreeMap<PathBuf, ZoneTable>);

impl ZoneTables {
    /// Looks at the zones of the stream's file, unless they are known; a stream that is not about zones has none.
    ///
    /// # Errors
    /// A file without zones, or one that the stream cannot write.
    pub fn add(
        &mut self,
        place: &str,
        stream: &Stream,
        path: &Path,
        region: Region,
    ) -> Result<(), EngineError> {
        let Some(zoned) = stream.zoned_device else { return Ok(()) };
        if !self.0.contains_key(path) {
            let table = look_at(place, stream, path)?;
            self.0.insert(path.to_owned(), table);
        }
        let table = &self.0[path];
        let wrong = |why: &str| Err(unsupported(place, &format!("{}: {why}", path.display())));
        if table.is_of_device() && stream.direction.writes() && !stream.open.direct {
            return wrong(
                "a zoned device takes writes only in order, which the page cache does not keep: open it with direct = true (fio: direct=1)",
            );
        }
        let whole = table.whole_zones(region);
        if whole.length == 0 {
            return wrong("the stream's region holds no whole zone; make it larger, or the zones smaller");
        }
        if stream.direction.writes() && stream.keep_written.is_some() {
            // What is read back later must not be reset by a later write.
            table.reset_region(whole).map_err(|e| EngineError::system("reset the zones", e))?;
        }
        let limit = if zoned.ignore_limit { 0 } else { table.most_open };
        if limit > 0 && zoned.max_open > limit {
            return wrong(&format!(
                "max_open = {} is more than the {limit} partly written zones that the device allows",
                zoned.max_open
            ));
        }
        Ok(())
    }

    pub fn of(&self, path: &Path) -> Option<&ZoneTable> {
        self.0.get(path)
    }
}

/// Reads the zones of a device, or lays them over a file.
fn look_at(place: &str, stream: &Stream, path: &Path) -> Result<ZoneTable, EngineError> {
    let zoned = stream.zoned_device.unwrap_or_default();
    let system = |e| EngineError::system("look at the zones", e);
    let file = File::options().read(true).write(stream.direction.writes()).open(path).map_err(system)?;
    let zones = kernel::zones(&file).map_err(|e| system(e.into()))?;
    if !zones.is_empty() {
        let most_open = kernel::most_open(&file);
        return ZoneTable::new(&zones, Some(file), most_open);
    }
    let wrong = |why: &str| unsupported(place, &format!("{}: {why}", path.display()));
    if zoned.zone.0 == 0 {
        return Err(wrong(
            "this is no zoned device; name a size to treat it as zones of that size: zoned_device = { zone = \"64MiB\" } (fio: zonesize)",
        ));
    }
    let length = (&file).seek(std::io::SeekFrom::End(0)).map_err(system)?;
    ZoneTable::new(&laid_over(length, zoned.zone.0, zoned.capacity.0), None, 0)
}

/// Zones of a size, empty, over a file.
fn laid_over(length: u64, size: u64, capacity: u64) -> Vec<(kernel::Zone, u64)> {
    let capacity = if capacity == 0 { size } else { capacity };
    let zone = |n: u64| {
        let start = n * size;
        let end = start + size;
        (kernel::Zone { start, end, full: start + capacity.min(size), in_order: true }, start)
    };
    // What is left at the end is no zone.
    (0..length / size).map(zone).collect()
}

/// The operations of a source on the zones of a stream's file.
pub(crate) fn moved<'a>(
    inner: Box<dyn Source + 'a>,
    table: &'a ZoneTable,
    stream: &Stream,
    (worker, region): (usize, Region),
) -> Box<dyn Source + 'a> {
    let zoned = stream.zoned_device.unwrap_or_default();
    let limit = if zoned.ignore_limit { 0 } else { table.most_open };
    let writer = ZoneWriter {
        worker: worker as u32 + 1,
        random: !matches!(stream.access, Access::Sequential | Access::SequentialByKind),
        // A ring may hand writes to kernel threads, which change their order.
        several: matches!(stream.backend, Backend::Aio { .. }),
        keeps: stream.keep_written.is_some(),
        most_open: if zoned.max_open > 0 { zoned.max_open } else { limit },
        most_open_each: zoned.max_open_each,
        collect: zoned.collect,
        region: table.whole_zones(region),
        begun: Vec::new(),
    };
    Box::new(ZonedOps::new(inner, table, writer, (zoned.read_beyond, stream.record.unit().0.max(1))))
}
