//! The direction of the arrows: a crate uses only crates on floors below its own, as ARCHITECTURE's four floors say, and two
//! executors never know each other. Read from every Cargo.toml. Also: every crate takes the workspace's lints.

use super::{File, Finding, Tree};
use toml::{Table, Value};

/// Each crate's floor, by package name. A new crate is entered here, or tidy refuses it.
const FLOORS: [(&str, u8); 14] = [
    ("fathom-workload", 0),
    ("fathom-record", 0),
    ("fathom-iopath", 0),
    ("fathom-state", 0),
    ("fathom-engine", 1),
    ("fathom-sim", 1),
    ("fathom-isofs", 1),
    ("fathom-observe", 1),
    ("fathom-compare", 1),
    ("fathom-dialects", 2),
    ("fathom-report", 2),
    ("fathom", 3),
    ("fathom-mpi", 3),
    // Above all: no crate may use it except in its tests, where the floors do not apply to it.
    (TESTKIT, u8::MAX),
];

const TESTKIT: &str = "fathom-testkit";

/// Text in and out never sees what executes: (user, used).
const NEVER: [(&str, &str); 6] = [
    ("fathom-dialects", "fathom-engine"),
    ("fathom-dialects", "fathom-sim"),
    ("fathom-dialects", "fathom-observe"),
    ("fathom-report", "fathom-engine"),
    ("fathom-report", "fathom-sim"),
    ("fathom-report", "fathom-observe"),
];

/// Checks every package of the tree.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.with_end("Cargo.toml").flat_map(check_manifest).collect()
}

fn check_manifest(file: &File) -> Vec<Finding> {
    let manifest = match file.text.parse::<Table>() {
        Ok(manifest) => manifest,
        Err(e) => return vec![Finding::new(&file.path, 0, format!("not readable as TOML: {}", e.message()))],
    };
    let Some(name) = manifest.get("package").and_then(|p| p.get("name")).and_then(Value::as_str) else {
        return Vec::new(); // the workspace
    };
    if manifest.contains_key("workspace") {
        return Vec::new(); // a separate workspace (fuzz/): it may use every crate, and no crate can use it
    }
    let mut found = Vec::new();
    if manifest.get("lints").and_then(|l| l.get("workspace")).and_then(Value::as_bool) != Some(true) {
        let what = format!("{name} does not take the workspace's lints; add [lints] workspace = true");
        found.push(Finding::new(&file.path, 0, what));
    }
    if file.path.starts_with("crates/") && floor(name).is_none() {
        let what = format!("{name} stands on no floor; enter it in xtask/src/tidy/arrows.rs");
        found.push(Finding::new(&file.path, 0, what));
    }
    for (key, used, in_tests) in dependencies(&manifest) {
        if let Some(what) = wrong_arrow(name, &used, in_tests) {
            found.push(Finding::new(&file.path, line_of(&file.text, &key), what));
        }
    }
    found
}

/// (key, package, whether only for tests) of every dependency, target-specific ones included.
fn dependencies(manifest: &Table) -> Vec<(String, String, bool)> {
    let mut places: Vec<&Table> = vec![manifest];
    if let Some(targets) = manifest.get("target").and_then(Value::as_table) {
        places.extend(targets.values().filter_map(Value::as_table));
    }
    let mut found = Vec::new();
    for place in places {
        for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let Some(listed) = place.get(section).and_then(Value::as_table) else { continue };
            for (key, value) in listed {
                let package = value.get("package").and_then(Value::as_str).unwrap_or(key);
                found.push((key.clone(), package.to_string(), section == "dev-dependencies"));
            }
        }
    }
    found
}

/// Why `user` may not use `used`, with what to do; `None` if it may.
fn wrong_arrow(user: &str, used: &str, in_tests: bool) -> Option<String> {
    let used_floor = floor(used)?;
    if used == TESTKIT {
        return (!in_tests)
            .then(|| format!("{user} uses {TESTKIT}; it is for tests only, move it to [dev-dependencies]"));
    }
    let Some(user_floor) = floor(user) else {
        return Some(format!("{user} is no part of the house and must build without {used}; do without it"));
    };
    if NEVER.contains(&(user, used)) {
        return Some(format!(
            "{user} uses {used}, but text in and out never sees an executor; let cli bring them together"
        ));
    }
    (used_floor >= user_floor || user == TESTKIT && used_floor > 0).then(|| {
        format!(
            "{user} (floor {}) uses {used} (floor {used_floor}); a crate uses only floors below its own. Move what \
             both need down, or let cli bring them together",
            if user == TESTKIT { "of tests".to_string() } else { user_floor.to_string() }
        )
    })
}

