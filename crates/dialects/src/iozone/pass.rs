//! The passes: IOzone's measurements, one row each, with the names, widths and titles used in tables, blocks, reports and side files.
//! A pass is a phase of the workload; the phase's name identifies the row when a record is printed.

/// One measurement.
#[derive(Debug, PartialEq, Eq)]
pub struct Pass {
    /// Name of the phase, in standard terms.
    pub name: &'static str,
    /// Number of the test (-i).
    pub test: u8,
    /// Whether it is the second pass of a test, which -+n skips.
    pub retest: bool,
    /// Width of its table column; 0 if it has none.
    pub width: usize,
    /// Title of its report.
    pub report: &'static str,
    /// Title in the worksheet.
    pub sheet: &'static str,
    /// Name in a throughput block; empty if it has none.
    pub block: &'static str,
    /// Label in the throughput report.
    pub label: &'static str,
    /// Base name of the offset and latency file in single mode, without .dat; empty if it has none.
    pub log: &'static str,
    /// The same in throughput mode, after `Child_N_`.
    pub child_log: &'static str,
    /// Name in the histogram file.
    pub histogram: &'static str,
    /// Name in Child_N.log.
    pub child: &'static str,
    /// Whether it reads rather than writes.
    pub reads: bool,
}

/// Default values, as not every name exists in every mode.
const EMPTY: Pass = Pass {
    name: "",
    test: 0,
    retest: false,
    width: 9,
    report: "",
    sheet: "",
    block: "",
    label: "",
    log: "",
    child_log: "",
    histogram: "",
    child: "",
    reads: false,
};

