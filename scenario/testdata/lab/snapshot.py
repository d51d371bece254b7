# snapshot.py FOLDER NAME...: NAME.dat.xz.sysinfo.json (docs/sysinfo.md) from what the guest printed, NAME.txt, and what
# the load was told to be, NAME.sh
import re,json,sys,os
P=sys.argv[1]+'/'
for n in sys.argv[2:]:
    txt=open(P+n+'.txt').read(); sh=open(P+n+'.sh').read()
    ls=txt.split('\n')
    snap={"schema":"whylate.sysinfo/1"}
    t0=re.search(r'^T0 (\d+)\.(\d{9})$',txt,re.M); snap["time_ns"]=int(t0.group(1)+t0.group(2))
    snap["kernel"]={"release":ls[0].strip(),"machine":"x86_64"}
    f=[l for l in ls if l.startswith('features:')][0].split()[1:]
    i=[k for k,l in enumerate(ls) if l.startswith('features:')][0]
    st=[{"name":"HZ","value":"250"},{"name":"highres","value":"on"},{"name":"sched_rt_period_us","value":ls[i+2]},{"name":"sched_rt_runtime_us","value":ls[i+1]}]
    pre={'6.1.0-50-rt-amd64':'rt','6.1.0-50-amd64':'voluntary','6.12.107+deb12-rt-amd64':'rt','6.12.107+deb12-amd64':'voluntary'}[ls[0].strip()]
    st.append({"name":"preempt","value":pre})
    snap["settings"]=sorted(st,key=lambda s:s["name"])
    snap["features"]=sorted([{"name":x[3:] if x.startswith('NO_') and x!='NO_' and not x.startswith('NONTASK') else x,"on":not x.startswith('NO_')} for x in f],key=lambda s:s["name"])
    ncpu=4 if '4 CPUs' in sh else 1
    fs=[l for l in ls if re.fullmatch(r'\d+',l)]
    server=None
    if '6.12' in ls[0]:
        k=[k for k,l in enumerate(ls) if re.fullmatch(r'\d+',l)]
        server=int(ls[k[2]])
    cpus=[]
    for c in range(ncpu):
        d={"cpu":c,"online":True,"core":-1,"llc":-1,"node":-1}
        if server is not None: d["fair_server"]={"runtime_ns":server,"period_ns":1000000000}
        cpus.append(d)
    snap["cpus"]=cpus
    tasks=[]; irqs=[]
    for m in re.finditer(r'^(\d+) prio (-?\d+) rt (\d+) pol (\d+) (.*)$',txt,re.M):
        pid=int(m.group(1)); comm=m.group(5)
        d={"pid":pid,"tgid":pid,"comm":comm,"policy":{'1':'SCHED_FIFO','2':'SCHED_RR','6':'SCHED_DEADLINE'}[m.group(4)],"priority":int(m.group(3)),"kernel":True}
        c=re.match(r'(?:ktimers|rcuc|migration|irq_work|idle_inject)/(\d+)$',comm)
        if c: d["cpus"]=c.group(1)
        tasks.append(d)
        q=re.match(r'irq/(\d+)-(.*)$',comm)
        if q: irqs.append({"number":int(q.group(1)),"name":q.group(2),"thread":pid})
    pids=dict((m.group(1),int(m.group(2))) for m in re.finditer(r'^(\S+) pid (\d+) end',txt,re.M))
    args=re.search(r' load \+0 (.*)',sh).group(1).split()
    for a in args:
        name,pol,_,mb,ops=a.split(':',4)
        pid=pids[name]; d={"pid":pid,"tgid":pid,"comm":name}
        cpu=pol.split('@')[1] if '@' in pol else '0'
        if pol[0]=='D':
            r,p=pol[1:].split('/'); d.update(policy="SCHED_DEADLINE",runtime_ns=int(r)*1000,deadline_ns=int(p)*1000,period_ns=int(p)*1000); cpu='*'
        elif pol[0] in 'FR': d.update(policy={'F':"SCHED_FIFO",'R':"SCHED_RR"}[pol[0]],priority=int(re.match(r'\d+',pol[1:]).group()))
        else: d.update(policy="SCHED_OTHER")
        if cpu!='*': d["cpus"]=cpu
        tasks.append(d)
    snap["tasks"]=sorted(tasks,key=lambda t:t["pid"])
    if irqs: snap["irqs"]=sorted(irqs,key=lambda t:t["number"])
    json.dump(snap,open(P+n+'.dat.xz.sysinfo.json','w'),separators=(',',':'),ensure_ascii=False)
    print(n,len(tasks),os.path.getsize(P+n+'.dat.xz.sysinfo.json'))
