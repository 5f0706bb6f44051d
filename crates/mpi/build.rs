//! Compiles the few MPI calls (`src/calls.c`) with the MPI library's compiler wrapper: constants and handles differ between Open
//! MPI and MPICH, and only their headers define them. `MPICC` names another wrapper.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/calls.c");
    println!("cargo::rerun-if-env-changed=MPICC");
    let wrapper = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    let Some(out) = std::env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    let object = out.join("calls.o");
    let compiled = Command::new(&wrapper)
        .args(["-O2", "-Wall", "-Werror", "-fPIC", "-c", "src/calls.c", "-o"])
        .arg(&object)
        .status();
    match compiled {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{wrapper} could not compile src/calls.c ({status})"),
        Err(error) => panic!(
            "{wrapper}: {error}. fathom-mpi needs an MPI to build: apt-get install libopenmpi-dev openmpi-bin (or libmpich-dev mpich; MPICC \
             names its compiler wrapper)"
        ),
    }
    println!("cargo::rustc-link-arg={}", object.display());
    for word in link_line(&wrapper) {
        if let Some(path) = word.strip_prefix("-L") {
            println!("cargo::rustc-link-search=native={path}");
        } else if word.starts_with("-l") || word.starts_with("-Wl,") {
            println!("cargo::rustc-link-arg={word}");
        }
    }
}

/// The wrapper's linker arguments: `-show` of MPICH, `--showme:link` of Open MPI.
fn link_line(wrapper: &str) -> Vec<String> {
    for option in ["--showme:link", "-show"] {
        if let Ok(told) = Command::new(wrapper).arg(option).output()
            && told.status.success()
        {
            let line = String::from_utf8_lossy(&told.stdout).into_owned();
            return line.split_ascii_whitespace().map(str::to_owned).collect();
        }
    }
    panic!("{wrapper} tells neither with --showme:link nor with -show what to link");
}
