# Device mapper over NVMe: the counters and the events of both layers count what was asked.
. /lab/functions
modprobe nvme
modprobe dm-mod
wait_for /dev/nvme0n1
clean() {
    umount /mnt/dm || true
    dmsetup remove --noudevrules --noudevsync lab
}
trap clean EXIT
sectors=$(cat /sys/block/nvme0n1/size)
dmsetup create --noudevrules --noudevsync lab --table "0 $sectors linear /dev/nvme0n1 0"
wait_for /dev/dm-0
mounted /dev/dm-0 /mnt/dm
read_2048 /mnt/dm
has '"read_ios": 2048' 2
