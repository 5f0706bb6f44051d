# A device that acknowledges writes and flushes but drops them is found out by `fathom power-cut`, and one that keeps them is not blamed.
. /lab/functions
modprobe nvme
modprobe dm-flakey
wait_for /dev/nvme0n1
sectors=$(cat /sys/block/nvme0n1/size)
table() { dmsetup load --noudevrules --noudevsync disk --table "$1"; }

# Writes for some seconds, and from the middle on through the table $1; then what is on the disk itself is checked.
tried() {
    dmsetup create --noudevrules --noudevsync disk --table "0 $sectors linear /dev/nvme0n1 0"
    mounted /dev/dm-0 /mnt/disk
    fathom power-cut write /mnt/disk --every 4 --size 1MiB > /tmp/journal 2> /tmp/summary &
    writer=$!
    until [ "$(wc -l < /tmp/journal)" -gt 20 ]; do sleep 0.2; done
    if [ -n "$1" ]; then
        table "$1"
        dmsetup suspend --noudevrules --noudevsync --nolockfs --noflush disk
        dmsetup resume --noudevrules --noudevsync disk
    fi
    lines=$(wc -l < /tmp/journal)
    until [ "$(wc -l < /tmp/journal)" -gt $((lines + 100)) ]; do sleep 0.2; done
    kill -KILL $writer
    wait $writer || true
    umount /mnt/disk
    dmsetup remove --noudevrules --noudevsync disk
    mount -t ext4 /dev/nvme0n1 /mnt/disk
    code=0
    fathom power-cut check /tmp/journal > /tmp/summary 2>&1 || code=$?
    umount /mnt/disk
    cat /tmp/summary
}
tried ""
[ $code = 0 ] || fail "an honest disk is said to lose data"
tried "0 $sectors flakey /dev/nvme0n1 0 0 100000 1 drop_writes"
[ $code = 1 ] || fail "a disk that drops writes is not found out"
grep -q 'LOST: ' /tmp/summary
