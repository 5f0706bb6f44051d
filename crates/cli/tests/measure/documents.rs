//! README.md and docs/survey.md: the blocks after `<!-- commands:run -->` run line by line as they stand, in a directory that has no more
//! than the examples of a clone. Every other command there has a word in capitals for the reader to fill in, or is named here with the reason
//! why it does not run. (GUIDE.md has a separate test.)

use crate::measure::shell::{in_shell, link_examples};
use fathom_testkit::Fathom;
use fathom_testkit::dir::names_in;

const README: &str = include_str!("../../../../README.md");
const SURVEY: &str = include_str!("../../../../docs/survey.md");

/// Stands on the line before a block whose commands run here.
const MARK: &str = "<!-- commands:run -->\n```sh\n";

/// Commands without a word to fill in that do not run here, and why.
const NOT_RUN: [(&str, &str); 1] = [("fathom survey", "takes a minute; `--quick` runs instead")];

/// The commands of a text's lines, without their comments.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| line.starts_with("fathom "))
        .map(|line| line.split(" #").next().unwrap_or_default().trim())
}

/// What is in the code blocks that open with `opening`.
fn blocks<'a>(text: &'a str, opening: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(opening).skip(1).map(|rest| rest.split("```").next().unwrap_or_default())
}

/// Whether a word in capitals (`DIR`, `FILE.toml`, `/dev/DISK`) is to be filled in.
fn has_placeholder(command: &str) -> bool {
    command
        .split([' ', '=', '/', '.'])
        .any(|word| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase()))
}

/// Runs the marked commands of one document; returns the directory they ran in.
fn run_marked(document: &str, text: &str) -> Fathom {
    let fathom = Fathom::new().named("fathom");
    link_examples(&fathom);
    let mut ran = 0;
    for command in blocks(text, MARK).flat_map(commands) {
        let out = in_shell(&fathom, command);
        let errors = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(0), "{document}: {command}\n{errors}");
        ran += 1;
    }
    assert!(ran > 0, "{document} has no block that is marked to run");
    fathom
}

#[test]
fn the_readmes_commands_run_in_a_fresh_clone() {
    assert_eq!(blocks(README, MARK).flat_map(commands).count(), 5, "five commands to begin with");
    let fathom = run_marked("README.md", README);
    let mut names = names_in(fathom.work());
    names.retain(|name| !name.ends_with(".html"));
    assert_eq!(names, ["examples", "reads.0.0"], "nothing is left but what the README says");
}

#[test]
fn the_commands_of_the_page_on_surveys_run() {
    let fathom = run_marked("docs/survey.md", SURVEY);
    let json = std::fs::read_to_string(fathom.work().join("here.json")).expect("what the command wrote");
    assert!(json.contains("fathom-survey/1"), "{json}");
}

#[test]
fn a_command_that_does_not_run_says_what_to_fill_in() {
    for (document, text) in [("README.md", README), ("docs/survey.md", SURVEY)] {
        let marked: Vec<&str> = blocks(text, MARK).flat_map(commands).collect();
        let others = blocks(text, "```sh\n").flat_map(commands).filter(|c| !marked.contains(c));
        for command in others {
            let named = NOT_RUN.iter().any(|(not_run, _)| *not_run == command);
            assert!(
                named || has_placeholder(command),
                "{document}: `{command}` neither runs here nor has a word in capitals to fill in"
            );
        }
    }
}

#[test]
fn placeholders_are_words_in_capitals() {
    for command in
        ["fathom survey DIR", "fathom run --x FILE.toml", "fathom survey /dev/DISK", "fathom a --b=RUN"]
    {
        assert!(has_placeholder(command), "{command}");
    }
    for command in ["fathom iozone -Ra -I -g 1g", "fathom sweep --vary record=4KiB,64KiB -- examples/a.toml"]
    {
        assert!(!has_placeholder(command), "{command}");
    }
}
