# Models a video server: many viewers read one film each at a steady bandwidth, and now and then a new film is stored in the place
# of an old one. Bit rates of a few Mbit/s and reads of a quarter of a megabyte are common for such servers; the numbers are ours.
# The bandwidth of all viewers together is what the event generator makes, one event for each MiB.

set $dir=/tmp
set $nfiles=12
set $filesize=32m
set $viewers=8
set $bandwidth=40
set $readsize=256k
set $pause=2
set $runtime=30

eventgen rate=$bandwidth

define fileset name=films,path=$dir,entries=$nfiles,size=$filesize,dirwidth=20,prealloc,paralloc,readonly
define fileset name=incoming,path=$dir,entries=4,size=$filesize,dirwidth=20,prealloc=50,writeonly

define process name=ingest
{
  thread name=newfilm,memsize=1m
  {
    flowop deletefile name=film-drop,filesetname=incoming
    flowop createfile name=film-create,filesetname=incoming,fd=1
    flowop writewholefile name=film-write,fd=1,iosize=1m
    flowop closefile name=film-close,fd=1
    flowop delay name=film-pause,value=$pause
  }
}

define process name=streaming
{
  thread name=viewer,memsize=1m,instances=$viewers
  {
    flowop read name=film-read,filesetname=films,iosize=$readsize
    flowop bwlimit name=film-rate,target=film-read
  }
}

echo "Video server: $viewers viewers, $bandwidth MiB/s together, films of $filesize bytes in $dir"

run $runtime
