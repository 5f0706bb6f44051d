# Models a full backup: one process walks through a tree, reads every file whole and writes it behind the last one into an archive,
# until a given amount is saved. That it is one stream with large I/O, and that the time for small files goes into opening them, is
# public knowledge of such programs; sizes and numbers are our own.

set $dir=/tmp
set $nfiles=5000
set $filesize=randvar(type=gamma,mean=64k,gamma=600,seed=11)
set $meandirwidth=15
set $iosize=1m
set $amount=256m

# The run ends when the archive holds the amount, whatever the time; no figure after run would be a limit.
set mode quit firstdone

define fileset name=tosave,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$meandirwidth,prealloc,readonly
define file name=archive,path=$dir,size=1m,writeonly,prealloc

define process name=backup
{
  thread name=stream,memsize=2m
  {
    flowop listdir name=walk-list,filesetname=tosave
    flowop statfile name=walk-stat,filesetname=tosave
    flowop openfile name=save-open,filesetname=tosave,fd=1
    flowop readwholefile name=save-read,fd=1,iosize=$iosize
    flowop writewholefile name=archive-write,filename=archive,fd=2,srcfd=1,iosize=$iosize
    flowop closefile name=save-close,fd=1
    flowop finishonbytes name=enough,target=archive-write,value=$amount
  }
}

echo "Backup: $amount bytes of $nfiles files in $dir"

create files
system "sync"

run
