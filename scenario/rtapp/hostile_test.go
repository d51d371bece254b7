package rtapp

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// repeat prints format for 0 ≤ i < n, with commas between.
func repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestLargeFilesNeedLittleMemory: what a file of some megabytes can make us allocate has a
// bound, and nothing in it makes the time grow with the square (the test would not end).
func TestLargeFilesNeedLittleMemory(t *testing.T) {
	const one = `{"tasks":{"a":{"run":1}},"whylate":{`
	for _, c := range []struct{ name, src, want string }{
		{"too large", strings.Repeat(" ", mostBytes+1), "more than 16 MiB"},
		{"nesting", strings.Repeat(`{"tasks":`, 1<<20), "nesting too deep"},
		{"an open comment", "/*" + strings.Repeat("*", 10<<20), "comment without an end"},
		{"an open string", `{"` + strings.Repeat("a", 10<<20), "string without an end"},
		{"escapes", `{"` + strings.Repeat(`\u0041`, 2<<20) + `":1}`, `no "tasks"`},
		{"a long number", inTask(`"run":` + strings.Repeat("9", 10<<20)), ""},
		{"lines", strings.Repeat("\n", 10<<20) + inTask(`"run":1.5`), "f:10485761:22: "},
		{"CPUs", inTask(`"run":1,"cpus":[` + repeat(300_000, "%d") + `]`), "invalid CPU 8192"},
		{"values", inTask(`"x":[` + strings.Repeat("0,", 1<<20) + `]`), "more than 524288 values"},
		{"tasks", `{"tasks":{` + repeat(100_000, `"%d":{"run":1}`) + `}}`, "more than 65536 threads"},
		{"templates", `{"tasks":{` + repeat(100_000, `"%d":{"instance":0,"run":1}`) + `}}`, ""},
		{"unknown keys", inTask(`"run":1,` + repeat(300_000, `"ru%d":1`)), ""},
		{"unknown targets", inTask(repeat(200_000, `"fork%d":"b"`)), "can't fork"},
		{"barriers", inTask(repeat(200_000, `"barrier%d":"b"`)), ""},
		{"duplicates", inTask(strings.Repeat(`"run":1,`, 300_000)), ""},
		{"duplicates for workgen", inTask(strings.Repeat(`"run":1,`, 300_000)), ""},
		{"a long number of ours", one + `"seed":` + strings.Repeat("9", 10<<20) + "}}", "must be 0 to"},
		{"a long float", inTask(`"run":` + strings.Repeat("9", 10<<20) + ".0"), "must be an integer"},
		{"phases", inTask(`"phases":{` + repeat(100_000, `"%d":{"run":1}`) + `}`), ""},
		{"taskgroups", inTask(`"phases":{` + repeat(50_000, `"%d":{"run":1,"taskgroup":"/%[1]d"}`) + `}`), "more than 32 taskgroups"},
		{"extra tasks", one + `"tasks":{` + repeat(200_000, `"b%d":{"cgroup":"/x"}`) + `}}}`, "no such task"},
		{"devices", one + `"irqs":{` + repeat(50_000, `"%d":{}`) + `},"devices":{` + repeat(50_000, `"%d":{"irq":"x","bytes_per_irq":1}`) + `}}}`, `no "x" in "irqs"`},
		{"unknown names", one + `"settings":{` + repeat(200_000, `"H%d":1`) + `}}}`, "unknown name"},
		{"variants", one + `"variants":{` + repeat(100_000, `"%d":["x"]`) + `}}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, warnings, err := Parse("f", []byte(c.src), Options{Workgen: c.name == "duplicates for workgen", Settings: []string{"HZ"}})
			runtime.ReadMemStats(&after)
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 400 {
				t.Errorf("%d MB were allocated for a file of %d MB", mb, len(c.src)>>20)
			}
			told := fmt.Sprint(warnings, err)
			if len(told) > 100_000 {
				t.Errorf("%d bytes of messages", len(told))
			}
		})
	}
}

// BenchmarkParse reads a file of 1,000 tasks.
func BenchmarkParse(b *testing.B) {
	src := []byte(`{"tasks":{` + repeat(1000, `"t%d":{"policy":"SCHED_FIFO","priority":20,"cpus":[0,1],"phases":{
	"p":{"loop":10,"run":100,"timer":{"ref":"unique","period":1000}},"q":{"lock":"m","run":10,"unlock":"m","sleep":200}}}`) + `}}`)
	if bytes.Count(src, []byte("unique")) != 1000 {
		b.Fatal("not 1,000 tasks")
	}
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Parse("f", src, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
