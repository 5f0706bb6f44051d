# RAID by md over SCSI disks: what the array read is what its members read together.
. /lab/functions
modprobe sd_mod
modprobe scsi_debug add_host=3 per_host_store=1 dev_size_mb=192 delay=0
for disk in sda sdb sdc; do wait_for /dev/$disk; done
stopped() {
    umount /mnt/md || true
    mdadm --stop /dev/md0
    mdadm --zero-superblock /dev/sda /dev/sdb /dev/sdc
}
for level in raid0 raid1 raid5; do
    modprobe "$level"
    mdadm --create /dev/md0 --run --assume-clean --metadata=1.0 --level=$level --raid-devices=3 /dev/sda /dev/sdb /dev/sdc
    trap stopped EXIT
    wait_for /dev/md0
    mounted /dev/md0 /mnt/md
    read_2048 /mnt/md
    members=$(($(reads sda) + $(reads sdb) + $(reads sdc)))
    # The file system may read a few blocks of its own meanwhile.
    all=$(reads md0)
    [ "$all" -ge 2048 ] && [ "$all" -le 2100 ] && [ $members = "$all" ] || fail "$level: md0 counted $all reads, its members $members"
    fathom doctor /mnt/md || [ $? = 1 ]
    every_part "md $level" /mnt/md md0
    stopped
    trap - EXIT
done
