//! Options without documentation. A user meets an option in `--help`, so each has its sentence where it is defined: the fields
//! and variants of clap's derives, `Arg::new` with `.help`, and the rows of the dialects' option tables.

use super::code::Code;
use super::{File, Finding, Tree};

/// Derives whose fields and variants show in the help.
const DERIVES: [&str; 4] = ["Parser", "Args", "Subcommand", "ValueEnum"];

/// Attributes of members that are not options themselves, or that document the member.
const EXEMPT: [&str; 8] =
    ["flatten", "subcommand", "skip", "hide", "help =", "long_help", "about =", "from_global"];

/// Checks the command line's files and the dialects' tables.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let clap = tree.with_end(".rs").filter(|f| f.path.starts_with("crates/cli/src/")).flat_map(check_clap);
    let tables = tree.with_end("/options.rs").filter(|f| f.path.starts_with("crates/dialects/src/"));
    clap.chain(tables.flat_map(check_table)).collect()
}

fn undocumented(file: &File, line: usize, name: &str) -> Finding {
    let what = format!(
        "the option {name} has no documentation; write a sentence for its user (it becomes the help text)"
    );
    Finding::new(&file.path, line, what)
}

fn check_clap(file: &File) -> Vec<Finding> {
    let code = file.code();
    let mut found = Vec::new();
    for (start, _) in code.code.match_indices("#[derive(") {
        let Some(end) = code.closing(start + "#[derive".len()) else { continue };
        let derives = code.code[start..end].split(|c: char| !c.is_alphanumeric() && c != '_');
        if derives.into_iter().any(|word| DERIVES.contains(&word))
            && let Some(open) = item_body(code, end)
            && let Some(close) = code.closing(open)
        {
            found.extend(check_members(file, code, code.line_at(open) + 1, code.line_at(close)));
        }
    }
    found.extend(check_builders(file, code));
    found
}

/// Offset of the brace that opens the item after an attribute; `None` for tuple and unit structs.
fn item_body(code: &Code, from: usize) -> Option<usize> {
    let mut at = from;
    // Further attributes may hold braces, so they are jumped over whole.
    loop {
        let rest = &code.code[at..];
        let next = rest.find(['#', '{', ';'])?;
        match rest.as_bytes()[next] {
            b'#' => at = code.closing(at + next + 1)?,
            b'{' => return Some(at + next),
            _ => return None,
        }
    }
}

/// Members of a struct or enum, one per line as rustfmt writes them. `from` is the line after the opening brace.
fn check_members(file: &File, code: &Code, from: usize, to: usize) -> Vec<Finding> {
    let lines: Vec<(&str, &str)> = code.code.lines().zip(file.text.lines()).collect();
    let mut found = Vec::new();
    let (mut documented, mut attributes) = (false, String::new());
    let mut number = from;
    while number < to {
        let (bare, whole) = lines[number - 1];
        let bare = bare.trim();
        let mut next = number + 1;
        if whole.trim_start().starts_with("///") {
            documented = true;
        } else if bare.starts_with("#[") {
            next = end_of(&lines, number, '[', ']') + 1;
            attributes.extend((number..next).map(|n| lines[n - 1].1));
        } else if let Some((name, tuple)) = member(bare) {
            let exempt = tuple || EXEMPT.iter().any(|word| attributes.contains(word));
            if !documented && !exempt {
                found.push(undocumented(file, number, name));
            }
            (documented, attributes) = (false, String::new());
            if !bare.ends_with('{') {
                next = end_of_member(&lines, number) + 1;
            }
        }
        number = next;
    }
    found
}

/// The name of the field or variant that begins on a line, and whether it is a variant that wraps a documented type.
fn member(line: &str) -> Option<(&str, bool)> {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) if rest.starts_with(' ') => rest,
        _ => line,
    };
    let line = line.trim_start();
    let end = line.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let is_field = rest.starts_with(':') && !rest.starts_with("::");
    let is_variant = name.starts_with(|c: char| c.is_ascii_uppercase());
    (!name.is_empty() && (is_field || is_variant)).then(|| (name, is_variant && rest.starts_with('(')))
}

/// The line on which the bracket opened on line `from` closes.
fn end_of(lines: &[(&str, &str)], from: usize, open: char, close: char) -> usize {
    let mut depth = 0i32;
    for (at, (bare, _)) in lines.iter().enumerate().skip(from - 1) {
        depth += bare.matches(open).count() as i32 - bare.matches(close).count() as i32;
        if depth <= 0 {
            return at + 1;
        }
    }
    lines.len()
}

/// The line on which a member ends: with its comma, or with the last line before the closing brace.
fn end_of_member(lines: &[(&str, &str)], from: usize) -> usize {
    let mut depth = 0i32;
    for (at, (bare, _)) in lines.iter().enumerate().skip(from - 1) {
        depth += bare.matches(['(', '[', '{']).count() as i32 - bare.matches([')', ']', '}']).count() as i32;
        if depth <= 0 && bare.trim_end().ends_with([',', '}', ')']) {
            return at + 1;
        }
    }
    lines.len()
}

/// `Arg::new("x")` up to the next one or the end of the statement has a `.help(`.
fn check_builders(file: &File, code: &Code) -> Vec<Finding> {
    const NEW: &str = "Arg::new(";
    code.words(NEW)
        .filter_map(|at| {
            let rest = &code.code[at + NEW.len()..];
            let end = rest.find(NEW).unwrap_or(rest.len()).min(rest.find(';').unwrap_or(rest.len()));
            let documented =
                [".help(", ".long_help(", ".hide("].iter().any(|call| rest[..end].contains(call));
            let name = file.text[at + NEW.len()..].split(')').next().unwrap_or_default();
            (!documented).then(|| undocumented(file, code.line_at(at), name))
        })
        .collect()
}

