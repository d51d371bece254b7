. /common.sh; . /pairs.sh
# 6.12.107+deb12-amd64, 4 CPUs: aff with task=hog cpus=1
before; turns 20; rec aff-move load +0 hog:F30@1:1000:0:p20000/6000/40 a:F20@2:2300:0:p10000/200/80 b:F20@1:3500:0:p10000/300/80
back
