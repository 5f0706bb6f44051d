//! From words to [`Options`]: the table of options drives the parsing, one function says what each option sets and which line of
//! the banner it causes. Checks that IOzone makes while it reads its words are here; those it makes after its banner are in
//! `mixes`.

use super::Exit;
use super::exit::{bad_argument, invalid, size_error, unknown, unknown_plus};
use super::help;
use super::options::{
    BurstOption, Locking, MAX_RECORD_KB, MAX_STREAMS, Msync, Options, Sharing, SyncFlag, Unit,
};
use super::table::{Argument, Row, State, find};
use super::words::{Words, number, size_kb};
use std::path::PathBuf;

/// An argument, read according to its row.
enum Value<'a> {
    None,
    Number(i64),
    SizeKb(u64),
    Word(&'a str),
}

impl Value<'_> {
    /// A number that is not negative.
    fn count(&self) -> u64 {
        match self {
            Self::Number(n) => u64::try_from(*n).unwrap_or(0),
            Self::SizeKb(kb) => *kb,
            _ => 0,
        }
    }

    fn number(&self) -> i64 {
        if let Self::Number(n) = self { *n } else { 0 }
    }

    fn percent(&self) -> u8 {
        u8::try_from(self.count().min(100)).unwrap_or(100)
    }

    fn path(&self) -> PathBuf {
        if let Self::Word(w) = self { PathBuf::from(w) } else { PathBuf::new() }
    }

    fn word(&self) -> &str {
        if let Self::Word(w) = self { w } else { "" }
    }
}

/// Sizes above this (8 EiB) overflow a file offset.
const LARGEST_KB: u64 = (i64::MAX as u64) >> 10;

/// Reads a command line (without the program's name).
///
/// # Errors
/// The end that an option asks for (`-h`, `-v`), or that a mistake causes.
pub(super) fn parse(args: &[String], uname: &str) -> Result<Options, Exit> {
    if args.is_empty() {
        return Err(help::usage());
    }
    let mut parser = Parser { options: Options::default(), uname, refused: None, depths: [false; 2] };
    let mut words = Words::new(args);
    while let Some(letter) = words.letter() {
        if letter == '+' {
            parser.plus(&mut words)?;
        } else {
            parser.plain(letter, &mut words)?;
        }
    }
    parser.finish()
}

struct Parser<'a> {
    options: Options,
    uname: &'a str,
    /// The first option that cannot be honoured; told last, because IOzone's own checks come first.
    refused: Option<Exit>,
    /// Whether -H and -k were given.
    depths: [bool; 2],
}

