//! Options for block selection, order and random numbers.

use super::Kind::{Bool, Flag, Number, Text, Word};
use super::{FioOption, also, done, harmless};

const DISTRIBUTION: super::Kind =
    Word(&["random", "zipf", "pareto", "normal", "zoned", "zoned_abs", "sequence"]);

pub(super) static ROWS: &[FioOption] = &[
    done("norandommap", Flag, "random blocks with repeats; otherwise each once a pass"),
    harmless(
        "softrandommap",
        Bool,
        "go on without a map where memory is short",
        "the permutation needs no memory",
    ),
    done(
        "random_generator",
        Word(&["tausworthe", "tausworthe64", "lfsr"]),
        "lfsr never repeats a block, unless block sizes change; the generator itself is fathom's",
    ),
    done(
        "random_distribution",
        DISTRIBUTION,
        "zipf:THETA and pareto:H scatter what is popular, normal:PERCENT does not; each with :CENTRE; zones; sequence:BLOCK,BLOCK...",
    ),
    done(
        "random_sequence_stride",
        Bool,
        "each round of a sequence is as many blocks further on as it has, until one would leave the file",
    ),
    also(done("randrepeat", Bool, "the same numbers in every run"), &["allrandrepeat"]),
    done("randseed", Number, "seed of them"),
    done(
        "percentage_random",
        Text,
        "share of random offsets, of reads, writes and trims; the others follow the last of their kind",
    ),
    harmless("fadvise_stream", Text, "a stream for the device", "hints do not change the requests"),
    harmless("random_seed", Number, "an old name without effect", "randseed is meant"),
];
