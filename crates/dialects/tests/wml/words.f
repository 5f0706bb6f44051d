# Words that are keywords in neither language's strict sense where they stand.
set $xx=log
set $xx=stats
set $xx=running
set $xx=cached
set $xx=read
set $xx=-
set $xx=-10k
set $xx=/
set $xx=SET
define file name=usage,path=load
define process name=help { thread name=vars { flowop exit name=foreach } }
