//! The threads of a forked process. Rust's library takes a lock when a thread it created begins and ends. If a thread of the
//! parent holds that lock during the fork, it stays locked in the child, and the child's threads would wait forever. So they are
//! created with `pthread_create`, which is safe after a fork.

use std::ffi::{CString, c_void};
use std::mem::MaybeUninit;

/// The default stack size of Rust's threads.
const STACK: usize = 2 << 20;

/// Work of one thread.
struct Errand<'a, T> {
    item: &'a T,
    name: &'a CString,
    work: &'a (dyn Fn(&T) + Sync),
}

/// Runs `work` for each item in a separate thread with this name, and waits for all. Exits the process with 1 if a thread cannot
/// be created; a panic in `work` also ends it.
pub(super) fn in_threads<T: Sync>(items: &[T], name: &str, work: &(dyn Fn(&T) + Sync)) {
    let name = &CString::new(name).unwrap_or_default();
    let errands: Vec<_> = items.iter().map(|item| Errand { item, name, work }).collect();
    let mut threads = Vec::with_capacity(items.len());
    for errand in &errands {
        match start(errand) {
            Some(thread) => threads.push(thread),
            // SAFETY: ends the process with all its threads.
            None => unsafe { libc::_exit(1) },
        }
    }
    for thread in threads {
        // SAFETY: made above and joined once.
        unsafe { libc::pthread_join(thread, std::ptr::null_mut()) };
    }
}

fn start<T: Sync>(errand: &Errand<'_, T>) -> Option<libc::pthread_t> {
    let mut thread = MaybeUninit::uninit();
    // SAFETY: the attributes are initialised before use. The errand lives until the thread was joined, or the process ended.
    let failed = unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        libc::pthread_attr_init(&raw mut attributes);
        libc::pthread_attr_setstacksize(&raw mut attributes, STACK);
        let argument = std::ptr::from_ref(errand).cast_mut().cast();
        let failed = libc::pthread_create(thread.as_mut_ptr(), &raw const attributes, run::<T>, argument);
        libc::pthread_attr_destroy(&raw mut attributes);
        failed
    };
    // SAFETY: the call succeeded, so it has written the thread's handle.
    (failed == 0).then(|| unsafe { thread.assume_init() })
}

extern "C" fn run<T: Sync>(errand: *mut c_void) -> *mut c_void {
    // SAFETY: `start` passes an errand of this type, which outlives the thread.
    let errand = unsafe { &*errand.cast_const().cast::<Errand<T>>() };
    // SAFETY: the name ends with a zero; the kernel copies it.
    unsafe { libc::prctl(libc::PR_SET_NAME, errand.name.as_ptr()) };
    (errand.work)(errand.item);
    std::ptr::null_mut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn each_is_done_once_under_the_name() {
        let items: Vec<usize> = (1..=20).collect();
        let sum = AtomicUsize::new(0);
        in_threads(&items, "an-errand", &|&item| {
            assert_eq!(std::fs::read_to_string("/proc/thread-self/comm").unwrap(), "an-errand\n");
            sum.fetch_add(item, Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), 210);
    }
}
