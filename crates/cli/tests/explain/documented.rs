//! The queries in docs/formats/store.md run in SQLite's own shell and return rows.

use fathom_testkit::{Fathom, LoopFs, need_tool, sqlite3};

const STORE_MD: &str = include_str!("../../../../docs/formats/store.md");

/// Contents of the blocks fenced with a word.
fn blocks(word: &str) -> Vec<&'static str> {
    let opening = format!("```{word}\n");
    STORE_MD.split(opening.as_str()).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

fn measured() -> Option<(Fathom, LoopFs)> {
    if !need_tool("documented", "sqlite3") {
        return None;
    }
    let fs = LoopFs::ext4("documented").mebibytes(32).mount()?;
    let fathom = Fathom::new().working_in(fs.path());
    let _ = fathom.run_line("iozone -e -s 1m -r 64k -i 0 -i 1 -i 2").expect_code(0);
    Some((fathom, fs))
}

#[test]
fn the_documented_queries_answer() {
    let Some((fathom, _fs)) = measured() else { return };
    let queries = blocks("sql");
    assert!(queries.len() >= 3, "{queries:?}");
    // Tables for flows and the block layer, which this run does not fill; the store's own tests cover them.
    let elsewhere = ["flow_", "interval_moved", "block_", "finding"];
    for query in queries.into_iter().filter(|q| !elsewhere.iter().any(|word| q.contains(word))) {
        let answer = sqlite3(&fathom.store(), query).unwrap_or_default();
        assert!(!answer.trim().is_empty(), "no row answers\n{query}");
    }
}

#[test]
fn the_documented_shell_line_answers() {
    let Some((fathom, _fs)) = measured() else { return };
    let lines = blocks("sh");
    assert_eq!(lines.len(), 1);
    let prepared = fathom.command(["--version"]);
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(lines[0]).envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let out = shell.output().expect("a shell");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(text.lines().next().is_some_and(|l| l.starts_with("phase")), "a head: {text}");
    for phase in ["write", "reread", "random read"] {
        assert!(text.lines().any(|l| l.starts_with(phase)), "{phase} is missing in\n{text}");
    }
}

#[test]
fn the_store_is_sound_and_of_the_documented_version() {
    let Some((fathom, _fs)) = measured() else { return };
    let ask = |query: &str| sqlite3(&fathom.store(), query).unwrap_or_default().trim().to_owned();
    assert_eq!(ask("PRAGMA integrity_check"), "ok");
    assert_eq!(ask("PRAGMA foreign_key_check"), "");
    let version = ask("PRAGMA user_version");
    assert!(
        STORE_MD.contains(&format!("`PRAGMA user_version` is the schema version (now {version})")),
        "{version}"
    );
    assert_eq!(ask("PRAGMA application_id"), 0x4654_484d.to_string());
    let wal = fathom.store().with_extension("db-wal");
    assert!(!wal.exists(), "a clean end folds the log in");
    let columns = ask("SELECT group_concat(name, ', ') FROM pragma_table_info('result')");
    assert!(STORE_MD.contains(&columns), "the view's columns as documented, not {columns}");
}

#[test]
fn every_table_is_documented() {
    let Some((fathom, _fs)) = measured() else { return };
    let names = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'";
    for name in sqlite3(&fathom.store(), names).unwrap_or_default().lines() {
        let heading = [format!("### {name}\n"), format!("### {name} (view)\n")];
        assert!(
            heading.iter().any(|h| STORE_MD.contains(h)),
            "{name} has no chapter in docs/formats/store.md"
        );
    }
}
