//! The personalities, how to make each small enough for a test, and its rows in the order in which they are printed. The rows are what
//! Filebench 1.5 prints for the same file (with constants in place of custom variables, which it has only when they are installed, and
//! but for `software-build`, whose composite with variables it cannot run).

use std::path::PathBuf;

/// One of the files.
pub struct Personality {
    /// Its name without `.f`.
    pub name: &'static str,
    /// Values of variables beside those that all have.
    pub small: &'static [(&'static str, &'static str)],
    /// Names of its rows, newest first.
    pub rows: &'static [&'static str],
    /// Words of the notes that planning makes; usually there are none.
    pub notes: &'static [&'static str],
}

/// Where they are.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/filebench"))
}

impl Personality {
    pub fn path(&self) -> PathBuf {
        folder().join(format!("{}.f", self.name))
    }

    pub fn text(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap_or_else(|e| panic!("{}: {e}", self.path().display()))
    }

    /// What makes it small and puts it into a directory. Only scripts that end by time have a `$runtime`.
    pub fn settings(&self, dir: &str) -> Vec<(String, String)> {
        let timed = self.text().contains("set $runtime=").then_some(("runtime", "1"));
        let all = std::iter::once(("dir", dir)).chain(timed).chain(self.small.iter().copied());
        all.map(|(name, value)| (name.into(), value.into())).collect()
    }
}

/// The one of this name.
pub fn named(name: &str) -> &'static Personality {
    ALL.iter().find(|p| p.name == name).unwrap_or_else(|| panic!("there is no personality {name}"))
}

