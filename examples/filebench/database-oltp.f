# Models a transactional database: clients read random pages of the tables and compute, commits are synchronous writes to the
# redo log, and page writers put changed pages back in batches with asynchronous writes. How the parts wait for one another
# (semaphores) and the sizes (8 KiB pages, small redo writes) are common knowledge about such servers; the numbers are our own.

set $dir=/tmp
set $ntables=4
set $filesize=64m
set $pagesize=8k
set $clients=8
set $readspertransaction=10
set $think=2000
set $rate=500
set $batch=16
set $group=4
set $redosize=8k
set $direct=false
set $runtime=30

# Transactions a second over all clients; 0 lets them go as fast as they can.
eventgen rate=$rate

define fileset name=tablespace,path=$dir,entries=$ntables,size=$filesize,dirwidth=$ntables,dirgamma=0,prealloc
define file name=redolog,path=$dir,size=1m,prealloc

# Commits wait in the redo log until a group of them is written at once.
define process name=logwriter,nice=0
{
  thread name=redo,memsize=1m,ioprio=0
  {
    flowop semblock name=redo-due,value=$group,highwater=1000
    flowop write name=redo-write,filename=redolog,iosize=$redosize,dsync
  }
}

define process name=pagewriter
{
  thread name=page,memsize=1m,instances=2
  {
    flowop semblock name=page-due,value=$batch,highwater=1000
    flowop aiowrite name=page-write,filesetname=tablespace,iosize=$pagesize,random,iters=$batch,directio=$direct
    flowop aiowait name=page-wait
  }
}

define process name=session,instances=$clients
{
  thread name=transaction,memsize=1m,useism
  {
    flowop eventlimit name=arrival
    flowop read name=page-read,filesetname=tablespace,iosize=$pagesize,random,iters=$readspertransaction,directio=$direct
    flowop hog name=compute,value=$think
    flowop sempost name=page-dirty,target=page-due,value=1,blocking
    flowop sempost name=commit,target=redo-due,value=1,blocking
  }
}

echo "Database: $clients clients, $ntables tables of $filesize bytes in $dir"

run $runtime
