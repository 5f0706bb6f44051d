set mode quit never
define flowop name=c1 { flowop read name=r1
}
define process name=p1 { thread name=t1 { flowop read name=r1
run 60
define process name=p2 { flowop read name=r1 }
define process name=p3 { thread name=t1 { read name=r1 } }
define process name=p4,nice { thread name=t1 { flowop hog name=h1, } }
define thread name=t1 { }
define filset name=z1,path=/tmp
set name=5
set $r1=randvar(type=unifrom,mean=5)
set $r2=randvar(type=tabular,randtable={{1,2},{3,4,5}})
set $st="cut\$here"
set $v1=$v2+$v3+1
set $v4=a+b
process name=p5 { }
}
run "60"
log never ends
echo "never ends
