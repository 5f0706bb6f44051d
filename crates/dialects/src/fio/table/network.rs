//! Options of engines for remote machines or special devices: listed so that errors can give the reason.

use super::Kind::Text;
use super::{FioOption, refused};

macro_rules! refused_rows {
    ($($name:literal: $help:literal, $engine:literal;)*) => {
        &[$(refused($name, Text, &[], $help, concat!("the engine ", $engine, " is not supported"), "a file or device of this machine")),*]
    };
}

pub(super) static ROWS: &[FioOption] = refused_rows! {
    "hostname": "other end of the connection", "net";
    "port": "its port", "net";
    "protocol": "its protocol", "net";
    "listen": "wait for connections", "net";
    "pingpong": "answer every message", "net";
    "nodelay": "TCP_NODELAY", "net";
    "window_size": "TCP window", "net";
    "mss": "TCP segment size", "net";
    "interface": "network interface", "net";
    "ttl": "hops", "net";
    "verb": "kind of transfer", "rdma";
    "bindname": "local address", "rdma";
    "rbdname": "image", "rbd";
    "pool": "pool of the cluster", "rbd and rados";
    "clustername": "cluster", "rbd and rados";
    "clientname": "user of the cluster", "rbd and rados";
    "busy_poll": "poll for completions", "rbd";
    "touch_objects": "make objects first", "rados";
    "http_host": "server", "http";
    "http_user": "user", "http";
    "http_pass": "password", "http";
    "http_s3_key": "key", "http";
    "http_s3_keyid": "its name", "http";
    "http_s3_region": "region", "http";
    "http_mode": "kind of server", "http";
    "http_verbose": "tell more", "http";
    "https": "encrypted", "http";
    "volume": "volume", "gfapi";
    "brick": "server", "gfapi";
    "namenode": "server", "libhdfs";
    "chunk_size": "size of chunks", "libhdfs";
    "uri": "address", "nbd and libblkio";
    "nfs_url": "address", "nfs";
    "container": "container", "dfs";
    "skip_bad": "skip bad blocks", "mtd";
    "sg_write_mode": "kind of write", "sg";
    "xnvme_async": "queue", "xnvme";
    "xnvme_sync": "calls", "xnvme";
    "xnvme_admin": "commands", "xnvme";
    "libblkio_driver": "driver", "libblkio";
    "libblkio_path": "path", "libblkio";
    "gpu_dev_ids": "graphics cards", "libcufile";
    "cuda_io": "kind of transfer", "libcufile";
};
