# Models work that is nearly all names: temporary files come and go, directories are made, listed and removed, attributes are asked
# for, as package managers, mail queues and scientific jobs with a file for each task do. Which calls these are is public knowledge;
# how many of each is our own choice.

set $dir=/tmp
set $nfiles=5000
set $filesize=0
set $meandirwidth=50
set $depth=randvar(type=uniform,min=1,mean=3,seed=5)
set $ndirs=500
set $workers=8
set $stats=8
set $runtime=30

define fileset name=names,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$meandirwidth,dirdepthrv=$depth,prealloc
define fileset name=temporary,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$meandirwidth,prealloc=50
define fileset name=folders,path=$dir,leafdirs=$ndirs,dirwidth=$meandirwidth,prealloc=50

define flowop name=touch
{
  flowop createfile name=make,filesetname=temporary,fd=1
  flowop closefile name=done,filesetname=temporary,fd=1
}

define flowop name=task
{
  flowop touch name=touch
  flowop statfile name=stat,filesetname=names,iters=$stats
  flowop openfile name=open,filesetname=names,fd=2
  flowop statfile name=fstat,filesetname=names,fd=2
  flowop closefile name=close,filesetname=names,fd=2
  flowop deletefile name=unlink,filesetname=temporary,fd=1
}

define process name=jobs
{
  thread name=worker,memsize=64k,instances=$workers
  {
    flowop task name=job,iters=4
    flowop listdir name=dir-list,filesetname=names
    flowop makedir name=dir-make,filesetname=folders
    flowop removedir name=dir-remove,filesetname=folders
  }
}

echo "Metadata: $workers workers on $nfiles names and $ndirs directories in $dir"

run $runtime
