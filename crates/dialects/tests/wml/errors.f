set $ab=size
define file name=x path=/tmp
define fileset name=y,pth=/tmp,entries=5t,size=16K
define process name=p { thread name=t { flowop read nme=r,iosize=1.5k flowop list name=w flowop write name=w,memsize=5 } }
define process name=q { }
defne file name=z
set $a=1
echo ""
set $ok=""
set $hex=0x10
set $neg=-5
run 60s
set $big=17179869184g
stats dmup "x"
set mode quit never
define flowop name=c { flowop read name=r
run 60
