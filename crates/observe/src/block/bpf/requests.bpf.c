/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Counts the requests of a few block devices in the kernel: no event is handed to user space.
 *
 * A request keeps its slot from the time it enters the scheduler's queue, or is issued, until it completes. The request's tag gives
 * the slot, so no table is searched. All counters have two halves: the programs fill one, user space clears the other; incrementing
 * `watch` swaps them.
 *
 * User space maps every array it reads into its memory, so reading takes no system call. Arrays that are mapped cannot be per-CPU
 * arrays: each CPU has its own range of indexes instead.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define MAX_DEVICES 8
#define CLASSES 5
#define HALVES 2
/* As crates/record/src/histogram.rs has them, up to 2^40 ns. */
#define SUB_BITS 6
#define SUB (1 << SUB_BITS)
#define TOP_BITS 40
#define BUCKETS (SUB + (TOP_BITS - SUB_BITS) * SUB)
/* Larger requests, and deeper queues, are counted elsewhere and in the last place. */
#define SIZES 1025
#define DEPTHS 1024
#define POWERS 73
/* Entries of the tables that are searched by key, for each half; powers of two. */
#define LARGE_SIZES 4096
#define ISSUERS 4096
#define PROBES 16

#define OP_MASK 0xff

enum class { CLASS_READ, CLASS_WRITE, CLASS_FLUSH, CLASS_DISCARD, CLASS_OTHER };

/* What is used of the kernel's structures; the loader finds where they have it. */
struct gendisk {
	int major;
	int first_minor;
} __attribute__((preserve_access_index));

struct request_queue {
	struct gendisk *disk;
} __attribute__((preserve_access_index));

struct block_device {
	struct gendisk *bd_disk;
} __attribute__((preserve_access_index));

struct blk_mq_hw_ctx {
	unsigned int queue_num;
} __attribute__((preserve_access_index));

struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	unsigned int cmd_flags;
	int tag;
	int internal_tag;
	unsigned int __data_len;
	__u64 __sector;
} __attribute__((preserve_access_index));

struct bio {
	struct block_device *bi_bdev;
	unsigned int bi_opf;
} __attribute__((preserve_access_index));

enum req_flag_bits {
	__REQ_SYNC = 11,
	__REQ_META = 12,
	__REQ_FUA = 17,
	__REQ_PREFLUSH = 18,
	__REQ_RAHEAD = 19,
};

#define FLAG(name) (1u << bpf_core_enum_value(enum req_flag_bits, name))

/* Keeps the compiler from checking another value than the one that is used: the kernel would not see that it was checked. */
#define HIDE(value) asm volatile("" : "+r"(value))

/* Numbers of operations: include/linux/blk_types.h. */
enum op { OP_READ = 0, OP_WRITE = 1, OP_FLUSH = 2, OP_DISCARD = 3, OP_SECURE_ERASE = 5, OP_DRV_IN = 34, OP_DRV_OUT = 35 };

struct device {
	/* As the kernel numbers it: major << 20 | minor. */
	__u32 number;
	/* Its place among the devices: read back, it is any number to the kernel's check, which then follows one path and not eight. */
	__u32 place;
	/* Its first slot, and how many (a power of two) a hardware queue and all of them have. */
	__u32 slots;
	__u32 queue_slots;
	__u32 all_slots;
};

struct task {
	__u32 pid;
	__u32 process;
	char name[16];
};

struct slot {
	__u64 request;
	__u64 issued_ns;
	struct task task;
	__u32 class;
	__u32 sectors;
	/* The watch in which it was issued; 0 while it only waits. */
	__u32 watch;
	__u32 given_back;
};

struct depth {
	__u64 now;
	__u64 changed_ns;
};

struct tally {
	__u64 issued;
	__u64 issued_bytes;
	__u64 completed;
	__u64 completed_bytes;
	__u64 errors;
	__u64 ahead;
	__u64 sync;
	__u64 meta;
	__u64 fua;
	__u64 sequential;
	__u64 forward;
	__u64 backward;
	__u64 distance_sectors;
	__u64 d2c_ns;
	__u64 d2c_min_ns;
	__u64 d2c_max_ns;
	__u64 begun_before;
	__u64 requeued;
	/* Of requests whose slot another one took: they are not followed to their end. */
	__u64 lost;
	__u64 distances[POWERS];
};

struct times {
	__u64 buckets[BUCKETS];
};

struct sizes {
	__u64 sectors[SIZES];
};

