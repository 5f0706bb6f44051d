define file name=raw,path=/dev/shm,size=1g,reuse,prealloc,readonly,paralloc=false,trusttree,writeonly=false
define fileset name="a set", path=$dir, filesize=$size, entries=1000,
  leafdirs=5, dirwidth=20, dirgamma=0, dirdepthrv=$depth, prealloc=80, paralloc
define filesetsss name=x1,name=x2,path=/tmp,size=5,filesize=6
define processes name=reader,instances=2,nice=5
{
  thread name=first,memsize=10m,instances=$nthreads,useism,ioprio=3
  {
    flowop openfile name=open1,filesetname="a set",fd=1
    flowop read name=read1,fd=1,iosize=4k,random,workingset=1m,iters=5,directio,dsync=false,noreadahead
    flowop writewholefile name=write1,filename=raw,srcfd=1,fd=2,opennext,indexed=$index
    flowop closefile name=close1,fd=1
    flowop semblock name=sb,value=10,highwater=1000,blocking
    flowop sempost name=sp,target=sb,value=10
    flowop mine name=mine1,iters=3,$files="a set",$count=5,$flag,$other=$count
  }
  thread name=second { flowop eventlimit name=limit }
}
