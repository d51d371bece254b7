/* fairload: a load of fair tasks that is described by a file, so that a model can run the same.
 *   fairload FILE [STATES [whole]]   STATES: how often the scheduler's state is taken within the run (default 2)
 *
 * FILE has a line for each of these; # begins a comment:
 *   seed N                      of all that is drawn (default 1)
 *   run MS                      how long the load is watched, from T0
 *   turns N                     of the loop of 1 us of work (default 500)
 *   group PATH KEY=VALUE...     a cgroup, the outer ones first: weight=W idle=1 max=QUOTA/PERIOD burst=US
 *   task NAME START POLICY GROUP OPS   a process that begins its OPS at T0 + START us (may be drawn), in GROUP (/: the root;
 *                               auto: the root, in a session of its own, so in an autogroup)
 *   proc NAME OPS               what a task may fork; it inherits everything
 * POLICY: oN (SCHED_OTHER, nice N), bN (SCHED_BATCH), i (SCHED_IDLE); o0/3000: with a slice of 3000 us; f10: SCHED_FIFO
 * OPS, with blanks between; A-B is drawn anew each time, from A to B:
 *   rA-B     work of so many us: 500 turns of a loop of two instructions are 1 us where an instruction takes 1 ns
 *   zA-B     sleep so long        pUS      sleep until the next multiple of US after START
 *   y        sched_yield          aPOLICY  another policy        cGROUP   into another group
 *   vN wN    post to, wait for semaphore N, by futexes
 *   fNAME    fork proc NAME       j        wait until all children have ended
 *   kMASK    only these CPUs, hexadecimal; as the first op of a task from its beginning, before T0
 *   xA,B...  become program A with arguments B..., which says nothing
 *   N*( )    N times what is inside, *( ) for ever; without ( at its end a task exits
 *
 * Draws: each task has its own x, at first seed*1000003 + its line among tasks and procs from 0, for its START, too; a forked one
 * begins with x of its parent + 1000 * the number of the fork. x = x*6364136223846793005 + 1442695040888963407
 * mod 2^64 for each draw, which is A + (x >> 33) mod (B - A + 1).
 *
 * All tasks are made, placed and asleep before T0, a whole second of CLOCK_MONOTONIC. About 4 s before it each
 * runs once more while nothing else does, for 3 ms of virtual time: so it has no lag when it goes to sleep, and its
 * virtual time is above 0 (the kernel prints no sign for what is less than 1 ms below). In a group with cpu.idle
 * it would run far ahead of the others, and does not. 3 s before T0 tracing_on is set and the state of the scheduler read;
 * at T0 all averages have decayed. At T0 + MS the state is read again, tracing_on cleared, and everything killed and
 * printed. This parent is SCHED_FIFO 1 and reads the state within the run as well; each time is marked in
 * the trace (state N begin, state N end). With a third argument tracing_on is set before anything is made, and nothing runs alone: then all
 * of the tasks is in the trace. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"
#define TRACING "/sys/kernel/tracing"
enum { MAXLINES = 64, MAXWORDS = 96, MAXSTATES = 8, STATE_BYTES = 1 << 18 };

/* line is a task or a proc. */
static struct line {
	char *name, *policy, *group, *ops[MAXWORDS];
	int nops, is_task;
	long start;
	unsigned long long x;	/* after START was drawn */
} lines[MAXLINES];

/* Of each line, shared by all processes that run it. */
static struct shared {
	struct told {
		int pid, ready;
		long ended;	/* how many have exited */
		long long cpu_ns;	/* their CPU time */
		long long last_end;
	} told[MAXLINES];
	int sem[16];
	long long t0;
} *sh;

static int nlines;
static unsigned long long seed = 1;
static long run_ms = 1000, turns = 500;
static int whole;	/* the tasks' making is traced as well */
static char state_text[MAXSTATES][STATE_BYTES];

/* Of the process itself. */
static int self;		/* index of its line */
static unsigned long long draws, forks;

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static long long now(clockid_t c)
{
	struct timespec t;
	if (clock_gettime(c, &t))
		return -1;
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void until(long long at)
{
	struct timespec t = { at / 1000000000LL, at % 1000000000LL };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0) == EINTR) ;
}