/* The keys are never 0: that is an entry nobody has taken. */
struct large_size {
	/* place << 32 | sectors */
	__u64 key;
	__u64 count;
};

struct issuer {
	/* device << 32 | pid, plus 1 << 63 */
	__u64 key;
	struct task task;
	__u64 reads;
	__u64 read_bytes;
	__u64 writes;
	__u64 write_bytes;
	__u64 others;
};

/* Set by user space. */
struct control {
	struct device devices[MAX_DEVICES];
	/* What the threads are called whose I/O this process measures. */
	char workers[16];
	__u32 device_count;
	/* The first watch since which depths are known. */
	__u32 known_since;
	/* The number of the present watch, 0 while nobody watches. Its lowest bit is the half that is filled. */
	__u32 watch;
	__u32 pad;
	/* When it began. */
	__u64 from_ns;
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
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct slot);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MAX_DEVICES);
	__type(key, __u32);
	__type(value, struct depth);
} depths SEC(".maps");

/* Where the request of each class before ended. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MAX_DEVICES * CLASSES * HALVES);
	__type(key, __u32);
	__type(value, __u64);
} ends SEC(".maps");

/* The task that last requested a flush of each device: the kernel issues the flush itself. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MAX_DEVICES);
	__type(key, __u32);
	__type(value, struct task);
} flushers SEC(".maps");

/* By CPU, half, device and class. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tally);
} tallies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct times);
} d2c SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sizes);
} sizes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, HALVES * LARGE_SIZES);
	__type(key, __u32);
	__type(value, struct large_size);
} large_sizes SEC(".maps");

/* By CPU, half and device: ns at each depth. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64[DEPTHS]);
} spent SEC(".maps");

/* By CPU, half and device: what the measured threads requested, which is nearly everything. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct issuer);
} workers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, HALVES * ISSUERS);
	__type(key, __u32);
	__type(value, struct issuer);
} issuers SEC(".maps");

static __always_inline struct control *settings(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&control, &zero);
}

/* Read once: it may change meanwhile. */
static __always_inline __u32 watch_of(struct control *c)
{
	return c ? *(volatile __u32 *)&c->watch : 0;
}

/* The watched device of this number; -1 if it is none. */
static __always_inline int device_of(struct control *c, struct gendisk *disk)
{
	if (!disk)
		return -1;
	__u32 number = (__u32)disk->major << 20 | (__u32)disk->first_minor;
	for (int i = 0; i < MAX_DEVICES; i++) {
		if (i >= c->device_count)
			return -1;
		if (c->devices[i].number == number)
			return c->devices[i].place;
	}
	return -1;
}

static __always_inline struct slot *slot_of(struct control *c, int device, struct request *rq)
{
	if (device < 0 || device >= MAX_DEVICES)
		return 0;
	struct device *d = &c->devices[device];
	int tag = rq->internal_tag;
	if (tag < 0)
		tag = rq->tag;
	struct blk_mq_hw_ctx *queue = rq->mq_hctx;
	__u32 at = (__u32)tag & (d->queue_slots - 1);
	if (queue)
		at += queue->queue_num * d->queue_slots;
	at = d->slots + (at & (d->all_slots - 1));
	return bpf_map_lookup_elem(&slots, &at);
}

static __always_inline void this_task(struct task *task)
{
	__u64 id = bpf_get_current_pid_tgid();
	task->pid = (__u32)id;
	task->process = id >> 32;
	bpf_get_current_comm(task->name, sizeof(task->name));
}

/* Without a branch: each would double what the kernel has to check before it accepts the program. */
static __always_inline __u32 bit_length(__u64 v)
{
	v |= v >> 1;
	v |= v >> 2;
	v |= v >> 4;
	v |= v >> 8;
	v |= v >> 16;
	v |= v >> 32;
	/* As many bits are set now as there are. */
	v -= (v >> 1) & 0x5555555555555555;
	v = (v & 0x3333333333333333) + ((v >> 2) & 0x3333333333333333);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return (v * 0x0101010101010101) >> 56;
}

static __always_inline __u32 bucket_of(__u64 ns)
{
	if (ns < SUB)
		return ns;
	if (ns >> TOP_BITS)
		return BUCKETS - 1;
	__u32 shift = bit_length(ns) - 1 - SUB_BITS;
	return shift * SUB + (__u32)(ns >> shift);
}

