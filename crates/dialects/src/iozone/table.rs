//! The options of IOzone 3.471, one row each: the single source for parsing, help, documentation and refusals. A row gives
//! the argument type and how fathom handles the option; `parse` acts on it.

/// Argument of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// No argument.
    None,
    /// An integer.
    Number(&'static str),
    /// A size in kB, or with a suffix k, m or g.
    Size(&'static str),
    /// A word.
    Word(&'static str),
    /// A path.
    Path(&'static str),
    /// One path per stream.
    Paths(&'static str),
}

impl Argument {
    /// Placeholder in help texts; empty if there is no argument.
    #[must_use]
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Number(p) | Self::Size(p) | Self::Word(p) | Self::Path(p) | Self::Paths(p) => p,
        }
    }
}

/// How an option is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IozoneSupport {
    /// Works as in IOzone.
    Done,
    /// Accepted; the text says what it does here.
    Harmless(&'static str),
    /// An error; the text says why.
    Refused(&'static str),
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct IozoneOption {
    /// Option letter.
    pub letter: char,
    /// Whether it has a plus: `-+n`.
    pub plus: bool,
    /// Argument type.
    pub argument: Argument,
    /// How it is handled.
    pub state: IozoneSupport,
    /// One-line description.
    pub help: &'static str,
}

impl IozoneOption {
    /// The option as written, `-a` or `-+n`.
    #[must_use]
    pub fn name(&self) -> String {
        if self.plus { format!("-+{}", self.letter) } else { format!("-{}", self.letter) }
    }
}

const fn row(letter: char, argument: Argument, help: &'static str) -> IozoneOption {
    IozoneOption { letter, plus: false, argument, state: IozoneSupport::Done, help }
}

const fn plus(letter: char, argument: Argument, help: &'static str) -> IozoneOption {
    IozoneOption { letter, plus: true, argument, state: IozoneSupport::Done, help }
}

const fn harmless(base: IozoneOption, note: &'static str) -> IozoneOption {
    IozoneOption { state: IozoneSupport::Harmless(note), ..base }
}

const fn refused(base: IozoneOption, why: &'static str) -> IozoneOption {
    IozoneOption { state: IozoneSupport::Refused(why), ..base }
}

use Argument::{None, Number, Path, Paths, Size, Word};

const NO_COPY: &str = "the data are not copied once more, as IOzone does here: it is the same as -k";
const NO_CLUSTER: &str = "Many machines at once are measured by fathom-mpi (mpirun -n 4 fathom-mpi iozone -t 4 -+m FILE ...); without the options of a cluster the same line measures this machine.";

/// All options.
pub const OPTIONS: [IozoneOption; 91] = [
    row('a', None, "run all file sizes and record sizes (auto mode)"),
    row('A', None, "the old auto mode: -a -z -i 0 -i 1 with a narrow table"),
    row('b', Path("FILE"), "also write the report as a worksheet (BIFF2) to FILE"),
    row('B', None, "map the test file into memory (mmap)"),
    row('c', None, "count the time of close(), for reads too"),
    row('C', None, "throughput mode: show what each child did"),
    row('d', Number("US"), "throughput mode: microseconds between the release of one child and the next"),
    row('D', None, "map the file and call msync(MS_ASYNC) after each record"),
    row('e', None, "count the time of a final fsync (msync with -B), for reads too"),
    row('E', None, "add tests 9 and 10 (pwrite, pread) to the table"),
    row('f', Path("FILE"), "the test file, instead of iozone.tmp here"),
    row('F', Paths("FILE.."), "throughput mode: one file per stream, after -t or -u"),
    row('g', Size("SIZE"), "auto mode: largest file"),
    row('G', None, "with -B: call msync(MS_SYNC) after each record"),
    row('h', None, "this text"),
    harmless(row('H', Number("N"), "asynchronous I/O with N operations in flight (io_uring)"), NO_COPY),
    row('i', Number("N"), "run test N (see below); may be repeated"),
    row('I', None, "open files with O_DIRECT"),
    row('j', Number("N"), "stride of the stride read in records, 17 if not given"),
    row('J', Number("MS"), "compute for MS milliseconds before each operation; not counted unless -+J"),
    row('k', Number("N"), "asynchronous I/O with N operations in flight (io_uring)"),
    row('K', None, "disturb sequential reads: every 100th first reads two other bytes"),
    row('l', Number("N"), "throughput mode from N streams on (see -u)"),
    harmless(
        row('L', Number("BYTES"), "the CPU's cache line size"),
        "shown in the banner; fathom's own loops do not depend on it",
    ),
    row('m', None, "use one record after the other of a 16 MiB buffer area instead of one buffer"),
    row('M', None, "show what uname says about this machine"),
    row('n', Size("SIZE"), "auto mode: smallest file"),
    row('N', None, "show microseconds per operation"),
    row('o', None, "open files with O_SYNC"),
    row('O', None, "show operations per second"),
    row('p', None, "cool the CPU's caches before each operation (see -S)"),
    row('P', Number("CPU"), "pin stream i to processor CPU + i"),
    row('q', Size("SIZE"), "auto mode: largest record"),
    row('Q', None, "write offset and latency of every operation to .dat files"),
    row('r', Size("SIZE"), "record size; repeated: a list, in any order"),
    row('R', None, "print the figures again as a report for spreadsheets"),
    row('s', Size("SIZE"), "file size; repeated: a list, in any order"),
    row('S', Number("KB"), "the CPU's cache size, 1024 if not given; what -p walks"),
    row('t', Number("N"), "throughput mode with N streams; repeated: one block for each N"),
    row('T', None, "throughput mode: threads instead of processes"),
    row('u', Number("N"), "throughput mode up to N streams, one block for each count from -l on"),
    row('U', Path("DIR"), "unmount and mount DIR (an entry of /etc/fstab) before every pass"),
    row('v', None, "version"),
    row('V', Number("BYTE"), "write BYTE everywhere and check every byte that is read"),
    row('w', None, "keep the test files"),
    row('W', None, "lock the whole file while testing"),
    row('x', None, "throughput mode: the first stream to finish does not stop the others"),
    row(
        'X',
        Path("FILE"),
        "write as FILE says: lines of offset, length and, if wanted, milliseconds of computing",
    ),
    row('y', Size("SIZE"), "auto mode: smallest record"),
    row('Y', Path("FILE"), "read as FILE says"),
    row('z', None, "auto mode: do not leave out small records of large files"),
    refused(
        row('Z', None, "mix mapped and ordinary I/O on the file"),
        "The workload model has no single extra write() before a pass over a mapped file.",
    ),
    plus('n', None, "no second passes: rewrite, reread and the like are not run"),
    plus('u', None, "show CPU time"),
    plus('q', Number("S"), "sleep S seconds after each pass"),
    refused(plus('m', Path("FILE"), "run on the machines that FILE lists"), NO_CLUSTER),
    plus('d', None, "diagnosis: every word written says where it belongs, and all of it is checked"),
    plus('p', Number("PERCENT"), "mixed test: share of the streams that read"),
    plus('w', Number("PERCENT"), "share of the written records that occur elsewhere too (deduplication)"),
    refused(
        plus(
            'y',
            Number("PERCENT"),
            "share of the repeated records that repeat inside the file and across files",
        ),
        "The workload model repeats a record either inside its file or across files, not both at once.",
    ),
    plus(
        'C',
        Number("PERCENT"),
        "with -+w: share of the repeated records that repeat inside their file only",
    ),
    plus(
        'S',
        Number("SEED"),
        "with -+w: seed of the data; runs with the same seed share their repeated records",
    ),
    refused(
        plus('W', Number("N"), "add N to the number of each child when choosing its data"),
        "The workload model numbers the workers of a phase from 0.",
    ),
    plus('B', None, "mixed test: sequential instead of random"),
    plus('k', None, "throughput mode: -s is the size of all files together"),
    plus('D', None, "open files with O_DSYNC"),
    plus('r', None, "open files with O_RSYNC and O_SYNC"),
    plus('E', None, "only read, from a file that exists already; it is neither checked nor removed"),
    plus('N', None, "do not remove an existing file before the write test"),
    plus('V', None, "all streams use one file"),
    plus('L', None, "all streams use one file and lock each record"),
    plus('l', None, "lock each record"),
    plus('z', None, "throughput mode: write a latency histogram for each child"),
    plus('O', Number("N"), "limit each stream to N operations per second"),
    plus('T', None, "throughput mode: write start and end of each test to Child_N.log"),
    plus('b', Word("SIZE,MS"), "after every SIZE: fsync and a pause of MS milliseconds that is not counted"),
    plus('x', Number("N"), "auto mode: each size is N times the last, 2 if not given"),
    plus('A', Number("N"), "with -B: madvise 0 normal, 1 random, 2 sequential, 3 dontneed, 4 willneed"),
    plus('J', None, "count the computing time of -J"),
    plus('K', Number("N"), "mixed test: the first N streams read"),
    plus('F', None, "mixed test: writers truncate their file first"),
    refused(plus('t', None, "measure the network of a cluster"), NO_CLUSTER),
    refused(plus('h', Word("HOST"), "this machine's name in a cluster"), NO_CLUSTER),
    refused(plus('i', Number("PORT"), "first network port of a cluster"), NO_CLUSTER),
    refused(plus('s', None, "be silent (a client of a cluster)"), NO_CLUSTER),
    refused(plus('c', Word("HOST"), "be a client of HOST"), NO_CLUSTER),
    refused(
        plus('H', Word("HOST"), "ask the time server on HOST"),
        "fathom reads the processor's clock, checked against the kernel's, and asks no other machine for the time.",
    ),
    refused(
        plus('P', Word("SERVICE"), "port of the time server"),
        "fathom reads the processor's clock, checked against the kernel's, and asks no other machine for the time.",
    ),
    plus('X', None, "mark the data with 0xbb"),
    plus('Z', None, "mark the data with 0xa5 as very old releases did"),
    refused(
        plus('a', Number("PERCENT"), "share of zero bytes in the data (3.489)"),
        "It is newer than release 3.471, which this dialect follows; use a native workload with data = { reducible = { \
         compressible_percent = N } }.",
    ),
];

/// Finds the row of a letter.
#[must_use]
pub fn find(letter: char, plus: bool) -> Option<&'static IozoneOption> {
    OPTIONS.iter().find(|r| r.letter == letter && r.plus == plus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_option_stands_twice() {
        for (i, a) in OPTIONS.iter().enumerate() {
            assert!(!OPTIONS[..i].iter().any(|b| (a.letter, a.plus) == (b.letter, b.plus)), "{}", a.name());
        }
    }

    #[test]
    fn every_option_of_3_471_has_a_row() {
        for letter in "aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ".chars() {
            assert!(find(letter, false).is_some(), "-{letter}");
        }
        for letter in "nuqmdpwyCSWBkDrENVLlzOTbxAJKFthiscHPXZ".chars() {
            assert!(find(letter, true).is_some(), "-+{letter}");
        }
    }

    #[test]
    fn reasons_are_sentences() {
        for row in &OPTIONS {
            if let IozoneSupport::Refused(why) = row.state {
                assert!(why.ends_with('.') && why.len() > 20, "{}: {why}", row.name());
            }
        }
    }
}
