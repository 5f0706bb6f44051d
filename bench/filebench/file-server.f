# People at a file server: a document is saved, another grows, a third is read, one goes, one is only looked at.
set $dir=/tmp
set $runtime=5
set $nfiles=1000
set $filesize=randvar(type=gamma,mean=65536,gamma=1500)
set $nthreads=16

define fileset name="share",path=$dir,size=$filesize,entries=$nfiles,dirwidth=20,prealloc=80

define process name="server",instances=1
{
  thread name="user",memsize=4m,instances=$nthreads
  {
    flowop createfile name="save-create",filesetname="share",fd=1
    flowop writewholefile name="save-write",srcfd=1,fd=1,iosize=1m
    flowop closefile name="save-close",fd=1
    flowop openfile name="grow-open",filesetname="share",fd=1
    flowop appendfilerand name="grow-append",iosize=16k,fd=1
    flowop closefile name="grow-close",fd=1
    flowop openfile name="view-open",filesetname="share",fd=1
    flowop readwholefile name="view-read",fd=1,iosize=1m
    flowop closefile name="view-close",fd=1
    flowop deletefile name="remove",filesetname="share"
    flowop statfile name="look",filesetname="share"
  }
}

run $runtime
