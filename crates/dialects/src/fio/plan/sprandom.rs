//! `sprandom`: random writes that put an SSD into the state of long random writing, region by region.

use super::super::settings::Settings;
use super::super::{UsageError, World};
use super::direction::{Rw, Trims};
use super::job_files::JobFiles;
use super::{Notes, errors, verify_options};
use fathom_workload::ops::{Place, Region, StreamOps};
use fathom_workload::{Access, Amount, Record, Stream};

const NAME: &str = "sprandom";

/// The order of the job. Its amount is set once the file is known.
pub fn order(s: &Settings, rw: Rw, stream: &mut Stream) -> Result<(), UsageError> {
    if !s.on(NAME, false) {
        return Ok(());
    }
    let fio = |name: &'static str, needs: &str, hint: &str| {
        Err(s
            .wrong(name, format!("{NAME} requires {needs}"))
            .fio(format!("fio: {NAME} requires {needs}\n"))
            .hint(hint))
    };
    if !rw.random || !rw.writes() || rw.trims == Trims::Only {
        return fio("rw", "random write, random_generator=lfsr, norandommap=1", "rw=randwrite");
    }
    if s.word("random_generator").is_some_and(|word| word != "lfsr") {
        return fio("random_generator", "random_generator=lfsr", "leave random_generator out");
    }
    if s.last("norandommap").is_some() && !s.on("norandommap", true) {
        return fio("norandommap", "norandommap=1", "leave norandommap out");
    }
    let without = |name: &'static str, what: &str| {
        Err(s.wrong(name, format!("{NAME} with {what} is not supported")).hint("leave one of the two out"))
    };
    if rw.mixed || rw.called_mix || rw.trims != Trims::No {
        return Err(s
            .wrong("rw", format!("{NAME} with rw={} is not supported", rw.word()))
            .hint("rw=randwrite"));
    }
    if !matches!(stream.access, Access::Permuted | Access::Uniform) {
        let given = ["random_distribution", "percentage_random", "zonemode", "zonesize"];
        return without(s.last_of(&given).unwrap_or("rw"), "another order of blocks");
    }
    if !matches!(stream.record, Record::Fixed(_)) {
        return without(s.last_of(&["bsrange", "bssplit"]).unwrap_or("bs"), "changing block sizes");
    }
    if stream.align.0 != 0 {
        return without("ba", "a blockalign that is not the block size");
    }
    for name in ["time_based", "fill_device"] {
        if s.on(name, false) {
            return without(name, name);
        }
    }
    if verify_options::family(s) != "0" {
        return Err(s
            .wrong("verify", format!("{NAME} with verify is not supported"))
            .hint("a separate job that verifies"));
    }
    let spare = s.floats("spr_op")?.and_then(|given| given.first().copied()).unwrap_or(0.15);
    // Above it, fio's estimate of device writes would be lower than the host writes.
    if !(0.0..5.0 / 3.0).contains(&spare) {
        return Err(s.wrong("spr_op", format!("spr_op={spare}: 0 to less than 5/3 is expected")));
    }
    let regions = s.number("spr_num_regions")?.unwrap_or(100);
    if regions == 0 {
        return Err(s
            .wrong("spr_num_regions", "spr_num_regions=0: at least one region is needed")
            .fio("fio: requires at least one region\n".to_owned()));
    }
    let Some(rounds) = u32::try_from(regions).ok().filter(|&regions| regions <= MOST_REGIONS) else {
        return Err(s.wrong(
            "spr_num_regions",
            format!("spr_num_regions={regions}: at most {MOST_REGIONS} are expected"),
        ));
    };
    // Blocks in the device's cache are not rewritten, or the first write would never reach the flash.
    let apart = if s.number("spr_cs")?.unwrap_or(0) > 0 { 2.min(rounds) } else { 1 };
    stream.access = Access::Preconditioning { spare, rounds, apart };
    Ok(())
}

const MOST_REGIONS: u32 = 1 << 20;