/// A dialect's table: every row `Opt { ..., help: "..." }` has help that is not empty.
fn check_table(file: &File) -> Vec<Finding> {
    let code = file.code();
    let mut found = Vec::new();
    let mut rows = 0;
    for at in code.words("Opt") {
        let Some(open) = code.code[at..].find('{').map(|brace| at + brace) else { continue };
        let is_row = code.code[at + 3..open].trim().is_empty() && !declares(&code.code[..at]);
        let Some(close) = code.closing(open).filter(|_| is_row) else { continue };
        let body = &code.code[open + 1..close];
        if body.contains("..") {
            continue; // a pattern, or a row built on another
        }
        rows += 1;
        if !has_help(&file.text[open + 1..close], body) {
            let name = file.text[open + 1..close].split(',').next().unwrap_or_default().trim();
            found.push(undocumented(file, code.line_at(at), &format!("with {name}")));
        }
    }
    if rows == 0 && code.words("Opt").next().is_some() {
        let what = "no row of the form `Opt { ..., help: \"...\" }` was found; write the table so, or teach \
                    xtask/src/tidy/options.rs its form";
        found.push(Finding::new(&file.path, 0, what));
    }
    found
}

/// Whether what stands before `Opt {` makes it a type rather than a value.
fn declares(before: &str) -> bool {
    let before = before.trim_end();
    ["struct", "enum", "impl", "for", "->", "let", "if", "match", "&"]
        .iter()
        .any(|word| before.ends_with(word))
        && !before.ends_with("=>")
}

/// Whether a row's `help` field is there and is not an empty literal. `bare` is `text` without the insides of strings.
fn has_help(text: &str, bare: &str) -> bool {
    let Some(at) = bare.match_indices("help").map(|(at, _)| at).find(|&at| is_field(bare, at)) else {
        return false;
    };
    let value = text[at + "help".len()..].trim_start();
    match value.strip_prefix(':').map(str::trim_start) {
        Some(value) => !value.strip_prefix('"').is_some_and(|inside| inside.trim_start().starts_with('"')),
        None => true, // `help,`: given by a variable of that name
    }
}

/// Whether the word at `at` stands where a field's name does.
fn is_field(bare: &str, at: usize) -> bool {
    let before = bare[..at].trim_end();
    let after = bare[at + "help".len()..].trim_start();
    (before.is_empty() || before.ends_with(',')) && (after.is_empty() || after.starts_with([':', ',']))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::*;

    fn clap(text: &str) -> Vec<String> {
        places(&check(&tree(&[("crates/cli/src/args.rs", text)])))
    }

    fn table(text: &str) -> Vec<String> {
        places(&check(&tree(&[("crates/dialects/src/iozone/options.rs", text)])))
    }

    #[test]
    fn fields_of_clap_derives_are_documented() {
        let text = "\
/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = \"{\")]
pub(crate) struct Run {
    /// What to run.
    file: PathBuf,
    #[arg(
        long,
        default_value = \"]\"
    )]
    bare: Option<
        String,
    >,
    #[arg(long, help = \"said here\")]
    said: bool,
    #[command(flatten)]
    common: Common,
    pub(crate) json: bool,
}

struct Internal {
    whatever: bool,
}
";
        assert_eq!(clap(text), ["crates/cli/src/args.rs:11", "crates/cli/src/args.rs:18"]);
    }

    #[test]
    fn variants_and_their_fields_are_documented() {
        let text = "\
#[derive(Subcommand)]
enum Command {
    /// Lists runs.
    List,
    Show {
        /// Which.
        id: u32,
        all: bool,
    },
    Wrapped(RunArgs),
    /// Removes.
    Rm { id: u32 },
}
";
        assert_eq!(clap(text), ["crates/cli/src/args.rs:5", "crates/cli/src/args.rs:8"]);
    }

    #[test]
    fn builders_have_help() {
        let text = "fn f() -> Command {\n    c.arg(Arg::new(\"a\").help(\"x\"))\n        .arg(Arg::new(\"b\").long(\"b\"))\n        .arg(Arg::new(\"c\").long_help(\"x\"));\n}\n";
        assert_eq!(clap(text), ["crates/cli/src/args.rs:3"]);
    }

    #[test]
    fn rows_of_a_dialects_table_have_help() {
        let text = "\
pub struct Opt { pub letter: &'static str, pub help: &'static str }
impl Opt {
    fn f(&self) -> Opt { Opt { letter: self.letter, help: self.help } }
}
pub const OPTIONS: &[Opt] = &[
    Opt { letter: \"a\", help: \"full automatic mode\" },
    Opt { letter: \"b\", help: \"\" },
    Opt {
        letter: \"help\",
    },
    Opt { letter: \"d\", help: HELP },
];
fn g(o: Opt) { let Opt { letter, .. } = o; }
";
        assert_eq!(
            table(text),
            ["crates/dialects/src/iozone/options.rs:7", "crates/dialects/src/iozone/options.rs:8"]
        );
    }

    #[test]
    fn an_unknown_table_is_reported_and_a_missing_one_is_fine() {
        assert_eq!(
            table("type T = Opt;\nconst O: &[Opt] = &[row(\"a\")];\n"),
            ["crates/dialects/src/iozone/options.rs:0"]
        );
        assert_eq!(check(&tree(&[])), []);
    }
}
