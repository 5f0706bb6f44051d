//! Which jobs there are and their options: sections, the command line, variables, groups.

use super::both::{Both, WHO, jobs, number};

#[test]
fn case_01_two_jobs_in_their_order() {
    let Some(both) = Both::new("case_01_two_jobs_in_their_order") else { return };
    both.file("two.fio", "[global]\nrw=randread\nsize=128m\nioengine=null\n[job1]\n[job2]\n");
    for (who, document) in WHO.iter().zip(both.json("two.fio")) {
        let found: Vec<_> = jobs(&document)
            .iter()
            .map(|job| {
                (job["jobname"].as_str().unwrap(), number(&job["read"]["total_ios"]), number(&job["error"]))
            })
            .collect();
        assert_eq!(found, [("job1", 32768, 0), ("job2", 32768, 0)], "{who}");
    }
}

#[test]
fn case_02_the_command_line_holds_for_jobs_of_a_file() {
    let Some(both) = Both::new("case_02_the_command_line_holds_for_jobs_of_a_file") else { return };
    both.file("g.fio", "[g1]\n[g2]\nbs=16k\n");
    for (who, document) in WHO.iter().zip(both.json("--bs=64k --size=1m --ioengine=null g.fio")) {
        let of = |at: usize| {
            let read = &jobs(&document)[at]["read"];
            number(&read["io_bytes"]) / number(&read["total_ios"])
        };
        assert_eq!([of(0), of(1)], [65536, 16384], "{who}");
    }
}

#[test]
fn case_03_variables_and_numbers_of_the_machine() {
    let Some(both) = Both::new("case_03_variables_and_numbers_of_the_machine") else { return };
    both.file("vars.fio", "[a]\nioengine=null\nsize=${SZ}\nbs=${UNSET}4k\n");
    for (who, document) in WHO.iter().zip(both.json("vars.fio")) {
        let read = &jobs(&document)[0]["read"];
        assert_eq!((number(&read["io_bytes"]), number(&read["total_ios"])), (2 << 20, 512), "{who}");
    }
    // fio gives the arithmetic to bc.
    if fathom_testkit::need_tool("case_03_variables_and_numbers_of_the_machine ($ncpus)", "bc") {
        both.file("ncpus.fio", "[a]\nioengine=null\nsize=2*$ncpus\nbs=1\n");
        let [ours, theirs] = both.json("ncpus.fio").map(|d| number(&jobs(&d)[0]["read"]["io_bytes"]));
        assert_eq!(ours, theirs);
        assert!(ours >= 2 && ours.is_multiple_of(2), "{ours}");
    }
}

#[test]
fn case_16_groups_and_their_reports() {
    let Some(both) = Both::new("case_16_groups_and_their_reports") else { return };
    both.file("groups.fio", "[global]\nioengine=null\nsize=1m\n[a]\n[b]\nstonewall\n[c]\n[d]\nnew_group\n");
    for (who, document) in WHO.iter().zip(both.json("groups.fio")) {
        let ids: Vec<u64> = jobs(&document).iter().map(|job| number(&job["groupid"])).collect();
        assert_eq!(ids, [0, 1, 1, 2], "{who}");
    }
    both.file(
        "reporting.fio",
        "[global]\nioengine=null\nsize=1m\nnumjobs=2\ngroup_reporting\n[a]\n[b]\n[c]\nstonewall\n",
    );
    for (who, document) in WHO.iter().zip(both.json("reporting.fio")) {
        let found: Vec<_> = jobs(&document)
            .iter()
            .map(|job| (job["jobname"].as_str().unwrap(), number(&job["read"]["total_ios"])))
            .collect();
        assert_eq!(found, [("a", 1024), ("c", 512)], "{who}");
    }
}
