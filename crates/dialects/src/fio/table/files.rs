//! Options for files: which, how they are created, and what is cached.

use super::Kind::{Bool, Number, Text, Word};
use super::{FioOption, also, done, harmless};

const SERVICE: super::Kind =
    Word(&["roundrobin", "sequential", "random", "zipf", "pareto", "normal", "gauss"]);
const ALLOCATE: super::Kind = Word(&["none", "native", "posix", "keep", "truncate", "0", "1"]);

pub(super) static ROWS: &[FioOption] = &[
    done("filename", Text, "files, separated by colons; all clones share them"),
    done("directory", Text, "directories, assigned to the clones in turn"),
    done("filename_format", Text, "names of the files: $jobname, $jobnum, $filenum, $clientuid"),
    done("opendir", Text, "all files below a directory, sorted by name; with nrfiles=N the first N"),
    harmless("unique_filename", Bool, "names that differ by client", "there are no clients"),
    harmless(
        "filetype",
        Word(&["none", "file", "block", "char"]),
        "what kind of file it is",
        "that is found out",
    ),
    harmless(
        "lockfile",
        Word(&["none", "exclusive", "readwrite"]),
        "locks between jobs on one file",
        "as in fio 3.33, where operations on one file run concurrently anyway",
    ),
    done("unlink", Bool, "remove the files at the end; without it they stay, as fio leaves them"),
    done(
        "unlink_each_loop",
        Bool,
        "remove the files between two loops; refused with several loops, which reuse the same files",
    ),
    done("allow_file_create", Bool, "make files that are missing"),
    done(
        "allow_mounted_write",
        Bool,
        "write a block device that is mounted, or in use otherwise; only one that --allow-write or FATHOM_ALLOW_WRITE names, too (docs/safety.md)",
    ),
    harmless("create_serialize", Bool, "lay files out one after the other", "they always are"),
    harmless(
        "create_fsync",
        Bool,
        "fsync files that were laid out",
        "they always are on the disk before anything is measured",
    ),
    done(
        "create_on_open",
        Bool,
        "lay nothing out: files are made empty right before the start, or by the engine filecreate; those of a mix have their size, and no space",
    ),
    done("create_only", Bool, "lay the files out, and do nothing with them"),
    done("pre_read", Bool, "read the files into memory before the start"),
    done(
        "overwrite",
        Bool,
        "lay files out before they are written, so that nothing is allocated while measuring",
    ),
    done(
        "file_service_type",
        SERVICE,
        "how several files of a clone take turns: one operation each, or N (`:N`); sequential: one file after the other; zipf, pareto and normal: some more often than others",
    ),
    done(
        "fallocate",
        ALLOCATE,
        "reserve space for what is written: native, posix and 1; truncate gives files their size and no space; keep reserves it and leaves the size, so that they grow into it; none and 0 do nothing",
    ),
    done(
        "invalidate",
        Bool,
        "drop the files from memory before the start; fathom writes them back first, so that it works",
    ),
    done(
        "fadvise_hint",
        Word(&["0", "1", "none", "random", "sequential", "noreuse"]),
        "tell the kernel the access order, which affects read-ahead (default 1: random or sequential, as in the job)",
    ),
    done(
        "ioscheduler",
        Text,
        "I/O scheduler of the block devices below its files while the jobs run; fathom restores the old one afterwards, fio does not",
    ),
    done("disk_util", Bool, "report what the disk did"),
    harmless("write_hint", Text, "lifetime of written data", "hints do not change the requests"),
    done(
        "zonemode",
        Word(&["none", "strided", "zbd"]),
        "strided: zones one after the other, with gaps between them; zbd: writes go to the write pointers of a zoned device, or of zones of zonesize laid over a file",
    ),
    also(
        done(
            "zonesize",
            super::Kind::Bytes,
            "bytes moved in a zone before the next one; zbd: size of a zone that is not the device's",
        ),
        &["zone_size"],
    ),
    done("zonerange", super::Kind::Bytes, "size of a zone (zonesize without it)"),
    done("zoneskip", super::Kind::Bytes, "bytes between two zones"),
    done("zonecapacity", super::Kind::Bytes, "zbd: writable part of a zone of zonesize"),
    done("read_beyond_wp", Bool, "zbd: reads may go beyond the write pointer"),
    done("max_open_zones", Number, "zbd: maximum number of partly written zones, of all jobs"),
    done("job_max_open_zones", Number, "zbd: maximum number of partly written zones of a job"),
    done("ignore_zone_limits", Bool, "zbd: ignore the device's maximum number of open zones"),
    done(
        "zone_reset_threshold",
        super::Kind::Float,
        "zbd: share of the region that has to be written before zone_reset_frequency applies",
    ),
    done(
        "zone_reset_frequency",
        super::Kind::Float,
        "zbd: share of the writes before which their zone is reset",
    ),
];
