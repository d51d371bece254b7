#!/bin/bash
# mkinitrd.sh KNAME: out/KNAME.cpio.gz with busybox, trace-cmd and src/{load,fairload,peltlog,sendback}, out/KNAME.vmlinux, in the folder LAB.
# PROGRAMS in the environment are put in as well. The kernel's package (linux-image-KNAME-unsigned) is unpacked in k/KNAME by dpkg -x.
set -e
cd "${LAB:?}"; n=$1; d=$PWD/k/$n; r=$PWD/root-$n; rm -rf $r; mkdir -p $r/{bin,sbin,usr/bin,proc,sys,dev,tmp,etc,root,var/tmp,b} out
cp $(command -v busybox) $r/bin/busybox
for b in trace-cmd $PROGRAMS; do p=$(command -v $b); cp $p $r/usr/bin/; ldd $p | grep -oE '/[^ ]+' | while read l; do mkdir -p $r$(dirname $l); cp -Ln $l $r$l; done; done
cp src/{load,fairload,peltlog,sendback} $r/usr/bin/
cat > $r/init <<'I'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/usr/bin:/bin:/sbin HOME=/root
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev; mkdir -p /dev/shm; mount -t tmpfs none /dev/shm; mount -t tmpfs -o size=80% none /tmp
mount -t tracefs none /sys/kernel/tracing; mount -t debugfs none /sys/kernel/debug; mount -t cgroup2 none /sys/fs/cgroup
read up rest < /proc/uptime; echo "BOOTED uptime $up $(uname -r)"; sh /run.sh; echo "DONE rc $?"; poweroff -f
I
chmod +x $r/init
(cd $r && find . -exec touch -hd @1700000000 {} + && find . | LC_ALL=C sort | cpio -o -H newc --quiet --reproducible | gzip -n1) > out/$n.cpio.gz
[ -f out/$n.vmlinux ] || python3 - $n $d/boot/vmlinuz-* <<'P'
import subprocess, sys
name, image = sys.argv[1], open(sys.argv[2], 'rb').read()
for magic, tool in ((b'\xfd7zXZ\x00', 'xz'), (b'\x28\xb5\x2f\xfd', 'zstd')):
    at = image.find(magic)
    while at >= 0:
        out = subprocess.run([tool, '-dc'], input=image[at:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        if out[:4] == b'\x7fELF':
            open('out/%s.vmlinux' % name, 'wb').write(out)
            sys.exit()
        at = image.find(magic, at + 1)
sys.exit('no vmlinux in it')
P
