# A database: sessions read small records at random and post to a log writer and to background writers, which write
# asynchronously. Without dsync, so that the programs are compared and not the device.
set $dir=/tmp
set $runtime=5
set $filesize=10m
set $nfiles=10
set $nsessions=16
set $nwriters=2
set $think=200

eventgen rate=0

define fileset name="tables",path=$dir,size=$filesize,entries=$nfiles,dirwidth=1024,prealloc=100,reuse
define fileset name="journal",path=$dir,size=$filesize,entries=1,dirwidth=1024,prealloc=100,reuse

define process name="logwriter",instances=1
{
  thread name="logwriter",memsize=1m
  {
    flowop aiowrite name="log-write",filesetname="journal",iosize=256k,random
    flowop aiowait name="log-wait"
    flowop semblock name="log-block",value=3200,highwater=1000
  }
}

define process name="tablewriter",instances=$nwriters
{
  thread name="tablewriter",memsize=1m
  {
    flowop aiowrite name="table-write",filesetname="tables",iosize=2k,random,iters=100,opennext
    flowop hog name="table-think",value=$think
    flowop semblock name="table-block",value=1000,highwater=2000
    flowop aiowait name="table-wait"
  }
}

define process name="session",instances=$nsessions
{
  thread name="session",memsize=1m
  {
    flowop read name="session-read",filesetname="tables",iosize=2k,random,opennext
    flowop hog name="session-think",value=$think
    flowop sempost name="post-log",value=1,target="log-block",blocking
    flowop sempost name="post-table",value=1,target="table-block",blocking
    flowop eventlimit name="session-rate"
  }
}

run $runtime
