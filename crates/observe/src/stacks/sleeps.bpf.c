/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Notes where in the kernel the measured threads slept, if they slept long; how long they were stopped or frozen; how long they waited for
 * locks, and who held them; how long the kernel paused them because much memory was dirty; which pages of their files entered and left the
 * page cache; and which other programs synced their file system or changed it through its journal.
 *
 * When such a thread goes to sleep, only the time is noted. When it runs again and has slept long enough, its stack is taken: the
 * kernel reads the stack of the thread that is about to run, which still is what it was asleep with. A short sleep costs two look-ups.
 *
 * User space maps all arrays into its memory. It sets `least_ns`, and reads the sleeps in the order in which they were entered.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* Powers of two. */
#define SLEEPERS 4096
#define SLEEPS 4096
/* Room for what other processors enter after the check. */
#define SPARE 256
#define FRAMES 32
#define TASK_DEAD 0x80
/* Set with a lock's flags, which may be 0. */
#define LOCKED (1u << 31)
/* Kinds of locks: include/trace/events/lock.h. */
#define LOCK_SPINS 1
#define LOCK_READ 2
#define LOCK_WRITE 4
#define LOCK_REAL_TIME 8
#define LOCK_OF_PROCESSORS 16
#define LOCK_MUTEX 32
/* Flags in the owner of a lock; a semaphore's names a reader that may be gone. */
#define MUTEX_FLAGS 7ul
#define SEMAPHORE_FLAGS 3ul
#define OWNED_BY_READERS 1ul
/* Programs that held locks. */
#define HOLDERS 1024
/* Keys of holders: nobody known, the measured threads themselves, and who froze the file system. */
#define UNKNOWN 0ull
#define OURSELVES (~0ull)
#define FREEZER (~1ull)
/* Files whose pages are counted, and programs that removed some. */
#define FILES 8192
#define REMOVERS 1024
/* File systems of the files, and programs that synced one. */
#define MOUNTS 64
#define SYNCERS 1024
#define CHANGERS 1024
#define PAGE_SHIFT 12
/* Reclaims memory: include/linux/sched.h. */
#define PF_MEMALLOC 0x800
/* A thread of the kernel. */
#define PF_KTHREAD 0x200000
/* A sleep that only a deadly signal ends, as the pause is. */
#define TASK_WAKEKILL 0x100
/* Stopped by a signal. */
#define TASK_STOPPED 0x4
/* Frozen by a control group, version 1, since Linux 6.1. */
#define TASK_FROZEN 0x8000
/* Why a thread does not go on. */
#define HALT_STOPPED 1
#define HALT_FROZEN 2
/* A regular file: include/uapi/linux/stat.h. */
#define S_IFMT 0170000
#define S_IFREG 0100000

/* What is used of the kernel's structures; the loader finds where they have it. */
struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct pid_namespace {
	struct ns_common ns;
} __attribute__((preserve_access_index));

struct upid {
	int nr;
	struct pid_namespace *ns;
} __attribute__((preserve_access_index));

struct pid {
	unsigned int level;
	struct upid numbers[1];
} __attribute__((preserve_access_index));

struct super_block {
	unsigned int s_dev;
} __attribute__((preserve_access_index));

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
} __attribute__((preserve_access_index));

struct address_space {
	struct inode *host;
} __attribute__((preserve_access_index));

struct folio {
	struct address_space *mapping;
	unsigned long _flags_1;
} __attribute__((preserve_access_index));

/* Kernels before 6.6. */
struct folio___old {
	unsigned char _folio_order;
} __attribute__((preserve_access_index));

typedef struct {
	long counter;
} atomic_long_t;

/* A kernel for real time has locks without owners. */
struct mutex {
	atomic_long_t owner;
} __attribute__((preserve_access_index));

struct rw_semaphore {
	atomic_long_t owner;
} __attribute__((preserve_access_index));

enum wb_reason {
	WB_REASON_SYNC = 2,
};

enum writeback_sync_modes {
	WB_SYNC_ALL = 1,
};

struct wb_writeback_work {
	struct super_block *sb;
	enum writeback_sync_modes sync_mode;
	enum wb_reason reason;
} __attribute__((preserve_access_index));

