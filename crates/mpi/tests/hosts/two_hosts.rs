//! Two hosts made of network namespaces on this machine, each with its own name and mounts.

use fathom_record::{Run, Store};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One pair of hosts at a time: four ranks on a small machine are enough.
static ONE: Mutex<()> = Mutex::new(());

/// The namespaces and their mounts. All are removed on drop.
pub struct Hosts {
    dir: tempfile::TempDir,
    pub names: [String; 2],
    net: String,
    _alone: MutexGuard<'static, ()>,
}

pub fn sh(script: &str) -> Output {
    Command::new("sh").args(["-ec", script]).output().expect("sh")
}

fn missing() -> Option<&'static str> {
    let root = sh("test $(id -u) = 0").status.success();
    let has = |what: &str| sh(&format!("command -v {what} >/dev/null")).status.success();
    if !root {
        Some("they need root")
    } else if !has("mpirun") || !sh("mpirun --version | grep -q 'Open MPI'").status.success() {
        Some("they need Debian's package openmpi-bin")
    } else if !has("ip") || !has("unshare") {
        Some("they need Debian's packages iproute2 and util-linux")
    } else if !sh("ip netns add fathom-try && ip netns del fathom-try").status.success() {
        Some("network namespaces cannot be made here")
    } else {
        None
    }
}

impl Hosts {
    /// `mounts`: commands that host a and host b run in their own mount namespaces; `$DIR` is the test's
    /// directory, `$DIR/mnt` where ranks work.
    pub fn new(mounts: [&str; 2]) -> Option<Self> {
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = missing() {
            eprintln!("SKIP tests of two hosts: {why}");
            return None;
        }
        let dir = tempfile::Builder::new().prefix("fathom-mpi-").tempdir().unwrap();
        let id = std::process::id() % 10_000;
        let names = [format!("fma{id}"), format!("fmb{id}")];
        let net = format!("10.251.{}", id % 250);
        let [a, b] = &names;
        let made = sh(&format!(
            "ip netns add {a}; ip netns add {b}
             ip link add {a} netns {a} type veth peer name {b} netns {b}
             ip -n {a} addr add {net}.1/24 dev {a}; ip -n {b} addr add {net}.2/24 dev {b}
             for n in {a} {b}; do ip -n $n link set lo up; ip -n $n link set $n up; done"
        ));
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let root = dir.path().display().to_string();
        for sub in ["mnt", "shared", "a", "b", "state"] {
            std::fs::create_dir(dir.path().join(sub)).unwrap();
        }
        let mount = |m: &str| m.replace("$DIR", &root);
        let table =
            format!("{net}.1 {a} hosta {}\n{net}.2 {b} hostb {}\n", mount(mounts[0]), mount(mounts[1]));
        std::fs::write(dir.path().join("table"), table).unwrap();
        Some(Self { dir, names, net, _alone: alone })
    }

    /// Both hosts see the same directory.
    pub fn shared() -> Option<Self> {
        Self::new(["mount --bind $DIR/shared $DIR/mnt"; 2])
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// mpirun on host a, ranks on both.
    pub fn command(&self, mpirun: &str, args: &str) -> Command {
        let rsh = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nsrsh");
        let (net, dir) = (&self.net, self.dir.path().display());
        let line = format!(
            "cd {dir}/mnt && exec mpirun --allow-run-as-root --oversubscribe --mca plm_rsh_agent {rsh} --host {net}.1:2,{net}.2:2 \
             --mca btl tcp,self --mca btl_tcp_if_include {net}.0/24 --mca oob_tcp_if_include {net}.0/24 \
             --mca mpi_yield_when_idle 1 --mca orte_keep_fqdn_hostnames 1 -wdir {dir}/mnt -x HOSTS_TABLE -x FATHOM_STORE -x XDG_STATE_HOME \
             {mpirun} {program} {args}",
            rsh = rsh.display(),
            program = env!("CARGO_BIN_EXE_fathom-mpi"),
        );
        let mut command = Command::new(rsh);
        command
            .args([&format!("{net}.1"), &line])
            .env("HOSTS_TABLE", self.path("table"))
            .env("FATHOM_STORE", self.path("store.db"))
            .env("XDG_STATE_HOME", self.path("state"))
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &str) -> (i32, String, String) {
        let out = self.command("-n 4", args).output().unwrap();
        let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
        (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
    }

    pub fn last(&self) -> Run {
        Store::open(self.path("store.db")).unwrap().load("last").unwrap()
    }

    pub fn workload(&self, text: &str) -> String {
        let path = self.path("workload.toml");
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        let [a, b] = &self.names;
        // All remaining processes there were started by this test.
        sh(&format!("for n in {a} {b}; do ip netns pids $n | xargs -r kill -9; ip netns del $n; done"));
    }
}
