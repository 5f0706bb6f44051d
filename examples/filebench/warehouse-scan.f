# Models a data warehouse: parallel queries scan whole tables with large reads, each table striped over several files that are
# read in turn, while a sort spills to temporary files and merges them again. Scan sizes of about a megabyte and spills the size of
# a query's memory are what such systems are publicly known to do; the numbers are our own.

set $dir=/tmp
set $nfiles=8
set $filesize=64m
set $scansize=1m
set $queries=4
set $spillsize=8m
set $sorts=2
set $runtime=30

define fileset name=facts,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$nfiles,dirgamma=0,prealloc,reuse,readonly
define fileset name=spill,path=$dir,entries=32,size=$spillsize,dirwidth=32,prealloc=25

define process name=query,instances=$queries
{
  thread name=scan,memsize=4m
  {
    flowop read name=scan-stripe,filesetname=facts,iosize=$scansize,opennext
  }
}

define process name=sort,instances=$sorts
{
  thread name=merge,memsize=4m
  {
    flowop createfile name=spill-create,filesetname=spill,fd=1
    flowop writewholefile name=spill-write,fd=1,iosize=256k
    flowop readwholefile name=merge-read,fd=1,iosize=256k
    flowop closefile name=spill-close,fd=1
    flowop deletefile name=spill-delete,filesetname=spill,fd=1
  }
}

echo "Warehouse: $queries scans of $nfiles files of $filesize bytes beside $sorts sorts in $dir"

run $runtime
