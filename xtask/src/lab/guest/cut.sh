# Measures until the power is cut. Before that: has everything survived the cut before?
. /lab/functions
wrong() {
    cat /tmp/out > /dev/console
    echo "@@WRONG $1" > /dev/console
    poweroff -f
}
modprobe nvme
modprobe ext4
wait_for /dev/nvme0n1
mkdir -p /mnt/disk
blkid /dev/nvme0n1 | grep -q ext4 || mkfs.ext4 -F -q /dev/nvme0n1
mount -t ext4 /dev/nvme0n1 /mnt/disk
export HOME=/mnt/disk/home
read_ahead=/sys/block/nvme0n1/queue/read_ahead_kb
present=$(cat $read_ahead)
cd /mnt/disk
if [ ! -e foreign.sum ]; then
    mkdir -m 700 home
    mkdir work foreign
    head -c 1000000 /dev/urandom > foreign/data.0
    sha256sum foreign/data.0 > foreign.sum
    sync
fi
cat > /tmp/write.toml <<'TOML'
name = "writes"

[[fileset]]
name = "data"
files = { list = ["data.0"] }
size = { fixed = "8MiB" }

[[phase]]
name = "write"
before = [{ prepare = "data" }]

[[phase.group]]
name = "writer"

[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "data"
direction = "write"
access = "uniform"
record = { fixed = "4KiB" }
amount = { operations = 200 }
TOML
# Whatever was acknowledged before the cut is there.
if [ "$(grep -c . /lab/journal)" -ge 2 ]; then
    fathom power-cut check /lab/journal --remove > /tmp/out 2>&1 || wrong "a write that was acknowledged is lost"
    cat /tmp/out > /dev/console
fi
rm -rf fathom-power-cut
runs() {
    fathom list --json > /tmp/list 2> /tmp/out || wrong "the store does not open"
    grep -c '"id"' /tmp/list || true
}
echo "@@FOUND $(runs)"
cd work
# The first run removes what the one before could not.
fathom run /tmp/write.toml > /tmp/out 2>&1 || wrong "a run fails after the cut"
[ "$(cat $read_ahead)" = "$present" ] || wrong "a setting has changed"
[ -z "$(ls -A)" ] || wrong "leftovers: $(ls -A)"
(cd .. && sha256sum -s -c foreign.sum) || wrong "a file of somebody else has changed"
echo "@@KEPT $(runs)"
echo "@@BEGAN"
fathom power-cut write /mnt/disk --every 2 --size 256KiB --files 1 2> /tmp/power-cut &
while :; do
    fathom run /tmp/write.toml > /tmp/out 2>&1 || wrong "a run fails"
    echo "@@KEPT $(runs)"
    fathom sweep --vary read_ahead_kb=$present,512 --rounds 1 -- /tmp/write.toml > /tmp/out 2>&1 || wrong "a sweep fails"
    echo "@@KEPT $(runs)"
done
