//! fio's job files: no text panics; an error can be shown; what is planned makes sense to the model, survives its format, and can be
//! explained.

#![no_main]

use fathom_dialects::fio::{FoundPath, Invocation, World, explain, output, plan};
use fathom_workload::Workload;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &[u8]| {
    let read = |path: &Path| match path.to_str() {
        Some("job.fio") => Ok(text.to_vec()),
        Some("more.inc") => Ok(b"iodepth=4\ninclude more.inc\n".to_vec()),
        _ => Err("No such file or directory".to_owned()),
    };
    let find = |path: &Path| {
        (path == Path::new("there")).then_some(FoundPath { bytes: 1 << 20, device: false, bottomless: false })
    };
    let world = World {
        variable: &|name| (name == "A").then(|| "4k".into()),
        read: &read,
        trace: &read,
        find: &find,
        device: &|_, _| None,
        allowed: &|_| false,
        blank: &|_| false,
        list: &|_| Err("No such file or directory".to_owned()),
        page_bytes: 4096,
        memory_mib: 1024,
        cpus: 2,
        clock_seed: 1,
    };
    match plan(&["job.fio".to_owned()], &world) {
        Err(wrong) => assert!(!wrong.to_string().is_empty()),
        Ok(Invocation::Help(_) | Invocation::Inflate(_) | Invocation::Nothing(_)) => {}
        Ok(Invocation::Jobs(plan)) => {
            let written = plan.workload.to_toml().expect("a planned workload is text");
            assert_eq!(Workload::from_toml(&written).as_ref(), Ok(&plan.workload));
            let _ = (explain::explain(&plan), explain::command(&plan), output::normal::head(&plan));
        }
    }
});
