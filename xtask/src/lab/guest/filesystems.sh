# f2fs, btrfs and xfs on NVMe: direct reads reach the disk as they are; the file system's own reads may add some.
. /lab/functions
modprobe nvme
wait_for /dev/nvme0n1
for type in f2fs btrfs xfs; do
    mkfs.$type -f -q /dev/nvme0n1 > /tmp/mkfs 2>&1 || { cat /tmp/mkfs; exit 1; }
    modprobe $type
    mkdir -p /mnt/$type
    mount -t $type /dev/nvme0n1 /mnt/$type
    read_2048 /mnt/$type
    all=$(reads nvme0n1)
    [ "$all" -ge 2048 ] && [ "$all" -le 2100 ] || fail "$type: nvme0n1 counted $all reads"
    fathom doctor /mnt/$type || [ $? = 1 ]
    every_part "$type on NVMe" /mnt/$type nvme0n1
    umount /mnt/$type
done
