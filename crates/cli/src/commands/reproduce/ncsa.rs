//! The IOzone surfaces of 2005: IOzone's own parser reads the published command line for simulation in `fathom-sim`.

use super::{Reproduce, cannot, page};
use crate::exit::Usage;
use fathom_dialects::iozone::{self, Context};
use fathom_report::reproduced::{Reproduced, ReproducedPart, SurfaceMap};
use fathom_report::units;
use fathom_sim::reproduce::ncsa as table;
use table::published::{FILES_KIB, RECORDS_KIB, Standing};

/// Simulates the surfaces.
pub(super) fn reproduce(options: &Reproduce) -> anyhow::Result<table::NcsaTable> {
    if options.seeds.is_some() {
        return Err(Usage("--seeds: ncsa-2005 has no random choices".into()).into());
    }
    if options.ablation {
        return Err(Usage(
            "ncsa-2005 has no --ablation: its degrees of freedom are said in the table".into(),
        )
        .into());
    }
    let args: Vec<String> = table::COMMAND.split(' ').map(str::to_owned).collect();
    let context = Context {
        now: jiff::civil::date(2005, 3, 10).at(0, 0, 0, 0),
        uname: "Linux heping".into(),
        page_bytes: 4096,
        // The command line reads no file.
        read: &|_| Err("no file is read".into()),
    };
    let parsed = iozone::plan(&args, &context)
        .map_err(|e| cannot("iozone", table::COMMAND, &(e.stdout + &e.stderr)))?;
    table::reproduce(&parsed.workload).map_err(|e| cannot("iozone", table::COMMAND, &e))
}

/// The surfaces as a page.
pub(super) fn drawn(t: &table::NcsaTable) -> Reproduced {
    let statistics = t.surfaces.iter().map(|s| {
        let held_out = if s.held_out == 0 {
            ["-".to_string(), "-".to_string()]
        } else {
            [format!("{:.3}", s.held_out_correlation), format!("{:.1} %", s.held_out_rms_percent)]
        };
        let [correlation, rms] = held_out;
        let cells = vec![
            s.cells.len().to_string(),
            format!("{:.3}", s.correlation),
            s.held_out.to_string(),
            correlation,
            rms,
        ];
        (s.test.to_string(), cells)
    });
    let overview = ReproducedPart {
        heading: "How near the surfaces are".into(),
        tables: vec![page::grid(
            "Correlations of log throughput, errors of the cells that were held out",
            &["test", "cells", "correlation", "held out", "correlation of these", "rms error of these"],
            statistics.collect(),
        )],
        notes: vec![
            "Writes are run and not aimed at: no tolerance was stated for them, and what a new page costs a file system is not in the \
             model; where they slow down to the disk's pace is."
                .into(),
        ],
        ..ReproducedPart::default()
    };
    let mut parts = vec![overview];
    parts.extend(t.surfaces.iter().filter(|s| s.test.ends_with("read")).map(surface));
    Reproduced {
        title: "IOzone on the local disk of heping, March 2005".into(),
        words: vec![
            "Files by rows and records by columns; throughput in MiB/s. * a fit used the cell; + a value was changed after a look at it. \
             Held out: neither, though the structure was chosen with the whole table in view."
                .into(),
            page::sources(t.sources),
        ],
        parts,
        checks: page::checks(&t.checks),
        freedom: t.freedom.iter().map(|f| (*f).to_string()).collect(),
    }
}

/// A surface: published, simulated, and the deviation.
fn surface(surface: &table::Surface) -> ReproducedPart {
    let name = if surface.test == "read" { "First reads" } else { "Rereads" };
    let size = |kib: &u64| units::bytes_short(kib * 1024);
    let rates = surface.cells.iter().flat_map(|c| [c.published_kib_s, c.simulated_kib_s]);
    let mib = |(low, high): (f64, f64)| (low / 1024.0, high / 1024.0);
    let ends = mib(rates.fold((f64::MAX, 1024.0), |(low, high), r| (low.min(r.max(1.0)), high.max(r))));
    let map = |title: String,
               errors: bool,
               ends: (f64, f64),
               note: &str,
               of: &dyn Fn(&table::NcsaCell) -> (f64, String)| SurfaceMap {
        title,
        names: ("file".into(), "record".into()),
        rows: FILES_KIB.iter().map(size).collect(),
        columns: RECORDS_KIB.iter().map(size).collect(),
        cells: FILES_KIB
            .iter()
            .map(|&file| RECORDS_KIB.iter().map(|&record| surface.cell(file, record).map(of)).collect())
            .collect(),
        errors,
        ends,
        note: note.into(),
    };
    let rate = |kib_s: f64| (kib_s / 1024.0, format!("{:.0}", kib_s / 1024.0));
    let shared = "MiB/s, log colour, the same for published and simulated";
    ReproducedPart {
        heading: name.into(),
        maps: vec![
            map(format!("{name}, published, MiB/s"), false, ends, shared, &|c| rate(c.published_kib_s)),
            map(format!("{name}, simulated, MiB/s"), false, ends, shared, &|c| rate(c.simulated_kib_s)),
            map(
                format!("{name}, error of the simulation in %"),
                true,
                (-100.0, 100.0),
                "orange: slower than published, blue: faster; * fitted, + seen; what is off by more has the colour of the end",
                &|c| (c.error_percent, format!("{:+.0}{}", c.error_percent, mark(c))),
            ),
        ],
        ..ReproducedPart::default()
    }
}

/// How a cell that is not held out is marked.
fn mark(cell: &table::NcsaCell) -> &'static str {
    match cell.standing {
        Standing::Fitted => "*",
        Standing::Seen => "+",
        Standing::HeldOut => "",
    }
}
