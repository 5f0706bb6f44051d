//! `--enghelp`: lists the supported engines, the options specific to an engine, or one such option.

use super::help::one;
use super::table::{self, FioSupport};
use std::fmt::Write as _;

const DONE: [&str; 23] = [
    "cpuio",
    "dircreate",
    "dirdelete",
    "dirstat",
    "e4defrag",
    "exec",
    "falloc",
    "filecreate",
    "filedelete",
    "filestat",
    "ftruncate",
    "io_uring",
    "io_uring_cmd",
    "libaio",
    "mmap",
    "null",
    "posixaio",
    "psync",
    "pvsync",
    "pvsync2",
    "splice",
    "sync",
    "vsync",
];

/// What `--enghelp`, `--enghelp=ENGINE` or `--enghelp=ENGINE,OPTION` prints.
///
/// # Errors
/// A message in fio's words if the engine does not exist or does not have the option.
pub fn text(asked: Option<&str>) -> Result<String, String> {
    let Some(asked) = asked else {
        return Ok(format!("Available IO engines:\n\t{}\n", DONE.join("\n\t")));
    };
    let (engine, option) = match asked.split_once(',') {
        Some((engine, option)) => (engine, Some(option)),
        None => (asked, None),
    };
    if !DONE.contains(&engine) {
        let why = match table::find("ioengine").map(|row| row.kind) {
            Some(table::Kind::Word(known)) if known.contains(&engine) => " (fio has it; it is not supported)",
            _ => "",
        };
        return Err(format!("engine {engine} not loadable\nIO engine {engine} not found{why}"));
    }
    let own: Vec<&table::FioOption> = table::rows()
        .filter(|row| table::engines_of(row.name).is_some_and(|engines| engines.contains(&engine)))
        .collect();
    if own.is_empty() {
        return Err(format!("IO engine {engine} has no options"));
    }
    if let Some(option) = option {
        let row = own.iter().find(|row| row.name == option || row.aliases.contains(&option));
        return row.map(|row| one(row)).ok_or_else(|| format!("No such command: {option}"));
    }
    let mut out = String::new();
    for row in own {
        let refused = if matches!(row.state, FioSupport::Refused { .. }) { " (refused)" } else { "" };
        let _ = writeln!(out, "{:<24}: {}{refused}", row.name, row.help);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_has_its_own_options_and_no_others() {
        let all = text(None).unwrap();
        assert!(DONE.iter().all(|engine| all.contains(&format!("\t{engine}\n"))));
        let ring = text(Some("io_uring")).unwrap();
        assert!(ring.contains("fixedbufs") && ring.contains("force_async"), "{ring}");
        assert!(!ring.contains("userspace_reap") && !ring.contains("Available"), "{ring}");
        let option = text(Some("libaio,userspace_reap")).unwrap();
        assert!(option.starts_with("      userspace_reap: "), "{option}");
    }

    #[test]
    fn engines_and_options_that_are_none_are_errors_in_the_words_of_fio() {
        for (asked, words) in [
            ("nope", "IO engine nope not found"),
            ("nope,hipri", "IO engine nope not found"),
            ("psync", "IO engine psync has no options"),
            ("psync,hipri", "IO engine psync has no options"),
            ("io_uring,bs", "No such command: bs"),
            ("rbd", "IO engine rbd not found (fio has it"),
        ] {
            let why = text(Some(asked)).unwrap_err();
            assert!(why.contains(words), "{asked}: {why}");
        }
    }
}
