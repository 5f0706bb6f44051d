# A zoned block device: what fathom writes at its write pointers, fio reads and verifies, and the other way round; as much with either.
. /lab/functions
modprobe null_blk nr_devices=1 gb=1 memory_backed=1 zoned=1 zone_size=1 zone_nr_conv=2 zone_max_open=6
wait_for /dev/nullb0
echo mq-deadline > /sys/block/nullb0/queue/scheduler
# Both begin with the third zone: the first two are written anywhere.
job="--name=job --filename=/dev/nullb0 --direct=1 --zonemode=zbd --bs=64k --offset=2m --size=16m"
cd /tmp
export FATHOM_FIO_VERSION=3.33 FATHOM_ALLOW_WRITE=/dev/nullb0

# How many zones are partly written.
open_zones() { cat /sys/block/nullb0/queue/max_open_zones; }
[ "$(open_zones)" = 6 ] || { echo "the device allows $(open_zones) open zones"; exit 1; }

run() {
    echo "$*"
    "$@" > out.txt 2>&1 || { echo "failed: $*"; cat out.txt; exit 1; }
}
crossed() {
    run $1 $job --rw=write --verify=crc32c --do_verify=0 --output-format=json --output=by.json
    grep -q '"total_ios" : 256' by.json || { echo "$1 wrote otherwise"; cat by.json; exit 1; }
    run $2 $job --rw=read --verify=crc32c --output-format=json --output=by.json
    grep -q '"total_ios" : 256' by.json || { echo "$2 read otherwise"; cat by.json; exit 1; }
}
crossed "fathom fio" fio
crossed fio "fathom fio"

# Every engine, in any order, read back; by processes and threads on the same zones; more data than the zones hold.
for engine in psync pvsync2 "libaio --iodepth=8" "io_uring --iodepth=8"; do
    run fathom fio $job --ioengine=$engine --rw=randwrite --verify=md5
    run fathom fio $job --ioengine=$engine --rw=randwrite --max_open_zones=2 --io_size=32m
    run fathom fio $job --ioengine=$engine --rw=randwrite --numjobs=4 --io_size=8m
    run fathom fio $job --ioengine=$engine --rw=randwrite --numjobs=4 --thread --job_max_open_zones=1 --io_size=8m
    run fathom fio $job --ioengine=$engine --rw=randrw --zone_reset_threshold=0.5 --zone_reset_frequency=0.1
    run fathom fio $job --ioengine=$engine --rw=randread
done
run fathom fio --name=job --filename=/dev/nullb0 --direct=1 --zonemode=zbd --bs=64k --rw=randwrite --io_size=16m

# What cannot work is refused before anything is written.
refused() {
    words=$1
    shift
    if "$@" > out.txt 2>&1; then echo "not refused: $*"; exit 1; fi
    grep -q "$words" out.txt || { cat out.txt; exit 1; }
}
refused "direct=1" fathom fio $job --direct=0 --rw=randwrite
refused "holds no whole zone" fathom fio $job --size=512k --rw=randwrite
refused "more than the 6 partly written zones" fathom fio $job --rw=randwrite --max_open_zones=7
# A write that is not at the write pointer fails with a message, and the run with it.
refused "Input/output error" fathom fio --name=job --filename=/dev/nullb0 --direct=1 --bs=64k --offset=2112k --size=512k --rw=write

# The whole device is read.
run fathom survey --quick /dev/nullb0 -o page.html
rmmod null_blk
