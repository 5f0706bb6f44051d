//! Degrees of freedom of the cciss table, in full: fitted values, guesses, and choices made after looking at which results.

/// The degrees of freedom, one or two sentences each.
pub const FREEDOM: [&str; 11] = [
    "two numbers were fitted. The controller's ceiling of 88.5 MB/s, to 1x3GB-DIO under rc8, with the device alone; it was not set again when \
     the full stack made 5 % less of it; the model does the same under rc8*, so that cell is no second proof. And what is joined past the cache \
     (nothing), after 2x1.5GB under rc8 had been seen: see below",
    "one binary choice, which commands go past the cache, was read off the table: H1 by size, H2 by what is outstanding. The mail cannot decide \
     between them, and neither do these cells; two findings below speak for H1",
    "guessed before, the same for every cell: stripe unit 64 KiB (the controller's default; the collapse rests on it: with 32 KiB 7.4, with \
     128 KiB 12.1 MB/s, --ablation), zones and heads of the disks, 64 MiB of cache and its share for writes, 128 commands at once, CPU times, 7000 MiB for \
     the page cache",
    "chosen after first results of the full stack were seen: past the cache each command is carried out alone. Before, commands that \
     directly follow each other were joined up to 8 MiB, a guess that a prototype could make because it let the writers alternate command by \
     command. The kernel's queue does not: some 7 commands of a file follow each other. Joined, under H1, 1, 2 and 3 writers come to 24, \
     20 and 22 MB/s, and the ratio of 2 writers is 4.5, too little for a collapse. Then two guesses were looked up: bios end at 31 pages \
     (bio_get_nr_vecs of that kernel) and the driver has 512 commands at once for this board. With these and joined as first guessed 2 writers \
     come to 14.5 MB/s, and the ratio is 6.1 under H1 and 4.0 under H2: H1 needs no fitted number for the collapse, and H2 does. The table \
     keeps its values",
    "that choice makes 1x3GB a larger miss (24 MB/s before): nothing here tells one writer from two. What the firmware does for one stream \
     is not known, and the two open cells are not tuned for",
    "the mail does not say which scheduler; CFQ is what the kernel takes if nobody chooses. noop, deadline and anticipatory give the same \
     collapse (--ablation)",
    "CFQ of that kernel lets 16 requests of write-back out at a time, ours as many as the controller takes. Held to 16, H1 is as before and \
     under H2 nothing goes past the cache (4 MiB fit): so either another scheduler ran, or H2 is wrong",
    "bios of write-back are as long as a request, a guess. The kernel's own ends at 31 pages on this controller; then requests of ascending \
     pages are of 248 KiB instead of 256, those of descending pages are the same, and the figures are within 4 % (--ablation)",
    "physical pages come from memory that is free in one piece, by batches of 31 for each CPU, and are never given back. Where both CPUs take \
     batches by turns some requests have 6 or 7 segments; with one CPU all have 4 or 5. \
     The tolerance says \"exact\" and is a miss by that. Requests that end with an extent or a writer's turn are shorter whatever the pages, and \
     are not counted",
    "a program's own pages (DIO) lie anywhere, a segment each: requests of 120 KiB. If they lay in one piece, H1 would send them past the \
     cache, and the logs say it was not so",
    "files lie one after the other; by turns of 1027 blocks, as windows of ext2 would lay them, 2 writers are 4 % faster under \
     H1, and under H2 those of rc8* come to 57 MB/s and no longer to 90: if ext2 of that kernel laid them so, H2 is wrong. Not modelled: why the \
     two writers of 2x1.5GB-DIO under rc8 were unequal (32 and 47 MB/s)",
];
