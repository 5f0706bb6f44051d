//! What must be the same in both, and what cannot be: random shares, and amounts limited by time.

use super::program::Came;
use serde_json::Value;
use std::collections::BTreeSet;

const SIDES: [&str; 4] = ["read", "write", "trim", "mixed"];

/// What a command line leaves to chance.
struct Loose {
    /// Limited by time: only whether anything was done is compared.
    timed: bool,
    /// Reads and writes are drawn at random: only their sum is compared.
    mixed: bool,
    read_back: bool,
    /// Block sizes, or which blocks come, are drawn at random.
    sizes: bool,
    /// Counts that differ between versions of fio; the newer one is imitated.
    counts: bool,
    /// Several passes over a file.
    passes: bool,
    syncs: bool,
    /// A finished job ends the others, which may not have started.
    ended: bool,
}

impl Loose {
    fn of(line: &str, older: bool) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
        let mixed = has(&["--rw=rw", "--rw=randrw"]);
        let verifies = has(&["--verify"]) && !has(&["--do_verify=0"]);
        let loops = has(&["--loops="]);
        // Which of several jobs ends first, and what the others did by then, nobody knows.
        let ends_others = has(&["--numjobs=", "--name=b"]);
        // It ends where the order and the draw do not find a block, and where a direction of a mix comes to its end.
        let odd = has(&["--bs=3k", "--io_size="]) || loops;
        let uneven = odd || has(&["--size=100k", "--nrfiles=3"]);
        // How much a mix writes is drawn, and what is read back of it decides whether another pass begins.
        let passes = mixed && verifies && has(&["--io_size="]);
        let drawn_end = has(&["--percentage_random="]) && uneven || loops && mixed || passes;
        // Whether a mix draws the direction that has no block left comes first or last.
        let one_block_each = has(&["--rw=rw"])
            && has(&["--size=100k"])
            && (has(&["--bs=64k"]) || has(&["--bs=16k"]) && has(&["--file_append=1", "--nrfiles=4"]));
        // Blocks of changing sizes behind the end of a file end where one is drawn that is cut off.
        let cut_off = has(&["--file_append=1"]) && has(&["--rw=rand"]) && has(&["bsrange", "bssplit"]);
        // How many places differ that are drawn one by one is chance; of zones that are gone round again fio reads back the last block alone.
        let places = verifies
            && has(&["--norandommap", "--zonemode=", "zoned:", "--blockalign=", "--percentage_random="]);
        // A mix whose file is not there yet reads less where it was not written yet.
        let grows = mixed && has(&["--create_on_open"]);
        // fio ends without the last writes of a queue that syncs, and counts one of them or not.
        let abandons = has(&["--number_ios="]) && has(&["sync=", "--write_barrier="]) && has(&["--iodepth="]);
        // Which zones the LFSR finds a place in, and which of several files have room for the next size, is drawn.
        let zones = (has(&["zoned:"]) && has(&["lfsr"]) && uneven)
            || (has(&["bsrange", "bssplit"]) && has(&["lfsr"]) && verifies)
            || (has(&["--zonemode="]) && has(&["--nrfiles="]) && has(&["bsrange", "bssplit"]))
            || (has(&["--zonemode="]) && uneven && has(&["zoned:"]));
        let gathers = has(&["--ioengine=vsync"]) && has(&["--iodepth=", "--number_ios="]);
        Self {
            passes: loops || has(&["--io_size="]),
            timed: has(&["--runtime=", "--flow=", "--latency_target="]) || has(&["--exitall"]) && ends_others,
            ended: has(&["--exitall"]) && ends_others,
            mixed,
            // What a mix wrote is read back: how much that is is drawn.
            read_back: mixed && verifies,
            sizes: has(&["bsrange", "bssplit"]),
            // fio loses what vsync has gathered, forgets loops in threads that submit, counts late what those did, takes a share of a file that is not there as 0 until
            // it is, and a distribution that leaves no block ends its job anywhere.
            counts: drawn_end
                || one_block_each
                || cut_off
                || places
                || zones
                || has(&["--number_ios="]) && has(&["bsrange", "bssplit"])
                || gathers
                || grows
                || abandons
                || has(&["--io_submit_mode=offload"]) && has(&["--loops=", "--io_size=", "--number_ios="])
                || has(&["--offset=25%"])
                    && has(&["--loops=", "--filename=", "--io_size=", "bsrange", "bssplit"])
                || has(&["zipf", "pareto", "normal"]),
            // Debian's counts some syncs of a queue twice. No release counts those that are no fsync.
            syncs: mixed
                || has(&["bsrange", "bssplit", "fsync_on_close", "--fdatasync", "--sync_file_range"])
                || has(&["--verify_backlog="]) && has(&["--iodepth="])
                || older && has(&["--iodepth"]),
        }
    }
}

