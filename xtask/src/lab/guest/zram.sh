# A compressed disk in memory counts what was asked.
. /lab/functions
modprobe zram
wait_for /dev/zram0
echo 256M > /sys/block/zram0/disksize
mounted /dev/zram0 /mnt/zram
read_2048 /mnt/zram
[ "$(reads zram0)" = 2048 ] || fail "zram0 counted $(reads zram0) reads"
every_part zram /mnt/zram zram0
umount /mnt/zram
echo 1 > /sys/block/zram0/reset
