//! `--check` of every personality: the compiled model is printed, and nothing is made.

use crate::personalities::list::ALL;
use fathom_testkit::Fathom;

#[test]
fn each_passes_the_check_and_nothing_is_made() {
    let fathom = Fathom::with_binary(env!("CARGO_BIN_EXE_fathom"));
    let dir = fathom.dir().subdir("data");
    for p in &ALL {
        let mut args =
            vec!["filebench".to_string(), "--check".into(), "-f".into(), p.path().display().to_string()];
        for (name, value) in p.settings(&dir.display().to_string()) {
            args.extend(["--set".into(), format!("{name}={value}")]);
        }
        let outcome = fathom.run(&args).expect_code(0);
        assert!(!outcome.stdout.is_empty(), "{}", p.name);
        assert!(std::fs::read_dir(&dir).expect("the directory").next().is_none(), "{} made files", p.name);
    }
    assert!(!fathom.store().exists(), "nothing ran, so nothing is kept");
}
