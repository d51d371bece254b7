/* peltlog US NAME...: every US from 50 ms before T0 of fairload, as SCHED_FIFO 2, what /proc/PID/sched says of the load tracking of the tasks called NAME goes into
 * trace_marker, where it is another than the last time:
 *   pelt NAME last_update_time load_sum runnable_sum util_sum load_avg runnable_avg util_avg util_est
 * as the kernel has them. What it reads are the averages of the task's last update, at last_update_time of the scheduler's clock.
 * On 6.1 util_est is util_est.ewma/util_est.enqueued. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8 };

static const char *const keys[] = { "last_update_time", "load_sum", "runnable_sum", "util_sum", "load_avg", "runnable_avg", "util_avg" };

/* slurp reads a file of /proc. */
static char *slurp(const char *path)
{
	static char text[8192];
	int fd = open(path, O_RDONLY);
	long n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return text;
}

/* value finds what stands behind "se.avg.KEY" in text. */
static unsigned long long value(const char *text, const char *key)
{
	char name[64];
	snprintf(name, sizeof name, "\nse.avg.%s ", key);
	const char *at = strstr(text, name);
	return at ? strtoull(strchr(at, ':') + 1, NULL, 10) : 0;
}

/* find waits for a task of that name, and makes path its file. */
static void find(const char *name, char *path, size_t n)
{
	for (*path = 0; !*path; usleep(20000)) {
		glob_t g;
		if (glob("/proc/[0-9]*/comm", 0, NULL, &g))
			continue;
		for (size_t i = 0; i < g.gl_pathc; i++) {
			char *comm = slurp(g.gl_pathv[i]);
			comm[strcspn(comm, "\n")] = 0;
			if (!strcmp(comm, name))
				snprintf(path, n, "%.*s/sched", (int)(strlen(g.gl_pathv[i]) - 5), g.gl_pathv[i]);
		}
		globfree(&g);
	}
}

int main(int c, char **v)
{
	static char path[MOST][64], last[MOST][256];
	if (c < 3 || c - 2 > MOST)
		return 2;
	for (int i = 2; i < c; i++)
		find(v[i], path[i - 2], sizeof path[0]);
	struct sched_param p = {.sched_priority = 2 };
	if (sched_setscheduler(0, SCHED_FIFO, &p))
		return 1;
	while (*slurp("/sys/kernel/tracing/tracing_on") != '1')	/* which fairload sets 3 s before T0 */
		usleep(20000);
	usleep(2930000);
	int marker = open("/sys/kernel/tracing/trace_marker", O_WRONLY);
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	long long us = atol(v[1]), at = t.tv_sec * 1000000000LL + t.tv_nsec / 1000000 * 1000000;
	for (;;) {
		at += us * 1000;
		t = (struct timespec) { at / 1000000000LL, at % 1000000000LL };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		for (int i = 2; i < c; i++) {
			char line[256], *text = slurp(path[i - 2]);
			int n = snprintf(line, sizeof line, "pelt %s", v[i]);
			for (unsigned k = 0; k < sizeof keys / sizeof *keys; k++)
				n += snprintf(line + n, sizeof line - n, " %llu", value(text, keys[k]));
			if (strstr(text, "util_est.ewma"))
				snprintf(line + n, sizeof line - n, " %llu/%llu", value(text, "util_est.ewma"), value(text, "util_est.enqueued"));
			else
				snprintf(line + n, sizeof line - n, " %llu", value(text, "util_est"));
			if (!strcmp(line, last[i - 2]))
				continue;
			strcpy(last[i - 2], line);
			dprintf(marker, "%s", line);
		}
	}
}