enum pageflags {
	PG_head = 6,
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	/* By a control group, version 2. */
	unsigned int frozen : 1;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	char comm[16];
} __attribute__((preserve_access_index));

struct control {
	/* 0: nothing is noted. */
	__u64 on;
	/* Shorter sleeps are not noted. */
	__u64 least_ns;
	/* Entered by the programs, and read by user space. */
	__u64 entered;
	__u64 read;
	/* There was no room for them. */
	__u64 lost;
	/* The process whose threads and children are measured: its number in its own PID namespace, and that namespace. */
	__u32 process;
	__u32 namespace;
	/* Its number on the whole machine, once it was found. */
	__u64 found;
	/* Name of its measured threads. */
	char workers[16];
	/* How often, and how long, they were paused because much memory was dirty. */
	__u64 pauses;
	__u64 paused_ns;
	/* Pages, or programs that removed some, for which there was no room. */
	__u64 uncounted;
	/* Block devices are measured: their pages count, which otherwise are the file system's own data. */
	__u64 devices;
	/* How long they were stopped by a signal, and frozen by a control group. */
	__u64 stopped_ns;
	__u64 frozen_ns;
};

/* By number of the thread. */
struct sleeper {
	/* 0: free. */
	__u64 thread;
	__u64 since_ns;
	/* When it could run again, but may not have had a processor yet; 0 if that was not seen. */
	__u64 woken_ns;
	/* Flags of the lock it waits for; 0 if it waits for none. */
	__u32 lock;
	/* Its next sleep is such a pause. */
	__u32 pauses;
	/* The lock that it waits for, since when, and the process that held it then. */
	__u64 lock_at;
	__u64 lock_since_ns;
	__u64 holder;
	/* Why this sleep does not end; 0 for all others. */
	__u64 halt;
};

/* As the kernel numbers it, whatever its mount shows. */
struct file {
	__u64 device;
	__u64 inode;
};

/* Bytes that entered the page cache, by whom, and that left it. */
struct pages {
	__u64 own;
	__u64 others;
	__u64 removed;
};

/* Bytes of the files that a program took out of the page cache. */
struct remover {
	char name[16];
	/* In our PID namespace; 0 if it is in another. */
	__u64 number;
	__u64 dropped;
	/* As it needed memory. */
	__u64 reclaimed;
};

/* A program that held locks for which measured threads waited. */
struct holder {
	char name[16];
	/* In our PID namespace; 0 if it is in another. */
	__u64 number;
	__u64 waits;
	__u64 waited_ns;
	/* It is a thread of the kernel. */
	__u64 kernel;
};

/* How often a program did something: synced the file system, or changed it through its journal. */
struct program {
	char name[16];
	/* In our PID namespace; 0 if it is in another. */
	__u64 number;
	__u64 times;
};

struct sleep {
	/* One more than its number; written last. */
	__u64 entered;
	/* As its own PID namespace numbers it. */
	__u32 thread;
	__u32 lock;
	__u64 since_ns;
	__u64 woken_ns;
	__u64 until_ns;
	/* Addresses, the innermost first; 0 ends them. */
	__u64 frames[FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct control);
} control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLEEPERS);
	__type(key, __u32);
	__type(value, struct sleeper);
} sleepers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLEEPS);
	__type(key, __u32);
	__type(value, struct sleep);
} sleeps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILES);
	__type(key, struct file);
	__type(value, struct pages);
} files SEC(".maps");

/* By process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REMOVERS);
	__type(key, __u64);
	__type(value, struct remover);
} removers SEC(".maps");

/* By process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HOLDERS);
	__type(key, __u64);
	__type(value, struct holder);
} holders SEC(".maps");

/* Numbers of the file systems' devices. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MOUNTS);
	__type(key, __u64);
	__type(value, __u64);
} mounts SEC(".maps");

/* By process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SYNCERS);
	__type(key, __u64);
	__type(value, struct program);
} syncers SEC(".maps");

/* By process, or OURSELVES. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CHANGERS);
	__type(key, __u64);
	__type(value, struct program);
} changers SEC(".maps");

static __always_inline struct control *settings(void)
{
	__u32 zero = 0;
	struct control *c = bpf_map_lookup_elem(&control, &zero);
	return c && *(volatile __u64 *)&c->on ? c : 0;
}

static __always_inline struct sleeper *sleeper_of(int pid)
{
	__u32 at = (__u32)pid & (SLEEPERS - 1);
	return bpf_map_lookup_elem(&sleepers, &at);
}

/* Its number in its own PID namespace. */
static __always_inline void own_number(struct task_struct *task, struct upid *own)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	void *at = (void *)pid + bpf_core_field_offset(struct pid, numbers) + level * bpf_core_type_size(struct upid);
	own->nr = 0;
	own->ns = 0;
	bpf_probe_read_kernel(&own->nr, sizeof(own->nr), at + bpf_core_field_offset(struct upid, nr));
	bpf_probe_read_kernel(&own->ns, sizeof(own->ns), at + bpf_core_field_offset(struct upid, ns));
}

