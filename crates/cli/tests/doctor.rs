//! `fathom doctor` as a user sees it: on a directory of this machine, a tmpfs, a full file system on a loop device, an
//! overlay, as an ordinary user, and as JSON for scripts.

use fathom_testkit::{Fathom, LoopFs, Outcome, TestDir, TmpFs, need_root, need_tool, skip};
use serde_json::Value;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// The findings at a path, and the exit code.
fn examined(path: &Path) -> (Value, Option<i32>) {
    let outcome = Fathom::new().run(["doctor".as_ref(), path.as_os_str(), "--json".as_ref()]);
    assert_eq!(outcome.stderr, "");
    (serde_json::from_str(&outcome.stdout).expect("JSON"), outcome.code)
}

/// The page at a path. The test machine is never quiet, so either exit code will do.
fn page(path: &Path) -> Outcome {
    let outcome = Fathom::new().run(["doctor".as_ref(), path.as_os_str()]);
    assert!(matches!(outcome.code, Some(0 | 1)), "{outcome:?}");
    outcome
}

/// (severity, sentence) of every finding with a code.
fn under<'d>(document: &'d Value, code: &str) -> Vec<(&'d str, &'d str)> {
    let all = document["findings"].as_array().expect("findings");
    let text = |f: &'d Value, key: &str| f[key].as_str().expect("a text");
    all.iter().filter(|f| f["code"] == code).map(|f| (text(f, "severity"), text(f, "sentence"))).collect()
}

#[track_caller]
fn says(document: &Value, code: &str, severity: &str, words: &str) {
    let found = under(document, code);
    assert!(
        found.iter().any(|(s, sentence)| *s == severity && sentence.contains(words)),
        "no {severity} {code} with {words:?}: {found:?}"
    );
}

#[test]
fn the_json_has_the_documented_keys() {
    let dir = TestDir::new();
    let (document, code) = examined(dir.path());
    let keys: Vec<&String> = document.as_object().expect("an object").keys().collect();
    let documented = include_str!("../../../docs/doctor.md");
    for key in keys {
        assert!(documented.contains(&format!("| {key} |")), "docs/doctor.md has no row for {key}");
    }
    assert_eq!(document["schema"], 1);
    assert_eq!(document["path"], dir.path().to_str().expect("UTF-8"));
    let findings = document["findings"].as_array().expect("findings");
    let order = ["error", "warning", "notice", "unknown", "good"];
    let rank = |f: &Value| order.iter().position(|w| f["severity"] == *w).expect("a known severity");
    assert!(findings.is_sorted_by_key(rank), "worst first");
    for finding in findings {
        let fields: Vec<&String> = finding.as_object().expect("an object").keys().collect();
        assert_eq!(
            fields,
            [
                "code",
                "command",
                "figures",
                "forbidden",
                "remedy",
                "sentence",
                "severity",
                "source",
                "subject"
            ]
        );
        for figure in finding["figures"].as_array().expect("figures") {
            assert!(figure["value"].is_number() && figure["unit"].is_string() && figure["name"].is_string());
        }
    }
    for (n, severity) in order.iter().enumerate() {
        let count = findings.iter().filter(|f| rank(f) == n).count();
        assert_eq!(document["counts"][severity], count, "{severity}");
    }
    let spoilt = findings.iter().any(|f| rank(f) < 2);
    assert_eq!(document["spoilt"], spoilt);
    assert_eq!(code, Some(i32::from(spoilt)), "the exit code says the same");
}

#[test]
fn what_it_says_of_a_directory_is_what_others_say() {
    let dir = TestDir::new();
    let (document, _) = examined(dir.path());
    if !need_tool("what_it_says_of_a_directory_is_what_others_say", "findmnt") {
        return;
    }
    let asked = |column: &str| {
        let out = Command::new("findmnt")
            .args(["-n", "-o", column, "-T"])
            .arg(dir.path())
            .output()
            .expect("findmnt");
        String::from_utf8_lossy(&out.stdout).trim().to_string()
    };
    assert_eq!(document["file_system"], asked("FSTYPE"));
    assert_eq!(document["mount_point"], asked("TARGET"));
    // Findings about the whole machine do not depend on the place.
    for code in ["memory", "dirty-limits", "cpu-busy", "load-average", "uptime", "open-files"] {
        assert_eq!(under(&document, code).len(), 1, "{code}");
    }
}

#[test]
fn a_tmpfs_is_memory() {
    let Some(tmpfs) = TmpFs::mount("a_tmpfs_is_memory", 64 << 20) else { return };
    let (document, code) = examined(tmpfs.path());
    says(&document, "file-system", "error", "is a tmpfs: files here are in main memory");
    assert_eq!(code, Some(1));
    for of_a_device in ["scheduler", "disk-traffic", "read-ahead", "block-events"] {
        assert_eq!(under(&document, of_a_device), [], "{of_a_device}");
    }
    let text = page(tmpfs.path()).stdout;
    let first = text.lines().nth(2).expect("a finding after the head");
    assert!(first.starts_with("error    place        "), "{text}");
    assert!(!text.contains('\u{1b}'), "colour only on a terminal");
}

