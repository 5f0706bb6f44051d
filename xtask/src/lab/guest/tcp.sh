# NVMe over TCP to this machine's own disk: on this kernel the remote disk counts nothing, but its path does.
. /lab/functions
modprobe nvme
modprobe nvme-tcp
modprobe nvmet-tcp
wait_for /dev/nvme0n1
ip link set lo up
mount -t configfs configfs /sys/kernel/config
target=/sys/kernel/config/nvmet
mkdir -p $target/subsystems/lab/namespaces/1 $target/ports/1
echo 1 > $target/subsystems/lab/attr_allow_any_host
echo /dev/nvme0n1 > $target/subsystems/lab/namespaces/1/device_path
echo 1 > $target/subsystems/lab/namespaces/1/enable
echo ipv4 > $target/ports/1/addr_adrfam
echo tcp > $target/ports/1/addr_trtype
echo 127.0.0.1 > $target/ports/1/addr_traddr
echo 4420 > $target/ports/1/addr_trsvcid
ln -s $target/subsystems/lab $target/ports/1/subsystems/lab
echo "transport=tcp,traddr=127.0.0.1,trsvcid=4420,nqn=lab" > /dev/nvme-fabrics
wait_for /dev/nvme1n1
mounted /dev/nvme1n1 /mnt/tcp
read_2048 /mnt/tcp
[ "$(reads nvme1n1)" = 2048 ] || fail "nvme1n1 counted $(reads nvme1n1) reads"
fathom doctor /mnt/tcp > /tmp/doctor || [ $? = 1 ]
if grep "does not count" /tmp/doctor; then fail "doctor misses the path's counters"; fi
every_part "NVMe over TCP" /mnt/tcp nvme1n1
umount /mnt/tcp
