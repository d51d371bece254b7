/* load: the load of a prediction. Every task begins at an instant that was chosen before the
 * recording, so that the model can be told the same instant.
 *   load T0_MS TASK...     T0_MS: CLOCK_MONOTONIC of the common start, in ms; +MS: after a whole second
 *   TASK = NAME:POLICY:START_US:MB:OPS   POLICY = F10 R11 O0 (nice) D3000/10000; START_US after T0;
 *   F10@2: on CPU 2, F10@*: on all, without @ on CPU 0; a deadline task on all
 * OPS, with commas between them:
 *   bMS            spin for MS by the clock            rUS        US of work (2 instructions are 2 ns)
 *   pP/W/N         N rounds: sleep to the next multiple of P us, note the lateness, W us of work
 *   lP/M/W/N       the same with the work under mutex M
 *   sUS            sleep until US after T0             zUS        sleep for US
 *   LM UM          lock, unlock mutex M (priority inheritance, robust, shared between processes)
 *   nM             lock, unlock mutex M; the wait is noted
 *   o              become SCHED_OTHER                  e          _exit at once
 *   x              SIGSEGV                             w          pause
 *   kNAME          SIGKILL to NAME                     dN         N reads of 1,310,720 bytes from /dev/sda, past the cache
 * A task of MB > 0 touches and locks so much before T0. Nothing is printed before all have ended.
 * The parent waits for the children as a fair task and notes when each death reached it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
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
#define MAXT 16
#define MAXN 4096
struct task {
	char name[16];
	int pid;
	long long sum, max, maxat, n, over1ms, missed, end, reaped;
	int nnote;
	struct { char what[40]; long long at, ns; } note[64];
};
static struct shared {
	pthread_mutex_t m[8];
	struct task t[MAXT];
} *sh;
static long long t0;
static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static void until(long long at)
{
	struct timespec t = { at / 1000000000LL, at % 1000000000LL };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0) == EINTR) ;
}
static void work(long us)
{
	long n = us * 500;
	if (n > 0)
		__asm__ volatile ("1: dec %0\n\tjnz 1b":"+r" (n));
}
static void note(struct task *k, const char *what, long long at, long long ns)
{
	if (k->nnote < 64) {
		snprintf(k->note[k->nnote].what, 40, "%s", what);
		k->note[k->nnote].at = at;
		k->note[k->nnote++].ns = ns;
	}
}
struct dl { unsigned size, policy; unsigned long long flags; int nice; unsigned prio; unsigned long long runtime, deadline, period; unsigned umin, umax; };
static void become(const char *p)
{
	long v = atol(p + 1);
	if (*p == 'D') {
		struct dl a = {.size = 48,.policy = 6,.runtime = v * 1000,.deadline = atol(strchr(p, '/') + 1) * 1000 };
		a.period = a.deadline;
		if (syscall(SYS_sched_setattr, 0, &a, 0))
			perror("sched_setattr");
		return;
	}
	struct sched_param sp = {.sched_priority = *p == 'O' ? 0 : v };
	if (sched_setscheduler(0, *p == 'F' ? SCHED_FIFO : *p == 'R' ? SCHED_RR : SCHED_OTHER, &sp))
		perror("sched_setscheduler");
	if (*p == 'O' && v)
		setpriority(PRIO_PROCESS, 0, v);
}
static void rounds(struct task *k, long period, long w, long n, int mutex, long long begin)
{
	long long next = begin + period * 1000;
	for (long i = 0; i < n; i++) {
		/* as rt-app's relative timers: who is too late does not sleep, and the grid begins anew */
		if (now() >= next) {
			next = now();
			if (k->missed++ < 8)
				note(k, "missed", next, 0);
		} else
			until(next);
		long long l = now() - next;
		k->sum += l;
		k->n++;
		if (l > k->max) { k->max = l; k->maxat = next; }
		if (l > 1000000) {
			if (k->over1ms++ < 48)
				note(k, "late", next, l);
		}
		if (mutex >= 0) {
			long long a = now();
			pthread_mutex_lock(&sh->m[mutex]);
			a = now() - a;
			if (a > 200000)
				note(k, "lock", next, a);
		}
		work(w);
		if (mutex >= 0)
			pthread_mutex_unlock(&sh->m[mutex]);
		next += period * 1000;
	}
}
static void ops(struct task *k, char *s, const char *pol, long long begin)
{
	for (char *o = strtok(s, ","); o; o = strtok(NULL, ",")) {
		long a = atol(o + 1), b = 0, c = 0, d = 0;
		long long t = now();
		switch (*o) {
		case 'b': while (now() < t + a * 1000000LL) ; break;
		case 'r': work(a); break;
		case 'p': sscanf(o, "p%ld/%ld/%ld", &a, &b, &c); rounds(k, a, b, c, -1, begin); break;
		case 'l': sscanf(o, "l%ld/%ld/%ld/%ld", &a, &d, &b, &c); rounds(k, a, b, c, d, begin); break;
		case 's': until(t0 + a * 1000LL); note(k, "slept, late", t0 + a * 1000LL, now() - t0 - a * 1000LL); break;
		case 'z': until(t + a * 1000LL); break;
		case 'L': { int e = pthread_mutex_lock(&sh->m[a]); note(k, e == EOWNERDEAD ? "locked, owner dead" : "locked", t, now() - t); if (e == EOWNERDEAD) pthread_mutex_consistent(&sh->m[a]); break; }
		case 'U': pthread_mutex_unlock(&sh->m[a]); break;
		case 'n': pthread_mutex_lock(&sh->m[a]); note(k, "lock", t, now() - t); pthread_mutex_unlock(&sh->m[a]); break;
		case 'o': become("O0"); break;
		case 'e': k->end = now(); _exit(0);
		case 'd': { int fd = open("/dev/sda", O_RDONLY | O_DIRECT); char *b = mmap(0, 1310720, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0); long bad = fd < 0; for (long i = 0; i < a; i++) bad += read(fd, b, 1310720) != 1310720; note(k, bad ? "FAILED" : "read", t, now() - t); break; }
		case 'x': k->end = now(); { volatile char *volatile q = (char *)16; *q = 1; } break;
		case 'w': for (;;) pause();
		case 'k': for (int i = 0; i < MAXT; i++) if (!strcmp(sh->t[i].name, o + 1)) { note(k, o, now(), 0); kill(sh->t[i].pid, SIGKILL); } break;
		}
	}
	k->end = now();
	_exit(0);
}
int main(int c, char **v)
{
	sh = mmap(0, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(sh, 0, sizeof *sh);
	pthread_mutexattr_t at;
	pthread_mutexattr_init(&at);
	pthread_mutexattr_setpshared(&at, PTHREAD_PROCESS_SHARED);
	if (!getenv("NOPI")) pthread_mutexattr_setprotocol(&at, PTHREAD_PRIO_INHERIT);
	pthread_mutexattr_setrobust(&at, PTHREAD_MUTEX_ROBUST);
	for (int i = 0; i < 8; i++)
		pthread_mutex_init(&sh->m[i], &at);
	/* +MS: MS after the first whole second that is at least 3 s away: ticks and the real-time
	 * period keep their phase to it */
	t0 = atoll(v[1]) * 1000000LL;
	if (*v[1] == '+')
		t0 += (now() / 1000000000LL + 4) * 1000000000LL;
	int n = c - 2;
	for (int i = 0; i < n; i++) {
		char *f[5], *p = v[i + 2];
		for (int j = 0; j < 5; j++) { f[j] = p; p = j < 4 ? strchr(p, ':') : 0; if (p) *p++ = 0; else if (j < 4) return 2; }
		struct task *k = &sh->t[i];
		snprintf(k->name, 16, "%s", f[0]);
		int pid = fork();
		if (pid) { k->pid = pid; continue; }
		prctl(PR_SET_NAME, k->name);
		long mb = atol(f[3]);
		if (mb) {
			char *m = mmap(0, mb << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			madvise(m, mb << 20, MADV_NOHUGEPAGE);
			for (long j = 0; j < mb << 20; j += 4096) m[j] = 1;
		}
		mlockall(MCL_CURRENT | MCL_FUTURE);
		cpu_set_t s; CPU_ZERO(&s); char *on = strchr(f[1], '@'); CPU_SET(on ? atol(on + 1) : 0, &s);
		if (!getenv("NOPIN") && *f[1] != 'D' && !(on && on[1] == '*')) sched_setaffinity(0, sizeof s, &s);
		become(f[1]);
		long long begin = t0 + atoll(f[2]) * 1000LL;
		if (now() > begin) { note(k, "TOO LATE", begin, now() - begin); }
		until(begin);
		ops(k, f[4], f[1], begin);
	}
	for (int i = 0; i < n; i++) {
		int st, p = wait(&st);
		long long t = now();
		for (int j = 0; j < n; j++) if (sh->t[j].pid == p) sh->t[j].reaped = t;
	}
	printf("T0 %.9f\n", t0 / 1e9);
	for (int i = 0; i < n; i++) {
		struct task *k = &sh->t[i];
		printf("%s pid %d end %.9f reaped %.9f (%.1f us after)", k->name, k->pid, k->end / 1e9, k->reaped / 1e9, k->end ? (k->reaped - k->end) / 1e3 : 0.0);
		if (k->n) printf(" n %lld late us avg %.1f max %.1f (due %.9f) over1ms %lld missed %lld", k->n, k->sum / 1e3 / k->n, k->max / 1e3, k->maxat / 1e9, k->over1ms, k->missed);
		printf("\n");
		for (int j = 0; j < k->nnote; j++) printf("  %s %.9f %.3f us\n", k->note[j].what, k->note[j].at / 1e9, k->note[j].ns / 1e3);
	}
	return 0;
}
