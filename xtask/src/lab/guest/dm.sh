# Device mapper over NVMe: the counters of the layers count what was asked.
. /lab/functions
modprobe nvme
wait_for /dev/nvme0n1
made=
create() {
    dmsetup create --noudevrules --noudevsync "$1" --table "$2"
    made="$1 $made"
}
removed() {
    umount /mnt/dm || true
    for name in $made; do dmsetup remove --noudevrules --noudevsync "$name"; done
    made=
}
trap removed EXIT
sectors=$(cat /sys/block/nvme0n1/size)

# Reads 2048 times from the file system on a mapped device of a kind; each of the other devices has counted that.
counted() {
    kind=$1
    mounted "/dev/$2" /mnt/dm
    read_2048 /mnt/dm
    shift
    for device; do [ "$(reads "$device")" = 2048 ] || fail "$device counted $(reads "$device") reads"; done
    every_part "$kind" /mnt/dm "$1"
    removed
}

modprobe dm-mod
create linear "0 $sectors linear /dev/nvme0n1 0"
counted dm-linear dm-0 nvme0n1

modprobe dm-crypt
key=$(printf '%0128d' 7)
create crypt "0 $sectors crypt aes-xts-plain64 $key 0 /dev/nvme0n1 0"
counted dm-crypt dm-0 nvme0n1

modprobe dm-delay
create delay "0 $sectors delay /dev/nvme0n1 0 1"
counted dm-delay dm-0 nvme0n1

# A thin volume in a pool over two linear parts of the disk.
modprobe dm-thin-pool
create meta "0 65536 linear /dev/nvme0n1 0"
create data "0 1048576 linear /dev/nvme0n1 65536"
dd if=/dev/zero of=/dev/dm-0 bs=1M count=1
create pool "0 1048576 thin-pool /dev/dm-0 /dev/dm-1 128 0"
dmsetup message pool 0 "create_thin 0"
create thin "0 1048576 thin /dev/dm-2 0"
counted dm-thin dm-3 dm-1
trap - EXIT
