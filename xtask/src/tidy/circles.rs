//! Circles of modules inside a crate: modules of one directory that use each other, directly or through others of it. In a circle no
//! module can be understood or tested without the rest. A module and what is inside of it may use each other. Tests are left out.
//!
//! Circles that exist are listed with the reason; a new one, and a listed one that is gone or smaller, is a finding.

use super::code::Code;
use super::{Finding, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Modules that use each other: the directory, their names, and why that is so.
struct Known {
    directory: &'static str,
    modules: &'static [&'static str],
    why: &'static str,
}

const KNOWN: [Known; 40] = [
    Known {
        directory: "crates/cli/src",
        modules: &["commands", "line"],
        why: "`why` and `completions` read the command line that lists them",
    },
    Known {
        directory: "crates/dialects/src/fio/plan",
        modules: &["mixes", "passes"],
        why: "a mix is one case of passes",
    },
    Known {
        directory: "crates/cli/src/commands",
        modules: &["fio", "run", "sweep"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/cli/src/commands/compare",
        modules: &["line", "run"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/cli/src/commands/reproduce/hsfs",
        modules: &["checks", "table", "text"],
        why: "a table and its text",
    },
    Known {
        directory: "crates/cli/src/commands/sweep",
        modules: &["kernel", "stage"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/compare/src",
        modules: &["noise", "quads", "unpaired", "verdict"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/dialects/src/filebench/plan",
        modules: &["random", "values"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/dialects/src/filebench/printer",
        modules: &["text", "value"],
        why: "a table and its text",
    },
    Known {
        directory: "crates/dialects/src/fio",
        modules: &["engines", "help"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/dialects/src/fio",
        modules: &["lenient_number", "table"],
        why: "a table and its text",
    },
    Known {
        directory: "crates/dialects/src/fio/output",
        modules: &["log_operations", "logs"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/dialects/src/fio/output",
        modules: &["shares", "stats"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/dialects/src/fio/plan",
        modules: &["blocks", "merge_traces", "replay"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/dialects/src/import",
        modules: &["context", "fio"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/dialects/src/import/iozone",
        modules: &["log", "report"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/engine/src/flow",
        modules: &["aio", "io", "memory", "worker"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/engine/src/flow",
        modules: &["say", "sets", "setting"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/iopath/src",
        modules: &["elevator", "queue"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/iopath/src",
        modules: &["list", "request", "tree"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/iopath/src/elevator/bfq",
        modules: &["fair", "queue"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/iopath/src/readahead",
        modules: &["hsfs", "modern", "none", "ondemand", "policy", "ra24", "ra26", "simplified"],
        why: "a policy asks for its likes by name",
    },
    Known {
        directory: "crates/isofs/src",
        modules: &["directory", "image", "read"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/isofs/src/reader",
        modules: &["idle", "threads"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/observe/src",
        modules: &["cache", "residency"],
        why: "two sides of one subject",
    },
    Known { directory: "crates/observe/src", modules: &["doubts", "trust"], why: "two sides of one subject" },
    Known {
        directory: "crates/observe/src/block",
        modules: &["instance", "reader", "watch"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/observe/src/join",
        modules: &["calls", "still", "syncs"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/record/src",
        modules: &["cache", "origin", "physical"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/report/src",
        modules: &["block", "counters"],
        why: "two sides of one subject",
    },
    Known { directory: "crates/report/src/sweep", modules: &["map", "text"], why: "a table and its text" },
    Known {
        directory: "crates/sim/src",
        modules: &["block", "cache", "calls", "files", "journal", "machine", "names", "writeback"],
        why: "the machine owns its parts, and what a part does takes the machine: its clock, tasks and other parts",
    },
    Known {
        directory: "crates/sim/src",
        modules: &["flows", "simulation", "threads"],
        why: "two sides of one subject",
    },
    Known { directory: "crates/sim/src/flows", modules: &["aio", "runner"], why: "two sides of one subject" },
    Known {
        directory: "crates/sim/src/replay",
        modules: &["engine", "handing"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/sim/src/threads",
        modules: &["files", "mapping", "plan"],
        why: "two sides of one subject",
    },
    Known {
        directory: "crates/sim/src/threads",
        modules: &["pace", "ratio", "stop"],
        why: "two sides of one subject",
    },
    Known { directory: "xtask/src/bench", modules: &["cases", "claims"], why: "two sides of one subject" },
    Known { directory: "xtask/src/bench", modules: &["files", "peers"], why: "two sides of one subject" },
    Known { directory: "xtask/src/bench", modules: &["rate", "stall"], why: "two sides of one subject" },
];

/// A module's path inside its crate; empty for the crate's root.
type Path = Vec<String>;

/// Checks the modules of every crate.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    judged(&circles(tree), KNOWN.iter().filter(|known| tree.has(known.directory)))
}

fn judged<'a>(
    found: &BTreeSet<(String, Vec<String>)>,
    known: impl Iterator<Item = &'a Known> + Clone,
) -> Vec<Finding> {
    let circle = |k: &Known| (k.directory.to_string(), k.modules.iter().map(|m| (*m).to_string()).collect());
    let listed: BTreeSet<(String, Vec<String>)> = known.clone().map(circle).collect();
    let new = found.difference(&listed).map(|(directory, modules)| {
        let what = format!(
            "modules use each other in a circle: {}; move what they share into a module that uses none of them, or list the circle with \
             its reason in xtask/src/tidy/circles.rs",
            modules.join(", ")
        );
        Finding::new(directory, 0, what)
    });
    let gone = known.filter(|k| !found.contains(&circle(k)));
    let gone = gone.map(|k| {
        let what = format!(
            "the circle {} ({}) is no longer there; take it out of xtask/src/tidy/circles.rs",
            k.modules.join(", "),
            k.why
        );
        Finding::new(k.directory, 0, what)
    });
    new.chain(gone).collect()
}

/// All circles, as (directory, modules in alphabetical order).
fn circles(tree: &Tree) -> BTreeSet<(String, Vec<String>)> {
    let mut crates: BTreeMap<&str, BTreeMap<Path, String>> = BTreeMap::new();
    for file in tree.with_end(".rs") {
        if let Some((root, module)) = module_of(&file.path) {
            crates.entry(root).or_default().insert(module, without_tests(file.code()));
        }
    }
    let mut found = BTreeSet::new();
    for (root, modules) in crates {
        for (directory, uses) in uses_by_directory(&modules) {
            let mut path = vec![root.to_string()];
            path.extend(directory);
            let of_directory = components(&uses).into_iter().filter(|members| members.len() > 1);
            found.extend(of_directory.map(|members| (path.join("/"), members)));
        }
    }
    found
}

/// The crate's source directory and the module of a file in it; `None` for tests and what is no crate of the house.
fn module_of(path: &str) -> Option<(&str, Path)> {
    let at = path.find("/src/")? + "/src".len();
    let root = path.get(..at).filter(|root| root.starts_with("crates/") || *root == "xtask/src")?;
    let mut module: Path = path[at + 1..].strip_suffix(".rs")?.split('/').map(String::from).collect();
    if module.iter().any(|name| name == "tests" || name.ends_with("_tests")) {
        return None;
    }
    if module.last().is_some_and(|name| matches!(name.as_str(), "mod" | "lib" | "main")) {
        module.pop();
    }
    Some((root, module))
}

fn without_tests(code: &Code) -> String {
    let tests = code.test_lines();
    let kept =
        code.code.lines().zip(1..).filter(|(_, number)| !tests.iter().any(|range| range.contains(number)));
    kept.map(|(line, _)| line).collect::<Vec<_>>().join("\n")
}

/// For each directory: which of its modules use which others of it, each with all that is inside of it.
fn uses_by_directory(modules: &BTreeMap<Path, String>) -> BTreeMap<Path, BTreeMap<String, BTreeSet<String>>> {
    let mut uses: BTreeMap<Path, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (from, code) in modules {
        for path in paths(code) {
            let Some(to) = target(from, &path, modules) else { continue };
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(user), Some(used)) = (from.get(common), to.get(common)) {
                let of_directory = uses.entry(from[..common].to_vec()).or_default();
                of_directory.entry(user.clone()).or_default().insert(used.clone());
            }
        }
    }
    uses
}

/// The module that a path in `from` leads to.
fn target(from: &[String], path: &[String], modules: &BTreeMap<Path, String>) -> Option<Path> {
    let (first, rest) = path.split_first()?;
    let mut to: Path = match first.as_str() {
        "crate" => rest.to_vec(),
        "self" | "super" => {
            let ups = path.iter().filter(|word| *word == "super").count();
            let words = path.iter().skip_while(|word| matches!(word.as_str(), "self" | "super"));
            from[..from.len().checked_sub(ups)?].iter().chain(words).cloned().collect()
        }
        _ => {
            let inside: Path = from.iter().chain(path).cloned().collect();
            modules.contains_key(&inside[..=from.len()]).then_some(inside)?
        }
    };
    while !modules.contains_key(&to) {
        to.pop()?;
    }
    Some(to)
}

/// All paths of a file's code, those in braces one by one.
fn paths(code: &str) -> Vec<Path> {
    let mut found = Vec::new();
    // Prefixes of the braces that are open; `None` for a brace that opens no list of a path.
    let mut open: Vec<Option<Path>> = Vec::new();
    let mut path: Path = Vec::new();
    let mut word = String::new();
    let mut characters = code.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            c if c.is_alphanumeric() || c == '_' => word.push(c),
            ':' if characters.peek() == Some(&':') => {
                characters.next();
                path.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            }
            other => {
                path.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                let prefix = open.last().cloned().flatten().unwrap_or_default();
                let whole: Path = prefix.iter().cloned().chain(path.drain(..)).collect();
                match other {
                    '{' => open.push((whole.len() > prefix.len() && code_list(&whole)).then_some(whole)),
                    '}' => {
                        found.push(whole);
                        open.pop();
                    }
                    _ => found.push(whole),
                }
            }
        }
    }
    found.retain(|path| path.len() > 1 || path.first().is_some_and(|word| word == "super"));
    found
}

/// Whether a brace after this path opens a list of paths, and not a block or a structure's fields.
fn code_list(path: &[String]) -> bool {
    path.iter().all(|word| word.chars().all(|c| c.is_lowercase() || c == '_' || c.is_numeric()))
}

/// The strongly connected components of a graph, each sorted.
fn components(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        uses.keys().map(|from| (from, reached(uses, from))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (from, to) in &reach {
        let mutual = to.iter().filter(|other| reach.get(**other).is_some_and(|back| back.contains(from)));
        let mut members: BTreeSet<String> = mutual.map(|member| (*member).clone()).collect();
        members.insert((*from).clone());
        found.insert(members.into_iter().collect());
    }
    found.into_iter().collect()
}

fn reached<'a>(uses: &'a BTreeMap<String, BTreeSet<String>>, from: &'a String) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        for to in uses.get(next).into_iter().flatten() {
            if seen.insert(to) {
                open.push(to);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        circles(&tree(files)).into_iter().collect()
    }

    fn circle(directory: &str, modules: &[&str]) -> (String, Vec<String>) {
        (directory.into(), modules.iter().map(|m| (*m).into()).collect())
    }

    #[test]
    fn modules_of_one_directory_that_use_each_other_are_a_circle() {
        let files = [
            ("crates/a/src/lib.rs", "mod b;\nmod c;\nmod d;\n"),
            ("crates/a/src/b.rs", "use crate::{c::{C, E}, d};\n"),
            ("crates/a/src/c/mod.rs", "mod inner;\n"),
            ("crates/a/src/c/inner.rs", "fn f() { super::super::b::g() }\n"),
            (
                "crates/a/src/d.rs",
                "// use crate::b;\nconst A: &str = \"crate::b\";\n#[cfg(test)]\nmod tests {\n use crate::b;\n}\n",
            ),
        ];
        assert_eq!(found(&files), [circle("crates/a/src", &["b", "c"])]);
    }

    #[test]
    fn a_module_and_what_is_inside_of_it_are_no_circle() {
        let files = [
            ("crates/a/src/lib.rs", "mod b;\nuse b::B;\npub struct A;\n"),
            ("crates/a/src/b/mod.rs", "mod c;\nuse c::C;\nuse crate::A;\npub struct B;\n"),
            ("crates/a/src/b/c.rs", "use super::B;\n"),
        ];
        assert_eq!(found(&files), []);
    }

    #[test]
    fn a_circle_goes_through_others() {
        let files = [
            ("crates/a/src/lib.rs", ""),
            ("crates/a/src/b.rs", "use super::c;\n"),
            ("crates/a/src/c.rs", "impl crate::d::D { fn f() {} }\n"),
            ("crates/a/src/d.rs", "fn f(b: crate::b::B) {}\n"),
            ("crates/a/src/e.rs", "use crate::b::B;\n"),
        ];
        assert_eq!(found(&files), [circle("crates/a/src", &["b", "c", "d"])]);
    }

    #[test]
    fn new_circles_and_listed_ones_that_are_gone_are_findings() {
        let known = [
            Known { directory: "crates/a/src", modules: &["b", "c"], why: "a reason" },
            Known { directory: "crates/a/src", modules: &["x", "y"], why: "a reason" },
        ];
        let found = [circle("crates/a/src", &["b", "c"]), circle("crates/a/src", &["d", "e"])].into();
        let said: Vec<String> = judged(&found, known.iter()).iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("crates/a/src:1: modules use each other in a circle: d, e;"), "{said:?}");
        assert!(said[1].contains("the circle x, y (a reason) is no longer there"), "{said:?}");
    }
}
