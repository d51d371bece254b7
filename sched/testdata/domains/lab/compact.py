#!/usr/bin/env python3
"""compact.py SERIAL [STATE] < what the guest printed: what domains.txt keeps of it, one state of it."""
import re, sys
KEEP = ["min_interval", "max_interval", "busy_factor", "imbalance_pct", "cache_nice_tries"]
state, want = None, sys.argv[2] if len(sys.argv) > 2 else "boot"
files, spans, rings, cpu, cur = {}, {}, {}, None, None
for line in open(sys.argv[1], errors="replace"):
    line = line.rstrip("\n")
    if line.startswith("Linux version"):
        print("# " + line.split(" (")[0])
    if line.startswith("state "):
        if state == want:
            break
        state = line[6:]
    # The log of the kernel says only what is new.
    if state == want and (m := re.match(r"cpu(\d+)/domain(\d+)/(\w+) ?(.*)", line)):
        files.setdefault((int(m[1]), int(m[2])), {})[m[3]] = m[4].strip()
    if state == want and (m := re.match(r"schedstat cpu(\d+) domain(\d+) ([0-9a-f,]+)", line)):
        spans[int(m[1]), int(m[2])] = int(m[3].replace(",", ""), 16)
    if m := re.match(r"dmesg CPU(\d+) attaching", line):
        cpu, rings = int(m[1]), {k: v for k, v in rings.items() if k[0] != int(m[1])}
    if m := re.match(r"dmesg +domain-(\d+): span=(\S+) level=(\w+)", line):
        cur = (cpu, int(m[1])); rings[cur] = [m[2], m[3], ""]
    if m := re.match(r"dmesg +groups: (.*)", line):
        for g in re.findall(r"span=(\S+)(?: mask=(\S+))?", m[1]):
            rings[cur][2] += " " + g[0] + ("/" + g[1] if g[1] else "")
def mask(text):
    return sum(1 << c for part in text.split(",") for a, b in [(part.split("-") * 2)[:2]] for c in range(int(a), int(b) + 1))
kinds = {}
for (c, d), f in sorted(files.items()):
    assert f["name"] == rings[c, d][1] and spans[c, d] == mask(rings[c, d][0]), (c, d)
    text = " ".join([f["name"]] + [f[k] for k in KEEP] + sorted(x[3:].lower() for x in f["flags"].split()))
    if "groups_flags" in f:
        text += " below " + " ".join(sorted(x[3:].lower() for x in f["groups_flags"].split()))
    kinds.setdefault(text.strip(), []).append("%d.%d" % (c, d))
for text, where in kinds.items():
    print("domain", ",".join(where), text)
for (c, d), (span, name, groups) in sorted(rings.items()):
    if (c, d) in files:
        print("groups %d.%d%s" % (c, d, groups))
