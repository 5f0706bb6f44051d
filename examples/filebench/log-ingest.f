# Models a service that stores a stream of records durably, as message queues and log collectors do: writers append records to
# segments and sync after each group, start a new segment when one is full and drop an old one, and a reader that lags behind reads what is stored. Segments, group
# commits and retention are public design of such services; the numbers are our own.

set $dir=/tmp
set $nfiles=40
set $filesize=64k
set $writers=4
set $recordsize=cvar(type=cvar-erlang,parameters=shape:3;rate:1200,min=64,max=16k)
set $groups=8
set $rate=2000
set $runtime=30

# Operations a second that each limit of its target hands out.
eventgen rate=$rate

enable lathist

define fileset name=segments,path=$dir,entries=$nfiles,size=$filesize,dirwidth=40,prealloc=50
define fileset name=stored,path=$dir,entries=$nfiles,size=$filesize,dirwidth=40,prealloc,readonly

define flowop name=group
{
  flowop write name=record,filesetname=segments,fd=1,iosize=$recordsize,iters=16
  flowop fsync name=commit,filesetname=segments,fd=1
}

define process name=broker
{
  thread name=writer,memsize=1m,instances=$writers
  {
    flowop deletefile name=segment-drop,filesetname=segments,fd=1
    flowop createfile name=segment-start,filesetname=segments,fd=1
    flowop group name=group,iters=$groups
    flowop closefile name=segment-end,fd=1
  }
  thread name=follower,memsize=1m
  {
    flowop openfile name=follow-open,filesetname=stored,fd=1
    flowop readwholefile name=follow-read,fd=1,iosize=64k
    flowop opslimit name=follow-rate,target=follow-read
    flowop closefile name=follow-close,fd=1
  }
}

echo "Log ingest: $writers writers on segments in $dir"

run $runtime
