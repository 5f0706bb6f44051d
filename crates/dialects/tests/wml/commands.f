# The commands of 1.5 that take no body.
debug 2
version
echo "plain"
echo "value of dir is $dir, ${braced} and $(round)"
echo "cost \$5" "two strings"
system "sync; echo 3 > /proc/sys/vm/drop_caches"
eventgen
eventgen rate=$rate
eventgen rate=50
create files
list filesets
list flowop
enable lathist
enable multi master=host1,client="host 2"
domultisync value=5
sleep 3 sleep $pause
psrun
psrun 5
psrun -10 60
run
run $runtime
run 60quit
