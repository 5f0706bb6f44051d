//! The effect of each option on [`Options`](super::Options), and its banner line. One arm per table row, including the checks that
//! IOzone makes while parsing the option.

use super::IozoneExit;
use super::exit::{bad_argument, invalid, size_error, unknown, unknown_plus};
use super::help;
use super::options::{BurstOption, Locking, MAX_RECORD_KB, MAX_STREAMS, Msync, RateUnit, Sharing, SyncFlag};
use super::parse::{ArgumentValue, IozoneParser, LARGEST_KB, MOST_CPUS};
use super::table::IozoneOption;
use super::telemetry::LONGEST_MS;
use super::words::{IozoneWords, number, size_kb};

impl IozoneParser<'_> {
    pub(super) fn set_plain(
        &mut self,
        row: &IozoneOption,
        value: &ArgumentValue<'_>,
        words: &mut IozoneWords<'_>,
    ) -> Result<(), IozoneExit> {
        let o = &mut self.options;
        match row.letter {
            'a' => {
                o.auto = true;
                o.purge = false;
                o.multi_buffer = false;
                self.splash("Auto Mode");
            }
            'A' => {
                o.auto = true;
                o.old_auto = true;
                o.no_crossover = true;
                self.splash("Auto Mode 2. This option is obsolete. Use -az -i0 -i1 ");
            }
            'b' => {
                o.worksheet = Some(value.path());
                o.report = true;
            }
            'B' => {
                o.mmap = true;
                self.splash("Using mmap files");
            }
            'c' => {
                o.close_timed = true;
                self.splash("Include close in write timing");
            }
            'C' => o.show_children = true,
            'd' => {
                o.release_gap_us = value.count();
                if o.release_gap_us > LONGEST_MS.saturating_mul(1000) {
                    return Err(invalid(11, "-d takes microseconds, at most 3600000000 (an hour)"));
                }
            }
            'D' => {
                o.mmap = true;
                o.msync = Msync::Async;
                self.splash("Using msync(MS_ASYNC) on mmap files");
            }
            'e' => {
                o.fsync_timed = true;
                self.splash("Include fsync in write timing");
            }
            'E' => o.extended = true,
            'f' => {
                if !o.files.is_empty() {
                    return Err(invalid(11, "-f and -F are mutually exclusive"));
                }
                o.file = Some(value.path());
            }
            'F' => self.set_files(value, words)?,
            'g' => {
                o.max_file_kb = Some(value.count());
                self.splash(format!("Using maximum file size of {} kilobytes.", value.count()));
            }
            'G' => {
                o.msync = Msync::Sync;
                self.splash("Using msync(MS_SYNC) on mmap files");
            }
            'h' => return Err(help::help()),
            'H' => self.set_depth(0, value, "POSIX async I/O (with bcopy). Depth ")?,
            'i' => self.set_test(value.number()),
            'I' => {
                o.direct = true;
                self.splash("O_DIRECT feature enabled");
            }
            'j' => o.stride = Some(value.count()),
            'J' => {
                o.think_ms = value.count();
                if o.think_ms > LONGEST_MS {
                    return Err(invalid(11, "-J takes milliseconds, at most 3600000 (an hour)"));
                }
            }
            'k' => self.set_depth(1, value, "POSIX Async I/O (no bcopy). Depth ")?,
            'K' => {
                o.disturb = true;
                self.splash("Disrupted read patterns selected.");
            }
            'l' => o.min_streams = Some(streams(value.number(), 1)?),
            'u' => o.max_streams = Some(streams(value.number(), 1)?),
            't' => {
                let n = streams(value.number(), 8)?;
                o.streams.push(n);
            }
            'L' => o.cache_line_bytes = Some(value.count()),
            'm' => {
                o.multi_buffer = true;
                self.splash("Multi_buffer. Work area 16777216 bytes");
            }
            'M' => {
                let machine: String = self.uname.chars().take(99).collect();
                o.splash.push(format!("\n\tMachine = {machine}"));
            }
            'n' => {
                o.min_file_kb = Some(value.count());
                self.splash(format!("Using minimum file size of {} kilobytes.", value.count()));
            }
            'N' => {
                o.unit = RateUnit::UsPerOp;
                self.splash("Microseconds/op Mode. Output is in microseconds per operation.");
            }
            'o' => {
                o.sync = SyncFlag::Sync;
                self.splash("SYNC Mode. ");
            }
            'O' => {
                // With both, IOzone shows microseconds whatever the order.
                if o.unit != RateUnit::UsPerOp {
                    o.unit = RateUnit::OpsPerS;
                }
                self.splash("OPS Mode. Output is in operations per second.");
            }
            'p' => {
                o.purge = true;
                self.splash("Purge Mode On");
                self.note(
                    row,
                    "memory of the size of -S is walked before every operation; IOzone walks less, and its rates are higher",
                );
            }
            'P' => {
                let first = u32::try_from(value.count()).unwrap_or(MOST_CPUS).min(MOST_CPUS);
                o.first_cpu = Some(first);
                self.splash(format!("Binding of processors beginning with {first} "));
            }
            'q' => {
                record_limit(value.count())?;
                o.max_record_kb = Some(value.count());
                o.no_crossover = true;
                self.splash(format!("Using Maximum Record Size {} kB", value.count()));
            }
            'y' => {
                let kb = value.count().max(1);
                o.min_record_kb = Some(kb);
                o.no_crossover = true;
                self.splash(format!("Using Minimum Record Size {kb} kB"));
            }
            'Q' => {
                o.operation_logs = true;
                self.splash("Offset/latency files enabled.");
            }
            'r' => {
                let kb = if value.count() == 0 { 4 } else { value.count() };
                record_limit(kb)?;
                o.record_kb.push(kb);
                o.no_crossover = true;
                self.splash(format!("Record Size {kb} kB"));
            }
            'R' => {
                o.report = true;
                self.splash("Excel chart generation enabled");
            }
            's' => {
                let kb = if value.count() == 0 { 512 } else { value.count() };
                o.file_kb.push(kb);
                o.no_crossover = true;
                self.splash(format!("File size set to {kb} kB"));
            }
            'S' => o.cache_kb = Some(value.count()),
            'T' => o.threads = true,
            'U' => o.remount = Some(value.path()),
            'v' => return Err(help::version()),
            'V' => {
                let byte = value.number() as u8;
                o.verify_byte = Some(byte);
                let shown = if byte == 0 { o.mark() } else { byte };
                self.splash(format!("Verify Mode. Pattern {:x}", u32::from(shown) * 0x0101_0101));
                self.splash("Performance measurements are invalid in this mode.");
            }
            'w' => {
                o.keep = true;
                self.splash("Setting no_unlink");
            }
            'W' => {
                o.locking = Locking::File;
                self.splash("Lock file when reading/writing.");
            }
            'x' => {
                o.no_stonewall = true;
                self.splash("Stonewall disabled");
            }
            'X' => {
                o.write_telemetry = Some(value.path());
                self.splash(format!("Using write telemetry file \"{}\"", value.word()));
            }
            'Y' => {
                o.read_telemetry = Some(value.path());
                self.splash(format!("Using read telemetry file \"{}\"", value.word()));
            }
            'z' => {
                o.no_crossover = true;
                self.splash("Cross over of record size disabled.");
            }
            other => return Err(unknown(&other.to_string())),
        }
        self.check_remount(row.letter)
    }

    pub(super) fn set_plus(
        &mut self,
        row: &IozoneOption,
        value: &ArgumentValue<'_>,
    ) -> Result<(), IozoneExit> {
        let o = &mut self.options;
        match row.letter {
            'n' => {
                o.no_retest = true;
                self.splash("No retest option selected");
            }
            'u' => {
                o.cpu = true;
                self.splash("CPU utilization Resolution = 0.000 seconds.");
                self.splash("CPU utilization Excel chart enabled");
            }
            'q' => {
                o.delay_s = value.count().min(315_360_000); // ten years
                let seconds = o.delay_s;
                self.splash(format!("Delay {seconds} seconds between tests enabled."));
            }
            'd' => {
                o.diagnose = true;
                self.splash(">>> I/O Diagnostic mode enabled. <<<");
                self.splash("Performance measurements are invalid in this mode.");
            }
            'p' => {
                o.mix_read_percent = Some(value.percent().max(1));
                self.splash(format!("Percent read in mix test is {}", value.percent().max(1)));
            }
            'w' => {
                o.duplicate_percent = Some(value.percent());
                self.splash(format!("Dedup activated {} percent.", value.percent()));
            }
            'C' => {
                o.within_percent = Some(value.percent());
                self.splash(format!("Dedup within {} percent.", value.percent()));
            }
            'S' => {
                o.data_seed = Some(value.count());
                self.splash(format!("Dedup manual seed {} .", value.count()));
            }
            'B' => {
                o.mix_sequential = true;
                self.splash(">>> Sequential Mixed workload. <<<");
            }
            'k' => o.total_size = true,
            'D' => {
                o.sync = SyncFlag::Dsync;
                self.splash(">>> O_DSYNC mode enabled. <<<");
            }
            'r' => {
                o.sync = SyncFlag::Rsync;
                self.splash("Read & Write sync mode active.");
            }
            'E' => {
                o.existing_only = true;
                self.splash(">>> No Verify mode. <<<");
            }
            'N' => o.no_recreate = true,
            'V' => {
                o.sharing = Sharing::Shared;
                self.splash(">>> Shared file mode enabled. <<<");
            }
            'L' => {
                o.sharing = Sharing::Shared;
                o.locking = Locking::Record;
                self.splash(">>> Record locking, shared file mode enabled. <<<");
            }
            'l' => {
                o.locking = Locking::Record;
                self.splash(">>> Record locking mode enabled. <<<");
            }
            'z' => {
                o.histograms = true;
                self.splash("Histogram summary enabled.");
            }
            'O' => {
                let ops = value.count();
                if ops == 0 {
                    return Err(bad_argument('+', "-+O needs a number of operations above 0".into()));
                }
                o.rate_ops = Some(ops);
                self.splash(format!("Rate control active {ops} Ops/sec ."));
            }
            'T' => o.child_logs = true,
            'b' => self.set_burst(value.word())?,
            'x' => {
                if value.count() < 2 {
                    return Err(bad_argument('+', "-+x needs a factor of at least 2".into()));
                }
                o.multiplier = Some(value.count());
            }
            'A' => {
                let advice = u8::try_from(value.number()).ok().filter(|&a| a <= 4).ok_or_else(|| {
                    bad_argument(
                        '+',
                        "-+A needs 0 normal, 1 random, 2 sequential, 3 dontneed or 4 willneed".into(),
                    )
                })?;
                o.madvise = Some(advice);
                self.splash(format!("Madvise enabled: {advice}"));
            }
            'J' => {
                o.think_counted = true;
                self.splash(">>> Think time is included in throughput cal. <<<");
            }
            'K' => {
                o.mix_readers = Some(u32::try_from(value.count()).unwrap_or(u32::MAX));
                self.splash("Manual control of test 8. >>> Very Experimental. Sony special <<<");
            }
            'F' => o.mix_truncate = true,
            'X' => {
                o.mark_byte = Some(0xbb);
                self.splash("Short circuit mode. For");
                self.splash(" filesystem development testing ONLY !");
            }
            'Z' => {
                o.mark_byte = Some(0xa5);
                self.splash("Using old data sets.");
                self.splash(" Performance measurements may be invalid in this");
                self.splash(" mode due to published hack.");
            }
            other => return Err(unknown_plus(&other.to_string())),
        }
        Ok(())
    }

    /// -H and -k: equivalent here except for their splash lines.
    fn set_depth(&mut self, which: usize, value: &ArgumentValue<'_>, splash: &str) -> Result<(), IozoneExit> {
        const MOST: i64 = 4096;
        let depth = value.number();
        if !(1..=MOST).contains(&depth) {
            return Err(IozoneExit::out(255, "")
                .because(format!("{depth} operations in flight: 1 to {MOST} are possible")));
        }
        self.depths[which] = true;
        self.options.async_depth = u32::try_from(depth).ok();
        self.splash(format!("{splash}{depth}{}", if which == 1 { " " } else { "" }));
        Ok(())
    }

    /// Tests above 11 do not exist in the Linux build: test 0 runs instead.
    fn set_test(&mut self, n: i64) {
        let test = u8::try_from(n).ok().filter(|&t| t <= 11);
        if test.is_none() {
            self.splash("Selected test not available on the version.");
        }
        let test = test.unwrap_or(0);
        if !self.options.tests.contains(&test) {
            self.options.tests.push(test);
        }
    }

    fn set_files(
        &mut self,
        first: &ArgumentValue<'_>,
        words: &mut IozoneWords<'_>,
    ) -> Result<(), IozoneExit> {
        let o = &mut self.options;
        if o.file.is_some() {
            return Err(invalid(11, "-f and -F are mutually exclusive"));
        }
        let wanted = o.most_streams();
        if wanted == 0 {
            return Err(invalid(12, "must specify -t N before -F"));
        }
        o.files = vec![first.path()];
        while o.files.len() < wanted as usize {
            let missing = || {
                invalid(13, &format!("not enough filenames for {wanted} streams"))
                    .because(format!("-F needs {wanted} file names, one for each stream"))
            };
            o.files.push(words.next_plain_word().ok_or_else(missing)?.into());
        }
        Ok(())
    }

    fn set_burst(&mut self, word: &str) -> Result<(), IozoneExit> {
        let parsed = word.split_once(',').and_then(|(size, pause)| {
            let (kb, ms) = (size_kb(size)?, u64::try_from(number(pause)?).ok()?);
            (kb > 0 && kb <= LARGEST_KB).then_some((kb, ms.min(1 << 40)))
        });
        let Some((kb, pause_ms)) = parsed else {
            return Err(bad_argument('+', "-+b needs a size, a comma and milliseconds: -+b 64k,10".into()));
        };
        self.options.burst = Some(BurstOption { kb, pause_ms });
        self.splash(format!("Burst size set to {kb} Kbytes."));
        self.splash(format!("Burst sleep duration set to {pause_ms} msec"));
        Ok(())
    }
}

fn streams(n: i64, otherwise: u32) -> Result<u32, IozoneExit> {
    if n <= 0 {
        return Ok(otherwise);
    }
    u32::try_from(n).ok().filter(|&n| n <= MAX_STREAMS).ok_or_else(|| {
        let exit = invalid(14, "maximum streams for throughput is MAXSTREAMS");
        IozoneExit { stdout: format!("{}Numchild {n} {n}\n", exit.stdout), ..exit }
            .because(format!("at most {MAX_STREAMS} streams"))
    })
}

fn record_limit(kb: u64) -> Result<(), IozoneExit> {
    if kb > MAX_RECORD_KB {
        return Err(size_error(&format!(
            "maximum record size {kb} kB is greater than maximum buffer size {MAX_RECORD_KB} kB"
        )));
    }
    Ok(())
}