impl Parser<'_> {
    fn plain(&mut self, letter: char, words: &mut Words<'_>) -> Result<(), Exit> {
        let row = find(letter, false).ok_or_else(|| unknown(&letter.to_string()))?;
        let word = if row.argument == Argument::None {
            None
        } else {
            let missing = || bad_argument(letter, needs(row));
            Some(words.argument().ok_or_else(missing)?)
        };
        let value = read_value(row, word)?;
        if self.state(row) {
            self.set_plain(row, &value, words)?;
        }
        Ok(())
    }

    fn plus(&mut self, words: &mut Words<'_>) -> Result<(), Exit> {
        let name = words.argument().ok_or_else(|| unknown("+"))?;
        let mut letters = name.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else { return Err(unknown_plus(name)) };
        let row = find(letter, true).ok_or_else(|| unknown_plus(name))?;
        let word = if row.argument == Argument::None {
            None
        } else {
            let missing = || Exit { stdout: String::new(), ..bad_argument(letter, needs(row)) };
            Some(words.next_word().ok_or_else(missing)?)
        };
        let value = read_value(row, word)?;
        if self.state(row) {
            self.set_plus(row, &value)?;
        }
        Ok(())
    }

    /// Notes what the table says about an option; whether it is to be carried out.
    fn state(&mut self, row: &Row) -> bool {
        match row.state {
            State::Done => true,
            State::Harmless(note) => {
                self.note(row, note);
                true
            }
            State::Refused(why) => {
                match row.letter {
                    'H' if !row.plus => self.depths[0] = true,
                    'k' if !row.plus => self.depths[1] = true,
                    _ => {}
                }
                let exit = Exit::out(255, "").because(format!("{} is refused. {why}", row.name()));
                self.refused.get_or_insert(exit);
                false
            }
        }
    }

    fn note(&mut self, row: &Row, note: &str) {
        self.options.notes.push(format!("{}: {note}", row.name()));
    }

    fn splash(&mut self, line: impl AsRef<str>) {
        self.options.splash.push(format!("\t{}", line.as_ref()));
    }

    fn set_plain(&mut self, row: &Row, value: &Value<'_>, words: &mut Words<'_>) -> Result<(), Exit> {
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
            'd' => o.release_gap_us = value.count(),
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
            'i' => self.set_test(value.number()),
            'I' => {
                o.direct = true;
                self.splash("O_DIRECT feature enabled");
            }
            'j' => o.stride = Some(value.count()),
            'J' => o.think_ms = value.count(),
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
                o.unit = Unit::UsPerOp;
                self.splash("Microseconds/op Mode. Output is in microseconds per operation.");
            }
            'o' => {
                o.sync = SyncFlag::Sync;
                self.splash("SYNC Mode. ");
            }
            'O' => {
                // With both, IOzone shows microseconds whatever the order.
                if o.unit != Unit::UsPerOp {
                    o.unit = Unit::OpsPerS;
                }
                self.splash("OPS Mode. Output is in operations per second.");
            }
            'p' => {
                o.purge = true;
                self.splash("Purge Mode On");
            }
            'P' => {
                let first = u32::try_from(value.count()).unwrap_or(u32::MAX);
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

    fn set_plus(&mut self, row: &Row, value: &Value<'_>) -> Result<(), Exit> {
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
                o.delay_s = value.count().min(1 << 30);
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

    /// Tests above 11 are not in the Linux build: test 0 runs instead.
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

    fn set_files(&mut self, first: &Value<'_>, words: &mut Words<'_>) -> Result<(), Exit> {
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

    fn set_burst(&mut self, word: &str) -> Result<(), Exit> {
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

    /// -U and streams, in either order.
    fn check_remount(&self, letter: char) -> Result<(), Exit> {
        if self.options.remount.is_none() || !self.options.throughput() {
            return Ok(());
        }
        let code = if letter == 'U' { 16 } else { 15 };
        Err(Exit::out(code, "Can not run throughput tests with unmount & remounts.\n"))
    }

    fn finish(mut self) -> Result<Options, Exit> {
        let o = &mut self.options;
        if o.file_kb.len() > 1 || o.record_kb.len() > 1 {
            o.auto = true;
        }
        if let Some(exit) = self.refused {
            let depth = self.depths[0] || self.depths[1];
            if depth && o.mmap {
                return Err(super::exit::mix(18, "Sorry ... Only mmap or async but not both"));
            }
            if self.depths == [true; 2] {
                return Err(super::exit::mix(20, "Can not do both -H and -k"));
            }
            return Err(exit);
        }
        useless(o);
        Ok(self.options)
    }
}

/// Says which options of a valid command line change nothing because another one is missing.
fn useless(o: &mut Options) {
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

fn needs(row: &Row) -> String {
    format!("{} needs an argument, {}: {}", row.name(), row.argument.placeholder(), row.help)
}

fn read_value<'a>(row: &Row, word: Option<&'a str>) -> Result<Value<'a>, Exit> {
    let Some(word) = word else { return Ok(Value::None) };
    let wrong = |what: &str| {
        let letter = if row.plus { '+' } else { row.letter };
        bad_argument(letter, format!("{} needs {what}, not {word:?}", row.name()))
    };
    Ok(match row.argument {
        Argument::Number(_) => Value::Number(number(word).ok_or_else(|| wrong("a number"))?),
        Argument::Size(_) => {
            let kb = size_kb(word).ok_or_else(|| wrong("a size: a number of kB, or one with k, m or g"))?;
            if kb > LARGEST_KB {
                return Err(wrong("a size below 8 EiB"));
            }
            Value::SizeKb(kb)
        }
        Argument::None => Value::None,
        Argument::Word(_) | Argument::Path(_) | Argument::Paths(_) => Value::Word(word),
    })
}

fn streams(n: i64, otherwise: u32) -> Result<u32, Exit> {
    if n <= 0 {
        return Ok(otherwise);
    }
    u32::try_from(n).ok().filter(|&n| n <= MAX_STREAMS).ok_or_else(|| {
        let exit = invalid(14, "maximum streams for throughput is MAXSTREAMS");
        Exit { stdout: format!("{}Numchild {n} {n}\n", exit.stdout), ..exit }
            .because(format!("at most {MAX_STREAMS} streams"))
    })
}

fn record_limit(kb: u64) -> Result<(), Exit> {
    if kb > MAX_RECORD_KB {
        return Err(size_error(&format!(
            "maximum record size {kb} kB is greater than maximum buffer size {MAX_RECORD_KB} kB"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iozone::table::OPTIONS;

    fn of(line: &str) -> Result<Options, Exit> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args, "Linux vm")
    }

    fn code(line: &str) -> i32 {
        of(line).unwrap_err().code
    }

    #[test]
    fn letters_may_be_glued() {
        let o = of("-Rab out.wks -i0 -i 1").unwrap();
        assert!(o.report && o.auto);
        assert_eq!(o.worksheet, Some("out.wks".into()));
        assert_eq!(o.tests, [0, 1]);
        assert_eq!(o.splash, ["\tExcel chart generation enabled", "\tAuto Mode"]);
    }

    #[test]
    fn exit_codes_are_iozones() {
        assert_eq!(code(""), 255);
        assert_eq!(code("--help"), 255);
        assert_eq!(code("-+o"), 255);
        assert_eq!(code("-q"), 255);
        assert_eq!(code("-f x -F a"), 11);
        assert_eq!(code("-F a b"), 12);
        assert_eq!(code("-t 2 -F a"), 13);
        assert_eq!(code("-t 2 -F a -i 0"), 13);
        assert_eq!(code("-t 1025"), 14);
        assert_eq!(code("-U /mnt -t 2"), 15);
        assert_eq!(code("-t 2 -U /mnt"), 16);
        assert_eq!(code("-r 32m"), 23);
        assert_eq!(code("-q 32m"), 23);
        assert_eq!(code("-B -H 2"), 18);
        assert_eq!(code("-H 2 -k 2"), 20);
        assert_eq!(code("-h"), 0);
        assert_eq!(code("-v"), 0);
    }

    #[test]
    fn refused_options_say_why() {
        for row in &OPTIONS {
            if let State::Refused(why) = row.state {
                let exit = of(&format!("{} 5", row.name())).unwrap_err();
                assert_eq!(exit.code, 255);
                assert!(exit.stderr.contains(why), "{}: {}", row.name(), exit.stderr);
            }
        }
    }

    #[test]
    fn every_done_option_is_carried_out() {
        for row in OPTIONS.iter().filter(|r| !matches!(r.state, State::Refused(_))) {
            let argument = match row.argument {
                Argument::None => "",
                Argument::Number(_) | Argument::Size(_) => "5",
                Argument::Word(_) => "64,5",
                Argument::Path(_) | Argument::Paths(_) => "f",
            };
            let before = if row.letter == 'F' && !row.plus { "-t 1" } else { "-i 0" };
            let argument = if row.name() == "-+A" { "3" } else { argument };
            let base = of(before).unwrap();
            match of(&format!("{before} {} {argument}", row.name())) {
                Ok(o) => assert_ne!(o, base, "{} changed nothing", row.name()),
                Err(exit) => assert_eq!(exit.code, 0, "{}: {}", row.name(), exit.stderr),
            }
        }
    }

    #[test]
    fn auto_undoes_what_stands_before_it() {
        let o = of("-p -m -a").unwrap();
        assert!(!o.purge && !o.multi_buffer);
        let o = of("-a -p -m").unwrap();
        assert!(o.purge && o.multi_buffer);
    }

    #[test]
    fn words_that_are_no_numbers_are_told() {
        assert!(of("-t two").unwrap_err().stderr.contains("-t needs a number, not \"two\""));
        assert!(of("-s big").unwrap_err().stderr.contains("-s needs a size"));
    }

    #[test]
    fn options_that_change_nothing_are_told() {
        assert_eq!(of("-G -i 0").unwrap().notes, ["-G: changes nothing without -B"]);
        assert!(of("-B -G -i 0").unwrap().notes.is_empty());
    }
}
