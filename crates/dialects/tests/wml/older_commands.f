usage "Usage: set \$dir=<dir>    defaults to $dir"
usage "a second line\n"
define randvar name=$size, type=tabular, randsrc=urandom, min=1k, randtable =
{{ 80, 1k, 4k},
 { 20, 4k, 16k}}
define posset name=places,type=rnd,seed=3,max=1g,entries=512
define fileset name=old,path=$dir/sub,size=16k,entries=10,cached=$cached,filesizegamma=0,namelength=8
define file name=one,path="$dir/sub",cached
define process name=pp,procname=ppp {
  thread name=tt { flowop read name=rr,filename=one,possetname=places,iosize=2k,random }
}
foreach $n1 in 1,2k,"three words",four,$five { set $iosize=$n1 echo "$n1"
  foreach $n2 in 1 { run 10 } }
create filesets
create file
create processes
warmup 10
warmup $warm
stats clear
sleep 60
stats snap
stats dump "x.out"
stats xmldump x.xml
stats multidump $dir/all.out
stats command "iostat 5"
stats directory /tmp/results
shutdown processes
load other
load "a file"
log "done at ${date} on ${hostname}: ${stats.iorate}"
nousestats
vars
help
enable_osprof
fsflush
fscheck path=/tmp,fstype=ext4
exit