static __always_inline __u32 class_of(__u32 flags, __u32 bytes)
{
	switch (flags & OP_MASK) {
	case OP_READ:
		return CLASS_READ;
	case OP_WRITE:
		return bytes == 0 && (flags & FLAG(__REQ_PREFLUSH)) ? CLASS_FLUSH : CLASS_WRITE;
	case OP_FLUSH:
		return CLASS_FLUSH;
	case OP_DISCARD:
	case OP_SECURE_ERASE:
		return CLASS_DISCARD;
	default:
		return flags & FLAG(__REQ_PREFLUSH) ? CLASS_FLUSH : CLASS_OTHER;
	}
}

static __always_inline int is_passthrough(__u32 flags)
{
	__u32 op = flags & OP_MASK;
	return op == OP_DRV_IN || op == OP_DRV_OUT;
}

/* Where an entry of this CPU's range is, of `entries` in each range. */
static __always_inline __u32 own_range(__u32 entries, __u32 place)
{
	return bpf_get_smp_processor_id() * entries + place;
}

/* Places of all halves, devices and classes. */
static __always_inline __u32 class_places(struct control *c)
{
	return HALVES * c->device_count * CLASSES;
}

/* Where the search for a key begins: Fibonacci hashing. */
static __always_inline __u32 first_probe(__u64 key)
{
	return (key * 0x9e3779b97f4a7c15) >> 32;
}

/* The depth changes: charges the time since the last change to the old depth. Two CPUs that change it at once may shift some ns
 * between two depths; the sum stays right. */
static __always_inline void change_depth(struct control *c, __u32 watch, int device, __u64 now_ns, __s64 by)
{
	__u32 at = device;
	struct depth *depth = bpf_map_lookup_elem(&depths, &at);
	if (!depth)
		return;
	__u64 before = __sync_fetch_and_add(&depth->now, by);
	__u64 since = __sync_lock_test_and_set(&depth->changed_ns, now_ns);
	if (since < c->from_ns)
		since = c->from_ns;
	at = own_range(HALVES * c->device_count, (watch & 1) * c->device_count + device);
	__u64 *ns = bpf_map_lookup_elem(&spent, &at);
	if (!ns)
		return;
	HIDE(before);
	if (before >= DEPTHS)
		before = DEPTHS - 1;
	/* Atomic because a completion may interrupt an issue on this CPU. */
	__sync_fetch_and_add(&ns[before], now_ns - since);
}

static __always_inline void count_seek(struct tally *tally, __u32 place, __u64 sector, __u32 sectors)
{
	__u64 *end = bpf_map_lookup_elem(&ends, &place);
	if (!end)
		return;
	__u64 before = *end;
	*end = sector + sectors + 1;
	/* 0 is none: ends are kept one higher. */
	if (before == 0)
		return;
	before -= 1;
	if (sector == before) {
		tally->sequential += 1;
		return;
	}
	__u64 distance;
	if (sector > before) {
		tally->forward += 1;
		distance = sector - before;
	} else {
		tally->backward += 1;
		distance = before - sector;
	}
	__u32 power = bit_length(distance) - 1 + 9;
	HIDE(power);
	if (power < POWERS)
		tally->distances[power] += 1;
	tally->distance_sectors += distance;
}

static __always_inline void count_size(struct control *c, __u32 watch, __u32 place, __u32 sectors)
{
	HIDE(sectors);
	if (sectors < SIZES) {
		__u32 at = own_range(class_places(c), place);
		struct sizes *s = bpf_map_lookup_elem(&sizes, &at);
		if (s)
			s->sectors[sectors] += 1;
		return;
	}
	__u64 key = (__u64)place << 32 | sectors;
	__u32 first = first_probe(key);
	for (__u32 i = 0; i < PROBES; i++) {
		__u32 at = (watch & 1) * LARGE_SIZES + ((first + i) & (LARGE_SIZES - 1));
		struct large_size *size = bpf_map_lookup_elem(&large_sizes, &at);
		if (!size)
			return;
		__u64 before = size->key;
		if (before == 0)
			before = __sync_val_compare_and_swap(&size->key, 0, key);
		if (before == 0 || before == key) {
			__sync_fetch_and_add(&size->count, 1);
			return;
		}
	}
	/* The table is full there: user space sees that more requests than sizes were counted. */
}

static __always_inline int is_worker(struct control *c, struct task *task)
{
	__u64 *a = (__u64 *)c->workers, *b = (__u64 *)task->name;
	return a[0] == b[0] && a[1] == b[1];
}

