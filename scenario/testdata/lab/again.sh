. /common.sh
# what the costs of a kernel are fitted on: rounds without work, work with and without a tick in it, an exit without, and two with 64 MB
facts; O="-C mono"
rec again load +0 null:F30:1100500:0:p2000/0/250 w2:F20:9000:0:p20000/2000/50 w5:F20:1000:0:p20000/5000/50 h0:R11:1300000:0:r100,e h64:R11:1400000:64:r100,e h64b:R11:1700000:64:r100,e
ls -la /b; back
