//! Output of `--help`, `--version` and `fileio help`, and the option table for docs/sysbench.md; all from the rows of `table`.

use super::options::Dialect;
use super::table::{OPTIONS, OptionGroup, SysbenchOption, SysbenchSupport, Versions, of_part};

/// The release whose output is imitated.
pub(super) const NEW: &str = "1.0.20";
/// The release of 2009 that is imitated for the older language.
pub(super) const OLD: &str = "0.4.12";

/// The version line that starts all output, with the empty line after it.
pub(super) fn banner(dialect: Dialect) -> String {
    match dialect {
        // The original puts its Lua version in the brackets.
        Dialect::New => format!("sysbench {NEW} (using fathom {})\n\n", env!("CARGO_PKG_VERSION")),
        Dialect::Old => format!("sysbench {OLD}:  multi-threaded system evaluation benchmark\n\n"),
    }
}

/// --version.
pub(super) fn version(dialect: Dialect) -> String {
    format!("sysbench {}\n", if dialect == Dialect::Old { OLD } else { NEW })
}

/// The options of fileio, one per line.
pub(super) fn fileio_options(dialect: Dialect) -> String {
    lines(of_part(OptionGroup::FileIo, dialect == Dialect::Old))
}

/// `fileio help`.
pub(super) fn fileio(dialect: Dialect) -> String {
    format!("fileio options:\n{}\n", fileio_options(dialect))
}

/// --help.
pub(super) fn general(dialect: Dialect) -> String {
    let old = dialect == Dialect::Old;
    let usage = if old {
        "sysbench --test=fileio [options]... prepare|run|cleanup"
    } else {
        "sysbench [options]... fileio prepare|run|cleanup|help"
    };
    let (test, threads) = if old { ("--test=fileio", "num-threads") } else { ("fileio", "threads") };
    let mut text = format!(
        "Usage:\n  {usage}\n\nThis is fathom, which speaks SysBench's language for its fileio test: same options, same output, own words.\n\
         SIZE is a number of bytes, or a number with K, M, G or T (powers of 1024).\n\nExamples:\n  \
         sysbench {test} --file-total-size=1G prepare\n  \
         sysbench {test} --file-total-size=1G --file-test-mode=rndrw --{threads}=16 run\n  \
         sysbench {test} --file-total-size=1G cleanup\n"
    );
    let parts = [
        ("General options", OptionGroup::General),
        ("Random numbers", OptionGroup::Random),
        ("Log and report", OptionGroup::Log),
        ("Options of fileio", OptionGroup::FileIo),
        ("Options that only fathom has", OptionGroup::Ours),
        ("Databases (accepted, without effect)", OptionGroup::Database),
    ];
    for (title, part) in parts {
        let rows = lines(of_part(part, old));
        if !rows.is_empty() {
            text += &format!("\n{title}:\n{rows}");
        }
    }
    text += "\nOf SysBench's tests this is fileio; cpu, memory, threads, mutex and the database tests are not here.\n";
    text
}

fn lines(rows: impl Iterator<Item = &'static SysbenchOption>) -> String {
    let rows: Vec<&SysbenchOption> = rows.collect();
    let width = rows.iter().map(|r| r.usage().len()).max().unwrap_or(0);
    rows.into_iter()
        .map(|row| {
            let default = row.default.map_or_else(String::new, |d| format!(" [{d}]"));
            let mark = if matches!(row.state, SysbenchSupport::Refused(_)) { " (refused)" } else { "" };
            format!("  {:<width$} {}{mark}{default}\n", row.usage(), row.help)
        })
        .collect()
}

/// The option table in docs/sysbench.md.
#[must_use]
pub fn documentation() -> String {
    let mut text =
        String::from("| Option | Default | What it does | Release | State |\n|---|---|---|---|---|\n");
    for row in &OPTIONS {
        let default = row.default.filter(|d| !d.is_empty()).unwrap_or("-");
        let release = match (row.part, row.versions) {
            (OptionGroup::Ours, _) => "fathom",
            (_, Versions::Both) => "0.4, 1.0",
            (_, Versions::Old) => "0.4",
            (_, Versions::New) => "1.0",
        };
        let state = match row.state {
            SysbenchSupport::Done => "done".into(),
            SysbenchSupport::Harmless(note) => format!("accepted: {note}"),
            SysbenchSupport::Refused(why) => format!("**refused.** {why}"),
        };
        text += &format!("| `{}` | {default} | {} | {release} | {state} |\n", row.usage(), row.help);
    }
    text
}