static __always_inline void count_issuer(struct control *c, __u32 watch, int device, struct task *task, __u32 class, __u64 bytes)
{
	if (is_worker(c, task)) {
		__u32 at = own_range(HALVES * c->device_count, (watch & 1) * c->device_count + device);
		struct issuer *own = bpf_map_lookup_elem(&workers, &at);
		if (!own)
			return;
		if (class == CLASS_READ) {
			own->reads += 1;
			own->read_bytes += bytes;
		} else if (class == CLASS_WRITE) {
			own->writes += 1;
			own->write_bytes += bytes;
		} else {
			own->others += 1;
		}
		return;
	}
	__u64 key = 1ull << 63 | (__u64)device << 32 | task->pid;
	__u32 first = first_probe(key);
	for (__u32 i = 0; i < PROBES; i++) {
		__u32 at = (watch & 1) * ISSUERS + ((first + i) & (ISSUERS - 1));
		struct issuer *other = bpf_map_lookup_elem(&issuers, &at);
		if (!other)
			return;
		__u64 before = other->key;
		if (before == 0) {
			before = __sync_val_compare_and_swap(&other->key, 0, key);
			if (before == 0)
				other->task = *task;
		}
		if (before != 0 && before != key)
			continue;
		if (class == CLASS_READ) {
			__sync_fetch_and_add(&other->reads, 1);
			__sync_fetch_and_add(&other->read_bytes, bytes);
		} else if (class == CLASS_WRITE) {
			__sync_fetch_and_add(&other->writes, 1);
			__sync_fetch_and_add(&other->write_bytes, bytes);
		} else {
			__sync_fetch_and_add(&other->others, 1);
		}
		return;
	}
	/* The table is full there: user space sees that more was requested than is counted here. */
}

