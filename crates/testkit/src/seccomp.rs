//! System calls forbidden to a test, as containers and hardened kernels forbid them. The filter is permanent for the calling
//! thread and its children, so it is set in a separate thread.

use crate::skip;

/// Runs a closure in a thread in which one system call returns an error. Records a skip where calls cannot be filtered.
pub fn without_call(test: &str, call: libc::c_long, errno: i32, run: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let there = scope.spawn(|| match forbid(call, errno) {
            true => run(),
            false => skip(test, "system calls cannot be filtered"),
        });
        there.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

fn forbid(call: libc::c_long, errno: i32) -> bool {
    let rule = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let rules = [
        // The call number is the first field of seccomp_data.
        rule(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        rule(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call as u32),
        rule(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
        rule(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: rules.len() as u16, filter: rules.as_ptr().cast_mut() };
    // SAFETY: the program and its rules live through the calls, which only read them.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}
