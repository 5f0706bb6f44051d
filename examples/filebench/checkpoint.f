# Models a parallel program that saves its state at intervals: every rank writes its part in large pieces and syncs it, and when all
# parts are safe one process writes a small manifest and syncs that. This is how checkpoints are publicly known to be made; sizes and
# numbers are our own. The run ends with the last checkpoint, or after a minute; figures come every five seconds and start anew.

set $dir=/tmp
set $nfiles=32
set $filesize=32m
set $piece=4m
set $pieces=8
set $ranks=4
set $checkpoints=5

# Who saves the last one ends the run.
set mode quit firstdone

define fileset name=parts,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$nfiles,prealloc=50,writeonly
define fileset name=manifests,path=$dir,entries=8,size=4k,dirwidth=8,prealloc,writeonly

define process name=manifest
{
  thread name=last,memsize=64k
  {
    flowop semblock name=all-safe,value=$ranks,highwater=$ranks
    flowop openfile name=manifest-open,filesetname=manifests,fd=1
    flowop write name=manifest-write,fd=1,iosize=4k
    flowop fsync name=manifest-sync,fd=1
    flowop closefile name=manifest-close,fd=1
    flowop finishoncount name=enough,target=manifest-sync,value=$checkpoints
  }
}

define process name=rank,instances=$ranks
{
  thread name=saver,memsize=8m
  {
    flowop deletefile name=part-drop,filesetname=parts,fd=1
    flowop createfile name=part-create,filesetname=parts,fd=1
    flowop write name=part-write,fd=1,iosize=$piece,iters=$pieces
    flowop fsyncset name=part-sync,filesetname=parts
    flowop closefile name=part-close,fd=1
    flowop sempost name=part-safe,target=all-safe,value=1,blocking
  }
}

echo "Checkpoint: $checkpoints times $ranks parts of $pieces pieces of $piece bytes in $dir"

psrun -5 60