fn floor(package: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == package).map(|&(_, floor)| floor)
}

/// The first line on which a dependency is named.
fn line_of(text: &str, key: &str) -> usize {
    let names = |line: &str| {
        let line = line.trim_start();
        let tail =
            line.strip_prefix(key).or_else(|| line.strip_prefix('"').and_then(|l| l.strip_prefix(key)));
        let in_header = line.trim_end().ends_with(&format!(".{key}]"));
        in_header || tail.is_some_and(|t| t.trim_start().starts_with(['=', '.', '"']))
    };
    text.lines().position(names).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{places, tree};
    use super::*;

    fn manifest(name: &str, rest: &str) -> String {
        format!("[package]\nname = \"{name}\"\n\n[lints]\nworkspace = true\n\n{rest}\n")
    }

    fn found(path: &str, name: &str, rest: &str) -> Vec<Finding> {
        check(&tree(&[(path, &manifest(name, rest))]))
    }

    #[test]
    fn arrows_down_are_fine() {
        let rest = "[dependencies]\nfathom-workload.workspace = true\nfathom-record = { path = \"x\" }\nlibc = \"1\"\n\
                    [dev-dependencies]\nfathom-testkit.workspace = true";
        assert_eq!(found("crates/engine/Cargo.toml", "fathom-engine", rest), []);
    }

    #[test]
    fn a_separate_workspace_may_use_every_crate() {
        let rest = "[workspace]\n[dependencies]\nfathom-engine.workspace = true";
        assert_eq!(found("fuzz/Cargo.toml", "fathom-fuzz", rest), []);
    }

    #[test]
    fn arrows_up_and_across_are_found_with_their_line() {
        let across = found(
            "crates/sim/Cargo.toml",
            "fathom-sim",
            "[dependencies]\nlibc = \"1\"\nfathom-engine.workspace = true",
        );
        assert_eq!(places(&across), ["crates/sim/Cargo.toml:9"]);
        assert!(across[0].what.contains("floor 1"), "{}", across[0]);
        let up =
            found("crates/record/Cargo.toml", "fathom-record", "[dependencies.fathom-report]\npath = \"x\"");
        assert_eq!(places(&up), ["crates/record/Cargo.toml:7"]);
        let ground = found(
            "crates/record/Cargo.toml",
            "fathom-record",
            "[dependencies]\nfathom-workload.workspace = true",
        );
        assert_eq!(ground.len(), 1);
    }

    #[test]
    fn renamed_and_target_dependencies_do_not_hide() {
        let rest = "[target.'cfg(unix)'.dependencies]\ne = { package = \"fathom-engine\", path = \"x\" }";
        assert_eq!(
            places(&found("crates/observe/Cargo.toml", "fathom-observe", rest)),
            ["crates/observe/Cargo.toml:8"]
        );
    }

    #[test]
    fn text_never_sees_an_executor() {
        let rest = "[dependencies]\nfathom-engine.workspace = true\nfathom-compare.workspace = true";
        let found = found("crates/report/Cargo.toml", "fathom-report", rest);
        assert_eq!(places(&found), ["crates/report/Cargo.toml:8"]);
        assert!(found[0].what.contains("never sees an executor"));
    }

    #[test]
    fn the_testkit_is_for_tests() {
        let rest = "[dependencies]\nfathom-testkit.workspace = true";
        assert!(found("crates/cli/Cargo.toml", "fathom", rest)[0].what.contains("dev-dependencies"));
        let upward = "[dependencies]\nfathom-engine.workspace = true";
        assert_eq!(found("crates/testkit/Cargo.toml", "fathom-testkit", upward).len(), 1);
    }

    #[test]
    fn the_chores_use_nothing_of_the_house() {
        let rest = "[dependencies]\nfathom-record.workspace = true\n[dev-dependencies]\nfathom-testkit.workspace = true";
        assert_eq!(places(&found("xtask/Cargo.toml", "xtask", rest)), ["xtask/Cargo.toml:8"]);
    }

    #[test]
    fn strangers_and_crates_without_lints_are_found() {
        assert!(found("crates/new/Cargo.toml", "fathom-new", "")[0].what.contains("stands on no floor"));
        let bare = check(&tree(&[("crates/engine/Cargo.toml", "[package]\nname = \"fathom-engine\"\n")]));
        assert!(bare[0].what.contains("lints"));
        let broken = check(&tree(&[("crates/engine/Cargo.toml", "[package\n")]));
        assert!(broken[0].what.contains("not readable"));
    }

    #[test]
    fn the_workspace_itself_is_no_package() {
        assert_eq!(check(&tree(&[("Cargo.toml", "[workspace]\nmembers = []\n")])), []);
    }
}
