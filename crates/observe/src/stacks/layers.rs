//! Which part of the kernel a stack waited in, by the names of its functions.

/// The layer of a wait for a lock.
const LOCK: &str = "lock";
/// The layer of stacks in which no function says more.
const OTHER: &str = "other";

/// Beginnings of functions' names and their layer. The innermost function that is listed decides; of several beginnings the first.
const LAYERS: &[(&str, &str)] = &[
    // What holds requests back before the device has them.
    ("blk_throtl", "throttle"),
    ("__blk_throtl", "throttle"),
    ("rq_qos_wait", "throttle"),
    ("__rq_qos_throttle", "throttle"),
    ("wbt_", "throttle"),
    ("iocg_", "throttle"),
    ("ioc_rqos", "throttle"),
    ("iolatency_", "throttle"),
    ("blkcg_maybe_throttle", "throttle"),
    ("blkcg_iolatency", "throttle"),
    ("blk_mq_get_tag", "request queue full"),
    ("__blk_mq_alloc_requests", "request queue full"),
    ("blk_queue_enter", "request queue frozen"),
    ("__bio_queue_enter", "request queue frozen"),
    // Programs that must allow an access first.
    ("fanotify_", "access check"),
    // Memory.
    ("balance_dirty_pages", "dirty limit"),
    ("throttle_direct_reclaim", "memory reclaim"),
    ("reclaim_throttle", "memory reclaim"),
    ("shrink_", "memory reclaim"),
    ("try_to_free_", "memory reclaim"),
    ("mem_cgroup_handle_over_high", "memory reclaim"),
    ("try_to_compact_pages", "memory reclaim"),
    // Journals and logs.
    ("jbd2_", "journal"),
    ("start_this_handle", "journal"),
    ("wait_transaction_", "journal"),
    ("add_transaction_credits", "journal"),
    ("do_get_write_access", "journal"),
    ("xfs_log_", "journal"),
    ("xlog_", "journal"),
    ("btrfs_sync_log", "journal"),
    ("btrfs_commit_transaction", "journal"),
    ("btrfs_wait_for_commit", "journal"),
    ("wait_for_commit", "journal"),
    ("wait_log_commit", "journal"),
    ("f2fs_issue_checkpoint", "journal"),
    ("bch2_journal", "journal"),
    ("zil_", "journal"),
    ("txg_wait", "journal"),
    // Blocks of the file system's own.
    ("__sync_dirty_buffer", "metadata"),
    ("sync_dirty_buffer", "metadata"),
    // The device itself.
    ("submit_bio_wait", "device"),
    ("bio_await", "device"),
    ("blkdev_issue_flush", "device"),
    ("blkdev_direct_IO", "device"),
    ("__blkdev_direct_IO", "device"),
    ("blkdev_read_iter", "device"),
    ("blk_io_schedule", "device"),
    ("iomap_dio_", "device"),
    ("__iomap_dio_rw", "device"),
    ("dio_await", "device"),
    ("__blockdev_direct_IO", "device"),
    ("blk_execute_rq", "device"),
    // Waiting for completions of asynchronous operations.
    ("io_cqring_wait", "completions"),
    ("read_events", "completions"),
    // Pages, and what is read or written for them.
    ("folio_wait_", "a page's I/O or lock"),
    ("__folio_lock", "page cache"),
    ("folio_lock", "page cache"),
    ("__filemap_", "page cache"),
    ("filemap_", "page cache"),
    ("truncate_inode", "page cache"),
    ("__wait_on_buffer", "metadata"),
    ("bh_uptodate_or_lock", "metadata"),
    ("xfs_buf_", "metadata"),
    // Locks whose functions the stack shows.
    ("rwsem_down", LOCK),
    ("__mutex_lock", LOCK),
    ("percpu_rwsem_wait", LOCK),
    ("inode_dio_wait", LOCK),
    // Files on other machines and in other programs.
    ("fuse_", "FUSE server"),
    ("request_wait_answer", "FUSE server"),
    ("rpc_", "NFS server"),
    ("nfs", "NFS server"),
    ("cifs_", "SMB server"),
    ("pipe_", "pipe"),
];

