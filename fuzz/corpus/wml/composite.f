define flowop name=mine, $files, $count=5, $flag=true, $text="some text", $also=$other, iters=2
{
  flowop createfile name=c1,filesetname=$files,fd=1
  flowop appendfilerand name=a1,iosize=$size,fd=1,iters=$count
  flowop inner name=i1,$files=$files
  flowop closefile name=x1,fd=1
}
