#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
mount -t debugfs none /sys/kernel/debug
echo 1 > /sys/kernel/debug/sched/verbose 2>/dev/null
state() {
	echo "state $1"
	cd /sys/kernel/debug/sched/domains
	grep -H . cpu*/domain*/* 2>/dev/null | grep -v max_newidle | sed 's/:/ /'
	awk '/^cpu/ {c=$1} /^domain/ {print "schedstat", c, $1, $2, $3}' /proc/schedstat
	cd /
	dmesg -c | grep -E 'attaching|domain-|groups:|root domain|ERROR' | sed 's/^\[[^]]*\] //; s/^/dmesg /'
	cat /sys/devices/system/cpu/isolated | sed 's/^/isolated /'
	cat /sys/devices/system/cpu/nohz_full 2>/dev/null | sed 's/^/nohz_full /'
}
cat /proc/version
state boot
if grep -q cpusets /proc/cmdline; then
	mkdir /tmp/cg; mount -t cgroup2 none /tmp/cg
	echo +cpuset > /tmp/cg/cgroup.subtree_control
	mkdir /tmp/cg/a /tmp/cg/b
	echo 0-3 > /tmp/cg/a/cpuset.cpus; echo root > /tmp/cg/a/cpuset.cpus.partition; echo "partition a $(cat /tmp/cg/a/cpuset.cpus.partition)"
	sleep 1; state "a is root with 0-3"
	echo 6 > /tmp/cg/b/cpuset.cpus; echo isolated > /tmp/cg/b/cpuset.cpus.partition; echo "partition b $(cat /tmp/cg/b/cpuset.cpus.partition)"
	sleep 1; state "b is isolated with 6"
	mkdir /tmp/cg/c; echo 1-5 > /tmp/cg/c/cpuset.cpus;  echo "c effective $(cat /tmp/cg/c/cpuset.cpus.effective)"
	echo root > /tmp/cg/c/cpuset.cpus.partition; echo "partition c $(cat /tmp/cg/c/cpuset.cpus.partition)"; cat /tmp/cg/cpuset.cpus.effective
	mkdir /tmp/cg/a/d;  echo 0 > /tmp/cg/a/d/cpuset.cpus 2>&1; echo root > /tmp/cg/a/d/cpuset.cpus.partition; echo "partition d $(cat /tmp/cg/a/d/cpuset.cpus.partition)"
	mkdir /tmp/cg/e; mkdir /tmp/cg/e/f; echo +cpuset > /tmp/cg/e/cgroup.subtree_control;  echo 4-5 > /tmp/cg/e/f/cpuset.cpus; echo root > /tmp/cg/e/f/cpuset.cpus.partition; echo "partition f $(cat /tmp/cg/e/f/cpuset.cpus.partition)"
	echo 4-5 > /tmp/cg/e/cpuset.cpus; echo root > /tmp/cg/e/f/cpuset.cpus.partition; echo "partition f $(cat /tmp/cg/e/f/cpuset.cpus.partition)"
	echo 0-7 > /tmp/cg/b/cpuset.cpus; echo "partition b $(cat /tmp/cg/b/cpuset.cpus.partition)"
fi
echo END
poweroff -f