/// Every pass in column order; the mixed test, which has no column, is last.
pub const PASSES: [Pass; 18] = [
    Pass {
        name: "write",
        report: "Writer report",
        sheet: "Writer Report",
        block: "initial writers",
        label: "Initial write",
        log: "wol",
        child_log: "wol",
        histogram: "write",
        child: "Write test",
        ..EMPTY
    },
    Pass {
        name: "rewrite",
        retest: true,
        report: "Re-writer report",
        sheet: "Re-writer Report",
        block: "rewriters",
        label: "Rewrite",
        log: "rwol",
        child_log: "rwol",
        histogram: "Rewrite",
        child: "Rewrite test",
        ..EMPTY
    },
    Pass {
        name: "read",
        test: 1,
        report: "Reader report",
        sheet: "Reader Report",
        block: "readers",
        label: "Read",
        log: "rol",
        child_log: "rol",
        histogram: "Read",
        child: "Read test",
        reads: true,
        ..EMPTY
    },
    Pass {
        name: "reread",
        test: 1,
        retest: true,
        report: "Re-Reader report",
        sheet: "Re-reader Report",
        block: "re-readers",
        label: "Re-read",
        log: "rrol",
        child_log: "rrol",
        histogram: "Reread",
        child: "Reread test",
        reads: true,
        ..EMPTY
    },
    Pass {
        name: "random read",
        test: 2,
        report: "Random read report",
        sheet: "Random Read Report",
        block: "random readers",
        label: "Random read",
        child_log: "randrol",
        histogram: "Random Read",
        child: "Random read",
        reads: true,
        ..EMPTY
    },
    Pass {
        name: "random write",
        test: 2,
        report: "Random write report",
        sheet: "Random Write Report",
        block: "random writers",
        label: "Random write",
        child_log: "randwol",
        histogram: "Random Write",
        child: "Random write",
        ..EMPTY
    },
    Pass {
        name: "backward read",
        test: 3,
        report: "Backward read report",
        sheet: "Backward Read Report",
        block: "reverse readers",
        label: "Reverse Read",
        child_log: "revol",
        histogram: "Read Backwards",
        child: "Reverse read",
        reads: true,
        ..EMPTY
    },
    Pass {
        name: "record rewrite",
        test: 4,
        width: 10,
        report: "Record rewrite report",
        sheet: "Record Rewrite Report",
        ..EMPTY
    },
    Pass {
        name: "stride read",
        test: 5,
        width: 10,
        report: "Stride read report",
        sheet: "Stride Read Report",
        block: "stride readers",
        label: "Stride read",
        child_log: "strol",
        histogram: "Stride Read",
        child: "Stride test",
        reads: true,
        ..EMPTY
    },
    Pass {
        name: "fwrite",
        test: 6,
        report: "Fwrite report",
        sheet: "Fwrite Report",
        block: "fwriters",
        label: "Fwrite",
        child_log: "fwol",
        histogram: "Fwrite",
        child: "fwrite test",
        ..EMPTY
    },
    Pass {
        name: "frewrite",
        test: 6,
        retest: true,
        report: "Re-Fwrite report",
        sheet: "Re-fwrite Report",
        ..EMPTY
    },
    Pass {
        name: "fread",
        test: 7,
        report: "Fread report",
        sheet: "Fread Report",
        block: "freaders",
        label: "Fread",
        child_log: "frol",
        histogram: "Fread",
        child: "fread test",
        reads: true,
        ..EMPTY
    },
    Pass {
        name: "freread",
        test: 7,
        retest: true,
        report: "Re-Fread report",
        sheet: "Re-fread Report",
        reads: true,
        ..EMPTY
    },
    Pass {
        name: "pwrite",
        test: 9,
        report: "Pwrite report",
        sheet: "Pwrite Report",
        block: "pwrite writers",
        label: "Pwrite",
        child_log: "pwol",
        histogram: "Pwrite",
        child: "Pwrite test",
        ..EMPTY
    },
    Pass {
        name: "repwrite",
        test: 9,
        retest: true,
        report: "Re-Pwrite report",
        sheet: "Re-pwrite Report",
        ..EMPTY
    },
    Pass {
        name: "pread",
        test: 10,
        width: 8,
        report: "Pread report",
        sheet: "Pread Report",
        block: "pread readers",
        label: "Pread",
        child_log: "prol",
        histogram: "Pread",
        child: "Pread test",
        reads: true,
        ..EMPTY
    },
    Pass {
        name: "repread",
        test: 10,
        retest: true,
        report: "Re-Pread report",
        sheet: "Re-pread Report",
        reads: true,
        ..EMPTY
    },
    Pass {
        name: "mixed",
        test: 8,
        width: 0,
        block: "mixed workload",
        label: "Mixed workload",
        histogram: "Random Mix",
        child: "Random mix",
        reads: true,
        ..EMPTY
    },
];

/// Names of the throughput blocks in the order they run.
pub const BLOCK_ORDER: [&str; 13] = [
    "write",
    "rewrite",
    "read",
    "reread",
    "backward read",
    "stride read",
    "random read",
    "mixed",
    "random write",
    "pwrite",
    "pread",
    "fwrite",
    "fread",
];

/// Finds the pass with a phase's name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|p| p.name == name)
}

/// Passes with a table column, in order.
pub fn columns() -> impl Iterator<Item = &'static Pass> {
    PASSES.iter().filter(|p| p.width > 0)
}

/// Throughput blocks in execution order.
pub fn blocks() -> impl Iterator<Item = &'static Pass> {
    BLOCK_ORDER.iter().filter_map(|name| find(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_its_names() {
        assert_eq!(blocks().count(), 13);
        for pass in blocks() {
            assert!(
                !pass.block.is_empty() && !pass.label.is_empty() && !pass.child.is_empty(),
                "{}",
                pass.name
            );
        }
    }

    #[test]
    fn the_first_fifteen_columns_end_where_iozones_do() {
        let mut at = 24;
        let ends: Vec<usize> = columns()
            .take(13)
            .map(|p| {
                at += p.width;
                at
            })
            .collect();
        assert_eq!(ends, [33, 42, 51, 60, 69, 78, 87, 97, 107, 116, 125, 134, 143]);
    }
}
