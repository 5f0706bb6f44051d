# Models virtual machines on one host: each guest has its disk in an image file and mixes small random reads and writes of several
# sizes, mostly in the part of the disk it is using, with a flush where the guest's file system commits. Seven reads to three writes
# and blocks from 4 to 64 KiB are what is commonly seen below hypervisors; the numbers are our own.

set $dir=/tmp
set $nfiles=4
set $filesize=128m
set $hotsize=32m
set $guestblock=randvar(type=tabular,min=4k,round=4k,randtable={{70,4k,4k},{15,8k,16k},{15,32k,64k}})
set $guests=4
set $depth=2
set $iops=2000
set $direct=false
set $runtime=30

# I/O operations a second of all guests together; 0 is no limit.
eventgen rate=$iops

define fileset name=images,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$nfiles,dirgamma=0,prealloc,reuse

define process name=guest,instances=$guests
{
  thread name=disk,memsize=1m,instances=$depth,ioprio=4
  {
    flowop openfile name=image-open,filesetname=images,fd=1,noreadahead,directio=$direct
    flowop read name=hot-read,fd=1,iosize=$guestblock,random,workingset=$hotsize,iters=60,directio=$direct
    flowop write name=hot-write,fd=1,iosize=$guestblock,random,workingset=$hotsize,iters=30,directio=$direct
    flowop read name=cold-read,fd=1,iosize=$guestblock,random,iters=10,directio=$direct
    flowop fsync name=guest-flush,fd=1
    flowop closefile name=image-close,fd=1
    flowop iopslimit name=guest-rate
  }
}

echo "Virtual machines: $guests guests with images of $filesize bytes in $dir, $iops operations a second"

run $runtime
