//! Degrees of freedom of the cciss table, in full: fitted values, guesses, and choices made after looking at which results.

/// The degrees of freedom, one or two sentences each.
pub const FREEDOM: [&str; 11] = [
    "two numbers were fitted. First, the controller's ceiling of 88.5 MB/s, to 1x3GB-DIO under rc8, with the device alone. It was not \
     refitted when the full stack gave 5 % less; the model does the same under rc8*, so that cell is no independent test. Second, how \
     far commands that bypass the cache are merged (not at all), after 2x1.5GB under rc8 had been seen: see below",
    "one binary choice, which commands bypass the cache, was read off the table: H1 by size, H2 by the amount outstanding. Neither the \
     mail nor these cells can decide between them; two findings below favour H1",
    "guessed beforehand, the same for every cell: stripe unit 64 KiB (the controller's default; the collapse depends on it: with 32 KiB 7.4, \
     with 128 KiB 12.1 MB/s, --ablation), zones and heads of the disks, 64 MiB of cache and its share for writes, 128 commands at once, \
     CPU times, 7000 MiB for the page cache",
    "chosen after the first results of the full stack: each command that bypasses the cache is executed alone. Before, adjacent commands \
     were merged up to 8 MiB, a guess that worked in a prototype because its writers alternated command by command. The kernel's queue does \
     not alternate: about 7 commands of one file follow each other. Merged, under H1, 1, 2 and 3 writers reach 24, 20 and 22 MB/s, and the \
     ratio of 2 writers is 4.5, too little for a collapse. Then two guesses were replaced by values from the sources: bios end at 31 pages \
     (bio_get_nr_vecs of that kernel), and the driver has 512 commands at once for this board. With these values, merged as first guessed, \
     2 writers reach 14.5 MB/s, and the ratio is 6.1 under H1 and 4.0 under H2: the collapse needs a fitted number under H2 but not under \
     H1. The table keeps its values",
    "that choice makes 1x3GB a larger miss (24 MB/s before): the model does not distinguish one writer from two. What the firmware does for \
     a single stream is unknown, and the model is not tuned for the two open cells",
    "the mail does not name the scheduler; CFQ is that kernel's default. noop, deadline and anticipatory give the same collapse (--ablation)",
    "CFQ of that kernel issues 16 write-back requests at a time, ours as many as the controller takes. Limited to 16, H1 is unchanged, and \
     under H2 nothing bypasses the cache (4 MiB fit): so either another scheduler ran, or H2 is wrong",
    "write-back bios are as long as a request, a guess. The kernel's own end at 31 pages on this controller; then requests of ascending pages \
     have 248 KiB instead of 256, those of descending pages are unchanged, and the figures stay within 4 % (--ablation)",
    "physical pages come from contiguous free memory, in batches of 31 per CPU, and are never returned. Where both CPUs take batches in turn, \
     some requests have 6 or 7 segments; with one CPU all have 4 or 5. The tolerance says \"exact\", so this is a miss. Requests cut short by \
     the end of an extent or of a writer's turn are not counted",
    "a program's own pages (DIO) are scattered, one segment each: requests of 120 KiB. If they were contiguous, H1 would send them past the \
     cache, which the logs rule out",
    "files are laid out one after the other. Interleaved by 1027 blocks, like reservation windows of ext2, 2 writers are 4 % faster under H1, and \
     under H2 those of rc8* reach 57 MB/s instead of 90: if ext2 of that kernel interleaved files, H2 is wrong. Not modelled: why the two \
     writers of 2x1.5GB-DIO under rc8 were unequal (32 and 47 MB/s)",
];
