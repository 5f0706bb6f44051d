# The guest runs fathom at all, and fathom says of the kernel's calls what is so.
cd /tmp
uname -r
fathom --version
fathom backends /tmp > backends
grep RWF_DSYNC backends | grep works
# This kernel knows the flag; its tmpfs refuses it.
grep -A 1 RWF_NOWAIT backends
! grep -A 1 RWF_NOWAIT backends | grep 'does not know'
