# Ten thousand files of 16 KiB are made; nothing runs.
set $dir=/tmp
set $nfiles=10000

define fileset name="tree",path=$dir,size=16k,entries=$nfiles,dirwidth=20,prealloc=100

create files
