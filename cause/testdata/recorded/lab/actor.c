/* actor: one task of a recording; it measures itself on CLOCK_MONOTONIC and prints at its end.
 * actor NAME POLICY(F|R|O|D|I) PRIO MODE ...
 *   burn MS                       spin for MS of wall time, in user space
 *   loop PERIOD_US WORK_US N      sleep until k*PERIOD, note the lateness, work WORK_US of CPU; N times
 *   end  MB SLEEP_MS SPIN_US HOW  touch MB and lock them, sleep (SLEEP_MS<0: no sleep), spin SPIN_US of CPU, then
 *        HOW = exit | segv | selfkill | wait | exec | child | thread (a second thread that pauses) | forkexit
 *   forks FD N GAP_US             open descriptor number FD, then fork N children that exit at once, GAP_US apart
 *   bpf  N GAP_US                 7 seccomp filters of 4000 steps, then N getppid(), GAP_US of sleep between
 *   pong CPU PEERCPU N GAP_US     a thread on PEERCPU sleeps in a futex, the one on CPU wakes it every GAP_US
 * PRIO of D is "runtime_us,period_us". WORK is counted in loops that were calibrated once. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char *name;
static char out[65536];
static int used;
static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#define say(...) do{ if(used<(int)sizeof out-200) used+=snprintf(out+used,sizeof out-used,__VA_ARGS__); }while(0)
static void flush(void)
{
	if (write(1, out, used) < 0) {
	}
	used = 0;
}

static void until(long long at)
{
	struct timespec t = { at / 1000000000LL, at % 1000000000LL };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0) == EINTR) ;
}

static double per_us = 1;
static void __attribute__((noinline)) loops(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile ("");
}

static void calibrate(void)
{
	double best = 0;
	for (int k = 0; k < 5; k++) {
		long long t = now();
		loops(200000);
		t = now() - t;
		double r = 200000 / (t / 1e3);
		if (r > best)
			best = r;
	}
	per_us = best;
}

static void work(long us)
{
	loops((long)(us * per_us));
}

struct dl {
	unsigned size, policy;
	unsigned long long flags;
	int nice;
	unsigned prio;
	unsigned long long runtime, deadline, period;
	unsigned umin, umax;
};
static void become(char pol, char *prio)
{
	if (pol == 'D') {
		long r = atol(prio), p = atol(strchr(prio, ',') + 1);
		struct dl a = {.size = 48,.policy = 6,.runtime = r * 1000,.deadline =
			    p * 1000,.period = p * 1000 };
		if (syscall(SYS_sched_setattr, 0, &a, 0)) {
			perror("sched_setattr");
			_exit(1);
		}
		return;
	}
	struct sched_param sp = {.sched_priority = pol == 'F' || pol == 'R' ? atoi(prio) : 0 };
	int p =
	    pol == 'F' ? SCHED_FIFO : pol == 'R' ? SCHED_RR : pol == 'I' ? SCHED_IDLE : SCHED_OTHER;
	if (pol != 'O' && sched_setscheduler(0, p, &sp)) {
		perror("sched_setscheduler");
		_exit(1);
	}
	if (pol == 'O' && atoi(prio))
		setpriority(PRIO_PROCESS, 0, atoi(prio));
}

static void loop(long period, long w, long n)
{
	long long t0 = now() + 1000000, sum = 0, max = 0, maxat = 0;
	int over = 0;
	long skipped = 0;
	long long next = t0 + period * 1000;
	long long big[32][2];
	for (long k = 0; k < n; k++) {
		until(next);
		long long t = now(), l = t - next;
		sum += l;
		if (l > max) {
			max = l;
			maxat = next;
		}
		if (l > 1000000) {
			if (over < 32) {
				big[over][0] = next;
				big[over][1] = l;
			}
			over++;
		}
		if (w)
			work(w);
		t = now();
		next += period * 1000;
		while (next < t) {
			next += period * 1000;
			skipped++;
		}
	}
	say("%s pid %d n %ld late us avg %.1f max %.1f (due %.9f) over1ms %d skipped %ld\n", name,
	    getpid(), n, sum / 1e3 / n, max / 1e3, maxat / 1e9, over, skipped);
	for (int i = 0; i < over && i < 32; i++)
		say("  due %.9f late %.3f us\n", big[i][0] / 1e9, big[i][1] / 1e3);
}

static void *pausing(void *a)
{
	prctl(PR_SET_NAME, (char *)a);
	for (;;)
		pause();
	return 0;
}

static void end(long mb, long sleep_ms, long spin, char *how, char pol, char *prio)
{
	char *p = NULL;
	if (mb) {
		p = mmap(0, mb << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED) {
			perror("mmap");
			_exit(1);
		}
		madvise(p, mb << 20, MADV_NOHUGEPAGE);
		for (long i = 0; i < mb << 20; i += 4096)
			p[i] = 1;
		mlockall(MCL_CURRENT | MCL_FUTURE);
	}
	become(pol, prio);
	if (!strcmp(how, "thread")) {
		pthread_t t;
		pthread_create(&t, 0, pausing, "hogmate");
		how = "exit";
	}
	if (sleep_ms > 0)
		usleep(sleep_ms * 1000);
	if (!strcmp(how, "child")) {
		if (fork()) {
			wait(0);
			return;
		}
		how = "exit";
	}
	long long a = now();
	if (spin)
		work(spin);
	long long b = now();
	say("%s pid %d mb %ld: own work from %.9f to %.9f (%.3f us), then %s\n", name, getpid(), mb,
	    a / 1e9, b / 1e9, (b - a) / 1e3, how);
	flush();
	b = now();
	if (!strcmp(how, "exit")) {
		say("%s pid %d calls _exit at %.9f\n", name, getpid(), b / 1e9);
		flush();
		_exit(0);
	}
	if (!strcmp(how, "quiet"))
		_exit(0);
	if (!strcmp(how, "segv")) {
		volatile char *volatile q = (char *)16;
		*q = 1;
	}
	if (!strcmp(how, "selfkill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "wait"))
		for (;;)
			pause();
	if (!strcmp(how, "exec")) {
		char *a[] = { "true", NULL };
		execv("/usr/bin/nothing", a);
		perror("exec");
		_exit(1);
	}
	if (!strcmp(how, "forkexit")) {
		if (fork() == 0)
			_exit(0);
		b = now();
		say("%s pid %d calls _exit at %.9f\n", name, getpid(), b / 1e9);
		flush();
		_exit(0);
	}
}

static void forks(long fd, long n, long gap)
{
	struct rlimit r = { fd + 10, fd + 10 };
	if (setrlimit(RLIMIT_NOFILE, &r)) {
		perror("nofile");
		_exit(1);
	}
	if (fd > 9 && dup2(0, fd) < 0) {
		perror("dup2");
		_exit(1);
	}
	long long next = now(), max = 0, sum = 0;
	for (long k = 0; k < n; k++) {
		next += gap * 1000;
		until(next);
		long long a = now();
		pid_t c = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (c == 0)
			_exit(0);
		long long d = now() - a;
		sum += d;
		if (d > max)
			max = d;
		waitpid(c, 0, 0);
	}
	say("%s pid %d forks %ld with descriptor %ld: clone took us avg %.1f max %.1f\n", name,
	    getpid(), n, fd, sum / 1e3 / n, max / 1e3);
}

static void bpf(long n, long gap)
{
	static struct sock_filter f[4001];
	for (int i = 0; i < 4000; i++)
		f[i] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, (unsigned)i | 1);
	f[4000] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	f[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	struct sock_fprog p = { 4001, f };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (int i = 0; i < 7; i++)
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p)) {
			perror("seccomp");
			_exit(1);
		}
	long long max = 0, sum = 0;
	for (long k = 0; k < n; k++) {
		long long a = now();
		syscall(SYS_getppid);
		long long d = now() - a;
		sum += d;
		if (d > max)
			max = d;
		if (gap)
			work(gap);
	}
	say("%s pid %d getppid behind 7x4001 BPF steps %ld times: us avg %.1f max %.1f\n", name,
	    getpid(), n, sum / 1e3 / n, max / 1e3);
}

static volatile int word;
static volatile long long stamp;
static int pn;
static long long plat[4096];
static void pin(int cpu)
{
	cpu_set_t s;
	CPU_ZERO(&s);
	CPU_SET(cpu, &s);
	if (sched_setaffinity(0, sizeof s, &s))
		perror("affinity");
}

static void *peer(void *a)
{
	prctl(PR_SET_NAME, "pongee");
	pin((long)a);
	for (int k = 1; k <= pn; k++) {
		while (word < k)
			syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, k - 1, 0, 0, 0);
		plat[k - 1] = now() - stamp;
	}
	return 0;
}

static void pong(int cpu, int other, int n, long gap)
{
	pn = n > 4096 ? 4096 : n;
	pthread_t t;
	pin(cpu);
	pthread_create(&t, 0, peer, (void *)(long)other);
	usleep(20000);
	for (int k = 1; k <= pn; k++) {
		usleep(gap);
		stamp = now();
		word = k;
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	}
	pthread_join(t, 0);
	long long sum = 0, max = 0;
	int at = 0;
	for (int i = 0; i < pn; i++) {
		sum += plat[i];
		if (plat[i] > max) {
			max = plat[i];
			at = i;
		}
	}
	say("%s pid %d woke %d times from CPU %d to CPU %d: us avg %.1f max %.1f (no. %d)\n", name,
	    getpid(), pn, cpu, other, sum / 1e3 / pn, max / 1e3, at);
}

int main(int c, char **v)
{
	if (c < 5) {
		fprintf(stderr, "usage: see source\n");
		return 2;
	}
	name = v[1];
	prctl(PR_SET_NAME, name);
	calibrate();
	if (strcmp(v[4], "end") && strcmp(v[4], "forks") && strcmp(v[4], "bpf")
	    && strcmp(v[4], "pong"))
		mlockall(MCL_CURRENT | MCL_FUTURE);
#define A(i) (c>(i)?atol(v[i]):0)
	if (strcmp(v[4], "end"))
		become(v[2][0], v[3]);	/* end: first its memory, then its class */
	if (!strcmp(v[4], "burn")) {
		long long a = now(), e = a + A(5) * 1000000LL;
		while (now() < e) ;
		say("%s pid %d spun from %.9f to %.9f\n", name, getpid(), a / 1e9, now() / 1e9);
	} else if (!strcmp(v[4], "loop"))
		loop(A(5), A(6), A(7));
	else if (!strcmp(v[4], "end"))
		end(A(5), A(6), A(7), c > 8 ? v[8] : "exit", v[2][0], v[3]);
	else if (!strcmp(v[4], "forks"))
		forks(A(5), A(6), A(7));
	else if (!strcmp(v[4], "bpf"))
		bpf(A(5), A(6));
	else if (!strcmp(v[4], "pong"))
		pong(A(5), A(6), A(7), A(8));
	flush();
	return 0;
}
