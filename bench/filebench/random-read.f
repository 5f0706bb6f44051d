# One large file, read at random places by any number of threads. Sizes are the bench's to set.
set $dir=/tmp
set $runtime=5
set $filesize=256m
set $iosize=8k
set $nthreads=1

define file name="table",path=$dir,size=$filesize,prealloc,reuse

define process name="reader",instances=1
{
  thread name="reader",memsize=5m,instances=$nthreads
  {
    flowop read name="lookup",filename="table",iosize=$iosize,random
  }
}

run $runtime
