. /common.sh; . /pairs.sh
# 6.12.107+deb12-amd64, 4 CPUs: aff with task=a cpus=0-3
before; turns 20; rec aff-free load +0 hog:F30@2:1000:0:p20000/6000/40 a:F20@*:2300:0:p10000/200/80 b:F20@1:3500:0:p10000/300/80
back
