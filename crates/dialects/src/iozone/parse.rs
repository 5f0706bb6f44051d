//! Parses words into [`IozoneOptions`], driven by the option table; `apply` implements each option. Conflicts that
//! IOzone reports after its banner are in `mixes`.

use super::exit::{bad_argument, mix, unknown, unknown_plus};
use super::options::IozoneOptions;
use super::table::{Argument, IozoneOption, IozoneSupport, find};
use super::words::{IozoneWords, has_more, number, size_kb};
use super::{IozoneExit, help, no_effect};
use std::path::PathBuf;

/// An argument, parsed according to its row.
pub(super) enum ArgumentValue<'a> {
    None,
    Number(i64),
    SizeKb(u64),
    Word(&'a str),
}

impl ArgumentValue<'_> {
    /// A non-negative number.
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Number(n) => u64::try_from(*n).unwrap_or(0),
            Self::SizeKb(kb) => *kb,
            _ => 0,
        }
    }

    pub(super) fn number(&self) -> i64 {
        if let Self::Number(n) = self { *n } else { 0 }
    }

    pub(super) fn percent(&self) -> u8 {
        u8::try_from(self.count().min(100)).unwrap_or(100)
    }

    pub(super) fn path(&self) -> PathBuf {
        if let Self::Word(w) = self { PathBuf::from(w) } else { PathBuf::new() }
    }

    pub(super) fn word(&self) -> &str {
        if let Self::Word(w) = self { w } else { "" }
    }
}

/// Upper limit on CPU numbers.
pub(super) const MOST_CPUS: u32 = 1 << 16;
/// Sizes above this (8 EiB) overflow a file offset.
pub(super) const LARGEST_KB: u64 = (i64::MAX as u64) >> 10;

/// Parses a command line (without the program's name).
///
/// # Errors
/// The exit caused by an option (`-h`, `-v`) or an error.
pub(super) fn parse(args: &[String], uname: &str) -> Result<IozoneOptions, IozoneExit> {
    if args.is_empty() {
        return Err(help::usage());
    }
    // IOzone does not know it; its users try it all the same.
    if args.iter().any(|word| word == "--help") {
        return Err(help::help());
    }
    let mut parser =
        IozoneParser { options: IozoneOptions::default(), uname, refused: Vec::new(), depths: [false; 2] };
    let mut words = IozoneWords::new(args);
    while let Some(letter) = words.letter() {
        if letter == '+' {
            parser.plus(&mut words)?;
        } else {
            parser.plain(letter, &mut words)?;
        }
    }
    for word in &words.passed_over {
        parser.options.notes.push(format!("{word:?} is no option and was not used; -f names the file"));
    }
    parser.finish()
}

/// Reports all refused options at once, grouped by reason.
fn refusal(refused: &[(String, &str)]) -> Option<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, why) in refused {
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, names)) if names.contains(&name.as_str()) => {}
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    let sentences = reasons.iter().map(|(why, names)| match names.split_last() {
        Some((last, [])) => format!("{last} is refused. {why}"),
        Some((last, others)) => format!("{} and {last} are refused. {why}", others.join(", ")),
        None => String::new(),
    });
    (!reasons.is_empty()).then(|| sentences.collect::<Vec<_>>().join(" "))
}

pub(super) struct IozoneParser<'a> {
    pub(super) options: IozoneOptions,
    pub(super) uname: &'a str,
    /// Unsupported options with the reason; reported last, after IOzone's own checks.
    refused: Vec<(String, &'static str)>,
    /// Whether -H and -k were given.
    pub(super) depths: [bool; 2],
}

impl IozoneParser<'_> {
    fn plain(&mut self, letter: char, words: &mut IozoneWords<'_>) -> Result<(), IozoneExit> {
        let row = find(letter, false).ok_or_else(|| unknown(&letter.to_string()))?;
        let word = if row.argument == Argument::None {
            None
        } else {
            let missing = || bad_argument(letter, needs(row));
            Some(words.argument().ok_or_else(missing)?)
        };
        let value = read_value(row, word)?;
        if let (ArgumentValue::SizeKb(kb), Some(word)) = (&value, word)
            && has_more(word)
        {
            let note =
                format!("{word} is taken as {kb} kB; only a number and k, m or g as the last letter count");
            self.note(row, &note);
        }
        if self.state(row) {
            self.set_plain(row, &value, words)?;
        }
        Ok(())
    }

    fn plus(&mut self, words: &mut IozoneWords<'_>) -> Result<(), IozoneExit> {
        let name = words.argument().ok_or_else(|| unknown("+"))?;
        let mut letters = name.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else { return Err(unknown_plus(name)) };
        let row = find(letter, true).ok_or_else(|| unknown_plus(name))?;
        let word = if row.argument == Argument::None {
            None
        } else {
            let missing = || IozoneExit { stdout: String::new(), ..bad_argument(letter, needs(row)) };
            Some(words.next_word().ok_or_else(missing)?)
        };
        let value = read_value(row, word)?;
        if self.state(row) {
            self.set_plus(row, &value)?;
        }
        Ok(())
    }

    /// Records how the table handles an option. Returns whether to apply it.
    fn state(&mut self, row: &IozoneOption) -> bool {
        match row.state {
            IozoneSupport::Done => true,
            IozoneSupport::Harmless(note) => {
                self.note(row, note);
                true
            }
            IozoneSupport::Refused(why) => {
                self.refused.push((row.name(), why));
                false
            }
        }
    }

    pub(super) fn note(&mut self, row: &IozoneOption, note: &str) {
        self.options.notes.push(format!("{}: {note}", row.name()));
    }

    pub(super) fn splash(&mut self, line: impl AsRef<str>) {
        self.options.splash.push(format!("\t{}", line.as_ref()));
    }

    /// -U and streams, in either order.
    pub(super) fn check_remount(&self, letter: char) -> Result<(), IozoneExit> {
        if self.options.remount.is_none() || !self.options.throughput() {
            return Ok(());
        }
        let code = if letter == 'U' { 16 } else { 15 };
        Err(IozoneExit::out(code, "Can not run throughput tests with unmount & remounts.\n"))
    }

    fn finish(mut self) -> Result<IozoneOptions, IozoneExit> {
        let o = &mut self.options;
        if o.file_kb.len() > 1 || o.record_kb.len() > 1 {
            o.auto = true;
        }
        if o.async_depth.is_some() && o.mmap {
            return Err(mix(18, "Sorry ... Only mmap or async but not both"));
        }
        if self.depths == [true; 2] {
            return Err(mix(20, "Can not do both -H and -k"));
        }
        if let Some(sentences) = refusal(&self.refused) {
            return Err(IozoneExit::out(255, "").because(sentences));
        }
        no_effect::tell(o);
        Ok(self.options)
    }
}

