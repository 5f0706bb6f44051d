//! Decides whether two runs belong to the same workload: the same request at the same place. Measured runs are
//! identified by language, executed workload (without seed, name and notes), host, mount point and the settings of a
//! sweep or comparison; surveys by directory and length instead of the workload; imported runs by program and command
//! line, or else by program and file. Directories of files do not count: a CI uses a new one every night.

use fathom_record::same_work::{base, work_only};
use fathom_record::store::{Past, PastRun, RunContext, hash_of_text, name_of_hash};
use fathom_report::history::Workload;
use std::collections::HashMap;
use std::sync::Arc;

/// Programs whose output identifies the workload by its cells; for others without a command line, the text is what runs
/// have in common.
const TELL_THEIR_CELLS: [&str; 4] = ["iozone", "sysbench", "filebench", "fio"];

#[derive(Debug)]
pub struct Group<'p> {
    identity: u128,
    /// The `name` in its newest run's workload.
    model_name: Option<&'p str>,
    /// In the order they were made.
    pub runs: Vec<&'p PastRun>,
}

impl<'p> Group<'p> {
    /// A short hash of the request and its place.
    pub fn id(&self) -> String {
        name_of_hash(self.identity)
    }

    /// The name shown to users.
    pub fn name(&self) -> String {
        self.runs.last().map(|newest| name(newest, self.model_name)).unwrap_or_default()
    }

    /// Computed on demand: a store may have very many.
    pub fn workload(&self) -> Workload {
        let (by, place) = self.runs.last().map(|newest| (by(newest), place(newest))).unwrap_or_default();
        Workload { id: self.id(), name: self.name(), by, place }
    }

    /// The run with the largest id; with imported runs it need not be the last.
    pub fn newest(&self) -> &'p str {
        self.runs.iter().map(|r| r.id.as_str()).max().unwrap_or_default()
    }

    /// Whether its runs were made by a sweep or a comparison, or with `--cold`: either all or none were.
    pub fn is_special(&self) -> bool {
        self.runs.iter().any(|r| r.made.cold.is_some() || !settings(r).is_empty())
    }

    /// The runs that count, and counts of the others by how they ended or whether they were warm-up or noise of a
    /// comparison.
    pub fn parted(&self) -> (Vec<&PastRun>, Vec<(String, usize)>) {
        let mut left_out: Vec<(String, usize)> = Vec::new();
        let mut counted = Vec::new();
        for run in &self.runs {
            let word = match (run.status_word(), run.made.part.as_deref()) {
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

/// Groups runs into workloads and names them. Does not keep the texts of the workloads.
#[derive(Debug, Default)]
pub struct Identities {
    /// Workload number of each run.
    of_runs: Vec<u32>,
    /// Identity of each workload.
    hashes: Vec<u128>,
    /// `name`s of workload texts by text number, ascending.
    names: Vec<(i64, Box<str>)>,
}

impl Identities {
    /// Groups all runs; `each_workload` yields every workload text in the order of their numbers.
    pub fn of<E>(
        past: &Past,
        each_workload: impl FnOnce(&mut dyn FnMut(i64, &str)) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut all = Self { of_runs: vec![0; past.runs.len()], ..Self::default() };
        let mut numbers: HashMap<u128, u32> = HashMap::new();
        // Sorted by text, then by how they were made, so that each text is read once and each combination hashed once.
        let mut order: Vec<u32> = (0..past.runs.len() as u32).collect();
        let key = |i: &u32| {
            let run = &past.runs[*i as usize];
            (run.workload, Arc::as_ptr(&run.made), *i)
        };
        order.sort_unstable_by_key(key);
        let mut left = order.iter().map(|i| *i as usize).peekable();
        let mut enter = |all: &mut Self, workload: i64, text: &str| {
            let mut model = None;
            let mut before: Option<(&Arc<RunContext>, u32)> = None;
            while let Some(i) = left.next_if(|i| past.runs[*i].workload <= workload) {
                let run = &past.runs[i];
                let same = before.filter(|(made, _)| run.source.is_none() && Arc::ptr_eq(made, &run.made));
                let number = same.map(|(_, number)| number).unwrap_or_else(|| {
                    let hash = hash_of_text(&identity(run, model.get_or_insert_with(|| work_only(text))));
                    *numbers.entry(hash).or_insert_with(|| {
                        all.hashes.push(hash);
                        all.hashes.len() as u32 - 1
                    })
                });
                before = run.source.is_none().then_some((&run.made, number));
                all.of_runs[i] = number;
            }
            if model.is_some()
                && let Some(name) = workload_name(text)
            {
                all.names.push((workload, name.into()));
            }
        };
        each_workload(&mut |workload, text| {
            // A missing text counts as empty.
            enter(&mut all, workload - 1, "");
            enter(&mut all, workload, text);
        })?;
        enter(&mut all, i64::MAX, "");
        Ok(all)
    }

    /// The `name` in a run's workload.
    pub fn model_name(&self, run: &PastRun) -> Option<&str> {
        let at = self.names.binary_search_by_key(&run.workload, |n| n.0).ok()?;
        Some(&self.names[at].1)
    }

    /// All workloads of a store, ordered by their newest run.
    pub fn groups<'p>(&'p self, past: &'p Past) -> Vec<Group<'p>> {
        let mut sizes = vec![0; self.hashes.len()];
        self.of_runs.iter().for_each(|number| sizes[*number as usize] += 1);
        let mut found: Vec<Group<'p>> = std::iter::zip(&self.hashes, sizes)
            .map(|(hash, runs)| Group { identity: *hash, model_name: None, runs: Vec::with_capacity(runs) })
            .collect();
        for (run, number) in past.runs.iter().zip(&self.of_runs) {
            found[*number as usize].runs.push(run);
        }
        for group in &mut found {
            in_order_of_time(&mut group.runs);
            group.model_name = group.runs.last().and_then(|newest| self.model_name(newest));
        }
        found.sort_by_cached_key(Group::newest);
        found
    }
}

/// Ids follow the order of measuring. Imported runs arrive in any order, so they are sorted by time if all of them have
/// one.
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
            if run.argv.is_empty() && !TELL_THEIR_CELLS.contains(&run.made.dialect.as_str()) {
                parts.push(base(&source.file).to_owned());
            }
            parts.push(run.argv.iter().map(|w| base(w)).collect::<Vec<_>>().join(" "));
        }
        None => {
            match survey(run) {
                Some(words) => parts.extend(words),
                None => parts.push(model.to_owned()),
            }
            parts.extend(
                [&run.made.host, &run.made.mount_point, &run.made.cold]
                    .map(|p| p.clone().unwrap_or_default()),
            );
            parts.extend(settings(run));
        }
    }
    parts.join("\n\0")
}

