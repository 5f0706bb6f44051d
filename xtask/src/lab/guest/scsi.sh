# A SCSI disk and a null_blk device count what was asked.
. /lab/functions
modprobe sd_mod
modprobe scsi_debug add_host=1 per_host_store=1 dev_size_mb=192 delay=0
wait_for /dev/sda
modprobe null_blk nr_devices=1 gb=1 memory_backed=1
wait_for /dev/nullb0
for device in sda nullb0; do
    mounted /dev/$device /mnt/plain
    read_2048 /mnt/plain
    [ "$(reads $device)" = 2048 ] || fail "$device counted $(reads $device) reads"
    every_part $device /mnt/plain $device
    umount /mnt/plain
done
rmmod null_blk
