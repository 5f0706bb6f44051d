//! Options for buffer contents, verification, and buffer placement.

use super::Kind::{Bool, Bytes, Flag, Number, Text, Word};
use super::{FioOption, also, done, harmless};

const VERIFY: super::Kind = Word(&[
    "0",
    "md5",
    "crc64",
    "crc32c",
    "crc32c-intel",
    "crc32",
    "crc16",
    "crc7",
    "xxhash",
    "sha512",
    "sha256",
    "sha1",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "meta",
    "pattern",
    "pattern_hdr",
    "null",
]);
const MEMORY: super::Kind =
    Word(&["malloc", "shm", "shmhuge", "mmap", "mmaphuge", "mmapshared", "cudamalloc"]);

pub(super) static ROWS: &[FioOption] = &[
    done("zero_buffers", Flag, "write zeros"),
    done("refill_buffers", Flag, "new random data in every block; fathom always does this"),
    done("scramble_buffers", Bool, "make blocks differ; fathom's always do"),
    done(
        "buffer_pattern",
        Text,
        "pattern repeated from the start of every block: 0x.. (as written), numbers (little-endian), \"text\" and 'FILE', concatenated",
    ),
    done("buffer_compress_percentage", Number, "share of each block that is zero, or the buffer_pattern"),
    done(
        "buffer_compress_chunk",
        Bytes,
        "size of the chunks that buffer_compress_percentage applies to, up to 4096; any value has the effect of 4096",
    ),
    done("dedupe_percentage", Number, "share of blocks that are duplicates"),
    done(
        "dedupe_mode",
        Word(&["repeat", "working_set"]),
        "which blocks are duplicated: a few, or any of a working set",
    ),
    done(
        "dedupe_working_set_percentage",
        Number,
        "size of the working set, in percent of the clone's part of its file (default 5)",
    ),
    done("dedupe_global", Bool, "jobs with this option share one working set"),
    also(
        done("mem", MEMORY, "memory of the buffers: mmaphuge and shmhuge are reserved huge pages"),
        &["iomem"],
    ),
    also(
        harmless("iomem_align", Bytes, "alignment of the buffers", "they are aligned to pages at least"),
        &["mem_align"],
    ),
    harmless("hugepage-size", Bytes, "size of huge pages", "the machine's size is used"),
    done(
        "lockmem",
        Bytes,
        "memory that each clone locks, so that less is left for the page cache; where that fails, or would leave less than a sixteenth of what is available, it is an error (fio continues silently, or is killed)",
    ),
    done(
        "verify",
        VERIFY,
        "verify the header and checksum of each block read, as fio writes them (sha256 and sha512 are not compatible with fio 3.33, which writes something else)",
    ),
    done("do_verify", Bool, "whether a writing job reads back and verifies"),
    harmless(
        "verify_fatal",
        Bool,
        "end at the first wrong block",
        "the first wrong block ends the job, unless continue_on_error or ignore_error has it go on; with both it ends",
    ),
    done(
        "verify_dump",
        Bool,
        "write the first wrong block into FILE.OFFSET.received, and of a pattern what was expected into FILE.OFFSET.expected",
    ),
    done(
        "verify_interval",
        Bytes,
        "size of a verified block, several of which make up a written block; if it does not divide the block size, whole blocks are verified, as in fio",
    ),
    done("verify_offset", Bytes, "offset of the header in a verified block"),
    done(
        "verify_pattern",
        Text,
        "pattern after the header, in the form of buffer_pattern; without verify it fills the whole block, as with verify=pattern; %o is the eight-byte offset at which the pattern starts",
    ),
    done(
        "verify_pattern_interval",
        Bytes,
        "repeat the pattern at this interval, with the offset at each repetition",
    ),
    done(
        "verify_backlog",
        Number,
        "read back while writing: as soon as this many blocks are written and not yet read back",
    ),
    done("verify_backlog_batch", Number, "blocks read back each time (default: verify_backlog)"),
    harmless(
        "verify_async",
        Number,
        "threads that check",
        "the reading worker verifies, outside of the latency",
    ),
    harmless("verify_async_cpus", Text, "CPUs of those threads", "the reading worker verifies"),
    done("verify_only", Flag, "check only; write nothing"),
    done(
        "verify_state_save",
        Bool,
        "jobs that write and verify save their progress in local-JOB-CLONE-verify.state (default 1; below --aux-path), in fathom's own format",
    ),
    done(
        "verify_state_load",
        Bool,
        "a job that only verifies (rw=read, verify_only) verifies as many blocks as that file says; a writing job reads back everything it wrote",
    ),
    done(
        "verify_policy",
        Word(&["completed", "fsynced"]),
        "what that file counts: all writes, or those before the last sync",
    ),
    harmless(
        "verify_write_sequence",
        Bool,
        "check the order of writes",
        "the number of a write in its header is not checked; every write of a job has the same number",
    ),
    harmless(
        "verify_header_seed",
        Bool,
        "check the seed in the header",
        "the checksum shows whether a block is intact; seeds are neither written nor checked",
    ),
    harmless(
        "verifysort",
        Bool,
        "read back in ascending order",
        "as in fio 3.33 with either value, writes that may overlap are read back in ascending order, others in write order",
    ),
    harmless("verifysort_nr", Number, "how many are sorted", "all are, or none"),
    done(
        "trim_percentage",
        Number,
        "with verify and trim_backlog: percentage of written blocks that are trimmed, in files as holes (fio 3.42 fails there)",
    ),
    done(
        "trim_verify_zero",
        Bool,
        "read trimmed blocks back, which must be zeros (default 1); 0: do not read them",
    ),
    done("trim_backlog", Number, "trim after this number of writes; 0: never"),
    done("trim_backlog_batch", Number, "most blocks trimmed at a time (default: trim_backlog)"),
    harmless(
        "experimental_verify",
        Bool,
        "read back by repeating the sequence of writes",
        "the written blocks are read back, which has the same effect",
    ),
];
