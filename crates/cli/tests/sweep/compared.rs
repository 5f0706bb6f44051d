//! `fathom compare --run` changes settings on the same stage as a sweep: they are read back, stored on the runs, and
//! restored.

use crate::sweep::support::{Stand, journals, wait_until_turned, workload};
use serde_json::Value;

fn words<'a>(more: &[&'a str], file: &'a str) -> Vec<&'a str> {
    ["compare", "--run", "--warm-up", "0", "--vary", "nomerges=0,2"]
        .iter()
        .chain(more)
        .chain([&file])
        .copied()
        .collect()
}

#[test]
fn a_comparison_of_two_settings_puts_them_back() {
    let Some(stand) = Stand::new("a_comparison_of_two_settings_puts_them_back") else { return };
    let before = stand.all();
    let file = workload(&stand.fathom, "", "");
    let plan = stand.fathom.run(words(&["--plan"], &file)).expect_code(0);
    let _ = plan.expect_stdout(&format!(
        "varies nomerges: 0, 2 (of {}, now 0; changed, and restored at the end)",
        stand.device()
    ));
    let outcome = stand.fathom.run(words(&["--max-quads", "1", "--json"], &file)).expect_code(0);
    assert_eq!(stand.all(), before);
    assert!(journals(&stand.fathom).is_empty());
    let found: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let one = &found["comparisons"][0];
    assert_eq!(one["design"]["left_out"], 0);
    let differs = one["environment"].as_array().expect("differences");
    assert!(
        differs.iter().any(|d| d["name"] == "nomerges" && d["a"] == "0" && d["b"] == "2"),
        "{differs:#?}"
    );
}

#[test]
fn ctrl_c_in_a_comparison_puts_back() {
    let Some(stand) = Stand::new("ctrl_c_in_a_comparison_puts_back") else { return };
    let before = stand.all();
    let file = workload(&stand.fathom, "stop = { time = \"10min\" }", "amount = \"endless\"");
    // The first quad may begin with A, whose value is the present one: the other is turned for both.
    let mut running = stand.fathom.spawn(words(&["--vary", "read_ahead_kb=0"], &file));
    wait_until_turned(&mut running, &stand, &before);
    running.signal_group(libc::SIGINT);
    let outcome = running.finish().expect_code(130);
    let _ =
        outcome.expect_stderr("stopped by signal 2; no quad was complete by then, so nothing is compared");
    assert_eq!(stand.all(), before);
    assert!(journals(&stand.fathom).is_empty());
}
