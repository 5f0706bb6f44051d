# A mail server with a file per message: one is removed, one arrives and is made durable, one is read and marked, one is read.
set $dir=/tmp
set $runtime=5
set $nfiles=1000
set $filesize=randvar(type=gamma,mean=16384,gamma=1500)
set $nthreads=8

define fileset name="spool",path=$dir,size=$filesize,entries=$nfiles,dirwidth=1000000,prealloc=80

define process name="mailer",instances=1
{
  thread name="mailer",memsize=4m,instances=$nthreads
  {
    flowop deletefile name="expunge",filesetname="spool"
    flowop createfile name="arrive-create",filesetname="spool",fd=1
    flowop appendfilerand name="arrive-write",iosize=16k,fd=1
    flowop fsync name="arrive-sync",fd=1
    flowop closefile name="arrive-close",fd=1
    flowop openfile name="mark-open",filesetname="spool",fd=1
    flowop readwholefile name="mark-read",fd=1,iosize=1m
    flowop appendfilerand name="mark-write",iosize=16k,fd=1
    flowop fsync name="mark-sync",fd=1
    flowop closefile name="mark-close",fd=1
    flowop openfile name="read-open",filesetname="spool",fd=1
    flowop readwholefile name="read-read",fd=1,iosize=1m
    flowop closefile name="read-close",fd=1
  }
}

run $runtime
