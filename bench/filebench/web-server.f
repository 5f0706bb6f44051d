# A web server: a page and its parts are read whole from many small files, and one line goes to a log all threads share.
set $dir=/tmp
set $runtime=5
set $nfiles=1000
set $filesize=randvar(type=gamma,mean=16384,gamma=1500)
set $nthreads=32

define fileset name="pages",path=$dir,size=$filesize,entries=$nfiles,dirwidth=20,prealloc=100,readonly
define fileset name="log",path=$dir,size=16k,entries=1,dirwidth=20,prealloc

define process name="server",instances=1
{
  thread name="visitor",memsize=2m,instances=$nthreads
  {
    flowop openfile name="page-open",filesetname="pages",fd=1
    flowop readwholefile name="page-read",fd=1,iosize=1m
    flowop closefile name="page-close",fd=1
    flowop openfile name="style-open",filesetname="pages",fd=1
    flowop readwholefile name="style-read",fd=1,iosize=1m
    flowop closefile name="style-close",fd=1
    flowop openfile name="picture-open",filesetname="pages",fd=1
    flowop readwholefile name="picture-read",fd=1,iosize=1m
    flowop closefile name="picture-close",fd=1
    flowop appendfilerand name="log-append",filesetname="log",iosize=16k,fd=2
  }
}

run $runtime