/// All of them.
pub const ALL: [Personality; 15] = [
    Personality {
        name: "backup-stream",
        small: &[("nfiles", "50"), ("amount", "4m")],
        rows: &["enough", "save-close", "archive-write", "save-read", "save-open", "walk-stat", "walk-list"],
        notes: &[],
    },
    Personality {
        name: "checkpoint",
        small: &[
            ("nfiles", "12"),
            ("filesize", "64k"),
            ("piece", "16k"),
            ("pieces", "4"),
            ("ranks", "2"),
            ("checkpoints", "2"),
        ],
        rows: &[
            "part-safe",
            "part-close",
            "part-sync",
            "part-write",
            "part-create",
            "part-drop",
            "enough",
            "manifest-close",
            "manifest-sync",
            "manifest-write",
            "manifest-open",
            "all-safe",
        ],
        notes: &[],
    },
    Personality {
        name: "copy-files",
        small: &[("nfiles", "40")],
        rows: &[
            "target-close",
            "source-close",
            "target-write",
            "source-read",
            "source-open",
            "target-create",
        ],
        notes: &[],
    },
    Personality {
        name: "database-oltp",
        small: &[("filesize", "1m"), ("clients", "2")],
        rows: &[
            "commit",
            "page-dirty",
            "compute",
            "page-read",
            "arrival",
            "page-wait",
            "page-write",
            "page-due",
            "redo-write",
            "redo-due",
        ],
        notes: &["useism"],
    },
    Personality {
        name: "file-server",
        small: &[("nfiles", "60"), ("users", "2")],
        rows: &[
            "browse-stat",
            "browse-list",
            "view-close",
            "view-read",
            "view-open",
            "edit-close",
            "edit-append",
            "edit-open",
            "draft-close",
            "draft-write",
            "draft-create",
            "discard",
        ],
        notes: &[],
    },
    Personality {
        name: "log-ingest",
        small: &[("nfiles", "20"), ("writers", "2"), ("rate", "200")],
        rows: &[
            "follow-close",
            "follow-rate",
            "follow-read",
            "follow-open",
            "segment-end",
            "group.commit",
            "group.record",
            "group",
            "segment-start",
            "segment-drop",
        ],
        notes: &[],
    },
    Personality {
        name: "mail-server",
        small: &[("nfiles", "60"), ("meandirwidth", "10"), ("deliveries", "2"), ("readers", "2")],
        rows: &[
            "index-close",
            "index-append",
            "index-open",
            "message-done",
            "message-read",
            "message-open",
            "message-look",
            "folder-list",
            "message-close",
            "message-sync",
            "message-write",
            "message-create",
            "expunge",
        ],
        notes: &[],
    },
    Personality {
        name: "metadata",
        small: &[("nfiles", "100"), ("meandirwidth", "10"), ("ndirs", "40"), ("workers", "2")],
        rows: &[
            "dir-remove",
            "dir-make",
            "dir-list",
            "job.unlink",
            "job.close",
            "job.fstat",
            "job.open",
            "job.stat",
            "job.touch.done",
            "job.touch.make",
            "job.touch",
            "job",
        ],
        notes: &[],
    },
    Personality {
        name: "software-build",
        small: &[("nfiles", "60"), ("nobjects", "20"), ("jobs", "2"), ("compute", "1000")],
        rows: &[
            "link-write",
            "library.close",
            "library.read",
            "library.open",
            "library",
            "link-wait",
            "object-ready",
            "object-close",
            "object-write",
            "object-create",
            "object-unlink",
            "compile",
            "source.close",
            "source.read",
            "source.open",
            "source",
            "header.close",
            "header.read",
            "header.open",
            "header",
            "header-lookup",
        ],
        notes: &[],
    },
    Personality {
        name: "training-loader",
        small: &[("nfiles", "40"), ("loaders", "2"), ("decode", "1000"), ("step", "1000")],
        rows: &[
            "batch-step",
            "batch-wait",
            "sample-ready",
            "sample-decode",
            "sample-close",
            "sample-read",
            "sample-open",
        ],
        notes: &[],
    },
    Personality {
        name: "video-server",
        small: &[("nfiles", "4"), ("filesize", "1m"), ("viewers", "2"), ("pause", "1")],
        rows: &[
            "film-rate",
            "film-read",
            "film-pause",
            "film-close",
            "film-write",
            "film-create",
            "film-drop",
        ],
        notes: &[],
    },
    Personality {
        name: "virtual-machines",
        small: &[("nfiles", "2"), ("filesize", "1m"), ("hotsize", "256k"), ("guests", "2")],
        rows: &[
            "guest-rate",
            "image-close",
            "guest-flush",
            "cold-read",
            "hot-write",
            "hot-read",
            "image-open",
        ],
        notes: &[],
    },
    Personality {
        name: "warehouse-scan",
        small: &[
            ("nfiles", "2"),
            ("filesize", "2m"),
            ("queries", "2"),
            ("sorts", "1"),
            ("spillsize", "256k"),
        ],
        rows: &["spill-delete", "spill-close", "merge-read", "spill-write", "spill-create", "scan-stripe"],
        notes: &[],
    },
    Personality {
        name: "web-proxy",
        small: &[("nfiles", "60"), ("visitors", "2")],
        rows: &[
            "log-close",
            "log-append",
            "log-open",
            "store-close",
            "store-write",
            "store-create",
            "evict",
            "found.close",
            "found.send",
            "found.open",
            "found",
        ],
        notes: &[],
    },
    Personality {
        name: "web-server",
        small: &[("nfiles", "60"), ("requests", "2")],
        rows: &[
            "log-append",
            "page-part.close",
            "page-part.send",
            "page-part.open",
            "page-part",
            "page-close",
            "page-send",
            "page-open",
        ],
        notes: &[],
    },
];

#[test]
fn the_list_is_the_folder() {
    let files = std::fs::read_dir(folder()).expect("the folder of personalities");
    let mut names: Vec<String> = files
        .flatten()
        .filter_map(|f| f.file_name().to_string_lossy().strip_suffix(".f").map(String::from))
        .collect();
    names.sort();
    assert_eq!(names, ALL.map(|p| p.name));
}