/// Amount to write: the whole file once, plus the spare area.
pub fn amount(
    s: &Settings,
    stream: &Stream,
    laid: &mut JobFiles,
    world: &World<'_>,
    notes: &mut Notes,
) -> Result<(), UsageError> {
    let Access::Preconditioning { spare, rounds, .. } = stream.access else { return Ok(()) };
    if laid.several {
        return Err(s
            .wrong("nrfiles", format!("{NAME} goes over one file"))
            .fio("fio: SPRandom supports only one file\n".to_owned())
            .hint("a job for each file"));
    }
    for name in ["io_size", "loops"] {
        if s.last(name).is_some() {
            notes.say(format!(
                "{name} has no effect here: {NAME} itself defines how much is written, as in fio"
            ));
        }
    }
    let block = stream.record.unit().0.max(1);
    for (part, files) in laid.parts.iter_mut().zip(&laid.files) {
        let found = files.first().filter(|_| stream.backend.has_files()).and_then(|path| (world.find)(path));
        let end = part.file.max(found.filter(|found| !found.bottomless).map_or(0, |found| found.bytes));
        if let Some(path) = files.first().filter(|_| end > part.start + part.length) {
            // fio writes the whole file regardless of size.
            return Err(s
                .wrong(
                    "size",
                    format!(
                        "{NAME} goes over all of {}, which has {end} bytes, and size says less",
                        path.display()
                    ),
                )
                .hint("size=100%"));
        }
        let region = (part.length as f64 * (1.0 + spare) / f64::from(rounds)) as u64;
        if region < block {
            return Err(s
                .wrong(
                    "spr_num_regions",
                    format!("spr_num_regions={rounds}: regions of {region} bytes, and a block has {block}"),
                )
                .hint("fewer regions"));
        }
        let cache = s.number("spr_cs")?.unwrap_or(0);
        if cache >= region {
            let most = (part.length as f64 * (1.0 + spare) / cache as f64) as u64;
            return Err(s
                .wrong("spr_cs", format!("spr_cs={cache} is not smaller than a region, which has {region} bytes"))
                .fio(format!(
                    "fio: {NAME}: spr_cs [{cache}] must be smaller than region_sz [{region}] which means [{most}] regions allowed\n"
                ))
                .hint("fewer regions (spr_num_regions)"));
        }
        let whole = Region { start: 0, length: part.length };
        let pass = Stream { amount: Amount::Pass, sync_every: None, ..stream.clone() };
        let all =
            StreamOps::new(&pass, whole, 1, Place::default()).and_then(|ops| ops.remaining_operations());
        let all = all.ok_or_else(|| s.wrong(NAME, format!("{NAME}: not one block fits into each region")))?;
        let most = errors::most(s)?.unwrap_or(u64::MAX);
        part.amount = Amount::Operations(all.min(most));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::*;

    const JOB: &str = "--name=a --filename=disk.img --bs=4k --rw=randwrite --sprandom=1";

    #[test]
    fn a_job_writes_its_file_and_what_is_spare() {
        let of = |args: &str| {
            let plan = planned(&format!("{JOB} {args}"));
            let job = &plan.jobs[0];
            (job.stream.access.clone(), job.parts[0].amount, plan.notes.join("\n"))
        };
        let access = |spare, rounds, apart| Access::Preconditioning { spare, rounds, apart };
        let (order, amount, notes) = of("--size=32m --spr_op=0.10 --spr_num_regions=50 --spr_cs=0");
        assert_eq!((order, amount), (access(0.1, 50, 1), Amount::Operations(9008)));
        assert_eq!(notes, "");
        let whole = of("--size=400m").1;
        assert!(matches!(whole, Amount::Operations(117_585..=117_760)), "{whole:?}");
        assert_eq!(of("--size=32m --spr_op=0.10 --spr_cs=32k").0, access(0.1, 100, 2));
        assert_eq!(of("--size=400m --number_ios=10").1, Amount::Operations(10));
        // As in fio, these have no effect.
        for args in ["--io_size=1m", "--io_size=1g", "--loops=3"] {
            let (_, amount, notes) = of(&format!("--size=400m {args}"));
            assert_eq!(amount, whole, "{args}");
            assert!(notes.contains("has no effect here: sprandom"), "{notes}");
        }
        let why = refused(&format!("{JOB} --filename=there --size=512k --spr_num_regions=4"));
        assert!(why.contains("goes over all of there, which has 1048576 bytes"), "{why}");
        let plan = planned("--name=a --size=1m --rw=randwrite --sprandom=0 --spr_op=9 --spr_cs=1g");
        assert_eq!(plan.jobs[0].stream.access, Access::Permuted);
    }

    #[test]
    fn what_does_not_go_with_it_is_refused() {
        for (args, what) in [
            ("--rw=randread", "requires random write"),
            ("--rw=write", "requires random write"),
            ("--rw=randtrim", "requires random write"),
            ("--rw=randrw", "rw=randrw"),
            ("--rw=randtrimwrite", "rw=randtrimwrite"),
            ("--rw=randwrite:8", "another order"),
            ("--random_generator=tausworthe", "requires random_generator=lfsr"),
            ("--norandommap=0", "requires norandommap=1"),
            ("--random_distribution=zipf:1.2", "another order"),
            ("--percentage_random=50", "another order"),
            ("--bsrange=4k-8k", "changing block sizes"),
            ("--ba=8k", "blockalign"),
            ("--verify=crc32c", "verify"),
            ("--time_based --runtime=1", "time_based"),
            ("--fill_device=1", "fill_device"),
            ("--filename=a:b", "one file"),
            ("--spr_op=2", "5/3"),
            ("--spr_op=-1", "5/3"),
            ("--spr_num_regions=0", "at least one region"),
            ("--spr_num_regions=2000", "regions of"),
            ("--spr_num_regions=4294967296", "at most"),
            ("--spr_cs=1m", "not smaller than a region"),
        ] {
            let wrong = refused(&format!("{JOB} --size=1m --spr_num_regions=4 {args}"));
            assert!(wrong.contains(what), "{args}: {wrong}");
        }
        let wrong = refused(&format!("{JOB} --size=1m --spr_num_regions=4 --spr_cs=1m"));
        assert!(wrong.contains("must be smaller than region_sz [301465] which means [1] regions"), "{wrong}");
    }
}
