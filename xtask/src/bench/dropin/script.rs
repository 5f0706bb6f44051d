//! Edits of a Filebench script as people make them with sed: the value of a `set` line, the time of the `run` line, sizes that stand
//! in the text. It knows lines, not the language; what spans several lines is left alone.

/// Names of the variables that have a `set` line.
pub fn variables(text: &str) -> Vec<&str> {
    text.lines().filter_map(set_name).collect()
}

/// Whether the script has its own `run` or `psrun`.
pub fn has_run(text: &str) -> bool {
    text.lines().any(is_run)
}

/// Gives variables other values, where they are set. Those the script does not set are ignored.
pub fn with_values(text: &str, values: &[(&str, &str)]) -> String {
    edited(text, |line| {
        let name = set_name(line)?;
        let (_, value) = values.iter().find(|(n, _)| *n == name)?;
        Some(format!("set ${name}={value}"))
    })
}

/// Has the script run for this long: its `run` line is changed, or one is added.
pub fn with_run(text: &str, seconds: u64) -> String {
    if has_run(text) {
        edited(text, |line| is_run(line).then(|| format!("run {seconds}")))
    } else {
        format!("{}\nrun {seconds}\n", text.trim_end())
    }
}

/// Cuts sizes written in MiB or GiB in definitions of files.
pub fn with_sizes_at_most(text: &str, mib: u64) -> String {
    edited(text, |line| {
        if !line.trim_start().starts_with("define file") {
            return None;
        }
        let (before, after) = line.split_once(",size=")?;
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = after[..digits].parse().ok()?;
        let (in_mib, rest) = match after[digits..].split_at_checked(1)? {
            ("m", rest) => (number, rest),
            ("g", rest) => (number << 10, rest),
            _ => return None,
        };
        Some(format!("{before},size={}m{rest}", in_mib.min(mib)))
    })
}

/// Leaves `debug` lines out.
pub fn without_debug(text: &str) -> String {
    edited(text, |line| debug_level(line).map(|_| String::new()))
}

/// Whether the script asks for so little output that figures are hidden.
pub fn is_silent(text: &str) -> bool {
    text.lines().filter_map(debug_level).any(|level| level < 2)
}

fn debug_level(line: &str) -> Option<u32> {
    line.trim().strip_prefix("debug ")?.trim().parse().ok()
}

/// Lines for which there is another text.
fn edited(text: &str, other: impl Fn(&str) -> Option<String>) -> String {
    text.lines().map(|line| other(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

fn set_name(line: &str) -> Option<&str> {
    let words = line.trim_start().strip_prefix("set")?;
    let (name, _) = words.trim_start().strip_prefix('$')?.split_once('=')?;
    Some(name.trim())
}

fn is_run(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| word == "run" || word == "psrun")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# set $no=1\nset $dir=/tmp\n  set $nfiles = 10\nset mode quit firstdone\ndefine file name=a,path=$dir,size=9g,prealloc\nrun 60\n";

    #[test]
    fn variables_are_those_that_are_set() {
        assert_eq!(variables(TEXT), ["dir", "nfiles"]);
        let text = with_values(TEXT, &[("dir", "/d"), ("absent", "1")]);
        assert!(text.contains("set $dir=/d\n  set $nfiles = 10\n"), "{text}");
    }

    #[test]
    fn the_run_line_is_changed_or_added() {
        assert!(with_run(TEXT, 2).ends_with("prealloc\nrun 2\n"));
        assert_eq!(with_run("echo \"run\"\n\n", 2), "echo \"run\"\nrun 2\n");
        assert!(has_run("psrun -10 60\n") && !has_run("set $runtime=5\n"));
    }

    #[test]
    fn a_silent_script_can_be_made_to_speak() {
        assert!(is_silent("set $a1=1\ndebug 1\n") && !is_silent("debug 3\necho \"debug 1\"\n"));
        assert_eq!(without_debug("debug 1\nrun 5\n"), "\nrun 5\n");
    }

    #[test]
    fn sizes_in_the_text_are_cut() {
        assert!(with_sizes_at_most(TEXT, 4).contains("size=4m,prealloc"));
        assert!(with_sizes_at_most("define file name=a,size=2m", 4).contains("size=2m"));
        assert_eq!(with_sizes_at_most("set $x=9g\n", 4), "set $x=9g\n");
    }
}
