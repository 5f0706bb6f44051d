//! Filebench's own workload files (`*.f`), which the user supplies: what is set smaller so that a run needs seconds and a few hundred
//! MiB, and which of them Filebench 1.5 runs by itself, so that a speed can be compared. A table; nothing runs here.

/// What is changed in one file.
pub struct Shipped {
    pub file: &'static str,
    /// Variables given another value, by `--set` for fathom and in the text for Filebench.
    pub values: &'static [(&'static str, &'static str)],
    /// Further ones where both programs run it: what makes Filebench able to, or the programs more of the time.
    pub compared: &'static [(&'static str, &'static str)],
    /// Sizes that stand in the text itself are cut to this, in a copy without its `debug` line, which hides all figures.
    pub sizes_at_most_mib: Option<u64>,
    pub why: &'static str,
    /// Whether Filebench 1.5 runs it to figures that say something of its speed.
    pub comparable: bool,
}

const fn entry(
    file: &'static str,
    values: &'static [(&'static str, &'static str)],
    why: &'static str,
    comparable: bool,
) -> Shipped {
    Shipped { file, values, compared: &[], sizes_at_most_mib: None, why, comparable }
}

const FILE: &str = "the file fits the page cache and is made in a second";
const FILES: &str = "fewer files, made in seconds";
const TIME: &str = "shorter";

/// Every file of 1.5 that is changed or compared; the others run as they are.
const SHIPPED: &[Shipped] = &[
    entry("createdelete-swing.f", &[("runtime", "5")], TIME, false),
    entry("createfiles.f", &[("nfiles", "5000")], FILES, false),
    entry("filemicro_createrand.f", &[("bytes", "64m")], FILE, false),
    entry("filemicro_rread.f", &[("filesize", "64m"), ("bytes", "32m")], FILE, false),
    entry("filemicro_rwrite.f", &[("filesize", "64m"), ("bytes", "32m")], FILE, false),
    entry(
        "filemicro_rwritedsync.f",
        &[("filesize", "64m"), ("count", "1024")],
        "as many synchronous writes as a slow disk does in seconds",
        false,
    ),
    entry("filemicro_rwritefsync.f", &[("filesize", "64m"), ("iters", "1024")], FILE, false),
    entry("filemicro_seqread.f", &[("filesize", "64m")], FILE, false),
    entry("filemicro_statfile.f", &[("nfiles", "1000"), ("filesize", "16k")], FILES, true),
    Shipped {
        file: "fileserver.f",
        values: &[("nfiles", "1000"), ("runtime", "5")],
        compared: &[("filesize", "128k"), ("nthreads", "16")],
        sizes_at_most_mib: None,
        why: "fewer files, shorter",
        comparable: true,
    },
    entry("fivestreamread.f", &[("filesize", "64m")], FILE, true),
    entry("fivestreamreaddirect.f", &[("filesize", "64m")], FILE, true),
    entry("fivestreamwrite.f", &[("filesize", "64m"), ("iosize", "64k")], FILE, true),
    entry("fivestreamwritedirect.f", &[("filesize", "64m"), ("iosize", "64k")], FILE, false),
    entry("listdirs.f", &[("nfiles", "5000")], FILES, true),
    entry("netsfs.f", &[("nfiles", "1000")], FILES, false),
    entry("networkfs.f", &[("nfiles", "100")], "a hundred files, which it multiplies by ten", false),
    Shipped {
        file: "oltp.f",
        values: &[],
        compared: &[("nshadows", "20"), ("ndbwriters", "2"), ("usermode", "1000")],
        sizes_at_most_mib: None,
        why: "",
        comparable: true,
    },
    entry("openfiles.f", &[("nfiles", "5000")], FILES, true),
    entry("randomfileaccess.f", &[("nfiles", "1000")], FILES, false),
    entry("randomread.f", &[("filesize", "256m")], FILE, true),
    entry("randomrw.f", &[("filesize", "256m")], FILE, true),
    entry("randomwrite.f", &[("filesize", "256m")], FILE, true),
    entry("singlestreamread.f", &[("filesize", "256m")], FILE, true),
    entry("singlestreamreaddirect.f", &[("filesize", "256m")], FILE, true),
    entry("singlestreamwrite.f", &[("iosize", "64k")], "the file grows for as long as it runs", true),
    entry("singlestreamwritedirect.f", &[("iosize", "64k")], "the file grows for as long as it runs", false),
    Shipped {
        file: "tpcso.f",
        values: &[],
        compared: &[],
        sizes_at_most_mib: Some(4),
        why: "its files of 150 GB cut to 4 MiB each; `debug 1`, which hides all figures, left out",
        comparable: false,
    },
    Shipped {
        file: "varmail.f",
        values: &[],
        compared: &[("filesize", "16k")],
        sizes_at_most_mib: None,
        why: "",
        comparable: true,
    },
    entry("videoserver.f", &[("filesize", "1m")], "videos of 1 MiB instead of 10 GiB", false),
    Shipped {
        file: "webproxy.f",
        values: &[],
        compared: &[("nfiles", "1000"), ("nthreads", "16")],
        sizes_at_most_mib: None,
        why: "",
        comparable: true,
    },
    Shipped {
        file: "webserver.f",
        values: &[],
        compared: &[("filesize", "16k"), ("nthreads", "32")],
        sizes_at_most_mib: None,
        why: "",
        comparable: true,
    },
];

/// What is changed in a file of this name.
pub fn of(file: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|s| s.file == file)
}

/// The files Filebench 1.5 runs to figures.
pub fn comparable() -> impl Iterator<Item = &'static Shipped> {
    SHIPPED.iter().filter(|s| s.comparable)
}

/// The changes of a file in words, for a table.
pub fn changes(shipped: &Shipped) -> String {
    let mut words: Vec<String> = shipped.values.iter().map(|(n, v)| format!("{n}={v}")).collect();
    words.extend(shipped.sizes_at_most_mib.map(|mib| format!("sizes at most {mib}m")));
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_stands_once_and_says_why_it_is_changed() {
        for (i, s) in SHIPPED.iter().enumerate() {
            assert!(SHIPPED[..i].iter().all(|other| other.file != s.file), "{}", s.file);
            assert_eq!(changes(s).is_empty(), s.why.is_empty(), "{}", s.file);
        }
        assert!(of("tpcso.f").is_some_and(|s| changes(s).ends_with("sizes at most 4m")));
    }

    #[test]
    fn the_six_personalities_are_compared() {
        for file in
            ["randomread.f", "singlestreamread.f", "fileserver.f", "varmail.f", "webserver.f", "oltp.f"]
        {
            assert!(comparable().any(|s| s.file == file), "{file}");
        }
    }
}
