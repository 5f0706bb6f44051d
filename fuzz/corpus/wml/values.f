# Every kind of value, every kind of set.
set $dir="/tmp/with a blank # and no comment"
set $plain=/tmp/data-1.x:y;z
set $num=010
set $kib=4k  set $mib=5m  set $gib=1g
set $yes=true set $no=false
set ${braced}=1
set $(round)=2
set $uni=randvar(type=uniform,min=1000,mean=5000,seed=3,round=1k,randsrc=urandom)
set $gam = randvar ( mean=8k, gamma=1500, min )
set $tab=randvar(type=tabular, min=1k, round=1k, randtable={{ 50, 1k, 7k}, {$pct, $low, $high}, {10,1,1}})
set $cus=cvar(type=cvar-gamma,parameters=mean:4096;gamma:1.5,min=0,max=1m,round=512)
set $cuq=cvar(type="cvar-normal",parameters="mean:1;sigma:2")
set mode quit timeout
set mode quit alldone
set mode quit firstdone
set mode nousestats
