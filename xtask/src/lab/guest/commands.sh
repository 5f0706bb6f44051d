# NVMe commands past the block layer: fathom's commands write what fio reads through the block device and the other way round, and a job
# moves as much with either.
. /lab/functions
modprobe nvme
wait_for /dev/nvme0n1
cd /tmp
# The headers of verify are those of this version.
export FATHOM_FIO_VERSION=3.33
fathom backends /tmp | grep -A 1 namespaces | grep ng0n1

# What $1 wrote by commands, $2 reads through the block layer and checks.
crossed() {
    $1 --output-format=json --output=by.json $3 --name=write --ioengine=io_uring_cmd --cmd_type=nvme --filename=/dev/ng0n1 \
        --size=16m --iodepth=8 --rw=randwrite --bs=16k --verify=crc32c --do_verify=0
    $2 --name=read --ioengine=io_uring --direct=1 --filename=/dev/nvme0n1 --size=16m --iodepth=8 --rw=read --bs=16k --verify=crc32c \
        > read.txt 2>&1 || { cat read.txt; exit 1; }
    # 16 MiB in records of 16 KiB.
    grep -q '"total_ios" : 1024' by.json || { echo "$1 wrote otherwise"; cat by.json; exit 1; }
}
crossed "fathom fio" fio --allow-write=/dev/nvme0n1
crossed fio "fathom fio" ""

# Every kind of option of the ring, reads checked; several in flight by one thread, flushes between.
for options in "--fixedbufs --registerfiles" "--sqthread_poll" "--force_async=4" "--fsync=16"; do
    fathom fio --allow-write=/dev/nvme0n1 --name=write --ioengine=io_uring_cmd --filename=/dev/ng0n1 --size=4m --iodepth=16 --rw=randwrite \
        --bs=4k --verify=md5 $options > out.txt 2>&1 || { cat out.txt; exit 1; }
done

# What is said of it.
fathom export last > record.json
grep '"method": "nvme"' record.json
fathom report last > summary.txt 2>&1 || true
cat summary.txt

# Runs a job that has to be refused with these words.
refused() {
    words=$1
    shift
    if fathom fio --name=a --ioengine=io_uring_cmd --rw=read "$@" 2> why.txt; then
        echo "not refused: $*"
        exit 1
    fi
    grep -q "$words" why.txt || { cat why.txt; exit 1; }
}
refused "moves at most" --filename=/dev/ng0n1 --size=16m --bs=16m
refused "is not an NVMe namespace" --filename=/tmp/why.txt --size=4k --bs=4k
refused "multiples of its blocks of 512" --filename=/dev/ng0n1 --size=64k --bs=700
refused "multiples of its blocks of 512" --filename=/dev/ng0n1 --size=64k --bs=4k --offset=100
# A device file that only has the name of a namespace.
mv /dev/ng0n1 /dev/real
mknod /dev/ng0n1 c 1 5
refused "is not the device" --filename=/dev/nvme0n1 --size=64k --bs=4k
mv /dev/real /dev/ng0n1
cat > own.toml <<'END'
name = "commands"

[[fileset]]
name = "disk"
files = { list = ["/dev/nvme0n1"] }
size = { fixed = "16MiB" }
existing = "reuse"

[[phase]]
name = "read"

[[phase.group]]
name = "reader"

[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "disk"
direction = "read"
access = "permuted"
record = { fixed = "4KiB" }
queue_depth = 16
backend = { nvme = {} }
open = { direct = true }
END
fathom run own.toml