/// What a survey was asked for: directory and length. What it executed follows from that and from the state of the
/// place.
fn survey(run: &PastRun) -> Option<Vec<String>> {
    const ASKED: [&str; 3] = ["--quick", "--thorough", "--dense"];
    let asked = run.argv.iter().filter(|word| ASKED.contains(&word.as_str())).cloned();
    (run.made.dialect == "survey").then(|| [run.made.directory.clone()].into_iter().chain(asked).collect())
}

/// The language, or the program without its version.
fn by(run: &PastRun) -> String {
    run.made.dialect.clone()
}

/// The name shown to users.
fn name(run: &PastRun, model_name: Option<&str>) -> String {
    if let Some(source) = &run.source {
        let file = base(&source.file);
        return if run.argv.is_empty() {
            format!("{} in {file}", run.made.dialect)
        } else {
            run.argv.join(" ")
        };
    }
    let is_drop_in = ["iozone", "sysbench", "filebench"].contains(&run.made.dialect.as_str());
    if is_drop_in && run.argv.len() > 1 {
        let ours = usize::from(base(&run.argv[0]) == "fathom");
        return run.argv[ours..].iter().map(|w| base(w)).collect::<Vec<_>>().join(" ");
    }
    model_name.unwrap_or(&run.label).to_owned()
}

/// The `name` in a workload text.
fn workload_name(model: &str) -> Option<String> {
    let head = model.lines().take_while(|l| !l.starts_with('['));
    let quoted = head.filter_map(|l| l.strip_prefix("name = \"")).next()?;
    quoted.strip_suffix('"').filter(|n| !n.is_empty()).map(str::to_owned)
}

