//! A mounted image used as a file system is: find, tar, grep -r, a program run from it, four readers at once, and all of that while the server is
//! killed. The image is xorriso's. By default of a small tree made here; FATHOM_ISO_TREE=/usr takes an installed system's (the timings
//! are printed: `-- --nocapture`).

use crate::mount::support::{Mounted, can_mount, is_mounted, noise, until};
use fathom_testkit::{Fathom, need_tool};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Names a directory of at least some thousand files to be used instead.
const TREE: &str = "FATHOM_ISO_TREE";
/// What grep looks for.
const NEEDLE: &str = "fathom";
/// A reader gets an answer within this time after the server dies.
const ANSWER: Duration = Duration::from_secs(30);

/// A small tree, with a program.
fn small(top: &Path) {
    for n in 0..600 {
        let dir = top.join(format!("share/dir {}/sub {}", n % 7, n % 31));
        fs::create_dir_all(&dir).unwrap();
        let text = if n % 50 == 0 { format!("a line with {NEEDLE} in it\n") } else { format!("line {n}\n") };
        fs::write(dir.join(format!("file number {n}.txt")), text.repeat(n % 90 + 1)).unwrap();
    }
    fs::create_dir(top.join("bin")).unwrap();
    fs::copy("/bin/sh", top.join("bin/sh")).unwrap();
    fs::write(top.join("share/large"), noise(9_000_001)).unwrap();
    fs::hard_link(top.join("share/large"), top.join("share/the same")).unwrap();
    symlink("share/large", top.join("link")).unwrap();
    symlink("no such file", top.join("dangling")).unwrap();
}

/// Runs a script in a directory; what it printed.
#[track_caller]
fn shell(script: &str, inside: &Path) -> String {
    let begun = Instant::now();
    let output =
        Command::new("bash").args(["-o", "pipefail", "-ec", script]).current_dir(inside).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{script} in {}: {errors}", inside.display());
    println!("{:8.3} s  {script}  in {}", begun.elapsed().as_secs_f64(), inside.display());
    String::from_utf8(output.stdout).unwrap()
}

/// What a tree has to show: names, kinds, modes, sizes, links; every byte and date, as tar writes them; what grep finds.
fn looked_at(top: &Path) -> [String; 3] {
    let grep = format!("grep -rIl {NEEDLE} . | LC_ALL=C sort | cksum");
    [
        shell("find . -mindepth 1 ! -type d -printf '%p %y %m %s %l\\n' | LC_ALL=C sort | cksum", top),
        shell("tar --sort=name --numeric-owner --hard-dereference -cf - -- * | cksum", top),
        shell(&grep, top),
    ]
}

fn image_of(tree: &Path, fathom: &Fathom) -> PathBuf {
    let image = fathom.work().join("disc.iso");
    let mut command = Command::new("xorriso");
    command.args(["-report_about", "SORRY", "-hardlinks", "on", "-outdev"]).arg(&image);
    command.arg("-map").arg(tree).args(["/", "-commit"]).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    image
}

/// Reads everything again and again until an error ends it.
fn endless(on: &Path) -> Child {
    let script = "while tar -cf - . | cat > /dev/null; do :; done";
    let mut command = Command::new("bash");
    command.args(["-o", "pipefail", "-c", script]).current_dir(on);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn an_image_of_a_real_tree_is_used_and_killed() {
    let test = "an_image_of_a_real_tree_is_used_and_killed";
    if !can_mount(test) || !need_tool(test, "xorriso") {
        return;
    }
    let mut fathom = Fathom::new();
    let made = fathom.work().join("tree");
    let tree = std::env::var_os(TREE).map_or(made.clone(), PathBuf::from);
    if tree == made {
        fs::create_dir(&made).unwrap();
        small(&made);
    }
    let image = image_of(&tree, &fathom);
    println!(
        "{} files, image of {} MiB",
        shell("find . | wc -l", &tree).trim(),
        image.metadata().unwrap().len() >> 20
    );
    let expected = looked_at(&tree);
    for options in [&[][..], &["--policy", "modern"]] {
        let mut mount = Mounted::again(fathom, options);
        println!("mounted {options:?}");
        assert_eq!(looked_at(&mount.on), expected, "{options:?}");
        let ran = Command::new(mount.on.join("bin/sh")).args(["-c", "echo ran"]).output();
        assert_eq!(ran.unwrap().stdout, b"ran\n", "a program from the image");
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| shell("tar -cf - . | cat > /dev/null", &mount.on));
            }
        });
        println!("{:8.3} s  four readers at once", begun.elapsed().as_secs_f64());
        // All of it once more, while it is killed.
        let mut readers: Vec<Child> = (0..4).map(|_| endless(&mount.on)).collect();
        std::thread::sleep(Duration::from_millis(300));
        assert!(readers.iter_mut().all(|reader| reader.try_wait().unwrap().is_none()), "they read");
        mount.signal(libc::SIGKILL);
        let killed = Instant::now();
        assert_eq!(mount.finish().signal, Some(libc::SIGKILL));
        for reader in &mut readers {
            until("a reader's end", || reader.try_wait().unwrap().is_some());
        }
        assert!(killed.elapsed() < ANSWER, "{:?} until the last reader had its error", killed.elapsed());
        let on = mount.on.clone();
        until("the guard's unmounting", || !is_mounted(&on));
        println!(
            "{:8.3} s  from SIGKILL until every reader had ended and nothing was mounted",
            killed.elapsed().as_secs_f64()
        );
        assert_eq!(fs::read_dir(&mount.on).unwrap().count(), 0, "the directory is as it was");
        fathom = mount.into_directory();
    }
}