/// Each difference in words.
pub fn differences(line: &str, fio: &Came, fathom: &Came, older: bool) -> Vec<String> {
    let mut found = Vec::new();
    let (Some(theirs), Some(ours)) = (&fio.document, &fathom.document) else {
        if fio.document.is_some() != fathom.document.is_some() {
            found.push("only one has a document".to_owned());
        }
        return found;
    };
    let loose = Loose::of(line, older);
    let jobs = |document: &Value| document["jobs"].as_array().cloned().unwrap_or_default();
    let (theirs_jobs, ours_jobs) = (jobs(theirs), jobs(ours));
    // fio leaves an empty entry, which is on its page of differences.
    if line.contains("--stats=0") {
        return found;
    }
    if theirs_jobs.len() != ours_jobs.len() {
        found.push(format!("{} entries, here {}", theirs_jobs.len(), ours_jobs.len()));
        return found;
    }
    // With O_DIRECT, fio's own pre-read of the files fails. The documentation says so, too.
    let reads_direct = line.contains("--pre_read=1") && line.contains("--direct=1");
    // If a block is rewritten while a write of it is in flight, the write that lands last decides what fio reports as wrong.
    let writes_over = ["--verify=", "--iodepth=", "--random_distribution="].iter().all(|w| line.contains(w));
    let own_errors = reads_direct || writes_over && line.contains("--continue_on_error=");
    for (a, b) in theirs_jobs.iter().zip(&ours_jobs) {
        for key in ["jobname", "error", "groupid"] {
            if a[key] != b[key] && !(own_errors && key == "error") {
                found.push(format!("{key}: {}, here {}", a[key], b[key]));
            }
        }
        for key in ["total_ios", "io_bytes"] {
            found.extend(amounts(key, a, b, &loose));
        }
        let syncs = |job: &Value| job["sync"]["total_ios"].as_u64();
        if !loose.timed && !loose.syncs && !loose.counts && syncs(a) != syncs(b) {
            found.push(format!("syncs: {:?}, here {:?}", syncs(a), syncs(b)));
        }
    }
    let (a, b) = (keys(theirs), keys(ours));
    // A job that was ended before it began has no figures of queue depth.
    let unbegun = |key: &str| loose.ended && key.starts_with("/jobs[]/latency_");
    for key in a.symmetric_difference(&b).filter(|key| !unbegun(key)) {
        found.push(format!("key {key} is {}", if a.contains(key) { "not here" } else { "here alone" }));
    }
    let shares = line.contains("--offset=25%") && line.contains("--filename=");
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    // A file ends with its last block, which is random: its size, its offset, or how many blocks vsync loses.
    let gathered = has(&["--ioengine=vsync"]);
    let drawn = has(&["--fallocate=none", "--fallocate=keep", "--create_on_open"])
        && (has(&["--rw=rand"]) || loose.sizes || gathered)
        && (has(&[
            "--norandommap",
            "--number_ios",
            "--io_size",
            "--random_distribution",
            "--rw=randrw",
            "--zonemode=",
        ]) || has(&["--offset=25%"]) && loose.sizes
            || gathered);
    // A mix finds its files as long as they are to be.
    let whole = loose.mixed && has(&["--create_on_open"]);
    let grows = loose.timed || shares || drawn || whole || loose.sizes && line.contains("file_append");
    if fio.files != fathom.files && !grows {
        found.push(format!("files: {:?}, here {:?}", fio.files, fathom.files));
    }
    found
}

/// Operations or bytes of the sides of an entry.
fn amounts(key: &str, a: &Value, b: &Value, loose: &Loose) -> Option<String> {
    let of =
        |job: &Value| -> Vec<u64> { SIDES.iter().map(|side| job[side][key].as_u64().unwrap_or(0)).collect() };
    let (theirs, ours) = (of(a), of(b));
    let sum = |sides: &[u64]| sides.iter().sum::<u64>() as f64;
    let (all, here) = (sum(&theirs), sum(&ours));
    let operations = key == "total_ios";
    let near = |share: f64, more: f64| (all - here).abs() <= share * all + more;
    let same = if loose.timed || loose.counts {
        // fathom reads back the data written until the stop. fio does not.
        loose.mixed
            || loose.ended
            || theirs.iter().zip(&ours).all(|(x, y)| *x == 0 || *y > 0)
                && (!operations || reads_along(&theirs, &ours))
    } else if loose.sizes {
        // Bytes are those of whole blocks of any size.
        let share = if loose.read_back { 0.1 } else { 0.02 };
        // fio draws the same sizes in each pass.
        let many = if loose.passes { 0.5 } else { 0.25 };
        if operations { near(many, 8.0) } else { near(share, 65536.0) }
    } else if loose.mixed {
        if loose.read_back { near(0.1, if operations { 8.0 } else { 1_048_576.0 }) } else { near(0.0, 0.0) }
    } else {
        theirs == ours
    };
    (!same).then(|| format!("{key}: {theirs:?}, here {ours:?}"))
}

/// Whether a job that reads back while it writes does as much of both as in fio, as far as a job with a time limit shows it.
fn reads_along(theirs: &[u64], ours: &[u64]) -> bool {
    let ([their_reads, their_writes, ..], [reads, writes, ..]) = (theirs, ours) else { return true };
    let many = *their_writes >= 200 && *writes >= 200;
    !many || 4 * reads * their_writes >= their_reads * writes
}

/// The keys of a document, but those that name disks, percentiles, options, or are our own.
fn keys(document: &Value) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    walk(document, "", &mut out);
    out
}

fn walk(value: &Value, path: &str, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                let path = format!("{path}/{key}");
                let left_out = ["fathom", "disk_util", "percentile", "bins"].contains(&key.as_str());
                if !left_out {
                    walk(inner, &path, out);
                    out.insert(path);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| walk(inner, &format!("{path}[]"), out)),
        _ => {}
    }
}
