# Models the disk cache of a web proxy: of six objects asked for, five are found and sent from the cache and one is fetched from
# far away and stored in the place of an older one. The figures are our own, from public knowledge: caches hit less often than one
# hopes, objects are some 10 KiB with a long tail, and popularity falls off quickly.

set $dir=/tmp
set $nfiles=3000
set $filesize=cvar(type=cvar-gamma,parameters=mean:16384;gamma:1.2,min=512,max=1m)
set $popular=cvar(type=cvar-exponential,parameters=mean:400)
set $visitors=24
set $hits=5
set $runtime=30

# Two levels of directories of fixed width, as such caches are laid out: dirgamma=0 draws nothing.
define fileset name=proxycache,path=$dir,entries=$nfiles,size=$filesize,dirwidth=64,dirgamma=0,prealloc,readonly
define fileset name=proxynew,path=$dir,entries=$nfiles,size=$filesize,dirwidth=64,dirgamma=0,prealloc=50
define fileset name=proxylog,path=$dir,entries=4,size=8k,dirwidth=4,prealloc

define flowop name=hit
{
  flowop openfile name=open,filesetname=proxycache,fd=1,indexed=$popular
  flowop readwholefile name=send,filesetname=proxycache,fd=1,iosize=256k
  flowop closefile name=close,fd=1
}

define process name=proxy
{
  thread name=visitor,memsize=1m,instances=$visitors
  {
    flowop hit name=found,iters=$hits
    flowop deletefile name=evict,filesetname=proxynew,fd=2
    flowop createfile name=store-create,filesetname=proxynew,fd=2
    flowop writewholefile name=store-write,fd=2,iosize=16k
    flowop closefile name=store-close,fd=2
    flowop openfile name=log-open,filesetname=proxylog,fd=3
    flowop appendfilerand name=log-append,fd=3,iosize=512
    flowop closefile name=log-close,fd=3
  }
}

echo "Web proxy: $visitors visitors at a time, $hits hits for each miss, $nfiles objects in $dir"

run $runtime
