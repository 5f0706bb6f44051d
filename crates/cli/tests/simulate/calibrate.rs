//! `fathom sim calibrate`: a profile from a trace, judged on what it has not seen, and taken by the commands that simulate.

use fathom_testkit::Fathom;
use serde_json::Value;

const KNOWN: &str = "kind = \"constant\"\nabout = \"known\"\n[service]\ncapacity_gb = { value = 2.0, src = \"guess\" }\n\
    queue_depth = { value = 4, src = \"guess\" }\ncommand_us = { value = 250.0, src = \"guess\" }\nmb_s = { value = 0.0, src = \"guess\" }\n";

/// A trace of a device of known numbers.
fn traced(device: &str, depth: u32) -> Fathom {
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join("known.toml"), KNOWN).expect("a file of a test");
    let line = format!(
        "sim replay --synthetic 4000 --device {device} --scheduler none --depth {depth} --log a.fbl --no-store"
    );
    let _ = fathom.run_line(&line).expect_code(0);
    fathom
}

#[test]
fn what_went_in_comes_out_and_is_taken_by_a_replay() {
    let fathom = traced("known.toml", 4);
    let told = fathom.run_line("sim calibrate a.fbl -o fitted.toml --json --at-most 6").expect_code(0);
    let told: Value = serde_json::from_str(&told.stdout).expect("JSON");
    assert_eq!((&told["schema"], &told["kind"]), (&"fathom-sim-calibrate/1".into(), &"constant".into()));
    let command = told["values"][0]["value"].as_f64().expect("a number");
    assert!((command - 250.0).abs() < 0.01, "{told}");
    assert!(told["held_out"]["demerit_percent"].as_f64().is_some_and(|d| d < 6.0), "{told}");
    let profile = std::fs::read_to_string(fathom.work().join("fitted.toml")).expect("a profile");
    assert!(profile.contains("queue_depth = { value = 16, src = \"guess\""), "{profile}");
    assert!(profile.contains("demerit_percent = "), "the error bar stands with it: {profile}");
    let again = fathom.run_line("sim replay a.fbl --device fitted.toml --no-store").expect_code(0).stdout;
    assert!(again.contains("Error bar: the device's model was "), "{again}");
    assert!(again.contains(" 2 fitted"), "{again}");
    let page = fathom.run_line("sim calibrate a.fbl -o fitted.toml --force").expect_code(0).stdout;
    for words in ["service.command_us", "250.0", "held out: ", "demerit"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert_eq!(
        fathom.run_line("sim calibrate a.fbl -o fitted.toml --force").stdout,
        page,
        "the same bytes again"
    );
}

/// An error bar of one load says nothing of another.
#[test]
fn what_the_trace_has_not_has_no_error_bar() {
    // Three reads out of order for a write in order, four at once.
    let fathom = traced("known.toml", 4);
    let _ = fathom.run_line("sim calibrate a.fbl -o fitted.toml").expect_code(0);
    let profile = std::fs::read_to_string(fathom.work().join("fitted.toml")).expect("a profile");
    assert!(
        profile.contains("[trace]\nreads = { requests = 3000, bytes = [4096, 4096], in_order_percent = ["),
        "{profile}"
    );
    assert!(profile.contains("\ndepth = [4, 4]\n"), "{profile}");
    let simulated = |job: &str| {
        let line = format!(
            "sim run --device fitted.toml --no-store --json -- fio --name=a --size=16m --direct=1 --ioengine=libaio {job}"
        );
        let told: Value = serde_json::from_str(&fathom.run_line(&line).expect_code(0).stdout).expect("JSON");
        told["simulation"]["rests_on"].clone()
    };
    let like_it = simulated("--rw=randread --bs=4k --iodepth=4");
    assert!(like_it["demerit_percent"].is_f64() && like_it["instead"].is_null(), "{like_it}");
    // Files may go farther than the trace.
    let beyond = simulated("--rw=randread --bs=4k --iodepth=4 --filesize=8g --io_size=4m");
    assert!(beyond["demerit_percent"].is_f64(), "{beyond}");
    for (job, instead) in [
        ("--rw=randread --bs=4k --iodepth=1", "a queue depth of 4 (here 1.0)"),
        ("--rw=randread --bs=128k --iodepth=4", "only reads of 4 KiB (here 128 KiB)"),
        ("--rw=read --bs=4k --iodepth=4", "only reads out of order (here in order)"),
        ("--rw=randwrite --bs=4k --iodepth=4 --fsync=1", "no flushes that could be fitted"),
    ] {
        let rests_on = simulated(job);
        assert!(rests_on["demerit_percent"].is_null(), "{job}: {rests_on}");
        let told = rests_on["instead"].as_array().expect("a list");
        assert!(told.iter().any(|words| words == instead), "{job}: {rests_on}");
    }
    let line = "sim run --device fitted.toml --no-store -- fio --name=a --size=1m --rw=randread --direct=1";
    let text = fathom.run_line(line).expect_code(0).stdout;
    assert!(text.contains("Not calibrated for this, so its error is unknown: "), "{text}");
}

/// Four commands at once, each 400 us and 100 us more beside its channel.
const SIDE_BY_SIDE: &str = "kind = \"distribution\"\nabout = \"known\"\n[service]\ncapacity_gb = { value = 2.0, src = \"guess\" }\n\
    queue_depth = { value = 64, src = \"guess\" }\nchannels = { value = 4, src = \"guess\" }\nmb_s = { value = 0.0, src = \"guess\" }\n\
    read_us = { value = [300.0, 400.0, 500.0], src = \"guess\" }\nwrite_us = { value = [400.0], src = \"guess\" }\n\
    read_beside_us = { value = 100.0, src = \"guess\" }\nwrite_beside_us = { value = 100.0, src = \"guess\" }\n";

#[test]
fn several_traces_make_one_profile_whose_error_bar_is_of_what_was_held_out() {
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join("known.toml"), SIDE_BY_SIDE).expect("a file of a test");
    for depth in [1, 4, 32] {
        let line = format!(
            "sim replay --synthetic 3000 --device known.toml --scheduler none --depth {depth} --log {depth}.fbl --no-store"
        );
        let _ = fathom.run_line(&line).expect_code(0);
    }
    for kind in ["constant", "distribution"] {
        let line =
            format!("sim calibrate 1.fbl 4.fbl 32.fbl -o {kind}.toml --kind {kind} --json --at-most 8");
        let told: Value = serde_json::from_str(&fathom.run_line(&line).expect_code(0).stdout).expect("JSON");
        assert_eq!(told["schema"], "fathom-sim-calibrate-several/1");
        let bar = told["error_bar_percent"].as_f64().expect("a number");
        assert!(bar > 0.0 && bar < 8.0, "{told}");
        // The one between the others is predicted by them, the others by halves.
        let parts: Vec<&Value> =
            told["traces"].as_array().expect("traces").iter().map(|t| &t["held_out"]["part"]).collect();
        assert_eq!(parts, ["second-half", "whole", "second-half"], "{told}");
        let profile = std::fs::read_to_string(fathom.work().join(format!("{kind}.toml"))).expect("a profile");
        assert!(
            profile.contains("\ndepth = [1, 32]\n") && profile.matches("[[held_out]]").count() == 3,
            "{profile}"
        );
        // A load that no trace has, within what they have.
        let simulated = |device: &str, depth: u32| -> Value {
            let line = format!(
                "sim run --device {device}.toml --no-store --json -- fio --name=a --size=64m --io_size=16m --direct=1 --ioengine=libaio --rw=randread --bs=4k --iodepth={depth}"
            );
            serde_json::from_str(&fathom.run_line(&line).expect_code(0).stdout).expect("JSON")
        };
        let took = |run: &Value| {
            let counts = run["simulation"]["counts"].as_array().expect("counts");
            let virtual_ns = counts.iter().find(|c| c[0] == "virtual_ns").expect("a count");
            virtual_ns[1].as_f64().expect("a number")
        };
        let (model, device) = (simulated(kind, 16), simulated("known", 16));
        let off = (took(&model) / took(&device) - 1.0) * 100.0;
        assert!(off.abs() <= bar, "{off} {bar}");
        assert_eq!(
            model["simulation"]["rests_on"]["held_out"]["traces"], 3,
            "{}",
            model["simulation"]["rests_on"]
        );
        let deeper = simulated(kind, 128)["simulation"]["rests_on"].clone();
        assert!(deeper["held_out"].is_null(), "{deeper}");
        assert!(
            deeper["instead"][0].as_str().is_some_and(|w| w.contains("a queue depth of 1 to 32")),
            "{deeper}"
        );
    }
    let text =
        fathom.run_line("sim calibrate 1.fbl 4.fbl 32.fbl -o constant.toml --force").expect_code(0).stdout;
    for words in ["error bar of a prediction: ", "no other trace has such requests", "service.read_beside_us"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    let line = "sim run --device constant.toml --no-store -- fio --name=a --size=4m --direct=1 --rw=randread --bs=4k";
    let said = fathom.run_line(line).expect_code(0).stdout;
    assert!(
        said.contains("Error bar: the device's model was at most ") && said.contains("of 3 held-out traces"),
        "{said}"
    );
    let _ = fathom.run_line("sim calibrate 1.fbl 4.fbl -o no.toml --at-most 0").expect_code(1);
}

/// `fathom trace record -- fathom run` has the laying out of files in it, and what others asked the device for.
#[test]
fn what_is_not_of_the_workload_is_left_out_of_the_fit() {
    let fathom = Fathom::new();
    let mut text = String::new();
    let mut at_us = 1_000_000_u64;
    let mut request = |task: &str, pid: u32, kind: &str, sectors: u32, took_us: u64| {
        let sector = at_us % 9973 * 2048;
        for (name, words) in [("issue", format!("{} ()", sectors * 512)), ("complete", "()".to_owned())] {
            let end = if name == "issue" { format!("none,0,0 [{task}]") } else { "none,0,0 [0]".to_owned() };
            text += &format!(
                "{task}-{pid} [000] ..... {}.{:06}: block_rq_{name}: 7,0 {kind} {words} {} + {sectors} {end}\n",
                at_us / 1_000_000,
                at_us % 1_000_000,
                sector
            );
            at_us += if name == "issue" { took_us } else { 10 };
        }
    };
    (0..200).for_each(|_| request("fathom", 300, "WS", 2048, 9000));
    for n in 0..300 {
        request("fathom-300", 301, "RS", 8, 250);
        if n % 10 == 0 {
            request("dd", 400, "RS", 8, 5000);
        }
    }
    std::fs::write(fathom.work().join("a.txt"), &text).expect("a file of a test");
    std::fs::write(fathom.work().join("b.txt"), &text).expect("a file of a test");
    let told = fathom.run_line("sim calibrate a.txt b.txt -o x.toml --json").expect_code(0);
    let told: Value = serde_json::from_str(&told.stdout).expect("JSON");
    let traces = told["traces"].as_array().expect("traces");
    for trace in traces {
        assert_eq!((&trace["requests"], &trace["left_out"]), (&300.into(), &230.into()), "{trace}");
        assert_eq!(trace["load"], "reads of 4 KiB out of order; queue depth 1");
    }
    let read = told["values"].as_array().and_then(|v| v.iter().find(|v| v["key"] == "service.read_us"));
    assert_eq!(read.map(|v| &v["value"]), Some(&250.0.into()), "{told}");
    let said = fathom.run_line("sim calibrate a.txt b.txt -o x.toml --force").expect_code(0).stdout;
    assert!(said.contains("left out of the fit: 230 requests"), "{said}");
}

#[test]
fn a_distribution_keeps_what_a_mean_does_not() {
    let fathom = Fathom::new();
    // From 50 to 1000 us, the more the rarer; four are served at once.
    let times: Vec<String> = (1..=20).map(|n| format!("{:.1}", 1000.0 / f64::from(n))).collect();
    let lists = format!("{{ value = [{}], src = \"guess\" }}", times.join(", "));
    let known = format!(
        "kind = \"distribution\"\nabout = \"known\"\n[service]\ncapacity_gb = {{ value = 2.0, src = \"guess\" }}\n\
         queue_depth = {{ value = 8, src = \"guess\" }}\nchannels = {{ value = 4, src = \"guess\" }}\n\
         mb_s = {{ value = 0.0, src = \"guess\" }}\nread_us = {lists}\nwrite_us = {lists}\n"
    );
    std::fs::write(fathom.work().join("known.toml"), known).expect("a file of a test");
    let line =
        "sim replay --synthetic 6000 --device known.toml --scheduler none --depth 8 --log a.fbl --no-store";
    let _ = fathom.run_line(line).expect_code(0);
    let told = |kind: &str| -> Value {
        let line = format!("sim calibrate a.fbl -o {kind}.toml --kind {kind} --json");
        serde_json::from_str(&fathom.run_line(&line).expect_code(0).stdout).expect("JSON")
    };
    let demerit = |told: &Value| told["held_out"]["demerit_percent"].as_f64().expect("a number");
    let (constant, distribution) = (told("constant"), told("distribution"));
    assert_eq!(distribution["kind"], "distribution");
    assert_eq!(distribution["values"][0]["key"], "service.channels");
    assert!(demerit(&distribution) < 15.0, "{}", distribution["held_out"]);
    assert!(
        demerit(&constant) > 4.0 * demerit(&distribution),
        "{} {}",
        constant["held_out"],
        distribution["held_out"]
    );
    // What stands beside it is of the device alone.
    let halves = |told: &Value| told["held_out"]["halves_percent"].as_f64().expect("a number");
    assert_eq!(halves(&constant), halves(&distribution));
    // At the times of the trace the model, whose draws are others, would have more in flight at moments.
    let line = "sim replay a.fbl --device distribution.toml --mode closed --depth 8 --no-store";
    let again = fathom.run_line(line).expect_code(0).stdout;
    assert!(again.contains("Error bar: the device's model was ") && again.contains("4 fitted"), "{again}");
    let text = fathom
        .run_line("sim calibrate a.fbl -o distribution.toml --kind distribution --force")
        .expect_code(0);
    assert!(text.stdout.contains("its two halves lie"), "{}", text.stdout);
}

#[test]
fn a_disks_arm_is_fitted_and_the_rest_is_a_guess() {
    let fathom = traced("deskstar-60gxp", 1);
    let line = "sim calibrate a.fbl -o fitted.toml --kind disk --like deskstar-60gxp --json";
    let told: Value = serde_json::from_str(&fathom.run_line(line).expect_code(0).stdout).expect("JSON");
    let average = told["values"][1]["value"].as_f64().expect("a number");
    assert!((average - 8.5).abs() < 0.3, "{told}");
    // A quarter are writes at one place, which the fit does not look at and the judgement does.
    assert!(told["held_out"]["demerit_percent"].as_f64().is_some_and(|d| d < 10.0), "{told}");
    let profile = std::fs::read_to_string(fathom.work().join("fitted.toml")).expect("a profile");
    assert_eq!(profile.matches("src = \"fit\"").count(), 3, "{profile}");
    assert!(profile.contains("note = \"as deskstar-60gxp\""), "{profile}");
    let run = fathom.run_line("sim replay --synthetic 500 --device fitted.toml --no-store").expect_code(0);
    assert!(run.stdout.contains("3 fitted"), "{}", run.stdout);
    // The name of a file may hold what means something in TOML.
    let odd = fathom.work().join("my \"best\" \\ disk.toml");
    std::fs::copy(fathom.work().join("fitted.toml"), &odd).expect("a copy");
    let odd = odd.to_str().expect("UTF-8");
    let words = ["sim", "calibrate", "a.fbl", "-o", "again.toml", "--kind", "disk", "--like", odd];
    let _ = fathom.run(words).expect_code(0);
    let _ = fathom.run_line("sim replay --synthetic 5 --device again.toml --no-store").expect_code(0);
}

#[test]
fn the_page_draws_the_curve_both_halves_and_how_far_the_model_is_off() {
    let fathom = traced("deskstar-60gxp", 1);
    let line =
        "sim calibrate a.fbl -o fitted.toml --force --kind disk --like deskstar-60gxp --page fit.html --json";
    let told = fathom.run_line(line).expect_code(0).expect_stderr("wrote fit.html").stdout;
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["curve"]["over"], "cylinders", "{}", told["curve"]);
    for half in ["fitted", "held_out"] {
        let kept = told["points"][half]["kept"].as_array().expect("requests");
        assert!((300..=600).contains(&kept.len()), "{half}: {}", kept.len());
        // Requests and curve are of one thing: the curve lies in the middle of them.
        let curve = |x: f64| {
            let part = |name: &str| told["curve"][name].as_f64().expect("a number");
            part("constant_ns") + part("root_ns") * x.sqrt() + part("linear_ns") * x
        };
        let off = |p: &Value| p["ns"].as_f64().expect("ns") - curve(p["x"].as_f64().expect("x"));
        let mean = kept.iter().map(off).sum::<f64>() / kept.len() as f64;
        assert!(mean.abs() < 400_000.0, "{half}: {mean} ns off");
    }
    let page = std::fs::read_to_string(fathom.work().join("fit.html")).expect("a page");
    for words in [
        "Seek time over distance",
        "Residuals",
        "Response times of the held-out half",
        "held-out half",
        "Demerit ",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let first = page;
    let _ = fathom.run_line(line).expect_code(0);
    assert_eq!(
        std::fs::read_to_string(fathom.work().join("fit.html")).expect("a page"),
        first,
        "the same bytes again"
    );
}

#[test]
fn what_cannot_be_fitted_is_an_error_that_says_why() {
    let fathom = traced("known.toml", 4);
    std::fs::write(fathom.work().join("there.toml"), "mine").expect("a file of a test");
    let spc: String = (0..50).map(|n| format!("0,{},4096,r,{n}.5\n", n * 64)).collect();
    std::fs::write(fathom.work().join("a.spc"), spc).expect("a file of a test");
    for (line, words) in [
        ("sim calibrate a.fbl -o there.toml", "there.toml exists"),
        ("sim calibrate --from spc a.spc -o b.toml", "it has no issued request"),
        ("sim calibrate a.fbl -o b.toml --kind disk", "needs --like"),
        ("sim calibrate a.fbl -o b.toml --like deskstar-60gxp", "--like needs --kind disk"),
        ("sim calibrate a.fbl -o b.toml --kind disk --like ssd-generic", "is not a single disk"),
        ("sim calibrate a.fbl -o b.toml --kind disk --like drum", "no device profile \"drum\""),
        ("sim calibrate - -o b.toml", "cannot come from stdin"),
        ("sim calibrate a.fbl -o b.toml --page fit.pdf", "a calibration is written as .html"),
        ("sim calibrate a.fbl a.fbl -o b.toml --page fit.html", "--page draws the fit to one trace"),
        ("sim calibrate a.fbl a.fbl -o b.toml --kind disk --like deskstar-60gxp", "is fitted to one trace"),
    ] {
        let outcome = fathom.run_line(line).expect_code(2);
        assert!(outcome.stderr.contains(words), "{line}: {}", outcome.stderr);
        assert!(!fathom.work().join("b.toml").exists(), "{line}");
    }
    let mine = std::fs::read_to_string(fathom.work().join("there.toml")).expect("it is there");
    assert_eq!(mine, "mine");
    let worse = fathom.run_line("sim calibrate a.fbl -o c.toml --at-most 0").expect_code(1);
    assert!(worse.stdout.contains("demerit"), "{}", worse.stdout);
}

/// A real device is simulated with the scheduler and the read-ahead window it has, unless the options name others.
#[test]
fn what_the_kernel_had_set_for_the_device_is_used() {
    let fathom = Fathom::new();
    let queue = "[queue]\nscheduler = \"bfq\"\nread_ahead_kb = 512\nmax_sectors_kb = 128\n";
    let known = KNOWN.replace("capacity_gb = { value = 2.0", "capacity_gb = { value = 40.0");
    std::fs::write(fathom.work().join("mine.toml"), format!("{known}{queue}")).expect("a file of a test");
    let simulated = |options: &str| {
        let job = "fio --name=a --size=8m --rw=read --bs=64k";
        let line = format!("sim run --device mine.toml --no-store --json {options} -- {job}");
        let told: Value =
            serde_json::from_str(&fathom.run_line(&line).expect_code(0).stdout).expect("JSON of a run");
        ["scheduler", "readahead", "limits"]
            .map(|key| told["simulation"][key].as_str().unwrap_or("").to_owned())
    };
    assert_eq!(simulated(""), ["bfq-lite", "modern,max=128,device=32", "loop-6.18,max_sectors=256"]);
    let named = "--scheduler none --readahead modern,max=8 --limits unknown";
    assert_eq!(simulated(named), ["none", "modern,max=8", "unknown"]);
    // Settings of a kernel of today say nothing of one of 2004.
    let [scheduler, ..] = simulated("--host athlon-2004-linux-2.6 --readahead ra26-shared");
    assert_eq!(scheduler, "mq-deadline");
    let replayed =
        fathom.run_line("sim replay --synthetic 100 --device mine.toml --no-store --json").expect_code(0);
    assert!(replayed.stdout.contains("\"bfq-lite\""), "{}", replayed.stdout);
    let other = format!("{known}{}", queue.replace("bfq", "adios"));
    std::fs::write(fathom.work().join("mine.toml"), other).expect("a file of a test");
    let line = "sim run --device mine.toml --no-store -- fio --name=a --size=8m --rw=read";
    let _ = fathom
        .run_line(line)
        .expect_code(0)
        .expect_stderr("adios, is not simulated: mq-deadline takes its place");
    let wrong = queue.replace("= 512", "= 99999999");
    std::fs::write(fathom.work().join("mine.toml"), format!("{KNOWN}{wrong}")).expect("a file of a test");
    let _ = fathom
        .run_line(line)
        .expect_code(2)
        .expect_stderr("queue.read_ahead_kb is 99999999; expected 0 to 1048576 KiB");
}
