# fairsnap.py NAME.dat NAME.said NAME.out LOAD OUT: OUT.dat.xz.sysinfo.json (docs/sysinfo.md) and OUT.truth.json of a recording
# of fair.sh, from what fairload said, what the guest printed and the description of the load.
# The snapshot is state 0, which was taken before T0; the truth are the states within and at the end,
# and what each task says of its CPU time.
import json, re, subprocess, sys

dat, said, out, load, to = sys.argv[1:]
said, out, load = open(said).read(), open(out).read(), open(load).read()
head, *states = re.split(r'^STATE \d+\n', said, flags=re.M)
trace = subprocess.run(['trace-cmd', 'report', '-t', '--cpu', '0', dat], capture_output=True, text=True).stdout


def ns(text):
    """The kernel prints ms with six digits, and what is less than 1 ms below 0 without its sign (which fairload keeps from happening)."""
    whole, part = text.split('.')
    v = abs(int(whole)) * 1000000 + int(part)
    return -v if whole.startswith('-') else v


def state(text):
    """clock_ns, runqueues, tasks by pid of one reading of sched/debug"""
    clock = ns(re.search(r'^ +\.clock +: (\S+)', text, re.M).group(1))
    rqs, tasks = {}, {}
    for m in re.finditer(r'^cfs_rq\[(\d+)\]:(\S+)\n((?: +\.\S+ +: \S+\n)*)', text, re.M):
        rqs[m.group(2)] = dict(re.findall(r'^ +\.(\S+) +: (\S+)', m.group(3), re.M))
    for l in text[text.index('runnable tasks:'):].splitlines()[3:]:
        m = re.match(r'[ >](\S) +(.+?) +(\d+) +(-?\d+\.\d{6}) +(.*?) +(\S+)$', l)
        if m:
            f = m.group(5).split()
            t = {'state': m.group(1), 'comm': m.group(2), 'vruntime': ns(m.group(4)), 'group': m.group(6), 'current': l[0] == '>'}
            if f[0] in 'EN':
                t['eligible'] = f[0] == 'E'
                t['deadline'] = ns(f[1])
                if t['vruntime'] < 0 < t['deadline'] < 1000000:  # in a group with cpu.idle, see fairload.c
                    t['deadline'] *= -1
                t['custom'] = f[2] == 'S'
                f = f[3:] if t['custom'] else f[2:]
                t['slice'], t['sum_exec'], t['prio'] = ns(f[0]), ns(f[1]), int(f[3])
            else:
                t['sum_exec'], t['prio'] = ns(f[3]), int(f[1])
            tasks[int(m.group(3))] = t
    return clock, rqs, tasks


def queue(path, q):
    d = {'cpu': 0, 'group': path}
    for k in 'min_vruntime', 'zero_vruntime', 'avg_vruntime':
        if k in q:
            d[k + '_ns'] = ns(q[k])
    if 'se->vruntime' in q:
        d['entity'] = {'vruntime_ns': ns(q['se->vruntime']), 'weight': int(q['se->load.weight'])}
    return d


def marks(n):
    """When state n was read, on the trace's clock."""
    at = [re.search(r'\s(\d+)\.(\d{9}): print: .*state %d %s' % (n, w), trace) for w in ('begin', 'end')]
    return [int(m.group(1) + m.group(2)) if m else None for m in at]


release = out.split('\n', 1)[0].strip()
attrs = {}
for m in re.finditer(r'^task +(\S+) +(\S+) +(\S+) +(\S+)', load, re.M):
    attrs[m.group(1)] = m.group(3)
started = {int(p): dict(re.findall(r'(\w+)="([^"]*)"', rest), name=name)
           for name, p, rest in re.findall(r'^start (\S+) pid (\d+)(.*)$', head, re.M)}
clock0, rqs0, tasks0 = state(states[0])
seen = {int(x) for pair in re.findall(r'\bpid=(\d+)|:(\d+) \[', trace) for x in pair if x}

snap = {'schema': 'whylate.sysinfo/1', 'time_ns': marks(0)[0], 'kernel': {'release': release, 'machine': 'x86_64'}}
settings = {'HZ': '250', 'highres': 'on', 'preempt': re.search(r'^preempt: .*\((\w+)\)', out, re.M).group(1)}
settings.update(re.findall(r'^sysctl (\S+) (\S+)', out, re.M))
for name, v in re.findall(r'^sched (\S+) (\S+)', out, re.M):
    if name.endswith('_ns') or name in ('tunable_scaling', 'nr_migrate'):
        settings['sched_' + name] = v
for option in 'CONFIG_IRQ_TIME_ACCOUNTING', 'CONFIG_PARAVIRT_TIME_ACCOUNTING', 'CONFIG_UCLAMP_TASK', 'CONFIG_RT_GROUP_SCHED':
    settings[option] = 'n'
for option in 'CONFIG_FAIR_GROUP_SCHED', 'CONFIG_CFS_BANDWIDTH', 'CONFIG_SCHED_AUTOGROUP':
    settings[option] = 'y'
snap['settings'] = [{'name': k, 'value': settings[k]} for k in sorted(settings)]
features = re.search(r'^features: (.*)$', out, re.M).group(1).split()
named = {}
for f in features:
    off = f.startswith('NO_')
    named[f[3:] if off else f] = not off
snap['features'] = [{'name': k, 'on': named[k]} for k in sorted(named)]
cpu = {'cpu': 0, 'online': True, 'core': -1, 'llc': -1, 'node': -1}
if release.startswith('6.12'):
    cpu['fair_server'] = {'runtime_ns': 50000000, 'period_ns': 1000000000}
