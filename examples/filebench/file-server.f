# Models home directories on a file server: users write drafts and throw them away, add to documents, read others whole, list
# directories and look at attributes. The mixture and the sizes are our own round numbers from what studies of file servers have made
# public: more attribute calls than opens, more reads than writes, most files small.

set $dir=/tmp
set $nfiles=2000
set $filesize=cvar(type=cvar-gamma,parameters=mean:65536;gamma:1.5,min=1k,max=4m,round=512)
set $meandirwidth=20
set $users=16
set $meanappend=16k
set $iosize=128k
set $runtime=30

define fileset name=homes,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$meandirwidth,prealloc,paralloc
define fileset name=drafts,path=$dir,entries=$nfiles,size=$filesize,dirwidth=$meandirwidth,prealloc=50

define process name=fileserver
{
  thread name=user,memsize=1m,instances=$users
  {
    flowop deletefile name=discard,filesetname=drafts,fd=2
    flowop createfile name=draft-create,filesetname=drafts,fd=2
    flowop writewholefile name=draft-write,fd=2,iosize=$iosize
    flowop closefile name=draft-close,fd=2
    flowop openfile name=edit-open,filesetname=homes,fd=1
    flowop appendfilerand name=edit-append,iosize=$meanappend,fd=1
    flowop closefile name=edit-close,fd=1
    flowop openfile name=view-open,filesetname=homes,fd=1
    flowop readwholefile name=view-read,fd=1,iosize=$iosize,iters=2
    flowop closefile name=view-close,fd=1
    flowop listdir name=browse-list,filesetname=homes
    flowop statfile name=browse-stat,filesetname=homes,iters=6
  }
}

echo "File server: $users users at a time on $nfiles files in $dir"

run $runtime
