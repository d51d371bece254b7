package rtapp

import (
	"errors"
	"strings"
	"testing"
)

// inTask makes a file of the body of one task.
func inTask(body string) string { return `{"tasks":{"a":{` + body + `}}}` }

func TestErrors(t *testing.T) {
	global := func(text string) string { return `{"global":{` + text + `},"tasks":{"a":{"run":1}}}` }
	for _, c := range []struct{ src, want string }{ // want is everything behind "f.json:"
		{`[]`, `1:1: a scenario must be an object, not an array`},
		{`{"global":{}}`, `1:1: tasks: the file has no "tasks"`},
		{`{"tasks":null}`, `1:1: tasks: the file has no "tasks"`},
		{`{"tasks":[]}`, `1:10: tasks: must be an object, not an array`},
		{`{"tasks":{"a":1}}`, `1:15: tasks.a: a task must be an object, not 1`},
		{`{"tasks":{"a":null}}`, `1:15: tasks.a: a task must be an object, not null`},
		{inTask(``), `1:15: tasks.a: no events found; a task must have events or it's useless`},
		{inTask(`"Run":1`), `1:15: tasks.a: no events found; a task must have events or it's useless`},
		{inTask(`"phases":[]`), `1:25: tasks.a.phases: must be an object, not an array`},
		{inTask(`"phases":{}`), `1:25: tasks.a.phases: no phase in it`},
		{inTask(`"phases":{"p":1}`), `1:30: tasks.a.phases.p: a phase must be an object, not 1`},
		{inTask(`"phases":{"p":null}`), `1:30: tasks.a.phases.p: a phase must be an object, not null`},
		{inTask(`"phases":{"p":{}}`), `1:30: tasks.a.phases.p: no events found; a task must have events or it's useless`},

		{inTask(`"run":5.0`), `1:22: tasks.a.run: must be an integer, not 5.0 with a point or an exponent`},
		{inTask(`"run":1e3`), `1:22: tasks.a.run: must be an integer, not 1e3 with a point or an exponent`},
		{inTask(`"run":"5"`), `1:22: tasks.a.run: must be an integer, not the string "5"`},
		{inTask(`"run":null`), `1:22: tasks.a.run: must be an integer, not null`},
		{inTask(`"running":true`), `1:26: tasks.a.running: must be an integer, not true`},
		{inTask(`"sleep":-5`), `1:24: tasks.a.sleep: a negative time: -5 µs`},
		{inTask(`"runtime":-5`), `1:26: tasks.a.runtime: a negative time: -5 µs`},
		{inTask(`"runtime":1.0`), `1:26: tasks.a.runtime: must be an integer, not 1.0 with a point or an exponent`},
		{inTask(`"mem":-5`), `1:22: tasks.a.mem: must not be negative: -5 bytes`},
		{inTask(`"iorun":1.5`), `1:24: tasks.a.iorun: must be an integer, not 1.5 with a point or an exponent`},
		{inTask(`"lock":1`), `1:23: tasks.a.lock: must be a string, not 1`},
		{inTask(`"locked":[]`), `1:25: tasks.a.locked: must be a string, not an array`},
		{inTask(`"barrier":{}`), `1:26: tasks.a.barrier: must be a string, not an object`},
		{inTask(`"sem_post":null`), `1:27: tasks.a.sem_post: must be a string, not null`},
		{inTask(`"timer":{"ref":5}`), `1:31: tasks.a.timer.ref: must be a string, not 5`},
		{inTask(`"timer":{"ref":"u","period":10.0}`), `1:44: tasks.a.timer.period: must be an integer, not 10.0 with a point or an exponent`},
		{inTask(`"timer":{"ref":"u","period":-1}`), `1:44: tasks.a.timer.period: a negative time: -1 µs`},
		{inTask(`"timer":{"ref":"u","mode":1}`), `1:42: tasks.a.timer.mode: must be a string, not 1`},
		{inTask(`"fork":"b"`), `1:16: tasks.a.fork: can't fork unknown task "b"`},
		{inTask(`"fork":""`), `1:16: tasks.a.fork: can't fork unknown task ""`},
		{`{"tasks":{"child":{"run":1},"a":{"fork":"chidl"}}}`, `1:34: tasks.a.fork: can't fork unknown task "chidl"; did you mean "child"?`},
		{inTask(`"memrun":5`), `1:25: tasks.a.memrun: must be an object, not 5`},
		{inTask(`"memrun":{}`), `1:25: tasks.a.memrun: memrun needs a "type": read, write or chase
1:25: tasks.a.memrun: memrun needs a "size" in bytes
1:25: tasks.a.memrun: memrun needs a "count"`},
		{inTask(`"memrun":{"type":"Read","size":0,"count":-1}`), `1:33: tasks.a.memrun.type: unknown memrun type "Read"; there are read, write and chase
1:47: tasks.a.memrun.size: must be more than 0 bytes
1:57: tasks.a.memrun.count: must not be negative`},
		{inTask(`"memrun":{"type":"chase","size":64,"count":1,"stride":7}`), `1:70: tasks.a.memrun.stride: must be at least 8 bytes, the size of a pointer`},
		{inTask(`"memrun1":{"type":"read","size":64,"count":1,"ref":"x"},"memrun2":{"type":"write","size":32,"count":1,"ref":"x"},"memrun3":{"type":"read","size":32,"count":1,"ref":"x"}`),
			`1:129: tasks.a.memrun3: buffer "x" is shared with the event at 1:16: they must agree on size, stride and pattern`},

		{inTask(`"loop":1.5,"run":1`), `1:23: tasks.a.loop: must be an integer, not 1.5 with a point or an exponent`},
		{inTask(`"instance":"2","run":1`), `1:27: tasks.a.instance: must be an integer, not the string "2"`},
		{inTask(`"instance":-1,"run":1`), `1:27: tasks.a.instance: must not be negative`},
		{inTask(`"instance":1000000000,"run":1`), `1:27: tasks.a.instance: more than 65536 threads`},
		{`{"tasks":{"a":{"instance":60000,"run":1},"b":{"instance":60000,"run":1}}}`, `1:42: tasks.b: more than 65536 threads up to here`},
		{inTask(`"delay":-5,"run":1`), `1:24: tasks.a.delay: a negative time: -5 µs`},
		{inTask(`"policy":"SCHED_FIF0","run":1`), `1:25: tasks.a.policy: invalid policy "SCHED_FIF0"; did you mean "SCHED_FIFO"?; there are SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_RR, SCHED_FIFO, SCHED_DEADLINE`},
		{inTask(`"policy":1,"run":1`), `1:25: tasks.a.policy: must be a string, not 1`},
		{inTask(`"priority":20,"run":1`), `1:27: tasks.a.priority: 20 nice invalid. Valid between -20 and 19`},
		{inTask(`"policy":"SCHED_FIFO","priority":0,"run":1`), `1:49: tasks.a.priority: 0 is no real-time priority; they go from 1 to 99`},
		{inTask(`"policy":"SCHED_RR","priority":100,"run":1`), `1:47: tasks.a.priority: 100 is no real-time priority; they go from 1 to 99`},
		{inTask(`"phases":{"p":{"policy":"SCHED_FIFO","run":1},"q":{"priority":100,"run":1}}`), `1:78: tasks.a.phases.q.priority: 100 is no real-time priority; they go from 1 to 99`},
		{inTask(`"phases":{"p":{"policy":"","run":1}}`), `1:40: tasks.a.phases.p.policy: invalid policy ""; there are SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_RR, SCHED_FIFO, SCHED_DEADLINE`},
		{inTask(`"policy":"SCHED_DEADLINE","run":1`), `1:15: tasks.a.dl-runtime: SCHED_DEADLINE needs a dl-runtime here`},
		{inTask(`"policy":"SCHED_DEADLINE","dl-runtime":1,"run":1`), `1:55: tasks.a.dl-runtime: must be at least 1024 ns, so 2 µs`},
		{inTask(`"policy":"SCHED_DEADLINE","dl-runtime":100,"dl-deadline":50,"dl-period":200,"run":1`), `1:55: tasks.a.dl-runtime: SCHED_DEADLINE wants runtime ≤ deadline ≤ period, found 100, 50, 200 µs`},
		{inTask(`"policy":"SCHED_DEADLINE","dl-runtime":100,"phases":{"p":{"priority":0,"run":1}}`), `1:73: tasks.a.phases.p.dl-runtime: SCHED_DEADLINE needs a dl-runtime here`},
		{inTask(`"dl-runtime":-1,"run":1`), `1:29: tasks.a.dl-runtime: a negative time: -1 µs`},
		{inTask(`"util_min":1025,"run":1`), `1:27: tasks.a.util_min: invalid util_min 1025 (>1024)`},
		{inTask(`"util_max":-2,"run":1`), `1:27: tasks.a.util_max: must be 0 to 1024, or −1 for none`},
		{inTask(`"util_min":500,"util_max":100,"run":1`), `1:27: tasks.a.util_min: must not be more than util_max, 100`},
		{inTask(`"cpus":0,"run":1`), `1:23: tasks.a.cpus: must be an array of integers, not 0`},
		{inTask(`"cpus":[],"run":1`), `1:23: tasks.a.cpus: an empty list: the thread could run nowhere`},
		{inTask(`"cpus":[0,-1,8192],"run":1`), "1:26: tasks.a.cpus[1]: invalid CPU -1\n1:29: tasks.a.cpus[2]: invalid CPU 8192"},
		{inTask(`"cpus":[NaN,"99999999999",1e99],"run":1`), "1:24: tasks.a.cpus[0]: invalid CPU -1\n1:28: tasks.a.cpus[1]: invalid CPU 2147483647\n1:42: tasks.a.cpus[2]: invalid CPU -1"},
		{`{"tasks":{"a":{"cpus":[2],"run":1}},"whylate":{"cpus":2}}`, `1:24: tasks.a.cpus[0]: invalid CPU 2`},
		{inTask(`"nodes_membind":[-1],"run":1`), `1:33: tasks.a.nodes_membind[0]: invalid NUMA node -1`},
		{inTask(`"taskgroup":"a","run":1`), `1:28: tasks.a.taskgroup: "a" has to start with /`},
		{inTask(`"taskgroup":"/a","policy":"SCHED_FIFO","run":1`), `1:42: tasks.a.policy: no taskgroup support for policy SCHED_FIFO`},
		{inTask(`"policy":"SCHED_RR","phases":{"p":{"taskgroup":"/a","run":1}}`), `1:63: tasks.a.phases.p.taskgroup: no taskgroup support for policy SCHED_RR`},
		{inTask(`"taskgroup":"/a","phases":{"p":{"run":1},"q":{"policy":"SCHED_DEADLINE","dl-runtime":9,"taskgroup":"","run":1}}`), `1:71: tasks.a.phases.q.policy: no taskgroup support for policy SCHED_DEADLINE`},

		{global(`"duration":"1"`), `1:23: global.duration: must be an integer, not the string "1"`},
		{global(`"calibration":"cpu0"`), `1:26: global.calibration: invalid calibration "cpu0"; write "CPU0", or the ns of one loop as an integer`},
		{global(`"calibration":true`), `1:26: global.calibration: must be an integer or a string like "CPU0", not true`},
		{global(`"calibration":0`), `1:26: global.calibration: must be more than 0 ns; rt-app would never end`},
		{global(`"calibration":"CPU-1"`), `1:26: global.calibration: no machine has a CPU 18446744073709551615`},
		{global(`"default_policy":"foo"`), `1:29: global.default_policy: invalid policy "foo"; there are SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_RR, SCHED_FIFO, SCHED_DEADLINE`},
		{global(`"pi_enabled":1`), `1:25: global.pi_enabled: must be true or false, not 1`},
		{global(`"log_size":true`), `1:23: global.log_size: must be an integer or a string, not true`},
		{global(`"logdir":1`), `1:21: global.logdir: must be a string, not 1`},
		{global(`"ftrace":"run"`), `1:21: global.ftrace: invalid ftrace category "run"; there are main, task, loop, event, stats and none, without spaces`},
		{global(`"ftrace":"main, task"`), `1:21: global.ftrace: invalid ftrace category " task"; there are main, task, loop, event, stats and none, without spaces`},
		{global(`"ftrace":1`), `1:21: global.ftrace: must be a string, not 1`},
		{global(`"mem_buffer_size":0`), `1:30: global.mem_buffer_size: must be more than 0 bytes`},
		{`{"resources":{"m":{}},"tasks":{"a":{"run":1}}}`, `1:15: resources.m: a resource needs a "type": one of mutex, wait, timer, signal, broadcast, sync, sleep, run`},
		{`{"resources":{"m":{"type":"Mutex"}},"tasks":{"a":{"run":1}}}`, `1:27: resources.m.type: invalid type of resource "Mutex"; did you mean "mutex"?; there are mutex, wait, timer, signal, broadcast, sync, sleep, run`},
		{`{"resources":{"m":{"type":1}},"tasks":{"a":{"run":1}}}`, `1:27: resources.m.type: must be a string, not 1`},
		{"{\n\t\"tasks\" : {\n\t\t\"a b\" : { \"run\" : .5 }\n", `3:21: unexpected character; write 0 in front of the point`},
		{"{\n  \"tasks\": {\"ü\": {\"run\": {}}}\n}", `2:27: tasks."ü".run: must be an integer, not an object`},
	} {
		f, _, err := Parse("f.json", []byte(c.src), Options{})
		if err == nil {
			t.Errorf("%s: no error, want %s", c.src, c.want)
			continue
		}
		want := "f.json:" + strings.ReplaceAll(c.want, "\n", "\nf.json:")
		if err.Error() != want || f != nil {
			t.Errorf("%s\ngot  %v\nwant %s", c.src, err, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{inTask(`"run":1`), ``},
		{`{"$schema":"x","tasks":{"a":{"run":1}}}`, ``},
		{`{"Tasks":{},"tasks":{"a":{"run":1}}}`, `1:2: Tasks: rt-app ignores this key; did you mean "tasks"?`},
		{`{"global":1,"resources":"x","tasks":{}}`, `1:11: global: rt-app ignores this: it should be an object, not 1
1:25: resources: rt-app ignores this: it should be an object, not the string "x"
1:37: tasks: no task: rt-app ends at once`},
		{`{"global":{"frag":1,"durations":2},"tasks":{"a":{"run":1}}}`, `1:12: global.frag: rt-app ignores this key
1:21: global.durations: rt-app ignores this key; did you mean "duration"?`},
		{`{"global":{"duration":0,"log_size":"Disable","ftrace":false},"tasks":{"a":{"run":1}}}`,
			`1:23: global.duration: rt-app never ends after 0 s; −1 says the same
1:36: global.log_size: rt-app knows only file, disable and auto, in small letters, and ignores this
1:55: global.ftrace: a boolean is deprecated here; name the categories`},
		{`{"global":{"calibration":"CPU1x"},"tasks":{"a":{"run":1}}}`, `1:26: global.calibration: rt-app reads "CPU1x" as CPU 1`},
		{inTask(`"run":1,"foo":{"bar":1}`), `1:24: tasks.a.foo: rt-app ignores this key`},
		{inTask(`"run":1,"Sleep":1`), `1:24: tasks.a.Sleep: rt-app ignores this key; did you mean "sleep"?`},
		{inTask(`"run":9999999999`), `1:22: tasks.a.run: rt-app's int cannot hold 9999999999; it uses 2147483647`},
		{inTask(`"running":1`), `1:16: tasks.a.running: rt-app reads every key that begins with "run" as that event`},
		{inTask(`"memory":1`), `1:16: tasks.a.memory: rt-app reads every key that begins with "mem" as that event`},
		{inTask(`"broadcast":"c"`), ``},
		{inTask(`"loop":0,"run":1`), `1:23: tasks.a.loop: rt-app repeats a phase with loop 0 for ever; −1 says the same`},
		{inTask(`"loop":0,"phases":{"p":{"run":1}}`), `1:23: tasks.a.loop: the threads end without having done anything`},
		{inTask(`"phases":{"p":{"delay":5,"instance":2,"run":1}}`), `1:39: tasks.a.phases.p.delay: rt-app ignores a delay in a phase; write sleep at its beginning
1:52: tasks.a.phases.p.instance: rt-app ignores this in a phase; it belongs to the task`},
		{inTask(`"sleep":5,"phases":{"p":{"run":1}}`), `1:16: tasks.a.sleep: rt-app ignores events beside "phases"`},
		{inTask(`"runtime":500`), `1:26: tasks.a.runtime: rt-app reads this twice: as an event and as a custom slice of 500 µs; call the event "runtime0" to have no slice`},
		{inTask(`"runtime":500,"policy":"SCHED_FIFO"`), ``},
		{inTask(`"runtime":500,"dl-runtime":700`), ``},
		{inTask(`"policy":"SCHED_DEADLINE","runtime":500`), `1:52: tasks.a.runtime: rt-app reads this twice: as the budget of the task and as an event; write dl-runtime for the budget`},
		{inTask(`"policy":"SCHED_DEADLINE","runtime":500,"phases":{"p":{"run":1}}`), ``},
		{inTask(`"policy":"SCHED_DEADLINE","dl-runtime":400,"runtime":500,"period":900,"phases":{"p":{"run":1}}`),
			`1:69: tasks.a.runtime: rt-app ignores this: dl-runtime counts
1:82: tasks.a.period: rt-app ignores this: dl-period or its default counts`},
		{inTask(`"policy":"SCHED_IDLE","priority":5,"run":1`), `1:49: tasks.a.priority: without effect for SCHED_IDLE`},
		{inTask(`"cpus":["1"],"run":1`), `1:24: tasks.a.cpus[0]: rt-app reads this as 1: it should be an integer, not the string "1"`},
		{inTask(`"timer":{"period":5}`), `1:24: tasks.a.timer: rt-app takes "unknown" for the "ref" that is missing here`},
		{inTask(`"timer":{"ref":"t","mode":"Absolute","perid":1}`), `1:42: tasks.a.timer.mode: rt-app reads "Absolute" as relative; there are relative and absolute
1:53: tasks.a.timer.perid: rt-app ignores this key; did you mean "period"?`},
		{inTask(`"wait":5`), `1:23: tasks.a.wait: rt-app reads this as an empty object: it should be one, not 5
1:23: tasks.a.wait: rt-app takes "unknown" for the "ref" that is missing here
1:23: tasks.a.wait: rt-app takes "unknown" for the "mutex" that is missing here`},
		{inTask(`"suspend":"b"`), `1:26: tasks.a.suspend: rt-app ignores this name: a task can only suspend itself`},
		{inTask(`"suspend":"a","resume":"aa"`), `1:30: tasks.a.resume: no task "aa": this wakes nobody; did you mean "a"?`},
		{inTask(`"barrier":"x","run":1,"barrier2":"x"`), `1:38: tasks.a.barrier2: this task uses barrier "x" twice: rt-app waits for one more thread than there are`},
		{`{"tasks":{"a":{"fork":"b"},"b":{"phases":{"p q":{"barrier":"x"}}}}}`, `1:50: tasks.b.phases."p q".barrier: rt-app does not count forked threads at a barrier`},
		{inTask(`"memrun":{"type":"chase","size":100,"count":1,"pattern":"x"}`), `1:48: tasks.a.memrun.size: buffer too small: rt-app follows no pointer, it needs at least 2 * stride = 128 bytes
1:72: tasks.a.memrun.pattern: rt-app reads "x" as random; there are random and sequential`},
		{`{"global":{},"tasks":{"a/b":{"run":1}}}`, `1:23: tasks."a/b": rt-app makes a log file of this name and cannot where it has a /`},
		{inTask(`"run":1`) + " {}", `1:27: rt-app ignores everything from here on: the first value of the file is complete`},
		{inTask("\"lock\":\"\xff\",\"unlock\":\"x\\u0000y\""), "1:23: tasks.a.lock: string is not UTF-8\n1:36: tasks.a.unlock: rt-app cuts this string at \\u0000"},
	} {
		_, got := parsed(t, c.src, Options{})
		want := ""
		if c.want != "" {
			want = "f.json:" + strings.ReplaceAll(c.want, "\n", "\nf.json:")
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", c.src, got, want)
		}
	}
}

func TestStandardInputIsShort(t *testing.T) {
	src := inTask(`"run":1`)
	src += strings.Repeat("\n", 4096-len(src))
	if _, warnings := parsed(t, src, Options{Stdin: true}); len(src) != 4096 || warnings != "" {
		t.Errorf("%d bytes: %s", len(src), warnings)
	}
	want := "f.json:4072:1: rt-app reads only 4096 bytes of its standard input; give it this as a file"
	if _, warnings := parsed(t, src+"\n", Options{Stdin: true}); warnings != want {
		t.Errorf("4097 bytes: %s", warnings)
	}
	if _, warnings := parsed(t, src+"\n", Options{}); warnings != "" {
		t.Errorf("4097 bytes of a file: %s", warnings)
	}
}

func TestErrorsCanBeTakenApart(t *testing.T) {
	_, _, err := Parse("f.json", []byte(inTask(`"run":1.5,"sleep":true`)), Options{})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 2 {
		t.Fatalf("got %v", err)
	}
	var e *Error
	if !errors.As(err, &e) || e.File != "f.json" || e.Line != 1 || e.Column != 22 || e.Path != "tasks.a.run" {
		t.Errorf("got %+v", e)
	}
}

func TestMessagesAreBounded(t *testing.T) {
	body := strings.Repeat(`"run":1.5,"unknown":1,`, 1000) + `"run":2.5`
	_, warnings, err := Parse("f.json", []byte(`{"tasks":{"a":{"x":1,`+strings.Repeat(`"lock`, 1)+`":1,`+body+`}}}`), Options{Workgen: true})
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != mostErrors+1 || lines[mostErrors] != "f.json: more than 20 errors; the others are not told" {
		t.Errorf("%d errors, last %s", len(lines), lines[len(lines)-1])
	}
	if len(warnings) != mostWarnings+1 || warnings[mostWarnings].Msg != "801 further warnings" {
		t.Errorf("%d warnings, last %v", len(warnings), warnings[len(warnings)-1])
	}
	_, _, err = Parse("f.json", []byte(inTask(`"`+strings.Repeat("é", 5000)+`":1,"lock`+strings.Repeat("x", 5000)+`":1`)), Options{})
	if len(err.Error()) > 200 {
		t.Errorf("%d bytes: %s", len(err.Error()), err)
	}
}