snap['cpus'] = [cpu]
POLICY = {'o': 'SCHED_OTHER', 'b': 'SCHED_BATCH', 'i': 'SCHED_IDLE', 'f': 'SCHED_FIFO'}
snap['tasks'] = []
for pid in sorted(set(tasks0) & (seen | set(started))):
    t = tasks0[pid]
    s = started.get(pid)
    d = {'pid': pid, 'tgid': pid, 'comm': t['comm']}
    how = attrs[s['name']] if s else 'f%d' % (99 - t['prio']) if t['prio'] < 100 else 'o%d' % (t['prio'] - 120)
    if t['comm'] == 'fairload':
        how = 'f1'
    d['policy'] = POLICY[how[0]]
    level, _, wanted = how[1:].partition('/')
    if how[0] == 'f':
        d['priority'] = int(level)
    elif level and int(level):
        d['nice'] = int(level)
    if s:
        d['cgroup'] = s['cgroup'].split('::')[1]
        d['timer_slack_ns'] = int(s['timerslack'])
        a = re.match(r'/autogroup-(\d+) nice (-?\d+)', s.get('autogroup', ''))
        if a and settings.get('sched_autogroup_enabled') == '1':
            d['autogroup'] = int(a.group(1))
            if int(a.group(2)):
                d['autogroup_nice'] = int(a.group(2))
    else:
        d['cgroup'] = t['group'] if not t['group'].startswith('/autogroup') else '/'
        d['kernel'] = t['comm'] not in ('sh', 'init', 'trace-cmd', 'fairload', 'load')
    if how[0] != 'f':
        d['vruntime_ns'] = t['vruntime']
        if 'deadline' in t:
            d['virtual_deadline_ns'] = t['deadline']
            if t['custom']:
                d['slice_ns'] = t['slice']
    snap['tasks'].append(d)
snap['cgroups'] = [{'path': '/'}]
stats = {}
for m in re.finditer(r'^cgroup (\S+) weight=(\d+) idle=(\d) max=(\S+)/(\d+) burst=(\d+) stat=(\S+)', out, re.M):
    g = {'path': m.group(1), 'weight': int(m.group(2))}
    if m.group(3) == '1':
        g['idle'] = True
    if m.group(4) != 'max':
        g['quota_ns'] = int(m.group(4)) * 1000
    g['period_ns'] = int(m.group(5)) * 1000
    if m.group(6) != '0':
        g['burst_ns'] = int(m.group(6)) * 1000
    snap['cgroups'].append(g)
    stats[m.group(1)] = {k: int(v) for k, v in re.findall(r'(\w+):(\d+)', m.group(7))}
snap['cgroups'].sort(key=lambda g: g['path'])
snap['cfs_rqs'] = [queue(p, rqs0[p]) for p in sorted(rqs0)]


def dump(path, d):
    """one line per key and list element, as sysinfo.Write does"""
    c = lambda x: json.dumps(x, separators=(',', ':'), ensure_ascii=False)
    with open(path, 'w') as f:
        f.write('{\n' + ',\n'.join('  "%s": %s' % (k, '[\n    ' + ',\n    '.join(map(c, v)) + '\n  ]' if isinstance(v, list) and v else c(v)) for k, v in d.items()) + '\n}\n')


dump(to + '.dat.xz.sysinfo.json', snap)
t0, run, seed = map(int, re.search(r'^T0 (\d+) run_ms (\d+) seed (\d+)', head, re.M).groups())
truth = {'t0_ns': t0, 'run_ns': run * 1000000, 'seed': seed, 'tasks': [], 'cgroups': [dict(path=p, **stats[p]) for p in sorted(stats)], 'states': []}
begin = {p: t['sum_exec'] for p, t in tasks0.items()}
for kind, name, pid, cpu_ns, ended, ended_cpu, last in re.findall(r'^(task|proc) (\S+) pid (\d+) cpu_ns (-?\d+) ended (\d+) ended_cpu_ns (\d+) last_end (\d+)', head, re.M):
    d = {'name': name}
    if kind == 'task':
        d.update(pid=int(pid), cpu_ns=int(cpu_ns) - begin[int(pid)])
    if int(ended):
        d.update(ended=int(ended), ended_cpu_ns=int(ended_cpu), last_end_ns=int(last))
    truth['tasks'].append(d)
for i, text in enumerate(states[1:], 1):
    clock, rqs, tasks = state(text)
    b, e = marks(i)
    s = {'begin_ns': b, 'end_ns': e, 'rq_clock_ns': clock, 'tasks': [], 'queues': []}
    for pid in sorted(set(started) & set(tasks)):
        t = tasks[pid]
        row = {'pid': pid, 'state': t['state'], 'vruntime_ns': t['vruntime'], 'sum_exec_ns': t['sum_exec']}
        if 'deadline' in t:
            row.update(eligible=t['eligible'], deadline_ns=t['deadline'])
        s['tasks'].append(row)
    for p in sorted(rqs):
        q = queue(p, rqs[p])
        del q['cpu']
        q.update(nr=int(rqs[p].get('nr_running') or rqs[p]['nr_queued']), load=int(rqs[p]['load']), load_avg=int(rqs[p]['load_avg']),
                 util_avg=int(rqs[p]['util_avg']), runnable_avg=int(rqs[p]['runnable_avg']), tg_load_avg=int(rqs[p]['tg_load_avg']))
        s['queues'].append(q)
    truth['states'].append(s)
dump(to + '.truth.json', truth)
sw = trace.count(' sched_switch:')
print(to, 'switches', sw, 'tasks', len(snap['tasks']))