static void work(long us)
{
	long n = us * turns;
	if (n > 0)
		__asm__ volatile ("1: dec %0\n\tjnz 1b":"+r" (n));
}

/* put writes text into the file of that name. */
static void put(const char *text, const char *name, ...)
{
	char path[256];
	va_list ap;
	va_start(ap, name);
	vsnprintf(path, sizeof path, name, ap);
	va_end(ap);
	int fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "%s: %s: %s\n", path, text, strerror(errno));
	close(fd);
}

/* first_line reads that of a file of /proc/pid or of a group; "" where there is none. */
static char *first_line(const char *format, ...)
{
	static char text[4096];
	va_list ap;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	int fd = open(text, O_RDONLY);
	long n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	return text;
}

/* sched_attr of sched_setattr(2). */
struct attr {
	unsigned size, policy;
	unsigned long long flags;
	int nice;
	unsigned prio;
	unsigned long long runtime, deadline, period;
};

static void become(const char *p)
{
	struct attr a = {.size = sizeof a };
	const char *slice = strchr(p, '/');
	switch (*p) {
	case 'o': a.policy = SCHED_OTHER; a.nice = atoi(p + 1); break;
	case 'b': a.policy = SCHED_BATCH; a.nice = atoi(p + 1); break;
	case 'i': a.policy = SCHED_IDLE; break;
	case 'f': a.policy = SCHED_FIFO; a.prio = atoi(p + 1); break;
	}
	if (slice)
		a.runtime = atol(slice + 1) * 1000ULL;
	if (syscall(SYS_sched_setattr, 0, &a, 0))
		perror(p);
}

static void join(const char *group)
{
	if (!strcmp(group, "auto"))
		setsid();
	else
		put("0", "%s/%s/cgroup.procs", CGROUPS, group);
}

static void group(char *path, char *keys)
{
	char name[256];
	snprintf(name, sizeof name, "%s/%s", CGROUPS, path);
	char *up = strrchr(name, '/');
	*up = 0;
	put("+cpu", "%s/cgroup.subtree_control", name);
	*up = '/';
	if (mkdir(name, 0755))
		fail(name);
	for (char *k = strtok(keys, " "); k; k = strtok(NULL, " ")) {
		char *v = strchr(k, '=');
		if (!v)
			continue;
		*v++ = 0;
		if (strchr(v, '/'))
			*strchr(v, '/') = ' ';
		put(v, strcmp(k, "burst") ? "%s/%s/cpu.%s" : "%s/%s/cpu.max.%s", CGROUPS, path, k);
	}
}

/* draw is the number of an op: A, or one of A-B. */
static long draw(const char *s)
{
	long a = atol(s);
	const char *to = strchr(s, '-');
	if (!to)
		return a;
	draws = draws * 6364136223846793005ULL + 1442695040888963407ULL;
	return a + (long)((draws >> 33) % (unsigned long)(atol(to + 1) - a + 1));
}

static void futex(int *at, int op, int value)
{
	syscall(SYS_futex, at, op, value, NULL, NULL, 0);
}

static void post(int *s)
{
	__atomic_add_fetch(s, 1, __ATOMIC_SEQ_CST);
	futex(s, FUTEX_WAKE, 1);
}

