# smpsnap.py OUT.txt LOAD SAID DAT: the snapshot of the machine (docs/sysinfo.md) of a recording of smp.sh, from what the guest printed, the description of
# the load and what fairload said. Nothing runs yet when such a recording begins, so virtual times and loads are not in it;
# threads of the kernel that the trace does not name are left out.
import json, re, subprocess, sys

out, load, said = (open(f).read() for f in sys.argv[1:4])
trace = subprocess.run(['trace-cmd', 'report', sys.argv[4]], capture_output=True, text=True).stdout
seen = {int(x) for pair in re.findall(r'\bpid=(\d+)|:(\d+) \[', trace) for x in pair if x}
release = out.split('\n', 1)[0].strip()
settings = {'HZ': '250', 'highres': 'on', 'preempt': re.search(r'^preempt: .*\((\w+)\)', out, re.M).group(1)}
settings.update(re.findall(r'^sysctl (\S+) (\S+)', out, re.M))
for name, v in re.findall(r'^sched (\S+) (\S+)', out, re.M):
    if name.endswith('_ns') or name in ('tunable_scaling', 'nr_migrate'):
        settings['sched_' + name] = v
for option in 'CONFIG_IRQ_TIME_ACCOUNTING', 'CONFIG_PARAVIRT_TIME_ACCOUNTING', 'CONFIG_UCLAMP_TASK', 'CONFIG_RT_GROUP_SCHED':
    settings[option] = 'n'
for option in 'CONFIG_FAIR_GROUP_SCHED', 'CONFIG_CFS_BANDWIDTH', 'CONFIG_SCHED_AUTOGROUP':
    settings[option] = 'y'
features = {f.removeprefix('NO_'): not f.startswith('NO_') for f in re.search(r'^features: (.*)$', out, re.M).group(1).split()}


def lowest(cpus):
    return int(re.match(r'\d+', cpus).group())


cpus = []
for n, core, package, node, caches in re.findall(r'^cpu (\d+) core (\S+) package (\S+) node (\d+) capacity \d* caches(.*)$', out, re.M):
    last = max(((int(level), list_) for level, list_ in re.findall(r'(\d):(\S+)', caches)), default=(0, n))
    c = {'cpu': int(n), 'online': True, 'core': lowest(core), 'llc': lowest(last[1]), 'node': int(node), 'capacity': 1024}
    if release.startswith('6.12'):
        c['fair_server'] = {'runtime_ns': 50000000, 'period_ns': 1000000000}
    cpus.append(c)
everywhere = '0-%d' % (len(cpus) - 1)


def mask(hexadecimal):
    return ','.join(str(c) for c in range(len(cpus)) if int(hexadecimal, 16) >> c & 1)


declared = {m[0]: m[1:] for m in re.findall(r'^task +(\S+) +\S+ +(\S+) +(\S+) +(.*)$', load, re.M)}
POLICY = {'o': 'SCHED_OTHER', 'b': 'SCHED_BATCH', 'i': 'SCHED_IDLE', 'f': 'SCHED_FIFO'}
tasks = {}
for pid, parent, flags, prio, rt, policy, allowed, comm in re.findall(
        r'^task (\d+) parent (\d+) flags (\d+) prio (-?\d+) rt (\d+) policy (\d+) cpus (\S+) comm (.*)$', out, re.M):
    t = {'pid': int(pid), 'tgid': int(pid), 'comm': comm[:15], 'policy': ['SCHED_OTHER', 'SCHED_FIFO', 'SCHED_RR', 'SCHED_BATCH', '', 'SCHED_IDLE'][int(policy)]}
    if int(rt):
        t['priority'] = int(rt)
    elif int(prio) != 20:
        t['nice'] = int(prio) - 20
    t['cpus'], t['cgroup'], t['kernel'] = allowed, '/', bool(int(flags) & 0x200000)
    if t['pid'] in seen or not t['kernel']:
        tasks[t['pid']] = t
for name, pid in re.findall(r'^start (\S+) pid (\d+)', said, re.M):
    policy, _, ops = declared[name]
    t = {'pid': int(pid), 'tgid': int(pid), 'comm': name, 'policy': POLICY[policy[0]]}
    if int(policy[1:] or 0):
        t['nice'] = int(policy[1:])
    pinned = re.match(r'k([0-9a-f]+)', ops)
    t.update(cpus=mask(pinned.group(1)) if pinned else everywhere, cgroup='/', timer_slack_ns=50000)
    tasks[t['pid']] = t
snap = {'schema': 'whylate.sysinfo/1', 'kernel': {'release': release, 'machine': 'x86_64'},
        'settings': [{'name': k, 'value': settings[k]} for k in sorted(settings)],
        'features': [{'name': k, 'on': features[k]} for k in sorted(features)],
        'cpus': cpus, 'tasks': [tasks[p] for p in sorted(tasks)], 'cgroups': [{'path': '/'}]}
c = lambda x: json.dumps(x, separators=(',', ':'), ensure_ascii=False)
print('{\n' + ',\n'.join('  "%s": %s' % (k, '[\n    ' + ',\n    '.join(map(c, v)) + '\n  ]' if isinstance(v, list) else c(v)) for k, v in snap.items()) + '\n}')
