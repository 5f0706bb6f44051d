# One thread reads one file from its beginning to its end, again and again.
set $dir=/tmp
set $runtime=5
set $filesize=256m
set $iosize=1m

define file name="film",path=$dir,size=$filesize,prealloc,reuse

define process name="player",instances=1
{
  thread name="player",memsize=10m,instances=1
  {
    flowop read name="frame",filename="film",iosize=$iosize
  }
}

run $runtime