/// The settings of a sweep or a comparison. Workload and mount point already identify what was executed and where; the
/// typed names change with every build that a CI compares. If two directories were compared, their runs are two
/// histories, told apart by the last path components if these differ.
fn settings(run: &PastRun) -> Vec<String> {
    let parsed: Option<serde_json::Map<String, serde_json::Value>> =
        run.made.settings.as_ref().and_then(|s| serde_json::from_str(s).ok());
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

/// The directories of a comparison of two directories.
fn compared_directories(run: &PastRun) -> Option<[String; 2]> {
    let sides: [String; 2] = serde_json::from_str(run.made.sides.as_ref()?).ok()?;
    sides.iter().all(|s| s.starts_with("in=")).then(|| sides.map(|s| s["in=".len()..].to_owned()))
}

fn place(run: &PastRun) -> String {
    if run.source.is_some() {
        return String::new();
    }
    let host = run.made.host.as_ref().map(|h| format!("host {h}"));
    let cold = run
        .made
        .cold
        .as_ref()
        .map(|reach| if reach == "files" { "cold".to_string() } else { format!("cold ({reach})") });
    let settings = Some(settings(run)).filter(|s| !s.is_empty()).map(|s| format!("with {}", s.join(" ")));
    let asked = survey(run).map(|words| words.join(" "));
    [host, asked.or_else(|| run.made.mount_point.clone()), cold, settings]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::{Source, Status};

    fn measured(id: &str, workload: i64) -> PastRun {
        PastRun {
            id: id.into(),
            label: "nightly".into(),
            started_at: String::new(),
            status: Status::Completed,
            killed: false,
            argv: vec!["fathom".into(), "run".into(), "w.toml".into()].into(),
            workload,
            environment: 1,
            made: Arc::new(made()),
            source: None,
        }
    }

    fn made() -> RunContext {
        RunContext {
            dialect: "native".into(),
            version: "0.1.0".into(),
            directory: "/data".into(),
            host: Some("db1".into()),
            mount_point: Some("/data".into()),
            ..RunContext::default()
        }
    }

    fn as_made(id: &str, workload: i64, made: RunContext) -> PastRun {
        PastRun { made: Arc::new(made), ..measured(id, workload) }
    }

    fn imported(id: &str, dialect: &str, file: &str, argv: &[&str], started_at: &str) -> PastRun {
        let source = Source { file: file.into(), ..Source::default() };
        PastRun {
            argv: argv.iter().map(|w| (*w).to_owned()).collect(),
            started_at: started_at.into(),
            source: Some(source.into()),
            ..as_made(id, 0, RunContext { dialect: dialect.into(), host: None, mount_point: None, ..made() })
        }
    }

    fn identities(past: &Past, workloads: &[(i64, String)]) -> Identities {
        let each = |see: &mut dyn FnMut(i64, &str)| {
            workloads.iter().for_each(|(id, text)| see(*id, text));
            Ok::<(), ()>(())
        };
        Identities::of(past, each).expect("nothing fails")
    }

    fn ids<'p>(groups: &[Group<'p>]) -> Vec<Vec<&'p str>> {
        groups.iter().map(|g| g.runs.iter().map(|r| r.id.as_str()).collect()).collect()
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
        runs.push(as_made("a5", 1, RunContext { mount_point: Some("/other".into()), ..made() }));
        runs.push(as_made(
            "a6",
            1,
            RunContext { settings: Some("{\"scheduler\":\"bfq\"}".into()), ..made() },
        ));
        runs.push(as_made("a7", 2, RunContext { host: Some("db2".into()), ..made() }));
        // The names a comparison gives its sides are not settings.
        runs.push(as_made("a8", 1, RunContext { settings: Some("{}".into()), ..made() }));
        let settings = Some("{\"workload\":\"/b1/w.toml\",\"in\":\"/b1\"}".into());
        runs.push(as_made("a9", 2, RunContext { settings, ..made() }));
        runs.push(as_made("b1", 1, RunContext { cold: Some("files".into()), ..made() }));
        // If directories were compared, they count as settings.
        for (id, dir) in [("c1", "/mnt/a"), ("c2", "/mnt/b"), ("c3", "/other/a")] {
            let settings = Some(format!("{{\"in\":\"{dir}\"}}"));
            let sides = Some("[\"in=/mnt/a\",\"in=/mnt/b\"]".into());
            runs.push(as_made(id, 1, RunContext { settings, sides, ..made() }));
        }
        for (id, dir) in [("d1", "/old/bench"), ("d2", "/new/bench")] {
            let settings = Some(format!("{{\"in\":\"{dir}\"}}"));
            let sides = Some("[\"in=/old/bench\",\"in=/new/bench\"]".into());
            runs.push(as_made(id, 1, RunContext { settings, sides, ..made() }));
        }
        let past = Past { runs, ..Past::default() };
        let known = identities(&past, &workloads);
        let all = known.groups(&past);
        assert_eq!(
            ids(&all),
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
        let plain = all[5].workload();
        assert_eq!((plain.name.as_str(), plain.place.as_str()), ("n2", "host db1, /data"));
        assert_eq!(all[3].workload().place, "host db1, /data, with scheduler=bfq");
        assert_eq!(all[6].workload().place, "host db1, /data, cold");
        assert!(
            all[3].is_special() && !all[5].is_special() && all[6].is_special(),
            "names mean the plain runs"
        );
        assert_eq!(all[0].id().len(), 8);
    }

    #[test]
    fn surveys_of_one_directory_and_length_are_one_history() {
        let of = |id: &str, workload: i64, directory: &str, argv: &[&str]| PastRun {
            argv: argv.iter().map(|w| (*w).to_owned()).collect(),
            ..as_made(
                id,
                workload,
                RunContext { dialect: "survey".into(), directory: directory.into(), ..made() },
            )
        };
        let workloads: Vec<(i64, String)> =
            (1..=5).map(|n| (n, format!("[[fileset]]\nname = \"f\"\nsize = \"{n}MiB\"\n"))).collect();
        let past = Past {
            runs: vec![
                of("a1", 1, "/data", &["fathom", "survey", "/data"]),
                of("a2", 2, "/data", &["/usr/bin/fathom", "survey"]),
                of("a3", 3, "/data", &["fathom", "survey", "--quick"]),
                of("a4", 4, "/other", &["fathom", "survey"]),
                of("a5", 5, "/data", &["fathom", "survey", "-o", "x.html"]),
            ],
            ..Past::default()
        };
        let known = identities(&past, &workloads);
        let all = known.groups(&past);
        assert_eq!(ids(&all), [vec!["a3"], vec!["a4"], vec!["a1", "a2", "a5"]]);
        assert_eq!(all[0].workload().place, "host db1, /data --quick");
        assert_eq!(all[2].workload().place, "host db1, /data");
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
        let known = identities(&past, &[]);
        let all = known.groups(&past);
        assert_eq!(ids(&all), [vec!["b2", "b1"], vec!["b3", "b4"], vec!["b5"], vec!["b6", "b7"]]);
        assert_eq!(all[1].name(), "table in one.txt");
    }

    #[test]
    fn runs_that_did_not_end_well_are_counted_by_how_they_ended() {
        let of_part = |id: &str, part: &str| as_made(id, 1, RunContext { part: Some(part.into()), ..made() });
        let runs = vec![
            measured("c1", 1),
            PastRun { status: Status::Interrupted, ..measured("c2", 1) },
            PastRun { status: Status::Running, killed: true, ..measured("c3", 1) },
            PastRun { status: Status::Interrupted, ..measured("c4", 1) },
            of_part("c5", "quads"),
            of_part("c6", "warm-up"),
            of_part("c7", "noise"),
            of_part("c8", "noise"),
            PastRun { status: Status::Failed, ..of_part("c9", "noise") },
        ];
        let past = Past { runs, ..Past::default() };
        let known = identities(&past, &[]);
        let all = known.groups(&past);
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
        let same = work_only(&model("/tmp/nightly-1123", 100));
        assert_eq!(same, work_only(&model("/tmp/nightly-1124", 100)));
        assert_ne!(same, work_only(&model("/tmp/nightly-1123", 101)));
        assert_ne!(
            work_only(&model("www", 100)),
            work_only(&model("mail", 100)),
            "relative ones are its own"
        );
    }

    /// An old log imported after a newer one makes the newest run.
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
        assert_eq!(ids(&identities(&past, &[]).groups(&past)), [vec!["d2"], vec!["d3", "d1"]]);
    }
}
