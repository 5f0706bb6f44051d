//! Command line of the drop-in: Filebench's three options, and our own.

use fathom_dialects::filebench::plan::{Format, Options, Wml};
use std::path::PathBuf;

#[derive(Debug)]
pub enum FilebenchRequest {
    /// `-h`
    Help,
    /// `-c`, with an optional type.
    CustomTypes(Option<String>),
    Script(Box<FilebenchLine>),
}

#[derive(Debug, Default)]
pub struct FilebenchLine {
    /// None: stdin.
    pub file: Option<PathBuf>,
    pub options: Options,
    /// Only print the plan.
    pub check: bool,
    pub store: Option<PathBuf>,
    pub no_store: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Misuse {
    /// No option at all.
    Nothing,
    /// An error in a sentence.
    Wrong(String),
}

pub fn parse(args: &[String]) -> Result<FilebenchRequest, Misuse> {
    let mut line = FilebenchLine::default();
    let mut any = false;
    let mut rest = args.iter().map(String::as_str).peekable();
    while let Some(word) = rest.next() {
        any = true;
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => match word.strip_prefix("-f").filter(|v| !v.is_empty() && !word.starts_with("--")) {
                Some(file) => ("-f", Some(file.to_owned())),
                None => (word, None),
            },
        };
        let mut value = |what: &str| {
            attached
                .clone()
                .or_else(|| rest.next().map(str::to_owned))
                .ok_or_else(|| Misuse::Wrong(format!("{name} needs {what}")))
        };
        match name {
            "-h" | "--help" => return Ok(FilebenchRequest::Help),
            "-c" => return Ok(FilebenchRequest::CustomTypes(rest.next().map(str::to_owned))),
            "-f" => line.file = Some(value("the name of a script")?.into()),
            "--set" => {
                let pair = value("NAME=VALUE")?;
                let Some((name, value)) = pair.split_once('=').filter(|p| !p.0.is_empty()) else {
                    return Err(Misuse::Wrong(format!("--set {pair}: NAME=VALUE is expected")));
                };
                line.options.set.push((name.into(), value.into()));
            }
            "--run" => {
                let text = value("a number of seconds")?;
                let seconds = text.parse().ok().filter(|&s| s > 0);
                line.options.run = Some(seconds.ok_or_else(|| {
                    Misuse::Wrong(format!("--run {text}: a number of seconds, at least 1, is expected"))
                })?);
            }
            "--replace" => line.options.replace.push(value("a path")?.into()),
            "--wml" => {
                line.options.wml = match value("1.5, 1.4 or 1.0")?.as_str() {
                    "1.5" => Wml::V1_5,
                    "1.4" | "1.3" | "1.2" | "1.1" => Wml::V1_4,
                    "1.0" => Wml::V1_0,
                    other => {
                        return Err(Misuse::Wrong(format!("--wml {other}: 1.5, 1.4 or 1.0 is expected")));
                    }
                }
            }
            "--format" => {
                line.options.format = match value("1.5, 1.4, 1.1 or seed")?.as_str() {
                    "1.5" => Format::V1_5,
                    "1.4" => Format::V1_4,
                    "1.1" => Format::V1_1,
                    "seed" => Format::Dump,
                    other => {
                        return Err(Misuse::Wrong(format!(
                            "--format {other}: 1.5, 1.4, 1.1 or seed is expected"
                        )));
                    }
                }
            }
            "--seed-format" if attached.is_none() => line.options.format = Format::Dump,
            "--check" if attached.is_none() => line.check = true,
            "--store" => line.store = Some(value("the name of a file")?.into()),
            "--no-store" if attached.is_none() => line.no_store = true,
            _ => return Err(Misuse::Wrong("Unrecognized option".into())),
        }
    }
    if !any {
        return Err(Misuse::Nothing);
    }
    if line.file.is_none() && line.options.wml == Wml::V1_5 {
        return Err(Misuse::Wrong(
            "no script: -f FILE is expected (only with --wml 1.4 or 1.0 is it read from stdin)".into(),
        ));
    }
    Ok(FilebenchRequest::Script(Box::new(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> FilebenchLine {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        match parse(&words) {
            Ok(FilebenchRequest::Script(line)) => *line,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_stand_beside_or_behind_an_equals_sign() {
        let l = line("-f a.f --set x1=3 --set=y1=4k --run=7 --replace /d --wml 1.4 --seed-format --check");
        assert_eq!(l.file, Some("a.f".into()));
        assert_eq!(l.options.set, [("x1".into(), "3".into()), ("y1".into(), "4k".into())]);
        assert_eq!((l.options.run, l.options.wml, l.options.format), (Some(7), Wml::V1_4, Format::Dump));
        assert_eq!(l.options.replace, [PathBuf::from("/d")]);
        assert!(l.check);
        assert_eq!(line("-fa.f").file, Some("a.f".into()));
        assert_eq!(line("--wml 1.0").file, None);
    }

    #[test]
    fn what_cannot_be_meant_is_told() {
        let wrong = |text: &str| parse(&text.split(' ').map(str::to_owned).collect::<Vec<_>>()).unwrap_err();
        assert_eq!(parse(&[]).unwrap_err(), Misuse::Nothing);
        for (text, part) in [
            ("-x", "Unrecognized option"),
            ("foo", "Unrecognized option"),
            ("-f", "needs the name"),
            ("-f a --run 0", "at least 1"),
            ("-f a --wml 2", "1.5, 1.4 or 1.0"),
            ("-f a --set x", "NAME=VALUE"),
            ("--check", "no script"),
        ] {
            let Misuse::Wrong(message) = wrong(text) else { panic!("{text}") };
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
