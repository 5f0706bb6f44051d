# Models the copying of a tree by several workers, each reading a file whole and writing it to its new place, until everything is
# copied: the measure is the time it takes. There is no secret in what a copy does; number and sizes of the files are our own choice,
# mostly small with a few large ones as on a desktop.

set $dir=/tmp
set $nfiles=3000
set $filesize=cvar(type=cvar-triangular,parameters=lower:0;upper:300000;mode:8000,min=0,round=1k)
set $meandirwidth=20
set $workers=2
set $iosize=256k

# The run ends when there is nothing left to create.
set mode quit firstdone

define fileset name=copyto,path=$dir,entries=$nfiles,size=0,dirwidth=$meandirwidth
define fileset name=copyfrom,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$meandirwidth,prealloc,readonly

define process name=copy
{
  thread name=copier,memsize=1m,instances=$workers
  {
    flowop createfile name=target-create,filesetname=copyto,fd=2
    flowop openfile name=source-open,filesetname=copyfrom,fd=1
    flowop readwholefile name=source-read,fd=1,iosize=$iosize
    flowop writewholefile name=target-write,fd=2,srcfd=1,iosize=$iosize
    flowop closefile name=source-close,fd=1
    flowop closefile name=target-close,fd=2
  }
}

echo "Copy: $nfiles files in $dir by $workers workers"

create files
system "sync"
sleep 1

run
