# Models a mail server that keeps every message in a file of its own (Maildir): deliveries write a new message and sync it before
# they answer the sender, and read messages go; readers list folders, look at messages, fetch one and note it in an index. The figures
# are our own round numbers from what is publicly known: most messages are a few KiB, a few carry large attachments, and every delivery
# costs an fsync.

set $dir=/tmp
set $nfiles=2000
set $filesize=randvar(type=tabular,min=1k,round=512,randtable={{55,1k,8k},{30,8k,32k},{12,32k,128k},{3,128k,1m}})
set $meandirwidth=100
set $deliveries=4
set $readers=12
set $indexrecord=256
set $runtime=30

# What arrives and goes again is apart from what is kept: a message that somebody has open is not removed.
define fileset name=maildir,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$meandirwidth,prealloc,readonly
define fileset name=newmail,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$meandirwidth,prealloc=50
define fileset name=mailindex,path=$dir,entries=16,size=4k,dirwidth=16,prealloc

define process name=delivery
{
  thread name=deliver,memsize=1m,instances=$deliveries
  {
    flowop deletefile name=expunge,filesetname=newmail,fd=1
    flowop createfile name=message-create,filesetname=newmail,fd=1
    flowop writewholefile name=message-write,fd=1,iosize=64k
    flowop fsync name=message-sync,fd=1
    flowop closefile name=message-close,fd=1
  }
}

define process name=mailbox
{
  thread name=reader,memsize=1m,instances=$readers
  {
    flowop listdir name=folder-list,filesetname=maildir
    flowop statfile name=message-look,filesetname=maildir,iters=4
    flowop openfile name=message-open,filesetname=maildir,fd=1
    flowop readwholefile name=message-read,fd=1,iosize=64k
    flowop closefile name=message-done,fd=1
    flowop openfile name=index-open,filesetname=mailindex,fd=2
    flowop appendfile name=index-append,fd=2,iosize=$indexrecord
    flowop closefile name=index-close,fd=2
  }
}

echo "Mail server: $deliveries deliveries and $readers readers at a time on $nfiles messages in $dir"

run $runtime