static __always_inline int is_process(struct control *c, struct task_struct *task)
{
	if (c->found)
		return task->tgid == c->found;
	struct upid own;
	own_number(task->group_leader, &own);
	if (own.nr != c->process || BPF_CORE_READ(own.ns, ns.inum) != c->namespace)
		return 0;
	c->found = task->tgid;
	return 1;
}

/* A worker is a thread of that name, or a process that was started for it. */
static __always_inline int is_measured(struct control *c, struct task_struct *task)
{
	if (is_process(c, task->real_parent))
		return 1;
	if (!is_process(c, task))
		return 0;
	__u64 name[2] = {};
	bpf_probe_read_kernel(name, sizeof(name), task->comm);
	__u64 *workers = (__u64 *)c->workers;
	return name[0] == workers[0] && name[1] == workers[1];
}

static __always_inline void falls_asleep(struct control *c, _Bool preempt, struct task_struct *task)
{
	struct sleeper *sleeper = sleeper_of(task->pid);
	if (!sleeper)
		return;
	__u64 thread = task->pid;
	__u32 state = task->__state;
	if (preempt || state == 0 || state & TASK_DEAD) {
		/* It only lost its processor. */
		if (sleeper->thread == thread)
			sleeper->since_ns = 0;
		return;
	}
	if (sleeper->thread != thread) {
		if (!is_measured(c, task) || __sync_val_compare_and_swap(&sleeper->thread, 0, thread) != 0)
			return;
		sleeper->lock = 0;
		sleeper->lock_at = 0;
		sleeper->pauses = 0;
	}
	/* io_uring's first attempt does not pause, but asks a helper to write. */
	if (!(state & TASK_WAKEKILL))
		sleeper->pauses = 0;
	sleeper->halt = 0;
	if (state & TASK_STOPPED)
		sleeper->halt = HALT_STOPPED;
	else if (state & TASK_FROZEN ||
		 (bpf_core_field_exists(task->frozen) && BPF_CORE_READ_BITFIELD_PROBED(task, frozen)))
		sleeper->halt = HALT_FROZEN;
	sleeper->woken_ns = 0;
	sleeper->since_ns = bpf_ktime_get_ns();
}

