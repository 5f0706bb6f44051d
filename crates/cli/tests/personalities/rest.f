# Words of the language that neither a personality nor another test's script has a use for: only read by the tests, never run.

set $some=randvar(type=uniform,mean=4k,randsrc=rand48,seed=1)
set $more=cvar(type=cvar-uniform,parameters=lower:1;upper:9)

define file name=old,path=/tmp,filesize=1k,filesizegamma=0,namelength=8
define fileset name=trusted,path=/tmp,entries=10,dirwidth=5,size=4k,prealloc,trusttree

define process name=talker
{
  thread name=voice
  {
    flowop print name=say,value="hello"
    flowop testrandvar name=draw,value=$some
    flowop testrandvar name=draw-more,value=$more
  }
}