#[test]
fn a_full_file_system_on_a_loop_device() {
    let Some(fs) = LoopFs::ext4("a_full_file_system_on_a_loop_device").mebibytes(32).mount() else { return };
    let device = fs.device().file_name().and_then(|n| n.to_str()).expect("a name").to_owned();
    let (document, _) = examined(fs.path());
    says(&document, "backing", "warning", &format!("{device} is a sparse file"));
    says(&document, "loop-cache", "warning", &format!("{device} goes through the page cache"));
    says(&document, "space", "notice", "files this small stay in caches");
    says(&document, "journal", "good", "has a journal");

    let mut file = std::fs::File::create(fs.path().join("fill")).expect("a file");
    while file.write_all(&[7; 65_536]).is_ok() {}
    file.sync_all().expect("written");
    let (document, code) = examined(fs.path());
    says(&document, "space", "error", "The file system is full: 0 B of");
    assert_eq!(code, Some(1));
    let text = page(fs.path()).stdout;
    assert!(text.contains("losetup --direct-io=on /dev/loop"), "{text}");
    assert!(text.contains("fathom backends "), "{text}");
}

#[test]
fn a_read_only_mount_is_an_error() {
    let Some(fs) = LoopFs::ext4("a_read_only_mount_is_an_error").mebibytes(8).mount() else { return };
    fs.remount_read_only();
    let (document, code) = examined(fs.path());
    says(&document, "read-only", "error", "mounted read-only");
    assert_eq!(code, Some(1));
}

#[test]
fn an_overlay_is_seen_through() {
    let test = "an_overlay_is_seen_through";
    if !need_root(test) || !need_tool(test, "mount") {
        return;
    }
    let dir = TestDir::new();
    let [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map(|name| dir.subdir(name));
    let options =
        format!("lowerdir={},upperdir={},workdir={}", lower.display(), upper.display(), work.display());
    let mounted =
        Command::new("mount").args(["-t", "overlay", "overlay", "-o", &options]).arg(&merged).output();
    let mounted = mounted.expect("mount can be started");
    if !mounted.status.success() {
        return skip(
            test,
            &format!("an overlay could not be mounted: {}", String::from_utf8_lossy(&mounted.stderr)),
        );
    }
    // The directory unmounts everything in it on drop.
    let (document, code) = examined(&merged);
    says(&document, "file-system", "warning", "is an overlay");
    let remedy = document["findings"].as_array().into_iter().flatten().find(|f| f["code"] == "file-system");
    let remedy = remedy.and_then(|f| f["remedy"].as_str()).expect("a remedy");
    assert!(remedy.contains(upper.to_str().expect("UTF-8")), "{remedy}");
    assert_eq!(code, Some(1));
    let (below, _) = examined(&upper);
    assert_eq!(document["devices"], below["devices"], "the devices of its layers");
}

/// Output for an ordinary user; `None`, with the skip recorded, if this machine cannot run a program as one.
pub fn as_nobody(test: &str, arguments: &[&str]) -> Option<std::process::Output> {
    const NOBODY: u32 = 65_534;
    if !need_root(test) {
        return None;
    }
    // Other users may have no access to the build directory.
    let dir = TestDir::new();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).expect("rights");
    let program = dir.path().join("fathom");
    fathom_testkit::install(env!("CARGO_BIN_EXE_fathom").as_ref(), &program);
    let run =
        Command::new(&program).args(arguments).current_dir("/").env_clear().uid(NOBODY).gid(NOBODY).output();
    match run {
        Ok(output) => Some(output),
        Err(e) => {
            skip(
                test,
                &format!("the program cannot be run as an ordinary user from {}: {e}", dir.path().display()),
            );
            None
        }
    }
}

#[test]
fn an_ordinary_user_is_told_once_what_is_hidden() {
    let test = "an_ordinary_user_is_told_once_what_is_hidden";
    let Some(output) = as_nobody(test, &["doctor", "/"]) else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    assert_eq!(text.matches("User 65534 may not see").count(), 1, "{text}");
    assert_eq!(text.matches("sudo fathom doctor /").count(), 1, "{text}");
    let Some(output) = as_nobody(test, &["doctor", "/", "--json"]) else { return };
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["uid"], 65_534);
    says(&document, "drop-caches", "unknown", "a cold cache");
    // Root sees at least as much.
    let (roots, _) = examined(Path::new("/"));
    let hidden = |d: &Value| {
        d["findings"].as_array().map_or(0, |a| a.iter().filter(|f| f["forbidden"] == true).count())
    };
    assert!(hidden(&roots) < hidden(&document), "{} {}", hidden(&roots), hidden(&document));
}

#[test]
fn what_cannot_be_examined_is_the_users_mistake() {
    let fathom = Fathom::new();
    let outcome = fathom.run(["doctor", "no/such/place"]).expect_code(2);
    assert!(outcome.stderr.contains("no/such/place cannot be examined"), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    let outcome = fathom.run(["doctor", "--json", "--all"]).expect_code(2);
    assert!(outcome.stderr.contains("--all"), "{}", outcome.stderr);
}

#[test]
fn it_only_reads() {
    let test = "it_only_reads";
    let fathom = Fathom::new();
    let Some(trace) = fathom.strace(test, ["doctor", "."]) else { return };
    let changes = ["unlink", "rename", "truncate", "ftruncate", "fsync", "fallocate", "pwrite"];
    for call in &trace.calls {
        let writes = call.name.starts_with("open")
            && ["O_WRONLY", "O_RDWR", "O_CREAT"].iter().any(|f| call.args.contains(f));
        assert!(!writes && !changes.iter().any(|c| call.name.starts_with(c)), "{call:?}");
    }
    assert!(trace.calls.iter().any(|c| c.args.contains("/proc/diskstats")), "it looked at the disks");
}
