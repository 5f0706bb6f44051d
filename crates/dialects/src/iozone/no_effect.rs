//! Options of a valid command line that have no effect because another one is missing. They are reported, not refused, as
//! IOzone accepts them and existing scripts contain them.

use super::options::{IozoneOptions, Msync};

/// Adds notes about options without effect.
pub(super) fn tell(o: &mut IozoneOptions) {
    let mut say = |condition: bool, sentence: &str| {
        if condition {
            o.notes.push(sentence.into());
        }
    };
    let streams = !o.streams.is_empty() || o.min_streams.is_some() || o.max_streams.is_some();
    say(o.msync == Msync::Sync && !o.mmap, "-G: changes nothing without -B");
    say(o.madvise.is_some() && !o.mmap, "-+A: changes nothing without -B");
    say(o.cache_kb.is_some() && !o.purge, "-S: shown in the banner; it changes nothing without -p");
    say(o.think_counted && o.think_ms == 0, "-+J: changes nothing without -J");
    say(o.within_percent.is_some() && o.duplicate_percent.is_none(), "-+C: changes nothing without -+w");
    say(o.data_seed.is_some() && o.duplicate_percent.is_none(), "-+S: changes nothing without -+w");
    let auto_limits =
        [o.min_file_kb, o.max_file_kb, o.min_record_kb, o.max_record_kb].iter().any(Option::is_some);
    say(auto_limits && !o.auto && !streams, "-n, -g, -y, -q: change nothing without -a");
    let stream_options = o.threads || o.no_stonewall || o.show_children || o.release_gap_us > 0;
    say(stream_options && !streams, "-C, -d, -T, -x: change nothing without -t, -l or -u");
    let more = o.histograms || o.child_logs || o.total_size;
    say(more && !streams, "-+k, -+T, -+z: change nothing without -t, -l or -u");
    let mixed = o.mix_read_percent.is_some() || o.mix_readers.is_some() || o.mix_sequential || o.mix_truncate;
    say(
        mixed && !(streams && (o.tests.is_empty() || o.tests.contains(&8))),
        "-+p, -+K, -+B, -+F: change nothing without test 8 in throughput mode",
    );
    say(o.tests.contains(&8) && !streams, "-i 8: the mixed test exists in throughput mode only");
    say(o.tests.contains(&11), "-i 11: IOzone's Linux build has no such test; nothing runs for it");
    let pread = o.tests.contains(&9) || o.tests.contains(&10);
    say(pread && !o.extended && !streams, "-i 9, -i 10: run in a table only with -E");
    let mapped_away = [6, 7, 9, 10].iter().any(|t| o.tests.contains(t));
    say(mapped_away && o.mmap && !streams, "-i 6, 7, 9, 10: not run on a mapped file");
    say(o.tests.contains(&4) && streams, "-i 4: there is no record rewrite in throughput mode");
}
