//! Output of `-h`, `-v` and a call without arguments, and the option table for docs/iozone.md; all from the rows of `table`.

use super::exit::IozoneExit;
use super::table::{IozoneOption, IozoneSupport, OPTIONS};

/// The release whose output is imitated.
pub(super) const REVISION: &str = "3.471";

/// Test numbers and descriptions.
const TESTS: [(&str, &str); 11] = [
    ("0", "write a new file, write it again (rewrite)"),
    ("1", "read it, read it again (reread)"),
    ("2", "random read, random write: each record once"),
    ("3", "read backward"),
    ("4", "rewrite one record again and again"),
    ("5", "stride read (-j)"),
    ("6", "fwrite, and again (frewrite)"),
    ("7", "fread, and again (freread)"),
    ("8", "mixed random reading and writing streams (throughput mode)"),
    ("9", "pwrite, and again (in a table with -E)"),
    ("10", "pread, and again (in a table with -E)"),
];

/// Output of a call without arguments.
pub(super) fn usage() -> IozoneExit {
    IozoneExit::out(255, "\tUsage: For usage information type iozone -h \n\n")
}

/// -h.
pub(super) fn help() -> IozoneExit {
    let mut text = String::from(
        "iozone: help mode\n\n    This is fathom, which speaks IOzone's language: same options, same tables, own words.\n    \
         Usage: iozone OPTIONS          letters may be glued: -Rac\n\n    \
         SIZE is a number of kB (1024 bytes), or a number with k, m or g.\n\n    Examples:\n      \
         iozone -s 1m -r 4k -i 0 -i 1        write and read one small file\n      \
         iozone -Ra -g 64m -b out.wks        all sizes up to 64 MiB, with report and worksheet\n      \
         iozone -I -c -e -t 4 -s 256m -i 0   four writers past the page cache\n\n    Options:\n",
    );
    for row in &OPTIONS {
        text += &help_line(row);
    }
    text += "\n    Tests (-i):\n";
    for (n, what) in TESTS {
        text += &format!("      {n:>2}  {what}\n");
    }
    IozoneExit::out(0, text)
}

fn help_line(row: &IozoneOption) -> String {
    let call = format!("{} {}", row.name(), row.argument.placeholder());
    let mark = if matches!(row.state, IozoneSupport::Refused(_)) { " [refused]" } else { "" };
    format!("      {:<14}{}{mark}\n", call, row.help)
}

/// -v.
pub(super) fn version() -> IozoneExit {
    IozoneExit::out(
        0,
        format!(
            "        fathom, speaking IOzone's language\n\n        Version $Revision: {REVISION} $\n\
             \t\tCompiled for 64 bit mode.\n\n    \
             The line above names the release of IOzone whose options and output are reproduced.\n    \
             This program is fathom {}; it contains no part of IOzone.\n    Licence: MIT or Apache-2.0.\n",
            env!("CARGO_PKG_VERSION")
        ),
    )
}

/// The option table in docs/iozone.md.
#[must_use]
pub fn documentation() -> String {
    let mut text = String::from("| Option | What it does | State |\n|---|---|---|\n");
    for row in &OPTIONS {
        let call = format!("{} {}", row.name(), row.argument.placeholder());
        let state = match row.state {
            IozoneSupport::Done => "done".into(),
            IozoneSupport::Harmless(note) => format!("accepted: {note}"),
            IozoneSupport::Refused(why) => format!("**refused.** {why}"),
        };
        text += &format!("| `{}` | {} | {state} |\n", call.trim_end(), row.help);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_begins_as_scripts_expect_and_names_every_option() {
        let exit = help();
        assert_eq!(exit.code, 0);
        assert_eq!(exit.stdout.lines().next(), Some("iozone: help mode"));
        for row in &OPTIONS {
            assert!(exit.stdout.contains(&format!("      {}", row.name())), "{}", row.name());
        }
    }

    #[test]
    fn the_version_is_the_third_word_of_its_line() {
        let text = version().stdout;
        let line = text.lines().find(|l| l.contains("Version")).unwrap();
        assert_eq!(line.split_whitespace().nth(2), Some("3.471"));
        assert_eq!(usage().stdout, "\tUsage: For usage information type iozone -h \n\n");
    }
}