static __always_inline struct tally *tally_of(struct control *c, __u32 watch, int device, __u32 class, __u32 *place)
{
	*place = ((watch & 1) * c->device_count + device) * CLASSES + class;
	__u32 at = own_range(class_places(c), *place);
	return bpf_map_lookup_elem(&tallies, &at);
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(inserted, struct request *rq)
{
	struct control *c = settings();
	__u32 watch = watch_of(c);
	if (!c || !watch)
		return 0;
	int device = device_of(c, rq->q->disk);
	struct slot *slot = device < 0 ? 0 : slot_of(c, device, rq);
	/* What the driver gave back is put into the queue again by a worker of the kernel. */
	if (!slot || (slot->request == (__u64)rq && slot->watch))
		return 0;
	slot->request = (__u64)rq;
	slot->watch = 0;
	slot->given_back = 0;
	this_task(&slot->task);
	return 0;
}

SEC("tp_btf/block_rq_merge")
int BPF_PROG(merged, struct request *rq)
{
	struct control *c = settings();
	__u32 watch = watch_of(c);
	if (!c || !watch)
		return 0;
	int device = device_of(c, rq->q->disk);
	struct slot *slot = device < 0 ? 0 : slot_of(c, device, rq);
	/* It is gone, and was never issued. */
	if (slot && slot->request == (__u64)rq && !slot->watch)
		slot->request = 0;
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(issued, struct request *rq)
{
	struct control *c = settings();
	__u32 watch = watch_of(c);
	if (!c || !watch)
		return 0;
	int device = device_of(c, rq->q->disk);
	struct slot *slot = device < 0 ? 0 : slot_of(c, device, rq);
	if (!slot)
		return 0;
	__u64 now_ns = bpf_ktime_get_ns();
	int known = slot->request == (__u64)rq;
	if (known && slot->watch && slot->watch >= c->known_since && slot->given_back) {
		slot->given_back = 0;
		slot->issued_ns = now_ns;
		change_depth(c, watch, device, now_ns, 1);
		return 0;
	}
	__u32 flags = rq->cmd_flags;
	__u32 bytes = is_passthrough(flags) ? 0 : rq->__data_len;
	__u32 class = class_of(flags, bytes);
	__u32 sectors = bytes >> 9;
	__u32 place = 0;
	struct tally *tally = tally_of(c, watch, device, class, &place);
	if (!tally)
		return 0;
	/* The slot says that a request is with the driver still: its end was not seen. */
	if (slot->request && slot->watch >= c->known_since && slot->watch) {
		tally->lost += 1;
		if (!slot->given_back)
			change_depth(c, watch, device, now_ns, -1);
	}
	struct task *task = &slot->task;
	if (flags & (FLAG(__REQ_PREFLUSH) | FLAG(__REQ_FUA)) || class == CLASS_FLUSH) {
		__u32 at = device;
		struct task *asked = bpf_map_lookup_elem(&flushers, &at);
		if (asked && asked->pid)
			task = asked;
		else if (!known || slot->watch)
			this_task(task);
	} else if (!known || slot->watch) {
		this_task(task);
	}
	slot->request = (__u64)rq;
	slot->issued_ns = now_ns;
	slot->class = class;
	slot->sectors = sectors;
	slot->watch = watch;
	slot->given_back = 0;
	tally->issued += 1;
	if (flags & FLAG(__REQ_RAHEAD))
		tally->ahead += 1;
	if (flags & FLAG(__REQ_SYNC))
		tally->sync += 1;
	if (flags & FLAG(__REQ_META))
		tally->meta += 1;
	if (flags & FLAG(__REQ_FUA))
		tally->fua += 1;
	if (sectors) {
		tally->issued_bytes += (__u64)sectors << 9;
		count_size(c, watch, place, sectors);
		count_seek(tally, place, rq->__sector, sectors);
	}
	count_issuer(c, watch, device, task, class, (__u64)sectors << 9);
	change_depth(c, watch, device, now_ns, 1);
	return 0;
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(requeued, struct request *rq)
{
	struct control *c = settings();
	__u32 watch = watch_of(c);
	if (!c || !watch)
		return 0;
	int device = device_of(c, rq->q->disk);
	struct slot *slot = device < 0 ? 0 : slot_of(c, device, rq);
	if (!slot)
		return 0;
	__u32 place = 0;
	struct tally *tally = tally_of(c, watch, device, CLASS_OTHER, &place);
	if (tally)
		tally->requeued += 1;
	if (slot->request != (__u64)rq || !slot->watch || slot->watch < c->known_since || slot->given_back)
		return 0;
	slot->given_back = 1;
	change_depth(c, watch, device, bpf_ktime_get_ns(), -1);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(completed, struct request *rq, __u8 error, unsigned int bytes)
{
	struct control *c = settings();
	__u32 watch = watch_of(c);
	if (!c || !watch)
		return 0;
	int device = device_of(c, rq->q->disk);
	struct slot *slot = device < 0 ? 0 : slot_of(c, device, rq);
	/* A part of it: the rest follows. */
	if (!slot || bytes < rq->__data_len)
		return 0;
	__u64 now_ns = bpf_ktime_get_ns();
	__u32 place = 0;
	if (slot->request != (__u64)rq || slot->watch != watch) {
		struct tally *tally = tally_of(c, watch, device, CLASS_OTHER, &place);
		/* The kernel completes an empty flush twice, once as the write of nothing that asked for it. */
		if (tally && bytes)
			tally->begun_before += 1;
	}
	if (slot->request != (__u64)rq)
		return 0;
	int known = slot->watch >= c->known_since && slot->watch;
	__u32 begun = slot->watch, class = slot->class, sectors = slot->sectors;
	slot->request = 0;
	if (known && !slot->given_back)
		change_depth(c, watch, device, now_ns, -1);
	if (begun != watch || class >= CLASSES)
		return 0;
	struct tally *tally = tally_of(c, watch, device, class, &place);
	__u32 at = own_range(class_places(c), place);
	struct times *times = bpf_map_lookup_elem(&d2c, &at);
	if (!tally || !times)
		return 0;
	__u64 ns = now_ns - slot->issued_ns;
	tally->completed += 1;
	tally->completed_bytes += (__u64)sectors << 9;
	if (error)
		tally->errors += 1;
	tally->d2c_ns += ns;
	/* Kept one higher, so that 0 is none. */
	if (tally->d2c_min_ns == 0 || ns + 1 < tally->d2c_min_ns)
		tally->d2c_min_ns = ns + 1;
	if (ns > tally->d2c_max_ns)
		tally->d2c_max_ns = ns;
	__u32 bucket = bucket_of(ns);
	HIDE(bucket);
	if (bucket < BUCKETS)
		times->buckets[bucket] += 1;
	return 0;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(arrived, struct bio *bio)
{
	__u32 flags = bio->bi_opf;
	if (!(flags & (FLAG(__REQ_PREFLUSH) | FLAG(__REQ_FUA))))
		return 0;
	struct control *c = settings();
	__u32 watch = watch_of(c);
	if (!c || !watch)
		return 0;
	int device = device_of(c, bio->bi_bdev->bd_disk);
	if (device < 0)
		return 0;
	__u32 at = device;
	struct task *task = bpf_map_lookup_elem(&flushers, &at);
	if (task)
		this_task(task);
	return 0;
}

char license_text[] SEC("license") = "Dual MIT/GPL";