static void take(int *s)
{
	for (;;) {
		int v = __atomic_load_n(s, __ATOMIC_SEQ_CST);
		if (v == 0)
			futex(s, FUTEX_WAIT, 0);
		else if (__atomic_compare_exchange_n(s, &v, v - 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return;
	}
}

static void begin(int line);

static void fork_proc(const char *name)
{
	forks++;
	for (int i = 0; i < nlines; i++) {
		if (lines[i].is_task || strcmp(lines[i].name, name))
			continue;
		int pid = fork();
		if (pid < 0)
			perror("fork");
		if (pid == 0) {
			draws += 1000 * forks;
			forks = 0;
			begin(i);
		}
		return;
	}
	fprintf(stderr, "no proc %s\n", name);
}

/* next_multiple sleeps until the next multiple of us after the task's start. */
static void next_multiple(long us)
{
	long long from = sh->t0 + lines[self].start * 1000LL, period = us * 1000LL;
	until(from + ((now(CLOCK_MONOTONIC) - from) / period + 1) * period);
}

static void only_on(const char *mask)
{
	unsigned long m = strtoul(mask, NULL, 16);
	if (syscall(SYS_sched_setaffinity, 0, sizeof m, &m) < 0)
		perror(mask);
}

static void become_program(const char *words)
{
	char *w[MAXWORDS] = { 0 }, *rest = strdup(words);
	int quiet = open("/dev/null", O_RDWR);
	for (int i = 0; i < MAXWORDS - 1 && (w[i] = strsep(&rest, ",")); i++) ;
	dup2(quiet, 1);
	dup2(quiet, 2);
	execvp(w[0], w);
	fail(w[0]);
}

static void op(const char *o)
{
	switch (*o) {
	case 'r': work(draw(o + 1)); break;
	case 'z': until(now(CLOCK_MONOTONIC) + draw(o + 1) * 1000LL); break;
	case 'p': next_multiple(draw(o + 1)); break;
	case 'y': sched_yield(); break;
	case 'a': become(o + 1); break;
	case 'c': join(o + 1); break;
	case 'v': post(&sh->sem[atoi(o + 1)]); break;
	case 'w': take(&sh->sem[atoi(o + 1)]); break;
	case 'f': fork_proc(o + 1); break;
	case 'j': while (wait(NULL) > 0) ; break;
	case 'k': only_on(o + 1); break;
	case 'x': become_program(o + 1); break;
	default: fail(o);
	}
}

/* ops runs the words from i to the ) that closes them, and returns where that is. */
static int ops(char **word, int n, int i, int skip)
{
	for (; i < n && strcmp(word[i], ")"); i++) {
		char *open = strstr(word[i], "*(");
		if (!open) {
			if (!skip)
				op(word[i]);
			continue;
		}
		long times = open == word[i] ? -1 : draw(word[i]);
		int end = ops(word, n, i + 1, 1);
		for (; !skip && times; times -= times > 0)
			ops(word, n, i + 1, 0);
		i = end;
	}
	return i;
}

/* begin runs a line in this process and exits. */
static void begin(int line)
{
	self = line;
	prctl(PR_SET_NAME, lines[line].name);
	ops(lines[line].ops, lines[line].nops, 0, 0);
	struct told *t = &sh->told[line];
	__atomic_add_fetch(&t->ended, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&t->cpu_ns, now(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_SEQ_CST);
	t->last_end = now(CLOCK_MONOTONIC);
	_exit(0);
}

static void read_file(const char *path)
{
	static char text[1 << 16];
	FILE *f = fopen(path, "r");
	if (!f)
		fail(path);
	while (fgets(text, sizeof text, f)) {
		char *w[4] = { 0 }, *rest = text;
		text[strcspn(text, "#\n")] = 0;
		char *what = strtok_r(rest, " ", &rest);
		if (!what)
			continue;
		if (!strcmp(what, "seed"))
			seed = strtoull(rest, NULL, 10);
		else if (!strcmp(what, "run"))
			run_ms = atol(rest);
		else if (!strcmp(what, "turns"))
			turns = atol(rest);
		else if (!strcmp(what, "group")) {
			w[0] = strtok_r(rest, " ", &rest);
			group(w[0], rest);
		} else if (nlines < MAXLINES) {
			struct line *l = &lines[nlines++];
			l->is_task = !strcmp(what, "task");
			for (int i = 0; i < (l->is_task ? 4 : 1); i++)
				if (!(w[i] = strtok_r(rest, " ", &rest)))
					fail(what);
			l->name = strdup(w[0]);
			if (l->is_task) {
				draws = seed * 1000003ULL + nlines - 1;
				l->start = draw(w[1]);
				l->x = draws;
				l->policy = strdup(w[2]);
				l->group = strdup(w[3]);
			}
			for (char *o; l->nops < MAXWORDS && (o = strtok_r(rest, " ", &rest));)
				l->ops[l->nops++] = strdup(o);
		}
	}
	fclose(f);
}

/* alone runs task i for 3 ms of virtual time at an instant of its own. */
static void alone(int i)
{
	struct line *l = &lines[i];
	long us = *l->policy == 'i' ? 9 : 3000;
	for (int nice = *l->policy == 'i' ? 0 : atoi(l->policy + 1); nice; nice -= nice > 0 ? 1 : -1)
		us = nice > 0 ? us * 4 / 5 : us * 5 / 4;
	until(sh->t0 - 4200000000LL + i * 40000000LL);
	if (strcmp(first_line(CGROUPS "/%s/cpu.idle", l->group), "1"))
		work(us);
}

static void start_task(int i)
{
	int pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid) {
		sh->told[i].pid = pid;
		return;
	}
	prctl(PR_SET_NAME, lines[i].name);
	draws = lines[i].x;
	join(lines[i].group);
	become(lines[i].policy);
	if (lines[i].nops && *lines[i].ops[0] == 'k')
		only_on(lines[i].ops[0] + 1);
	sh->told[i].ready = 1;
	if (!whole)
		alone(i);
	until(sh->t0 + lines[i].start * 1000LL);
	begin(i);
}

/* state reads what the kernel says of its queues, and marks that in the trace. */
static void state(int n, int marker)
{
	int fd = open("/sys/kernel/debug/sched/debug", O_RDONLY);
	long got, at = 0;
	dprintf(marker, "state %d begin", n);
	while (at < STATE_BYTES - 1 && (got = read(fd, state_text[n] + at, STATE_BYTES - 1 - at)) > 0)
		at += got;
	state_text[n][at] = 0;
	dprintf(marker, "state %d end", n);
	close(fd);
}

int main(int c, char **v)
{
	int states = c > 2 ? atoi(v[2]) : 2;
	if (c < 2 || states > MAXSTATES - 2)
		return 2;
	sh = mmap(0, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	memset(state_text, 1, sizeof state_text);	/* no page faults later */
	read_file(v[1]);
	sh->t0 = (now(CLOCK_MONOTONIC) / 1000000000LL + 6) * 1000000000LL;
	if ((whole = c > 3))
		put("1", TRACING "/tracing_on");
	for (int i = 0; i < nlines; i++)
		if (lines[i].is_task)
			start_task(i);
	for (int i = 0; i < nlines; i++)
		while (lines[i].is_task && !sh->told[i].ready)
			usleep(10000);
	for (int i = 0; i < nlines; i++)
		if (lines[i].is_task) {
			int pid = sh->told[i].pid;
			printf("start %s pid %d cgroup=\"%s\"", lines[i].name, pid, first_line("/proc/%d/cgroup", pid));
			printf(" autogroup=\"%s\"", first_line("/proc/%d/autogroup", pid));
			printf(" timerslack=\"%s\"\n", first_line("/proc/%d/timerslack_ns", pid));
		}
	fflush(stdout);
	become("f1");
	int marker = open(TRACING "/trace_marker", O_WRONLY);
	until(sh->t0 - 3000000000LL);
	put("1", TRACING "/tracing_on");
	state(0, marker);
	for (int i = 1; i <= states; i++) {
		until(sh->t0 + run_ms * 1000000LL / (states + 1) * i + 1100000);
		state(i, marker);
	}
	until(sh->t0 + run_ms * 1000000LL);
	long long cpu[MAXLINES];
	for (int i = 0; i < nlines; i++) {
		clockid_t k;
		cpu[i] = lines[i].is_task && !clock_getcpuclockid(sh->told[i].pid, &k) ? now(k) : -1;
	}
	state(states + 1, marker);
	put("0", TRACING "/tracing_on");
	for (int i = 0; i < nlines; i++)
		if (lines[i].is_task)
			kill(sh->told[i].pid, SIGKILL);
	printf("T0 %lld run_ms %ld seed %llu\n", sh->t0, run_ms, seed);
	for (int i = 0; i < nlines; i++) {
		struct told *t = &sh->told[i];
		printf("%s %s pid %d cpu_ns %lld ended %ld ended_cpu_ns %lld last_end %lld\n", lines[i].is_task ? "task" : "proc",
		       lines[i].name, t->pid, cpu[i], t->ended, t->cpu_ns, t->last_end);
	}
	for (int i = 0; i < states + 2; i++)
		printf("STATE %d\n%s\n", i, state_text[i]);
	return 0;
}