fn needs(row: &IozoneOption) -> String {
    format!("{} needs an argument, {}: {}", row.name(), row.argument.placeholder(), row.help)
}

fn read_value<'a>(row: &IozoneOption, word: Option<&'a str>) -> Result<ArgumentValue<'a>, IozoneExit> {
    let Some(word) = word else { return Ok(ArgumentValue::None) };
    let wrong = |what: &str| {
        let letter = if row.plus { '+' } else { row.letter };
        bad_argument(letter, format!("{} needs {what}, not {word:?}", row.name()))
    };
    Ok(match row.argument {
        Argument::Number(_) => ArgumentValue::Number(number(word).ok_or_else(|| wrong("a number"))?),
        Argument::Size(_) => {
            let kb = size_kb(word).ok_or_else(|| wrong("a size: a number of kB, or one with k, m or g"))?;
            if kb > LARGEST_KB {
                return Err(wrong("a size below 8 EiB"));
            }
            ArgumentValue::SizeKb(kb)
        }
        Argument::None => ArgumentValue::None,
        Argument::Word(_) | Argument::Path(_) | Argument::Paths(_) => ArgumentValue::Word(word),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iozone::table::OPTIONS;

    fn of(line: &str) -> Result<IozoneOptions, IozoneExit> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args, "Linux vm")
    }

    fn code(line: &str) -> i32 {
        of(line).unwrap_err().code
    }

    #[test]
    fn unexpectedly_parsed_values_are_noted() {
        let args = ["-r", "512b", "-s", "4m", "."].map(str::to_owned);
        let options = parse(&args, "").expect("options");
        assert_eq!(
            options.notes,
            [
                "-r: 512b is taken as 512 kB; only a number and k, m or g as the last letter count",
                "\".\" is no option and was not used; -f names the file"
            ]
        );
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
        assert_eq!(code("--help"), 0);
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
            if let IozoneSupport::Refused(why) = row.state {
                let exit = of(&format!("{} 5", row.name())).unwrap_err();
                assert_eq!(exit.code, 255);
                assert!(exit.stderr.contains(why), "{}: {}", row.name(), exit.stderr);
            }
        }
    }

    #[test]
    fn all_refusals_are_reported_at_once() {
        let stderr_of = |line: &str| of(line).unwrap_err().stderr;
        let cluster = stderr_of("-+m hosts -+h here -+m hosts -C -w -c -e -i 0 -+n -r 64k -s 2g -t 2");
        assert!(cluster.starts_with("iozone: -+m and -+h are refused. Many machines at once"), "{cluster}");
        assert!(cluster.contains("without the options of a cluster the same line measures this machine"));
        let two = stderr_of("-+m hosts -+H clock -+h here -t 2");
        assert!(
            two.starts_with("iozone: -+m and -+h are refused.") && two.contains(" -+H is refused. "),
            "{two}"
        );
        assert_eq!((two.lines().count(), cluster.lines().count()), (1, 1));
    }

    #[test]
    fn every_done_option_is_carried_out() {
        for row in OPTIONS.iter().filter(|r| !matches!(r.state, IozoneSupport::Refused(_))) {
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
        assert!(o.notes.iter().any(|note| note.starts_with("-p: memory of the size of -S is walked")));
    }

    #[test]
    fn words_in_place_of_numbers_are_reported() {
        assert!(of("-t two").unwrap_err().stderr.contains("-t needs a number, not \"two\""));
        assert!(of("-s big").unwrap_err().stderr.contains("-s needs a size"));
    }

    #[test]
    fn options_without_effect_are_noted() {
        assert_eq!(of("-G -i 0").unwrap().notes, ["-G: changes nothing without -B"]);
        assert!(of("-B -G -i 0").unwrap().notes.is_empty());
    }
}
