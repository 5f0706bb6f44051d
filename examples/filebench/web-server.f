# Models a web server with static content: each request sends ten whole files of a page, most of them small and some popular ones
# again and again, and adds a line to the access log. The figures are our own, from public knowledge of the web: file sizes have a
# long tail, a few pages get most of the hits, and a page is an HTML file with a handful of parts.

set $dir=/tmp
set $nfiles=2000
set $filesize=cvar(type=cvar-lognormal,parameters=shape:1.2;scale:9.2,min=256,max=2m)
set $popular=randvar(type=gamma,mean=200,gamma=700,seed=7)
set $meandirwidth=30
set $requests=32
set $parts=9
set $logline=200
set $runtime=30

define fileset name=htdocs,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$meandirwidth,prealloc,paralloc,readonly
define file name=accesslog,path=$dir,size=64k,prealloc

define flowop name=part
{
  flowop openfile name=open,filesetname=htdocs,fd=1
  flowop readwholefile name=send,filesetname=htdocs,fd=1,iosize=1m
  flowop closefile name=close,fd=1
}

define process name=httpd
{
  thread name=request,memsize=1m,instances=$requests
  {
    flowop openfile name=page-open,filesetname=htdocs,fd=1,indexed=$popular
    flowop readwholefile name=page-send,fd=1,iosize=1m
    flowop closefile name=page-close,fd=1
    flowop part name=page-part,iters=$parts
    flowop appendfile name=log-append,filename=accesslog,fd=2,iosize=$logline
  }
}

echo "Web server: $requests requests at a time on $nfiles files in $dir"

run $runtime
