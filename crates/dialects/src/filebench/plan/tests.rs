//! Planning of scripts: steps, workloads, notes and errors. The output of runs is tested beside the output module.

use super::*;
use fathom_workload::{Act, Exhausted, Existing, Files, Generator, Program, Shape, Share, Sizing, Value};

fn missing(_: &Path) -> Found {
    Found::Missing
}

fn planned_in(text: &str, options: &Options, look: &dyn Fn(&Path) -> Found) -> Result<Plan, Vec<Finding>> {
    let world = World {
        look,
        read: &|path| (path == Path::new("inner.f")).then(|| "set $inner=7\n".to_owned()),
        environment: &|name| (name == "HOME").then(|| "/home/me".to_owned()),
        date: "today".into(),
        hostname: "here".into(),
    };
    plan("test.f", text, options, &world)
}

#[track_caller]
fn planned(text: &str) -> Plan {
    planned_with(text, &Options::default())
}

#[track_caller]
fn planned_with(text: &str, options: &Options) -> Plan {
    planned_in(text, options, &missing)
        .unwrap_or_else(|e| panic!("{}", e.iter().map(|f| f.rendered.clone()).collect::<String>()))
}

#[track_caller]
fn refused(text: &str) -> String {
    refused_with(text, &Options::default())
}

#[track_caller]
fn refused_with(text: &str, options: &Options) -> String {
    match planned_in(text, options, &missing) {
        Ok(plan) => panic!("it was planned: {plan:#?}"),
        Err(findings) => findings.iter().map(|f| f.rendered.clone()).collect(),
    }
}

fn ops(plan: &Plan) -> Vec<fathom_workload::FlowOp> {
    let run = plan.runs().next().unwrap();
    let mut all = Vec::new();
    for thread in run.workload.phases[0].groups.iter().flat_map(|g| &g.threads) {
        if let Program::Flow(flow) = &thread.program {
            all.extend(flow.ops.clone());
        }
    }
    all
}

const HEAD: &str = "define fileset name=fs,path=/tmp/x,entries=100,dirwidth=5,size=16k,prealloc=80\n";

fn with_flowops(flowops: &str) -> String {
    format!("{HEAD}define process name=p {{ thread name=t {{ {flowops} }} }}\nrun 5\n")
}

