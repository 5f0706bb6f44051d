# Models a parallel build of software: for each object file a compiler looks for headers in many places, reads a few of them and a
# source, computes, and writes the object; the linker is woken for each object, reads libraries and writes the program. That looking up files is most
# of what a build asks of a file system is publicly known; the numbers are our own.

set $dir=/tmp
set $nfiles=1500
set $filesize=randvar(type=gamma,min=512,mean=12k,gamma=800,seed=3)
set $nobjects=400
set $objectsize=cvar(type=cvar-weibull,parameters=shape:0.9;scale:30000,min=1k,max=1m)
set $meandirwidth=25
set $jobs=8
set $lookups=30
set $headers=12
set $compute=100000
set $runtime=30

define fileset name=sources,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$meandirwidth,prealloc
define fileset name=objects,path=$dir,entries=$nobjects,size=$objectsize,dirwidth=$meandirwidth,prealloc=70
define fileset name=libraries,path=$dir,entries=30,size=200k,dirwidth=10,prealloc,readonly
define file name=program,path=$dir,size=1m,prealloc

# Reads so many whole files of a set; the count stands at the use.
define flowop name=slurp, $set, $chunk=32k
{
  flowop openfile name=open,filesetname=$set,fd=1
  flowop readwholefile name=read,filesetname=$set,fd=1,iosize=$chunk
  flowop closefile name=close,filesetname=$set,fd=1
}

define process name=make,instances=$jobs,nice=5
{
  thread name=compiler,memsize=1m
  {
    flowop statfile name=header-lookup,filesetname=sources,iters=$lookups
    flowop slurp name=header,iters=$headers,$set=sources
    flowop slurp name=source,$set=sources,$chunk=64k
    flowop hog name=compile,value=$compute
    flowop deletefile name=object-unlink,filesetname=objects,fd=2
    flowop createfile name=object-create,filesetname=objects,fd=2
    flowop writewholefile name=object-write,fd=2,iosize=32k
    flowop closefile name=object-close,fd=2
    flowop wakeup name=object-ready,target=link-wait
  }
}

define process name=linker
{
  thread name=link,memsize=1m
  {
    flowop block name=link-wait
    flowop slurp name=library,iters=10,$set=libraries
    flowop write name=link-write,filename=program,fd=2,iosize=128k,random
  }
}

echo "Build: $jobs jobs on $nfiles sources and $nobjects objects in $dir"

run $runtime
