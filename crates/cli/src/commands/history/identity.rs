//! What makes two runs runs of the same workload: what they were asked to do, and where. Measured runs are told apart by their language, their
//! executed workload without seed, name and notes, host, mount point and the settings of a sweep or a comparison; imported ones by program and
//! command line, or where none is told by program and file. Directories of files are no part of it: a CI has a new one every night.

use fathom_record::same_work::{base, without_names};
use fathom_record::store::{Past, PastRun, name_of_text};
use fathom_report::history::Workload;
use std::collections::HashMap;

/// Programs whose outputs tell the workload by themselves, in the cells; of others that tell no command line the text is what they have
/// in common.
const TELL_THEIR_CELLS: [&str; 4] = ["iozone", "sysbench", "filebench", "fio"];

/// The runs of one workload.
#[derive(Debug)]
pub struct Group<'p> {
    /// Which workload.
    pub workload: Workload,
    /// Its runs, in the order they were made.
    pub runs: Vec<&'p PastRun>,
}

impl Group<'_> {
    /// Its newest run: that with the largest id, which of imported ones need not be the last.
    pub fn newest(&self) -> &str {
        self.runs.iter().map(|r| r.id.as_str()).max().unwrap_or_default()
    }

    /// Whether its runs were made under settings of a sweep or a comparison, or with `--cold`: all of them were, or none.
    pub fn is_special(&self) -> bool {
        self.runs.iter().any(|r| r.cold.is_some() || !settings(r).is_empty())
    }

    /// Its runs that count, and of the others how many ended how, or were warm-up or noise of a comparison.
    pub fn parted(&self) -> (Vec<&PastRun>, Vec<(String, usize)>) {
        let mut left_out: Vec<(String, usize)> = Vec::new();
        let mut counted = Vec::new();
        for run in &self.runs {
            let word = match (run.status_word(), run.part.as_deref()) {
                ("completed", Some(part @ ("warm-up" | "noise"))) => part,
                (word, _) => word,
            };
            if word == "completed" {
                counted.push(*run);
                continue;
            }
            match left_out.iter_mut().find(|l| l.0 == word) {
                Some(there) => there.1 += 1,
                None => left_out.push((word.to_owned(), 1)),
            }
        }
        (counted, left_out)
    }
}

/// All workloads of a store, in the order of their newest runs.
pub fn groups(past: &Past) -> Vec<Group<'_>> {
    let mut models: HashMap<i64, String> = HashMap::new();
    let mut found: Vec<Group<'_>> = Vec::new();
    let mut at: HashMap<String, usize> = HashMap::new();
    for run in &past.runs {
        let text = past.workloads.get(&run.workload).map_or("", String::as_str);
        let model = models.entry(run.workload).or_insert_with(|| without_names(text));
        let identity = identity(run, model);
        let number = *at.entry(identity).or_insert_with_key(|identity| {
            let id = name_of_text(identity);
            found.push(Group { workload: Workload { id, ..Workload::default() }, runs: Vec::new() });
            found.len() - 1
        });
        found[number].runs.push(run);
    }
    for group in &mut found {
        in_order_of_time(&mut group.runs);
        if let Some(newest) = group.runs.last() {
            let text = past.workloads.get(&newest.workload).map_or("", String::as_str);
            let id = std::mem::take(&mut group.workload.id);
            group.workload = Workload { id, name: name(newest, text), by: by(newest), place: place(newest) };
        }
    }
    found.sort_by(|a, b| a.newest().cmp(b.newest()));
    found
}

/// Ids are in the order of measuring. Imported runs were imported in any order, and if all their texts tell a time, it is that.
fn in_order_of_time(runs: &mut [&PastRun]) {
    if runs.iter().all(|r| r.source.is_none()) {
        return;
    }
    let times: Option<Vec<jiff::Timestamp>> = runs.iter().map(|r| r.started_at.parse().ok()).collect();
    let Some(times) = times else { return };
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|i| (times[*i], *i));
    let sorted: Vec<&PastRun> = order.into_iter().map(|i| runs[i]).collect();
    runs.copy_from_slice(&sorted);
}