#[test]
fn a_whole_script() {
    let plan = planned(&format!(
        "set $nn=3\n{HEAD}eventgen rate=$rate\nset $rate=20\n\
         define process name=p,instances=2,nice=5 {{ thread name=t,memsize=1m,instances=$nn,ioprio=4 {{\n\
         flowop read name=r,filesetname=fs,iosize=$sz,random,iters=3\n flowop eventlimit name=l }} }}\n\
         set $sz=4k\nset $nn=7\necho \"n is $nn, $x1 is not\"\nrun 30\n"
    ));
    let lines: Vec<String> = plan
        .steps
        .iter()
        .map(|s| match s {
            Step::Log(line) => line.clone(),
            Step::Create(create) => format!("create {}", create.sets.len()),
            Step::Run(run) => format!("run: {}", run.starting.join(", ")),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(lines[..2], ["n is 7, $x1 is not", "create 1"]);
    assert!(
        lines[2].starts_with("run: Starting 2 p instances, ioprio set to 4 for thread t, ioprio"),
        "{lines:?}"
    );
    let run = plan.runs().next().unwrap();
    let phase = &run.workload.phases[0];
    assert_eq!(phase.stop.time.map(|t| t.0), Some(30_000_000_000));
    assert_eq!(phase.events_per_s, Some(20.0));
    assert_eq!((phase.groups[0].instances, phase.groups[0].nice), (2, 5));
    assert_eq!((phase.groups[0].threads[0].instances, phase.groups[0].threads[0].io_priority), (7, Some(4)));
    let op = &ops(&plan)[0];
    assert_eq!((op.act, op.random, &op.repeat), (Act::Read, true, &Value::Number(3)));
    assert_eq!(op.size, Value::Bytes(fathom_workload::Bytes(4096)));
}

#[test]
fn the_last_defined_comes_first() {
    let plan = planned(
        "define file name=f1,path=/x,size=1k define file name=f2,path=/x,size=1k\n\
         define process name=p1 { thread name=t1 { flowop read name=r1,filename=f1,iosize=1k } thread name=t2 { flowop statfile name=s,filename=f2 } }\n\
         define process name=p2 { thread name=t3 { flowop read name=r2,filename=f2,iosize=1k } }\nrun\n",
    );
    let run = plan.runs().next().unwrap();
    let sets: Vec<_> = run.workload.filesets.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(sets, ["f2", "f1"]);
    assert_eq!(run.starting, ["Starting 1 p2 instances", "Starting 1 p1 instances"]);
    let names: Vec<_> = rows(&run.workload.phases[0].groups).into_iter().map(|r| r.0).collect();
    assert_eq!(names, ["r2", "s", "r1"]);
    assert!(
        matches!(&run.workload.filesets[0].files, Files::Tree(t) if t.entries == 1 && t.root == Path::new("/x/f2"))
    );
    assert_eq!(run.workload.phases[0].stop.time.map(|t| t.0), Some(60_000_000_000));
}

#[test]
fn composites_hand_their_variables_on() {
    let plan = planned(&format!(
        "{HEAD}define flowop name=inner, $set, $size=4k {{ flowop readwholefile name=rd,filesetname=$set,fd=1,iosize=$size }}\n\
         define flowop name=outer, $s2, $nn {{ flowop openfile name=op,filesetname=$s2,fd=1 flowop inner name=in1,iters=$nn,$set=$s2 flowop closefile name=cl,fd=1 }}\n\
         define process name=p {{ thread name=t {{ flowop outer name=use1,iters=2,$s2=fs,$nn=5 }} }} run 1"
    ));
    let run = plan.runs().next().unwrap();
    let names: Vec<_> = rows(&run.workload.phases[0].groups).into_iter().map(|r| r.0).collect();
    assert_eq!(names, ["use1", "use1.op", "use1.in1", "use1.in1.rd", "use1.cl"]);
    let outer = &ops(&plan)[0];
    assert_eq!((outer.act, &outer.repeat), (Act::Sequence, &Value::Number(2)));
    assert_eq!(outer.ops[1].repeat, Value::Number(5));
    let read = &outer.ops[1].ops[0];
    assert_eq!(read.fileset.as_deref(), Some("fs"));
    assert_eq!(read.size, Value::Bytes(fathom_workload::Bytes(4096)));
    assert_eq!(outer.ops[2].fileset.as_deref(), Some("fs"), "closefile fd=1 means the set of that fd");
}

#[test]
fn a_composite_that_lacks_a_variable_is_refused_with_its_name() {
    let text = format!(
        "{HEAD}define flowop name=c,$set {{ flowop statfile name=s,filesetname=$set }}\n\
         define process name=p {{ thread name=t {{ flowop c name=u }} }} run 1"
    );
    let message = refused(&text);
    assert!(message.contains("composite c needs a value for $set") && message.contains("3:41"), "{message}");
}

#[test]
fn overrides_win_over_the_script_and_have_to_mean_something() {
    let text = format!("set $sz=1k\n{}", with_flowops("flowop read name=r,filesetname=fs,iosize=$sz"));
    let options = Options { set: vec![("sz".into(), "8k".into())], ..Options::default() };
    assert_eq!(ops(&planned_with(&text, &options))[0].size, Value::Bytes(fathom_workload::Bytes(8192)));
    let options = Options { set: vec![("$szz".into(), "8k".into())], ..Options::default() };
    let message = refused_with(&text, &options);
    assert!(message.contains("no variable $szz") && message.contains("$sz is one"), "{message}");
}

#[test]
fn random_variables_are_the_models() {
    let plan = planned(&format!(
        "set $uu=randvar(type=uniform,min=1k,mean=4k,round=512,seed=9)\nset $tt=randvar(type=tabular,min=1k,randtable={{{{50,1k,2k}},{{50,4k,8k}}}})\n\
         set $gg=randvar(mean=10,gamma=1000)\nset $cc=cvar(type=cvar-erlang,parameters=shape:2;rate:20000,max=100k)\n{HEAD}\
         define process name=p {{ thread name=t {{ flowop read name=r1,filesetname=fs,iosize=$uu flowop read name=r2,filesetname=fs,iosize=$tt\n\
         flowop delay name=d1,value=$gg flowop read name=r3,filesetname=fs,iosize=$cc }} }} set $uu=5 run 1"
    ));
    let variables = &plan.runs().next().unwrap().workload.variables;
    assert_eq!(variables["uu"].shape, Shape::Uniform { low: 1024.0, high: 7168.0 });
    assert_eq!((variables["uu"].round, variables["uu"].generator), (512, Generator::Rand48(9)));
    assert!(
        matches!(&variables["tt"].shape, Shape::Stretched { rows, mean: None, lowest } if rows.len() == 2 && *lowest == 1024.0)
    );
    assert_eq!(variables["gg"].shape, Shape::Gamma { shape: 1.0, mean: 10.0, offset: 0.0 });
    assert_eq!(variables["cc"].shape, Shape::Erlang { shape: 2, rate: 0.0001 });
    assert_eq!(variables["cc"].mean(), 20000.0);
    assert_eq!(
        ops(&plan)[0].size,
        Value::Variable { variable: "uu".into() },
        "a definition keeps its random variable"
    );
}

#[test]
fn errors_have_a_place_and_a_remedy() {
    for (text, expected) in [
        (with_flowops("flowop raed name=r,filesetname=fs"), "read is one"),
        (with_flowops("flowop read name=r,filesetname=sf,iosize=1k"), "fs is defined"),
        (with_flowops("flowop read name=r,filesetname=fs"), "has no iosize"),
        (with_flowops("flowop read name=r,filesetname=fs,iosize=$io"), "$io is used but never set"),
        (with_flowops("flowop aiowrite name=r,filesetname=fs,iosize=1k"), "add random"),
        (with_flowops("flowop read name=r,filesetname=fs,iosize=32k,random"), "larger than the 16384 bytes"),
        (with_flowops("flowop read name=r,iosize=1k"), "specifies no filename"),
        (with_flowops("flowop wakeup name=w,target=nobody"), "no flowop is named nobody"),
        (with_flowops("flowop statfile name=s,filesetname=fs,fd=128"), "expected 0 to 127"),
        (
            "define fileset name=a,path=/x,entries=3,leafdirs=4,dirwidth=2 create files".into(),
            "names collide",
        ),
        (
            "define fileset name=a,path=/x,entries=3,dirwidth=2,prealloc=101 create files".into(),
            "0 to 100 percent",
        ),
        ("define fileset name=a,entries=3 create files".into(), "specifies no path"),
        (
            "set $aa=$bb set $bb=$aa define file name=f,path=/x,size=$aa create files".into(),
            "set from itself",
        ),
        ("set $xx=cvar(type=cvar-gama)".into(), "cvar-gamma is one"),
        ("set $xx=cvar(type=cvar-gamma,parameters=men:4)".into(), "Unsupported parameter men"),
        ("enable multi master=a,client=b".into(), "fathom-mpi"),
        ("stats snap".into(), "create processes before"),
        ("run 5".into(), "no process to run"),
    ] {
        let message = refused(&text);
        assert!(message.contains(expected), "{text}\n{message}");
        assert!(message.starts_with("test.f:"), "{message}");
    }
}

#[test]
fn a_slot_with_another_sets_file_is_refused_and_slot_0_is_noted() {
    let two = "define fileset name=s2,path=/tmp/x,entries=1,dirwidth=2,size=16k,prealloc\n";
    let clash = format!(
        "{two}{}",
        with_flowops(
            "flowop openfile name=o,filesetname=fs,fd=1 flowop read name=r,filesetname=s2,fd=1,iosize=1k"
        )
    );
    assert!(refused(&clash).contains("fd=1 holds a file of fs, not of s2"));
    let reopened = format!(
        "{two}{}",
        with_flowops(
            "flowop openfile name=o,filesetname=fs,fd=1 flowop closefile name=c,fd=1 flowop openfile name=o2,filesetname=s2,fd=1 flowop closefile name=c2,fd=1"
        )
    );
    planned(&reopened);
    let shared = format!(
        "{two}{}",
        with_flowops(
            "flowop read name=a,filesetname=fs,iosize=1k flowop read name=b,filesetname=s2,iosize=1k flowop closefile name=c"
        )
    );
    let plan = planned(&shared);
    assert!(plan.notes.iter().any(|n| n.contains("fs, s2 without fd")), "{:?}", plan.notes);
    assert_eq!(ops(&plan)[2].fileset.as_deref(), Some("s2"));
}

#[test]
fn a_plain_file_is_used_as_it_is_or_not_at_all() {
    let look = |path: &Path| {
        if path == Path::new("/data/big") { Found::File { bytes: 5000 } } else { Found::Missing }
    };
    let script = |attributes: &str| {
        format!(
            "define file name=big,path=/data{attributes}\ndefine process name=p {{ thread name=t {{ flowop read name=r,filename=big,iosize=1k }} }} run 1"
        )
    };
    let plan = planned_in(&script(",reuse"), &Options::default(), &look).unwrap();
    let set = plan.runs().next().unwrap().workload.filesets[0].clone();
    assert_eq!(set.files, Files::List(vec!["/data/big".into()]));
    assert_eq!(
        (set.size, set.share, set.existing),
        (Sizing::Fixed(fathom_workload::Bytes(5000)), Share::ReadOnly, Existing::Reuse)
    );
    assert_eq!(plan.creations().next().unwrap().workload.filesets[0].share, Share::ReadOnly);
    let message: String =
        planned_in(&script(""), &Options::default(), &look).unwrap_err()[0].rendered.clone();
    assert!(message.contains("would destroy it") && message.contains("--replace /data/big"), "{message}");
    let options = Options { replace: vec!["/data/big".into()], ..Options::default() };
    let set =
        planned_in(&script(""), &options, &look).unwrap().runs().next().unwrap().workload.filesets[0].clone();
    assert_eq!(set.existing, Existing::Replace);
    let message: String =
        planned_in(&script(",size=1m,readonly"), &Options::default(), &look).unwrap_err()[0].rendered.clone();
    assert!(message.contains("has 5000 bytes"), "{message}");
}

#[test]
fn missing_input_files_are_reported_before_the_run() {
    let planned = |attributes: &str| {
        let script = format!(
            "define file name=big,path=\"{attributes}\ndefine process name=p {{ thread name=t {{ flowop readwholefile name=r,filename=big }} }} run 1"
        );
        planned_in(&script, &Options::default(), &|_| Found::Missing)
    };
    let message = |attributes: &str| planned(attributes).unwrap_err()[0].rendered.clone();
    for (attributes, words) in [
        (
            "/data\",reuse,readonly,trusttree",
            ["/data/big is not there, and file big is readonly", "add prealloc"],
        ),
        ("/data\",trusttree", ["/data/big is not there, and file big is trusttree", "add prealloc"]),
        (
            "~/data\",readonly",
            ["~/data/big is not there, and file big is readonly", "~ is no home directory here"],
        ),
    ] {
        let message = message(attributes);
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
    assert_eq!(planned("/data\",readonly,size=1m,prealloc").unwrap().notes, [""; 0]);
    let notes = planned("~\",size=1m,prealloc").unwrap().notes;
    assert_eq!(notes, ["path=~: ~ is no home directory here, but a name; write the whole path"]);
}

#[test]
fn a_device_is_written_only_with_leave() {
    let look = |_: &Path| Found::BlockDevice { bytes: 1 << 30 };
    let script = |op: &str| {
        format!(
            "define file name=sdx,path=/dev\ndefine process name=p {{ thread name=t {{ flowop {op} name=r,filename=sdx,iosize=1k }} }} run 1"
        )
    };
    let set = planned_in(&script("read"), &Options::default(), &look)
        .unwrap()
        .runs()
        .next()
        .unwrap()
        .workload
        .filesets[0]
        .clone();
    assert_eq!((set.share, set.size), (Share::ReadOnly, Sizing::Fixed(fathom_workload::Bytes(1 << 30))));
    let message = planned_in(&script("write"), &Options::default(), &look).unwrap_err()[0].rendered.clone();
    assert!(message.contains("block device") && message.contains("--replace /dev/sdx"), "{message}");
}

#[test]
fn the_long_hand_life_cycle_is_one_run() {
    let plan = planned(&format!(
        "{HEAD}define process name=p {{ thread name=t {{ flowop statfile name=s,filesetname=fs }} }}\n\
         create filesets create processes sleep 5 stats clear sleep 60 stats snap stats dump \"x.out\" shutdown processes quit echo \"never\""
    ));
    let run = plan.runs().next().unwrap();
    let phase = &run.workload.phases[0];
    assert_eq!((phase.ramp.0, phase.stop.time.map(|t| t.0)), (5_000_000_000, Some(60_000_000_000)));
    assert!(run.prints && !run.shuts_down);
    let tail: Vec<String> = plan.steps.iter().rev().take(2).map(|s| format!("{s:?}")).collect();
    assert_eq!(tail, ["Log(\"Shutting down processes\")", "Dump(\"x.out\")"]);
    assert!(plan.notes[0].contains("the language before 1.5"), "{:?}", plan.notes);
}

#[test]
fn the_older_language() {
    let plan = planned(&format!(
        "load inner\nset $dir=/tmp\nset $aa=$inner * 2\nforeach $x1 in 1,2 {{ echo \"round $x1 of $aa on ${{hostname}} in $(HOME)\" }}\n\
         define fileset name=o,path=$dir/sub,entries=$aa,dirwidth=2,cached=false\n{}",
        with_flowops("flowop statfile name=s,filesetname=o")
    ));
    let Step::Log(line) = &plan.steps[1] else { panic!("{:?}", plan.steps[1]) };
    assert_eq!(line, "round 2 of 14 on here in /home/me");
    let create = plan.creations().next().unwrap();
    let set = create.sets.iter().find(|s| s.name == "o").unwrap();
    assert_eq!((set.root.as_path(), set.evict), (Path::new("/tmp/sub/o"), true));
    assert!(!create.sets[0].evict, "the default of 1.5");
    let older = Options { wml: Wml::V1_4, ..Options::default() };
    let plan = planned_with(&with_flowops("flowop statfile name=s,filesetname=fs"), &older);
    let create = plan.creations().next().unwrap();
    assert!(create.sets[0].evict);
    assert_eq!(
        create.workload.filesets[0].size,
        Sizing::Variable("fs.size".into()),
        "gamma is the default of sizes"
    );
    assert!(plan.notes.is_empty(), "{:?}", plan.notes);
}

#[test]
fn a_run_can_be_appended_and_lines_after_run_are_noted() {
    let text = format!(
        "{HEAD}define process name=p {{ thread name=t {{ flowop statfile name=s,filesetname=fs }} }}\n"
    );
    let plan = planned(&text);
    assert!(matches!(plan.steps.as_slice(), [Step::Line(l)] if l.starts_with("Warning: no run")));
    let options = Options { run: Some(7), ..Options::default() };
    assert_eq!(
        planned_with(&text, &options).runs().next().unwrap().workload.phases[0].stop.time.map(|t| t.0),
        Some(7_000_000_000)
    );
    for run in [
        "run 5",
        "run",
        "psrun 2 5",
        "create processes sleep 3 stats clear sleep 5 stats snap shutdown processes",
    ] {
        let plan = planned_with(&format!("{text}{run}"), &options);
        let times: Vec<_> = plan.runs().map(|r| r.workload.phases[0].stop.time.map(|t| t.0)).collect();
        assert_eq!(times, [Some(7_000_000_000)], "{run}");
    }
    let unmeasured = planned_with(&format!("{text}create processes"), &options);
    assert_eq!(unmeasured.runs().map(|r| r.prints).collect::<Vec<_>>(), [true]);
    let plan = planned(&format!("{text}run 5\necho \"after\"\n"));
    assert!(plan.notes.iter().any(|n| n.starts_with("line 4 ")), "{:?}", plan.notes);
}

#[test]
fn values_of_the_wrong_kind_are_named() {
    let text = "set $nn=4\ndefine fileset name=fs,path=/d,entries=$nn,dirwidth=5 create files";
    for (value, says) in [
        ("abc", "its value $nn is the text \"abc\""),
        ("", "its value $nn is the text \"\""),
        ("8K", "write 8k"),
        ("-4", "not negative"),
    ] {
        let options = Options { set: vec![("nn".into(), value.into())], ..Options::default() };
        let refusal = refused_with(text, &options);
        assert!(refusal.contains(says), "{refusal}");
    }
}

#[test]
fn a_random_number_of_entries_is_the_second_draw() {
    // As observed with 1.5: 123 files.
    let plan = planned(
        "set $en=randvar(type=uniform,min=50,mean=90,seed=4)\n\
         define fileset name=fs,path=/d,entries=$en,dirwidth=4 create files",
    );
    let create = plan.creations().next().unwrap();
    assert!(create.sets[0].lines(false)[0].starts_with("fs populated: 123 files,"), "{:?}", create.sets[0]);
}

#[test]
fn sets_are_not_used_against_their_word() {
    for (word, flowop, says) in [
        ("readonly", "write name=ww,filesetname=fs,iosize=1k", "flowop ww changes fs, which is readonly"),
        ("readonly", "deletefile name=dd,filesetname=fs", "flowop dd changes fs"),
        ("writeonly", "readwholefile name=rr,filesetname=fs", "flowop rr reads fs, which is writeonly"),
    ] {
        let text = format!(
            "define fileset name=fs,path=/d,entries=4,dirwidth=5,prealloc,{word}\n\
             define process name=p {{ thread name=t {{ flowop {flowop} }} }} run 1"
        );
        let refusal = refused_with(&text, &Options::default());
        assert!(refusal.contains(says) && refusal.contains(&format!("leave out {word}")), "{refusal}");
    }
}

#[test]
fn random_variables_are_described_in_texts() {
    let plan = planned(
        "set $r1=randvar(type=uniform,min=1,mean=5) set $r2=randvar(mean=4)\n\
         set $r3=randvar(type=tabular,mean=5,randtable={{100,1,2}}) echo \"$r1, $r2, $r3\"",
    );
    let says = "uniform random var, gamma random var, tabular random var";
    assert!(matches!(&plan.steps[0], Step::Log(l) if l == says), "{:?}", plan.steps);
}

#[test]
fn a_script_that_quits_has_nothing_to_be_told() {
    assert!(
        planned("list filesets quit echo \"never\"").steps.is_empty(),
        "not even the head of an empty list"
    );
}

#[test]
fn ends() {
    let of = |mode: &str| {
        let text = format!("set mode quit {mode}\n{}", with_flowops("flowop openfile name=o,filesetname=fs"));
        planned(&text.replace("run 5", "run")).runs().next().unwrap().workload.phases[0].stop.clone()
    };
    assert_eq!((of("timeout").exhausted, of("timeout").time.is_some()), (Exhausted::Early, true));
    assert_eq!((of("firstdone").exhausted, of("firstdone").time), (Exhausted::Phase, None));
    assert_eq!((of("alldone").exhausted, of("alldone").time), (Exhausted::Worker, None));
}

#[test]
fn the_log_of_creation_is_the_originals() {
    let plan = planned(
        "define fileset name=one,path=/d,entries=20,dirwidth=5,size=16k,prealloc=80,reuse\n\
         define fileset name=lf,path=/d,leafdirs=30,dirwidth=4,prealloc=50\ndefine fileset name=emp,path=/d,dirwidth=4\n\
         define fileset name=nw,path=/d,entries=3,size=16k\ndefine file name=two,path=/d,size=1m\n\
         list filesets create files list filesets",
    );
    let create = plan.creations().next().unwrap();
    let lines: Vec<String> = create.sets.iter().flat_map(|s| s.lines(true)).collect();
    insta::assert_snapshot!(lines.join("\n"));
    let listed: Vec<&str> = plan
        .steps
        .iter()
        .filter_map(|s| match s {
            Step::Log(l) => Some(l.as_str()),
            _ => None,
        })
        .collect();
    insta::assert_snapshot!(listed.join("\n"));
}

#[test]
fn the_flowops_are_listed_newest_first() {
    let plan = planned(&format!(
        "{HEAD}define flowop name=comp {{ flowop statfile name=cs,filesetname=fs flowop delay name=cd }}\n\
         define flowop name=outer {{ flowop comp name=in1 flowop statfile name=os,filesetname=fs }}\n\
         define process name=p {{ thread name=t {{ flowop outer name=uu flowop delay name=lim }} }} list flowop"
    ));
    let listed: Vec<&str> = plan
        .steps
        .iter()
        .filter_map(|s| match s {
            Step::Log(l) => l.strip_prefix("flowop-list "),
            _ => None,
        })
        .take(13)
        .collect();
    assert_eq!(
        listed,
        [
            "lim--2",
            "uu.os--2",
            "uu.in1.cd--2",
            "uu.in1.cs--2",
            "uu.in1--2",
            "uu--2",
            "os--1",
            "in1--1",
            "outer-0",
            "cd--1",
            "cs--1",
            "comp-0",
            "aiowait-0"
        ]
    );
}

#[test]
fn in_1_0_a_file_is_a_file() {
    let older = Options { wml: Wml::V1_0, ..Options::default() };
    let text = "define file name=big,path=/data,size=1m,prealloc\n\
        define process name=p1 { thread name=t1 { flowop write name=w1,filename=big,iosize=4k } } run 3 echo \"after\" run 4";
    let plan = planned_with(text, &older);
    let create = plan.creations().next().unwrap();
    assert_eq!(create.workload.filesets[0].files, Files::List(vec!["/data/big".into()]));
    assert!(!create.sets[0].as_found);
    let times: Vec<_> =
        plan.runs().map(|r| r.workload.phases[0].stop.time.map(|t| t.0 / 1_000_000_000)).collect();
    assert_eq!(times, [Some(3), Some(4)], "run returns");
}

#[test]
fn older_indices_count_in_halves_of_the_set() {
    let text = with_flowops("flowop statfile name=s1,filesetname=fs,indexed=$at");
    let of = |wml, at: &str| {
        let options = Options { wml, ..Options::default() };
        planned_with(&format!("set $at={at}\n{text}"), &options)
    };
    let entry = |plan: &Plan| ops(plan)[0].entry.clone();
    assert_eq!(entry(&of(Wml::V1_5, "3")), Some(Value::Number(3)));
    assert_eq!(entry(&of(Wml::V1_4, "3")), Some(Value::Number(150)));
    let random = "randvar(type=gamma,min=0,gamma=100)";
    assert_eq!(entry(&of(Wml::V1_5, random)), Some(Value::Variable { variable: "at".into() }));
    let older = of(Wml::V1_4, random);
    let Some(Value::Variable { variable }) = entry(&older) else { panic!("{:?}", entry(&older)) };
    let scaled = &older.runs().next().unwrap().workload.variables[&variable];
    assert!((scaled.mean() - 0.1 * 50.0).abs() < 1e-9, "{scaled:?}");
}

#[test]
fn a_posset_gives_random_reads_their_positions() {
    let text = |random: &str| {
        format!(
            "define posset name=ps,type=rnd,seed=7,max=8k,entries=5\n{}",
            with_flowops(&format!("flowop read name=r1,filesetname=fs,iosize=1k,possetname=ps{random}"))
        )
    };
    let positions = ops(&planned(&text(",random")))[0].positions.clone();
    assert_eq!(positions.len(), 5);
    assert!(positions.iter().all(|p| p.0 < 8192 && p.0 % 512 == 0), "{positions:?}");
    assert!(refused(&text("")).contains("add random"));
}

#[test]
fn attributes_of_random_variables_can_be_changed_later() {
    let plan = planned(&format!(
        "define randvar name=$size,type=uniform,min=1k,mean=2k\nset $size.mean=8k\n{}",
        with_flowops("flowop read name=r1,filesetname=fs,iosize=$size")
    ));
    let variables = &plan.runs().next().unwrap().workload.variables;
    assert_eq!(variables["size"].shape, Shape::Uniform { low: 1024.0, high: 15360.0 });
}

/// Filebench's own workloads are not included; an environment variable gives their path.
#[test]
fn every_shipped_workload_is_planned() {
    let Some(directory) = std::env::var_os("FATHOM_FILEBENCH_WORKLOADS") else {
        return fathom_testkit::skip(
            "every_shipped_workload_is_planned",
            "FATHOM_FILEBENCH_WORKLOADS names no directory",
        );
    };
    let mut seen = 0;
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "f") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let plan = match planned_in(&text, &Options::default(), &missing) {
            Ok(plan) => plan,
            Err(e) => panic!("{}: {}", path.display(), e[0].rendered),
        };
        if plan.runs().next().is_none() {
            let options = Options { run: Some(1), ..Options::default() };
            if let Err(e) = planned_in(&text, &options, &missing) {
                panic!("{}: {}", path.display(), e[0].rendered);
            }
        }
        seen += 1;
    }
    assert!(seen > 0);
}
