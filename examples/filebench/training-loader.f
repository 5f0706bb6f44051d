# Models the data loader of a machine-learning job: workers read whole samples in random order and decode them, a few batches ahead
# of the trainer, which takes a batch and computes. Files of about 100 KB, random order and a bounded queue of ready samples are
# how such loaders are publicly known to work; the numbers are our own.

set $dir=/tmp
set $nfiles=2000
set $filesize=cvar(type=cvar-normal,parameters=mean:110000;sigma:30000,min=8k,max=400k)
set $sample=randvar(type=uniform,min=0,mean=1000,seed=17)
set $loaders=4
set $decode=200000
set $batch=32
set $ahead=128
set $step=500000
set $runtime=30

define fileset name=samples,path=$dir,entries=$nfiles,size=$filesize,dirwidth=100,prealloc,paralloc,reuse,readonly

define process name=loader,instances=$loaders
{
  thread name=worker,memsize=1m
  {
    flowop openfile name=sample-open,filesetname=samples,fd=1,indexed=$sample
    flowop readwholefile name=sample-read,fd=1,iosize=512k
    flowop closefile name=sample-close,fd=1
    flowop hog name=sample-decode,value=$decode
    flowop sempost name=sample-ready,target=batch-wait,value=1,blocking
  }
}

define process name=trainer
{
  thread name=gpu
  {
    flowop semblock name=batch-wait,value=$batch,highwater=$ahead
    flowop hog name=batch-step,value=$step
  }
}

echo "Training: $loaders loaders, batches of $batch from $nfiles samples in $dir"

run $runtime
