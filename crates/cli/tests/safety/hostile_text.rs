//! Text from other users that a terminal would obey, a spreadsheet compute or a log reader take for a command: it is
//! shown literally. (D10 and D20 of the reliability review.)

use fathom_testkit::{Fathom, on_terminal};
use std::fs;
use std::path::{Path, PathBuf};

/// Names the window, clears the screen, answers as if typed.
const ATTACKS: [&str; 4] = ["\x1b]0;OWNED\x07", "\x1b[2J", "\x1bP$qm\x1b\\", "\u{9b}6n"];

/// What of an attack a terminal would obey: colours are ours.
fn obeyed(text: &str) -> Option<&'static str> {
    ["\x1b]", "\x07", "\x1b[2J", "\x1bP", "\u{9b}"].into_iter().find(|bad| text.contains(bad))
}

/// Runs it on a terminal and through pipes; neither may get an attack.
#[track_caller]
fn harmless(fathom: &Fathom, args: &[&str]) -> String {
    let (_, seen) = on_terminal(&mut fathom.command(args));
    assert_eq!(obeyed(&seen), None, "{args:?} on a terminal: {seen:?}");
    let output = fathom.command(args).output().expect("started");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(obeyed(&err), None, "{args:?}: {err:?}");
    format!("{out}{err}{seen}")
}

fn file(fathom: &Fathom, name: &str, text: &str) -> PathBuf {
    let path = fathom.work().join(name);
    fs::write(&path, text).expect("a file of somebody");
    path
}

#[test]
fn d10_no_input_speaks_to_the_terminal() {
    for attack in ATTACKS {
        let fathom = Fathom::new();
        let name = format!("a{attack}b");
        let toml = format!("name = \"x\"\n{attack} = 1\n");
        let broken = file(&fathom, &format!("{name}.toml"), &toml);
        let fio = file(&fathom, &format!("{name}.fio"), &format!("[{name}]\nrw=read\nsize=4k\n{attack}=1\n"));
        let good = file(&fathom, "good.fio", &format!("[{name}]\nrw=write\nsize=4k\n"));
        let bench = file(&fathom, &format!("{name}.f"), &format!("define {attack}\n"));
        let dd = "1024+0 records in\n1024+0 records out\n1048576 bytes copied, 0.5 s, 2.1 MB/s\n";
        let mail = file(&fathom, &format!("{name}.txt"), &format!("{attack} 12.3 MB/s\n{dd}"));
        let trace = file(&fathom, &format!("{name}.trace"), &format!("{attack}\n"));
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        for words in [
            vec!["run", &text(&broken)],
            vec!["run", "--plan", &text(&fio)],
            vec!["fio", &text(&fio)],
            vec!["fio", &text(&good)],
            vec!["filebench", "-f", &text(&bench)],
            vec!["import", &text(&mail)],
            vec!["trace", "summary", &text(&trace)],
            vec!["sim", "run", &text(&broken)],
            vec!["iso", "ls", &text(&trace)],
            vec!["list"],
            vec!["history"],
            vec!["show"],
            vec!["doctor", &name],
            vec!["backends", &name],
            vec![&name],
            vec!["iozone", "-f", &name, &name],
            vec!["sysbench", &name],
            vec!["report", &name],
            vec!["export", "last", "--format", "csv"],
        ] {
            let said = harmless(&fathom, &words);
            assert!(!said.is_empty() || words == ["list"], "{words:?}");
        }
        for ending in ["html", "md", "csv", "prom", "svg"] {
            let page = format!("page.{ending}");
            let _ = fathom.run(["report", "last", "-o", &page]);
            let text = fs::read_to_string(fathom.work().join(&page)).unwrap_or_default();
            assert_eq!(obeyed(&text), None, "{ending}");
        }
    }
}

#[test]
fn d20_a_cell_is_no_formula() {
    let fathom = Fathom::new();
    let good = file(&fathom, "good.fio", "[=cmd|calc]\nrw=write\nsize=4k\n[+1+2]\nrw=write\nsize=4k\n");
    let _ = fathom.run(["fio", good.to_str().expect("UTF-8")]).expect_code(0);
    let csv = fathom.run(["export", "last", "--format", "csv"]).expect_code(0).stdout;
    let is_formula = |cell: &str| cell.starts_with(['=', '+', '@']) && cell.parse::<f64>().is_err();
    let cells: Vec<&str> = csv.lines().flat_map(|line| line.split(',')).collect();
    assert!(!cells.iter().any(|cell| is_formula(cell.trim_matches('"'))), "{csv}");
    assert!(csv.contains("'=cmd|calc") || csv.contains("'+1+2"), "{csv}");
}