static __always_inline void wakes(struct control *c, struct task_struct *task)
{
	struct sleeper *sleeper = sleeper_of(task->pid);
	if (!sleeper || sleeper->thread != task->pid || !sleeper->since_ns)
		return;
	__u64 since_ns = sleeper->since_ns, now_ns = bpf_ktime_get_ns();
	sleeper->since_ns = 0;
	if (sleeper->pauses) {
		sleeper->pauses = 0;
		__sync_fetch_and_add(&c->pauses, 1);
		__sync_fetch_and_add(&c->paused_ns, now_ns - since_ns);
	}
	if (sleeper->halt) {
		/* Nothing in the kernel keeps it waiting. */
		__sync_fetch_and_add(sleeper->halt == HALT_STOPPED ? &c->stopped_ns : &c->frozen_ns, now_ns - since_ns);
		return;
	}
	if (now_ns - since_ns < c->least_ns)
		return;
	if (c->entered - c->read > SLEEPS - SPARE) {
		__sync_fetch_and_add(&c->lost, 1);
		return;
	}
	__u64 number = __sync_fetch_and_add(&c->entered, 1);
	__u32 at = number & (SLEEPS - 1);
	struct sleep *sleep = bpf_map_lookup_elem(&sleeps, &at);
	if (!sleep)
		return;
	struct upid own;
	own_number(task, &own);
	sleep->thread = own.nr;
	sleep->lock = sleeper->lock;
	sleep->since_ns = since_ns;
	sleep->woken_ns = sleeper->woken_ns;
	sleep->until_ns = now_ns;
	long bytes = bpf_get_task_stack(task, sleep->frames, sizeof(sleep->frames), 0);
	/* What the kernel does not fill it sets to 0, but not if it fails. */
	if (bytes <= 0)
		sleep->frames[0] = 0;
	__sync_lock_test_and_set(&sleep->entered, number + 1);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, _Bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct control *c = settings();
	if (!c)
		return 0;
	falls_asleep(c, preempt, prev);
	wakes(c, next);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(woken, struct task_struct *task)
{
	struct control *c = settings();
	int pid = task->pid;
	struct sleeper *sleeper = c ? sleeper_of(pid) : 0;
	if (sleeper && sleeper->thread == pid && sleeper->since_ns && !sleeper->woken_ns)
		sleeper->woken_ns = bpf_ktime_get_ns();
	return 0;
}

/* The thread that holds a lock, if it can be known. */
static __always_inline struct task_struct *owner_of(void *lock, unsigned int flags)
{
	unsigned long owner;
	if (flags & LOCK_MUTEX) {
		struct mutex *mutex = lock;
		owner = bpf_core_field_exists(mutex->owner) ? BPF_CORE_READ(mutex, owner.counter) : 0;
		return (void *)(owner & ~MUTEX_FLAGS);
	}
	struct rw_semaphore *semaphore = lock;
	owner = bpf_core_field_exists(semaphore->owner) ? BPF_CORE_READ(semaphore, owner.counter) : 0;
	return owner & OWNED_BY_READERS ? 0 : (void *)(owner & ~SEMAPHORE_FLAGS);
}

/* Its key among the holders, which it enters if it is new. */
static __always_inline __u64 holder_of(struct control *c, void *lock, unsigned int flags)
{
	/* Writers take such a lock of their file system, which freezing it closes. */
	if (flags & LOCK_OF_PROCESSORS)
		return flags & LOCK_READ ? FREEZER : UNKNOWN;
	if (flags & LOCK_REAL_TIME || !(flags & (LOCK_MUTEX | LOCK_READ | LOCK_WRITE)))
		return UNKNOWN;
	struct task_struct *owner = owner_of(lock, flags);
	if (!owner)
		return UNKNOWN;
	__u64 process = BPF_CORE_READ(owner, tgid);
	if (c->found && (process == c->found || BPF_CORE_READ(owner, real_parent, tgid) == c->found))
		return OURSELVES;
	if (!bpf_map_lookup_elem(&holders, &process)) {
		struct holder none = {};
		struct upid own;
		struct task_struct *leader = BPF_CORE_READ(owner, group_leader);
		none.kernel = !!(BPF_CORE_READ(owner, flags) & PF_KTHREAD);
		own_number(leader, &own);
		if (BPF_CORE_READ(own.ns, ns.inum) == c->namespace)
			none.number = own.nr;
		bpf_probe_read_kernel(none.name, sizeof(none.name), (void *)leader + bpf_core_field_offset(struct task_struct, comm));
		bpf_map_update_elem(&holders, &process, &none, BPF_NOEXIST);
	}
	return process;
}

static __always_inline void waited(__u64 process, __u64 ns)
{
	struct holder *holder = bpf_map_lookup_elem(&holders, &process);
	if (!holder) {
		struct holder none = {};
		bpf_map_update_elem(&holders, &process, &none, BPF_NOEXIST);
		holder = bpf_map_lookup_elem(&holders, &process);
	}
	if (!holder)
		return;
	__sync_fetch_and_add(&holder->waits, 1);
	__sync_fetch_and_add(&holder->waited_ns, ns);
}

/* The functions that wait for a lock are missing in the stack of a sleeping thread: the kernel leaves its scheduler's out. */
SEC("tp_btf/contention_begin")
int BPF_PROG(waits, void *lock, unsigned int flags)
{
	/* Who spins does not sleep. A mutex is first spun for. */
	if (flags & LOCK_SPINS && !(flags & LOCK_MUTEX))
		return 0;
	struct control *c = settings();
	struct task_struct *task = bpf_get_current_task_btf();
	struct sleeper *sleeper = c ? sleeper_of(task->pid) : 0;
	if (!sleeper)
		return 0;
	__u64 thread = task->pid;
	if (sleeper->thread != thread) {
		if (!is_measured(c, task) || __sync_val_compare_and_swap(&sleeper->thread, 0, thread) != 0)
			return 0;
		sleeper->since_ns = 0;
		sleeper->lock_at = 0;
		sleeper->pauses = 0;
	}
	sleeper->lock = flags | LOCKED;
	if (sleeper->lock_at == (__u64)lock)
		return 0;
	sleeper->lock_at = (__u64)lock;
	sleeper->holder = holder_of(c, lock, flags);
	sleeper->lock_since_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(has, void *lock)
{
	struct control *c = settings();
	int pid = (int)bpf_get_current_pid_tgid();
	struct sleeper *sleeper = c ? sleeper_of(pid) : 0;
	if (!sleeper || sleeper->thread != pid || sleeper->lock_at != (__u64)lock)
		return 0;
	waited(sleeper->holder, bpf_ktime_get_ns() - sleeper->lock_since_ns);
	sleeper->lock = 0;
	sleeper->lock_at = 0;
	return 0;
}

/* Whether this thread reads or writes for the measured ones, which includes io_uring's helpers. */
static __always_inline int is_ours(struct control *c, struct task_struct *task)
{
	struct sleeper *sleeper = sleeper_of(task->pid);
	/* One that has slept is known. */
	if ((sleeper && sleeper->thread == task->pid) || is_measured(c, task))
		return 1;
	char name[8] = {};
	bpf_probe_read_kernel(name, sizeof(name) - 1, task->comm);
	return is_process(c, task) && (*(__u64 *)name == *(__u64 *)"iou-wrk" || *(__u64 *)name == *(__u64 *)"iou-sqp");
}

static __always_inline int will_pause(__s64 jiffies)
{
	struct control *c = settings();
	struct task_struct *task = bpf_get_current_task_btf();
	struct sleeper *sleeper = c && jiffies > 0 ? sleeper_of(task->pid) : 0;
	if (!sleeper)
		return 0;
	__u64 thread = task->pid;
	if (sleeper->thread != thread) {
		if (!is_ours(c, task) || __sync_val_compare_and_swap(&sleeper->thread, 0, thread) != 0)
			return 0;
		sleeper->since_ns = 0;
		sleeper->lock = 0;
		sleeper->lock_at = 0;
	}
	sleeper->pauses = 1;
	return 0;
}

/* The place of the pause among the arguments depends on the kernel. The loader tries the farther one first, which the kernel refuses
 * if it has fewer arguments. */
SEC("tp_btf/balance_dirty_pages")
int pauses_old(__u64 *arguments)
{
	return will_pause(arguments[10]);
}

SEC("tp_btf/balance_dirty_pages")
int pauses(__u64 *arguments)
{
	return will_pause(arguments[6]);
}

static __always_inline __u64 bytes_of(struct folio *folio)
{
	/* The flags come first. Since 6.18 they are a structure. */
	unsigned long flags = 0;
	bpf_probe_read_kernel(&flags, sizeof(flags), folio);
	if (!(flags & (1ul << bpf_core_enum_value(enum pageflags, PG_head))))
		return 1ul << PAGE_SHIFT;
	struct folio___old *old = (void *)folio;
	__u32 order = bpf_core_field_exists(old->_folio_order) ? BPF_CORE_READ(old, _folio_order) : folio->_flags_1;
	return 1ul << (PAGE_SHIFT + (order & 0x1f));
}

/* Whether its pages can be a measured file's. */
static __always_inline int file_of(struct control *c, struct folio *folio, struct file *file)
{
	struct inode *inode = folio->mapping->host;
	if ((inode->i_mode & S_IFMT) != S_IFREG && !c->devices)
		return 0;
	file->device = inode->i_sb->s_dev;
	file->inode = inode->i_ino;
	return 1;
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(entered, struct folio *folio)
{
	struct control *c = settings();
	struct file file;
	if (!c || !file_of(c, folio, &file))
		return 0;
	int ours = is_ours(c, bpf_get_current_task_btf());
	struct pages *pages = bpf_map_lookup_elem(&files, &file);
	if (!pages && ours) {
		struct pages none = {};
		bpf_map_update_elem(&files, &file, &none, BPF_NOEXIST);
		pages = bpf_map_lookup_elem(&files, &file);
		if (!pages)
			__sync_fetch_and_add(&c->uncounted, 1);
	}
	if (pages)
		__sync_fetch_and_add(ours ? &pages->own : &pages->others, bytes_of(folio));
	return 0;
}

SEC("tp_btf/mm_filemap_delete_from_page_cache")
int BPF_PROG(left, struct folio *folio)
{
	struct control *c = settings();
	struct file file;
	if (!c || !file_of(c, folio, &file))
		return 0;
	struct pages *pages = bpf_map_lookup_elem(&files, &file);
	if (!pages)
		return 0;
	__u64 bytes = bytes_of(folio);
	__sync_fetch_and_add(&pages->removed, bytes);
	struct task_struct *task = bpf_get_current_task_btf();
	int reclaims = task->flags & PF_MEMALLOC;
	/* The workload's own deleting and truncating. */
	if (!reclaims && (is_process(c, task) || is_process(c, task->real_parent)))
		return 0;
	__u64 process = task->tgid;
	struct remover *remover = bpf_map_lookup_elem(&removers, &process);
	if (!remover) {
		struct remover none = {};
		struct upid own;
		own_number(task->group_leader, &own);
		if (BPF_CORE_READ(own.ns, ns.inum) == c->namespace)
			none.number = own.nr;
		bpf_probe_read_kernel(none.name, sizeof(none.name), task->group_leader->comm);
		bpf_map_update_elem(&removers, &process, &none, BPF_NOEXIST);
		remover = bpf_map_lookup_elem(&removers, &process);
	}
	if (remover)
		__sync_fetch_and_add(reclaims ? &remover->reclaimed : &remover->dropped, bytes);
	else
		__sync_fetch_and_add(&c->uncounted, 1);
	return 0;
}

/* Counts what a program did. */
static __always_inline void did(struct control *c, void *table, __u64 key, struct task_struct *task)
{
	struct program *program = bpf_map_lookup_elem(table, &key);
	if (!program) {
		struct program none = {};
		struct upid own;
		own_number(task->group_leader, &own);
		if (BPF_CORE_READ(own.ns, ns.inum) == c->namespace)
			none.number = own.nr;
		bpf_probe_read_kernel(none.name, sizeof(none.name), task->group_leader->comm);
		bpf_map_update_elem(table, &key, &none, BPF_NOEXIST);
		program = bpf_map_lookup_elem(table, &key);
	}
	__sync_fetch_and_add(program ? &program->times : &c->uncounted, 1);
}

/* sync(2) and syncfs(2) write out a file system's files with this event; fsync(2) does not. */
SEC("tp_btf/writeback_queue")
int BPF_PROG(synced, void *wb, struct wb_writeback_work *work)
{
	struct control *c = settings();
	if (!c || BPF_CORE_READ(work, reason) != bpf_core_enum_value(enum wb_reason, WB_REASON_SYNC) ||
	    BPF_CORE_READ(work, sync_mode) != bpf_core_enum_value(enum writeback_sync_modes, WB_SYNC_ALL))
		return 0;
	__u64 device = BPF_CORE_READ(work, sb, s_dev);
	struct task_struct *task = bpf_get_current_task_btf();
	if (!bpf_map_lookup_elem(&mounts, &device) || is_process(c, task) || is_process(c, task->real_parent))
		return 0;
	did(c, &syncers, task->tgid, task);
	return 0;
}

/* ext4, and others that use its journal. */
SEC("tp_btf/jbd2_handle_start")
int BPF_PROG(changes, __u32 dev, __u32 transaction, unsigned int type, unsigned int line, int blocks)
{
	struct control *c = settings();
	__u64 device = dev;
	struct task_struct *task = bpf_get_current_task_btf();
	/* What a thread of the kernel writes back was changed by any program. */
	if (!c || !bpf_map_lookup_elem(&mounts, &device) || task->flags & PF_KTHREAD)
		return 0;
	__u64 process = is_process(c, task) || is_process(c, task->real_parent) ? OURSELVES : task->tgid;
	did(c, &changers, process, task);
	return 0;
}

char license_text[] SEC("license") = "Dual MIT/GPL";
