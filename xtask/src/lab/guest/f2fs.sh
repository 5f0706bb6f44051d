# f2fs on NVMe: direct reads reach the disk as they are; the file system's own nodes may add some.
. /lab/functions
modprobe nvme
wait_for /dev/nvme0n1
mkfs.f2fs -f -q /dev/nvme0n1
modprobe f2fs
mkdir -p /mnt/f2fs
mount -t f2fs /dev/nvme0n1 /mnt/f2fs
read_2048 /mnt/f2fs
all=$(reads nvme0n1)
[ "$all" -ge 2048 ] && [ "$all" -le 2100 ] || fail "nvme0n1 counted $all reads"
fathom doctor /mnt/f2fs || [ $? = 1 ]
every_part "f2fs on NVMe" /mnt/f2fs nvme0n1
umount /mnt/f2fs
