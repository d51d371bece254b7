. /common.sh; . /pairs.sh
# 6.12.107+deb12-rt-amd64, 1 CPU: nopi with mutex=holder pi=on
before; syscall 202; rec nopi-on load +0 high:F40:2000:0:l40000/0/500/25 holder:F10:400:0:l40000/0/4000/25 mid:F20:3100:0:p40000/9000/25
back