fn identity(run: &PastRun, model: &str) -> String {
    let mut parts = vec![by(run)];
    match &run.source {
        Some(source) => {
            if run.argv.is_empty() && !TELL_THEIR_CELLS.contains(&run.dialect.as_str()) {
                parts.push(base(&source.file).to_owned());
            }
            parts.push(run.argv.iter().map(|w| base(w)).collect::<Vec<_>>().join(" "));
        }
        None => {
            parts.push(model.to_owned());
            parts.extend([&run.host, &run.mount_point, &run.cold].map(|p| p.clone().unwrap_or_default()));
            parts.extend(settings(run));
        }
    }
    parts.join("\n\0")
}

/// The language, or the program without its release.
fn by(run: &PastRun) -> String {
    run.dialect.clone()
}

/// What a person calls it.
fn name(run: &PastRun, model: &str) -> String {
    if let Some(source) = &run.source {
        let file = base(&source.file);
        return if run.argv.is_empty() { format!("{} in {file}", run.dialect) } else { run.argv.join(" ") };
    }
    let is_drop_in = ["iozone", "sysbench", "filebench"].contains(&run.dialect.as_str());
    if is_drop_in && run.argv.len() > 1 {
        let ours = usize::from(base(&run.argv[0]) == "fathom");
        return run.argv[ours..].iter().map(|w| base(w)).collect::<Vec<_>>().join(" ");
    }
    workload_name(model).unwrap_or_else(|| run.label.clone())
}

/// The name at the head of a workload.
pub fn workload_name(model: &str) -> Option<String> {
    let head = model.lines().take_while(|l| !l.starts_with('['));
    let quoted = head.filter_map(|l| l.strip_prefix("name = \"")).next()?;
    quoted.strip_suffix('"').filter(|n| !n.is_empty()).map(str::to_owned)
}

/// The settings that a sweep or a comparison made it under. What was executed and where is told by the workload and the mount point: the
/// names under which they were typed are new with every build that a CI compares. Where two directories are what was compared, the runs in
/// them are two histories, by the last parts of their names if these differ.
fn settings(run: &PastRun) -> Vec<String> {
    let parsed: Option<serde_json::Map<String, serde_json::Value>> =
        run.settings.as_ref().and_then(|s| serde_json::from_str(s).ok());
    let word = |v: &serde_json::Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let directories = compared_directories(run);
    let counts = |k: &str| k != "workload" && (k != "in" || directories.is_some());
    let all = parsed.into_iter().flatten().filter(|(k, _)| counts(k));
    let value = |k: &str, v: &serde_json::Value| {
        let word = word(v);
        let told_apart = directories.as_ref().is_some_and(|[a, b]| base(a) != base(b));
        if k == "in" && told_apart { base(&word).to_owned() } else { word }
    };
    all.map(|(k, v)| format!("{k}={}", value(&k, &v))).collect()
}

/// The directories of a comparison that was made of two.
fn compared_directories(run: &PastRun) -> Option<[String; 2]> {
    let sides: [String; 2] = serde_json::from_str(run.sides.as_ref()?).ok()?;
    sides.iter().all(|s| s.starts_with("in=")).then(|| sides.map(|s| s["in=".len()..].to_owned()))
}

