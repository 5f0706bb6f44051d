//! Options for buffer contents, verification, and buffer placement.

use super::Kind::{Bool, Bytes, Flag, Number, Text, Word};
use super::{Row, also, done, harmless};

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

pub(super) static ROWS: &[Row] = &[
    done("zero_buffers", Flag, "write zeros"),
    done("refill_buffers", Flag, "new random data in every block, which fathom's always are"),
    done("scramble_buffers", Bool, "make blocks differ, which fathom's always do"),
    done(
        "buffer_pattern",
        Text,
        "bytes that every block repeats from its beginning: 0x.. (as written), numbers (least byte first), \"text\", and 'FILE', one after the other",
    ),
    done("buffer_compress_percentage", Number, "share of each block that is zero, or the buffer_pattern"),
    done(
        "buffer_compress_chunk",
        Bytes,
        "size of the pieces that compress so: up to 4096, which all come to the same, as the share is that of every 4096 bytes",
    ),
    done("dedupe_percentage", Number, "share of blocks that occur elsewhere too"),
    done(
        "dedupe_mode",
        Word(&["repeat", "working_set"]),
        "which blocks occur again: a few, or any of a working set",
    ),
    done(
        "dedupe_working_set_percentage",
        Number,
        "size of that set in percent of a clone's part of its file; 5 without",
    ),
    done("dedupe_global", Bool, "the sets of all jobs that say so are one"),
    also(
        done("mem", MEMORY, "memory of the buffers: mmaphuge and shmhuge are reserved huge pages"),
        &["iomem"],
    ),
    also(
        harmless("iomem_align", Bytes, "alignment of the buffers", "they are aligned to pages at least"),
        &["mem_align"],
    ),
    harmless("hugepage-size", Bytes, "size of huge pages", "that of the machine is taken"),
    done(
        "lockmem",
        Bytes,
        "memory that each clone locks, so that less is left for the page cache; where that fails, or would leave less than a sixteenth of what is available, it is an error (fio goes on without a word, or is killed)",
    ),
    done(
        "verify",
        VERIFY,
        "check what is read by the header and the sum of its block, as fio writes them (files of sha256 and sha512 are not exchanged with fio 3.33, which writes something else there)",
    ),
    done("do_verify", Bool, "whether a job that writes reads back and checks"),
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
        "size of a checked block, of which there are several in a block that is written; where it does not divide the block size, each block is checked as a whole, as in fio",
    ),
    done("verify_offset", Bytes, "place of the header in a checked block"),
    done(
        "verify_pattern",
        Text,
        "bytes behind the header instead of random ones, as for buffer_pattern; without verify the whole block, as with verify=pattern; %o is the offset in eight bytes at which the pattern was begun",
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
        "what writes and verifies leaves how far it came in local-JOB-CLONE-verify.state (default 1; below --aux-path); the file is fathom's own",
    ),
    done(
        "verify_state_load",
        Bool,
        "a job that only checks (rw=read, verify_only) checks as many blocks as such a file says; a job that writes reads back all that it wrote",
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
        "the number of a write in its header is not looked at; every write of a job has the same number",
    ),
    harmless(
        "verify_header_seed",
        Bool,
        "check the seed in the header",
        "the sum says whether a block is whole; seeds are neither written nor looked at",
    ),
    harmless(
        "verifysort",
        Bool,
        "read back in ascending order",
        "as in fio 3.33 with either value, what may overlap is read back in ascending order, and the rest in that of writing",
    ),
    harmless("verifysort_nr", Number, "how many are sorted", "all are, or none"),
    done(
        "trim_percentage",
        Number,
        "with verify and trim_backlog: percentage of the blocks written that are given back, of files as holes (fio 3.42 fails there)",
    ),
    done(
        "trim_verify_zero",
        Bool,
        "what was given back is read back, and must be zeros (1, if it is not given); 0: it is not read back",
    ),
    done("trim_backlog", Number, "after this number of writes blocks are given back; 0: none are"),
    done(
        "trim_backlog_batch",
        Number,
        "how many at most at a time; as many as trim_backlog, if it is not given",
    ),
    harmless(
        "experimental_verify",
        Bool,
        "read back by repeating the sequence of writes",
        "what is read back is what was written, which comes to the same",
    ),
];
