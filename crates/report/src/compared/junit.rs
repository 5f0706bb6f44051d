//! A comparison as JUnit XML, which every CI shows: a suite for each comparison, a test for each figure the gate considers.
//! Worse is a failure; insufficient data is skipped, with the reason. If the gate then has no answer, that is an error.

use super::{Compared, Gate, Outcome, Word};
use std::fmt::Write as _;

/// The document; `gates` correspond to the comparisons.
#[must_use]
pub fn junit(all: &[Compared], gates: &[Gate]) -> String {
    let suites: Vec<String> = all.iter().zip(gates).map(|(c, g)| suite(c, g)).collect();
    let tests: usize = gates.iter().map(|g| g.rows.len() + undecided(g)).sum();
    let failures: usize = all.iter().zip(gates).map(|(c, g)| worse(c, g)).sum();
    let errors: usize = gates.iter().map(undecided).sum();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fathom compare\" tests=\"{tests}\" failures=\"{failures}\" \
         errors=\"{errors}\">\n{}</testsuites>\n",
        suites.concat()
    )
}

fn worse(compared: &Compared, gate: &Gate) -> usize {
    gate.rows.iter().filter(|i| compared.rows[**i].verdict == Word::Worse).count()
}

/// The number of cases that report a missing answer: 0 or 1.
fn undecided(gate: &Gate) -> usize {
    usize::from(gate.outcome == Outcome::NotEnoughData)
}

/// The document if nothing was compared: one undecided case, with the reason.
#[must_use]
pub fn junit_undecided(sides: &[&str; 2], why: &str) -> String {
    let (name, why) = (escaped(&format!("{} against {}", sides[1], sides[0])), escaped(why));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fathom compare\" tests=\"1\" failures=\"0\" errors=\"1\">\n  \
         <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n    \
         <testcase classname=\"fathom.compare\" name=\"{name}\"><error type=\"not-enough-data\" message=\"{why}\">{why}</error></testcase>\n  \
         </testsuite>\n</testsuites>\n"
    )
}

fn suite(compared: &Compared, gate: &Gate) -> String {
    let errors = undecided(gate);
    let name = escaped(&format!("{} against {}", compared.b.name, compared.a.name));
    let mut text = format!(
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{errors}\" skipped=\"{}\">\n",
        gate.rows.len() + errors,
        worse(compared, gate),
        gate.open.len()
    );
    for i in &gate.rows {
        let row = &compared.rows[*i];
        let class = escaped(&format!("fathom.{}", row.operation.replace(['.', ' '], "-")));
        let name = escaped(&format!("{}: {}", row.cell, row.metric));
        let _ = write!(text, "    <testcase classname=\"{class}\" name=\"{name}\">");
        let sentence = escaped(&row.sentence);
        if row.verdict == Word::Worse {
            let _ = write!(text, "<failure type=\"regression\" message=\"{sentence}\">{sentence}</failure>");
        } else if gate.open.contains(i) {
            let _ = write!(text, "<skipped message=\"{sentence}\"/>");
        } else {
            let _ = write!(text, "<system-out>{sentence}</system-out>");
        }
        text += "</testcase>\n";
    }
    let said = escaped(&gate.sentence);
    if errors > 0 {
        let _ = writeln!(
            text,
            "    <testcase classname=\"fathom.compare\" name=\"{name}\"><error type=\"not-enough-data\" message=\"{said}\">{said}</error></testcase>"
        );
    }
    let _ = writeln!(text, "    <system-out>{said}</system-out>\n  </testsuite>");
    text
}

/// Escapes text for an attribute: XML's five characters, and no control characters, which XML 1.0 cannot hold.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&apos;",
            c if c.is_control() || c == '\u{fffe}' || c == '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SLOWER, compared, sides_of};
    use super::*;
    use quick_xml::events::Event;

    #[test]
    fn a_gate_without_data_is_an_error_with_its_reason() {
        let text = junit_undecided(&["old", "new"], "a <machine> of 3 %");
        let mut reader = quick_xml::Reader::from_str(&text);
        let mut names = Vec::new();
        loop {
            match reader.read_event().expect("well formed") {
                Event::Eof => break,
                Event::Start(e) => {
                    names.push(String::from_utf8_lossy(e.name().as_ref().as_ref()).into_owned())
                }
                _ => {}
            }
        }
        assert_eq!(names, ["testsuites", "testsuite", "testcase", "error"]);
        assert!(text.contains("message=\"a &lt;machine&gt; of 3 %\""), "{text}");
    }

    #[test]
    fn a_reader_of_xml_finds_the_regression() {
        let mut found = compared(&sides_of(&SLOWER, 2));
        found.b.name = "a <&\"'> \u{1} name".into();
        let gate = Gate::of(&found, &[crate::compared::Metric::All]);
        let text = junit(&[found.clone(), found.clone()], &[gate.clone(), gate]);
        let mut reader = quick_xml::Reader::from_str(&text);
        let (mut failures, mut cases, mut skipped, mut suites) = (Vec::new(), 0, 0, Vec::new());
        loop {
            match reader.read_event().expect("well formed") {
                Event::Eof => break,
                Event::Start(e) | Event::Empty(e) => {
                    let attribute = |name: &str| {
                        let a = e.try_get_attribute(name).expect("an attribute")?;
                        Some(quick_xml::escape::unescape(&a.value).ok()?.into_owned())
                    };
                    match e.name().as_ref() {
                        "testsuite" => suites.push((attribute("name"), attribute("failures"))),
                        "testcase" => cases += 1,
                        "skipped" => skipped += 1,
                        "failure" => failures.push(attribute("message").expect("a message")),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        // Two cells with four figures each, twice; p99.9 has too few operations.
        assert_eq!((cases, skipped, failures.len()), (16, 4, 4));
        assert!(failures[0].starts_with("B is 2.7 % slower than A (ratio 0.9726"), "{failures:?}");
        assert_eq!(suites[0], (Some("a <&\"'> \u{fffd} name against old".into()), Some("2".into())));
    }
}