fn place(run: &PastRun) -> String {
    if run.source.is_some() {
        return String::new();
    }
    let host = run.host.as_ref().map(|h| format!("host {h}"));
    let cold = run
        .cold
        .as_ref()
        .map(|reach| if reach == "files" { "cold".to_string() } else { format!("cold ({reach})") });
    let settings = Some(settings(run)).filter(|s| !s.is_empty()).map(|s| format!("with {}", s.join(" ")));
    [host, run.mount_point.clone(), cold, settings].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::{Source, Status};

    fn measured(id: &str, workload: i64) -> PastRun {
        PastRun {
            id: id.into(),
            label: "nightly".into(),
            dialect: "native".into(),
            started_at: String::new(),
            status: Status::Completed,
            killed: false,
            version: "0.1.0".into(),
            argv: vec!["fathom".into(), "run".into(), "w.toml".into()].into(),
            directory: "/data".into(),
            workload,
            host: Some("db1".into()),
            mount_point: Some("/data".into()),
            settings: None,
            cold: None,
            sides: None,
            part: None,
            source: None,
        }
    }

    fn imported(id: &str, dialect: &str, file: &str, argv: &[&str], started_at: &str) -> PastRun {
        let source = Source { file: file.into(), ..Source::default() };
        PastRun {
            dialect: dialect.into(),
            argv: argv.iter().map(|w| (*w).to_owned()).collect(),
            started_at: started_at.into(),
            source: Some(source),
            host: None,
            mount_point: None,
            ..measured(id, 0)
        }
    }

    fn ids(past: &Past) -> Vec<Vec<&str>> {
        groups(past).iter().map(|g| g.runs.iter().map(|r| r.id.as_str()).collect()).collect()
    }

    #[test]
    fn seed_name_and_directories_do_not_part_runs_but_what_is_done_and_where_does() {
        let model = |seed: u32, file: &str, record: &str| {
            format!(
                "name = \"n{seed}\"\nnote = \"x\"\nseed = \"0x{seed}\"\n\n[[fileset]]\nname = \"data\"\nlist = [\"{file}\"]\nrecord = \"{record}\"\n"
            )
        };
        let workloads = [
            (1, model(1, "/tmp/a/x.io", "4KiB")),
            (2, model(2, "/tmp/b/x.io", "4KiB")),
            (3, model(1, "/tmp/a/y.io", "4KiB")),
            (4, model(1, "/tmp/a/x.io", "8KiB")),
        ];
        let mut runs: Vec<PastRun> = (1..=4).map(|n| measured(&format!("a{n}"), n)).collect();
        runs.push(PastRun { mount_point: Some("/other".into()), ..measured("a5", 1) });
        runs.push(PastRun { settings: Some("{\"scheduler\":\"bfq\"}".into()), ..measured("a6", 1) });
        runs.push(PastRun { host: Some("db2".into()), ..measured("a7", 2) });
        // How a comparison named its sides is no setting.
        runs.push(PastRun { settings: Some("{}".into()), ..measured("a8", 1) });
        runs.push(PastRun {
            settings: Some("{\"workload\":\"/b1/w.toml\",\"in\":\"/b1\"}".into()),
            ..measured("a9", 2)
        });
        runs.push(PastRun { cold: Some("files".into()), ..measured("b1", 1) });
        // Where directories were compared, they are.
        for (id, dir) in [("c1", "/mnt/a"), ("c2", "/mnt/b"), ("c3", "/other/a")] {
            let settings = Some(format!("{{\"in\":\"{dir}\"}}"));
            let sides = Some("[\"in=/mnt/a\",\"in=/mnt/b\"]".into());
            runs.push(PastRun { settings, sides, ..measured(id, 1) });
        }
        for (id, dir) in [("d1", "/old/bench"), ("d2", "/new/bench")] {
            let settings = Some(format!("{{\"in\":\"{dir}\"}}"));
            let sides = Some("[\"in=/old/bench\",\"in=/new/bench\"]".into());
            runs.push(PastRun { settings, sides, ..measured(id, 1) });
        }
        let past = Past { runs, workloads: workloads.into(), ..Past::default() };
        assert_eq!(
            ids(&past),
            [
                vec!["a3"],
                vec!["a4"],
                vec!["a5"],
                vec!["a6"],
                vec!["a7"],
                vec!["a1", "a2", "a8", "a9"],
                vec!["b1"],
                vec!["c2"],
                vec!["c1", "c3"],
                vec!["d1"],
                vec!["d2"]
            ]
        );
        let all = groups(&past);
        assert_eq!(
            (all[5].workload.name.as_str(), all[5].workload.place.as_str()),
            ("n2", "host db1, /data")
        );
        assert_eq!(all[3].workload.place, "host db1, /data, with scheduler=bfq");
        assert_eq!(all[6].workload.place, "host db1, /data, cold");
        assert!(
            all[3].is_special() && !all[5].is_special() && all[6].is_special(),
            "names mean the plain runs"
        );
        assert_eq!(all[0].workload.id.len(), 8);
    }

    #[test]
    fn imported_runs_go_by_command_line_or_by_text_and_in_the_order_of_their_own_time() {
        let past = Past {
            runs: vec![
                imported(
                    "b1",
                    "iozone",
                    "a.log",
                    &["./iozone", "-F", "/scratch/X"],
                    "2008-01-23T15:00:00-00:00",
                ),
                imported("b2", "iozone", "b.log", &["./iozone", "-F", "/mnt/X"], "2008-01-22T15:00:00-00:00"),
                imported("b3", "table", "one.txt", &[], ""),
                imported("b4", "table", "/elsewhere/one.txt", &[], ""),
                imported("b5", "table", "two.txt", &[], ""),
                imported("b6", "filebench", "one.txt", &[], ""),
                imported("b7", "filebench", "two.txt", &[], ""),
            ],
            ..Past::default()
        };
        assert_eq!(ids(&past), [vec!["b2", "b1"], vec!["b3", "b4"], vec!["b5"], vec!["b6", "b7"]]);
        assert_eq!(groups(&past)[1].workload.name, "table in one.txt");
    }

    #[test]
    fn runs_that_did_not_end_well_are_counted_by_how_they_ended() {
        let runs = vec![
            measured("c1", 1),
            PastRun { status: Status::Interrupted, ..measured("c2", 1) },
            PastRun { status: Status::Running, killed: true, ..measured("c3", 1) },
            PastRun { status: Status::Interrupted, ..measured("c4", 1) },
            PastRun { part: Some("quads".into()), ..measured("c5", 1) },
            PastRun { part: Some("warm-up".into()), ..measured("c6", 1) },
            PastRun { part: Some("noise".into()), ..measured("c7", 1) },
            PastRun { part: Some("noise".into()), ..measured("c8", 1) },
            PastRun { status: Status::Failed, part: Some("noise".into()), ..measured("c9", 1) },
        ];
        let past = Past { runs, ..Past::default() };
        let all = groups(&past);
        let (counted, left_out) = all[0].parted();
        assert_eq!(counted.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ["c1", "c5"]);
        let expected = [("interrupted", 2), ("killed", 1), ("warm-up", 1), ("noise", 2), ("failed", 1)];
        assert_eq!(left_out, expected.map(|(word, n)| (word.to_owned(), n)));
    }

    #[test]
    fn the_root_of_a_tree_is_a_directory_and_not_what_is_done() {
        let model = |root: &str, entries: u32| {
            format!(
                "[[fileset]]\nname = \"docs\"\nfiles = {{ tree = {{ root = \"{root}\", entries = {entries}, width = {{ fixed = 20 }} }} }}\n"
            )
        };
        let same = without_names(&model("/tmp/nightly-1123", 100));
        assert_eq!(same, without_names(&model("/tmp/nightly-1124", 100)));
        assert_ne!(same, without_names(&model("/tmp/nightly-1123", 101)));
        assert_ne!(
            without_names(&model("www", 100)),
            without_names(&model("mail", 100)),
            "relative ones are its own"
        );
    }

    /// A log of long ago that was imported after another's newer one is the newest run.
    #[test]
    fn the_newest_run_is_the_one_imported_last() {
        let past = Past {
            runs: vec![
                imported("d1", "iozone", "a.log", &["./iozone", "-a"], "2008-01-23T15:00:00-00:00"),
                imported("d2", "iozone", "b.log", &["./iozone", "-R"], "2009-01-01T15:00:00-00:00"),
                imported("d3", "iozone", "c.log", &["./iozone", "-a"], "2007-01-23T15:00:00-00:00"),
            ],
            ..Past::default()
        };
        assert_eq!(ids(&past), [vec!["d2"], vec!["d3", "d1"]]);
    }
}