/// Local file systems; their functions say no more than that it was waited there.
const FILE_SYSTEMS: &[(&str, &str)] = &[
    ("ext4_", "ext4"),
    ("xfs_", "xfs"),
    ("btrfs_", "btrfs"),
    ("f2fs_", "f2fs"),
    ("bch2_", "bcachefs"),
    ("zfs_", "zfs"),
    ("zpl_", "zfs"),
    ("ovl_", "overlayfs"),
    ("exfat_", "exfat"),
    ("fat_", "fat"),
    ("ocfs2_", "ocfs2"),
    ("gfs2_", "gfs2"),
];

/// The layer of a stack (the innermost function first) and the function that says so. `locked`: it waited for a lock, whose functions
/// the kernel leaves out of stacks.
#[must_use]
pub fn layer<'a>(stack: &[&'a str], locked: bool) -> (&'static str, &'a str) {
    let innermost = stack.first().copied().unwrap_or_default();
    if locked {
        return (LOCK, innermost);
    }
    let listed = |table: &[(&str, &'static str)], function: &str| {
        table.iter().find(|(begins, _)| function.starts_with(begins)).map(|row| row.1)
    };
    let by = |table: &[(&str, &'static str)]| {
        stack.iter().find_map(|function| Some((listed(table, function)?, *function)))
    };
    by(LAYERS).or_else(|| by(FILE_SYSTEMS)).unwrap_or((OTHER, innermost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_listed_function_decides() {
        let of = |stack: &str| {
            let stack: Vec<&str> = stack.split(' ').collect();
            let (layer, function) = layer(&stack, false);
            format!("{layer}: {function}")
        };
        let sync = "ext4_fsync_journal ext4_sync_file vfs_fsync_range __x64_sys_fsync do_syscall_64";
        assert_eq!(of(&format!("jbd2_log_wait_commit {sync}")), "journal: jbd2_log_wait_commit");
        assert_eq!(
            of("folio_wait_bit_common folio_wait_writeback __filemap_fdatawait_range ext4_sync_file"),
            "a page's I/O or lock: folio_wait_bit_common"
        );
        assert_eq!(of("submit_bio_wait blkdev_issue_flush ext4_sync_file"), "device: submit_bio_wait");
        assert_eq!(of("__iomap_dio_rw iomap_dio_rw ext4_file_read_iter"), "device: __iomap_dio_rw");
        assert_eq!(
            of("rq_qos_wait wbt_wait __rq_qos_throttle blk_mq_submit_bio iomap_dio_rw"),
            "throttle: rq_qos_wait"
        );
        assert_eq!(of("blk_mq_get_tag blk_mq_submit_bio iomap_dio_rw"), "request queue full: blk_mq_get_tag");
        assert_eq!(of("balance_dirty_pages ext4_buffered_write_iter"), "dirty limit: balance_dirty_pages");
        assert_eq!(of("shrink_node filemap_alloc_folio ext4_write_begin"), "memory reclaim: shrink_node");
        assert_eq!(of("some_wait ext4_map_blocks vfs_write"), "ext4: ext4_map_blocks");
        assert_eq!(of("futex_do_wait do_syscall_64"), "other: futex_do_wait");
        assert_eq!(
            layer(&["ext4_buffered_write_iter", "vfs_write"], true),
            ("lock", "ext4_buffered_write_iter")
        );
        assert_eq!(layer(&[], false), ("other", ""));
    }

    #[test]
    fn no_row_is_hidden_by_an_earlier_one() {
        for (at, (begins, layer)) in LAYERS.iter().enumerate() {
            let hides = LAYERS[..at].iter().find(|(before, _)| begins.starts_with(before));
            assert!(hides.is_none(), "{begins} ({layer}) never counts: {hides:?} comes before it");
        }
    }
}
