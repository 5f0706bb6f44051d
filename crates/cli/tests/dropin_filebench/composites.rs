//! Composites: counts per loop, with variables passed down two levels.

use crate::dropin_filebench::script::{ops_of, rows, run};
use fathom_testkit::Fathom;

/// Three threads whose use of one composite differs in its variables: the shape of a well-known demonstration.
fn script() -> String {
    let mut text = String::new();
    for set in ["one", "two", "three"] {
        text += &format!("define fileset name={set},path=$DIR,entries=60,dirwidth=10,size=4k,prealloc=80\n");
    }
    text += "define flowop name=readwrite, $set {\n\
        flowop openfile name=open4,filesetname=$set,fd=1\n flowop openfile name=open5,filesetname=$set,fd=2\n\
        flowop readwholefile name=read1,fd=1\n flowop writewholefile name=write1,fd=2,srcfd=1\n\
        flowop closefile name=close4,fd=1\n flowop closefile name=close5,fd=2\n}\n\
        define flowop name=dowork, $files, $rounds {\n\
        flowop createfile name=create1,filesetname=$files,fd=1\n flowop appendfilerand name=append1,iosize=$appended,fd=1\n\
        flowop closefile name=close1,fd=1\n flowop readwrite name=rw1,iters=$rounds,$set=$files\n\
        flowop deletefile name=delete1,filesetname=$files\n flowop statfile name=stat1,filesetname=$files\n}\n\
        set $appended=16k\ndefine process name=reader {\n";
    for (n, (set, rounds)) in [("one", 5), ("two", 4), ("three", 3)].into_iter().enumerate() {
        text += &format!(
            "thread name=user{n},memsize=1m {{ flowop dowork name=work{n},iters=1,$rounds={rounds},$files={set} flowop finishoncount name=fin{n},value=20,target=work{n}.stat1 }}\n"
        );
    }
    text + "}\nset mode quit alldone\nrun 20\n"
}

#[test]
fn inner_operations_run_as_often_as_the_variables_say() {
    let outcome = run(&Fathom::new(), &script()).expect_code(0);
    let found = rows(&outcome.stdout);
    for (n, rounds) in [(0, 5), (1, 4), (2, 3)] {
        let of = |name: &str| ops_of(&found, &format!("work{n}.{name}"));
        let loops = of("stat1");
        assert!(loops > 1, "{found:?}");
        // The last loop of a thread may be cut off.
        let near = |name: &str, each: u64| {
            assert!(of(name).abs_diff(loops * each) <= each, "work{n}.{name}: {} in {loops} loops", of(name));
        };
        ["create1", "append1", "close1", "delete1"].iter().for_each(|name| near(name, 1));
        ["open4", "open5", "read1", "write1", "close4", "close5"]
            .iter()
            .for_each(|name| near(&format!("rw1.{name}"), rounds));
        assert_eq!((ops_of(&found, &format!("work{n}")), of("rw1")), (0, 0), "uses count nothing themselves");
    }
    let names: Vec<&str> = found.iter().map(|r| r.name.as_str()).collect();
    let first: Vec<&str> = names.iter().copied().take(4).collect();
    assert_eq!(
        first,
        ["fin2", "work2.stat1", "work2.delete1", "work2.rw1.close5"],
        "newest first: {names:?}"
    );
}
