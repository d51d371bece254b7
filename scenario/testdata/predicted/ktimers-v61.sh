. /common.sh
# 6.1.0-50-amd64: the same as ktimers on the kernel without PREEMPT_RT: the timer expires in hard interrupt
O="-C mono"; rec ktimers-v61 load +0 sleeper:O0:0:0:p10000/500/200 rtload:F22:3000:0:p40000/25000/50
back
