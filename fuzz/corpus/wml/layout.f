set $a1=1#comment
set$b1=2 set $c1
=
3 #another "comment"
define
process name
=p1,instances=1{thread name=t1{flowop read name=r1}thread name=t2{flowop hog name=h1,value=5}}
run#end
