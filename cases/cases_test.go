package cases

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/report"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/scenario"
)

var update = flag.Bool("update", false, "write docs/cases.md, from full runs")

// claim is something that was published or follows from the mechanism, in direction and
// order: never a digit of the model's.
type claim struct {
	text  string
	holds func(*numbers) bool
}

// longest is the longest wait of the case's task in a variant of a part, of cyclictest what it
// would print.
func longest(n *numbers, part, variant, task string) int64 {
	v := variantOf(n.parts[part], variant)
	if v == nil || !slices.ContainsFunc(v.Tasks, func(t result.Varied) bool { return strings.HasPrefix(t.Comm, task) }) {
		panic(fmt.Sprintf("no task %s in variant %s of %s", task, variant, part))
	}
	if strings.HasPrefix(task, "cyclictest") {
		return latestOf(v, task)
	}
	return maxOf(v, task)
}

func value(n *numbers, part, variant, name string) int64 {
	ns, ok := measure(n.parts[part], variant, name)
	if !ok {
		// A claim that something is short must not hold because it was not measured.
		panic(fmt.Sprintf("no %s in variant %s of %s", name, variant, part))
	}
	return ns
}

const ms = 1_000_000

var claims = map[string][]claim{
	"exit": {
		{"cyclictest on the CPU of the dying task waits for ms without a change, elsewhere it does not", func(n *numbers) bool {
			return longest(n, "main", none, "cyclictest0") > ms && longest(n, "main", none, "cyclictest1") < ms/10 && longest(n, "main", none, "cyclictest3") < ms/10
		}},
		{"both changes take that away", func(n *numbers) bool {
			return longest(n, "main", changeA, "cyclictest0") < longest(n, "main", none, "cyclictest0")/10 && longest(n, "main", changeB, "cyclictest0") < longest(n, "main", none, "cyclictest0")/10
		}},
		{"the longest wait without a change is a dying task that frees its memory, proven from the events", func(n *numbers) bool {
			w := variantOf(n.parts["main"], none).Worst
			return w.Causes[0].Kind == "exit_teardown" && w.Causes[0].Verdict == "proven" && strings.HasPrefix(w.Causes[0].Comm, "victim")
		}},
		{"the wait grows with the memory, by about what the death takes for each MB", func(n *numbers) bool {
			death, wait := value(n, "sizes", none, "death_ns_per_mb"), value(n, "sizes", none, "rt_latency_ns_per_mb")
			return death > 0 && wait > death*8/10 && wait < death*12/10 && value(n, "sizes", changeA, "rt_latency_ns_per_mb") < death/100
		}},
		{"on 6.1 without PREEMPT_RT a part of ms remains with change A, on 6.12 and with PREEMPT_RT it does not", func(n *numbers) bool {
			at := func(v string) int64 { return value(n, "preempt-recorded", v, "rt_latency_mb256_max_ns") }
			return at("A-6.1") > ms && at("A-6.1-full") > ms && at("A") < ms && at("A-6.12") < ms
		}},
		{"with the costs of the recordings, waits behind 64 and 256 MB are those of the recordings within 5 %", func(n *numbers) bool {
			near := func(name string, recorded int64) bool {
				ns := value(n, "recorded", none, name)
				return ns > recorded*95/100 && ns < recorded*105/100
			}
			return near("rt_latency_mb64_max_ns", 35_768_100) && near("rt_latency_mb256_max_ns", 142_341_500) && near("rt_latency_ns_per_mb", 557_000)
		}},
		{"a task that drops its priority itself delays nobody, a killed one cannot", func(n *numbers) bool {
			return value(n, "kinds", none, "rt_latency_polite_max_ns") < ms/10 && value(n, "kinds", none, "rt_latency_killed_max_ns") > ms
		}},
		{"pinned or not, it delays whoever is on its CPU", func(n *numbers) bool {
			return value(n, "kinds", none, "rt_latency_pinned_max_ns") > ms && value(n, "kinds", none, "rt_latency_free_max_ns") > ms
		}},
		{"change A forgets deadline tasks, B does not", func(n *numbers) bool {
			return value(n, "kinds", changeA, "rt_latency_dl_max_ns") > ms && value(n, "kinds", changeB, "rt_latency_dl_max_ns") < ms/10
		}},
		{"neither change takes a core dump away, which takes longer than the exit", func(n *numbers) bool {
			return value(n, "kinds", changeA, "rt_latency_core_max_ns") > value(n, "kinds", none, "rt_latency_killed_max_ns") && value(n, "kinds", changeB, "rt_latency_core_max_ns") > value(n, "kinds", none, "rt_latency_killed_max_ns")
		}},
		{"on an idle machine the restart takes as long as before; with real-time load it takes several times as long", func(n *numbers) bool {
			idle, busy := "restart-idle", "restart-busy"
			return value(n, idle, changeA, "restart_p50_ns") < value(n, idle, none, "restart_p50_ns")*11/10 &&
				value(n, busy, changeA, "restart_p50_ns") > 2*value(n, busy, none, "restart_p50_ns") && value(n, busy, changeB, "restart_p50_ns") > 2*value(n, busy, none, "restart_p50_ns")
		}},
		{"who waits for a PI lock of the dying task waits longer with B, not with A, which keeps what a lock lends", func(n *numbers) bool {
			return value(n, "locks-pi", changeB, "lock_p50_ns") > ms && value(n, "locks-pi", changeA, "lock_p50_ns") < ms/10
		}},
		{"who waits for a robust lock without priority inheritance waits longer with both", func(n *numbers) bool {
			return value(n, "locks-robust", none, "lock_p50_ns") < ms/10 && value(n, "locks-robust", changeA, "lock_p50_ns") > ms && value(n, "locks-robust", changeB, "lock_p50_ns") > ms
		}},
		{"nothing helps against a task of a higher priority that computes", func(n *numbers) bool {
			return longest(n, "isolation", changeB, "cyclictest0") > 1000*ms
		}},
	},
	"defer": {
		{"putting a fair task back takes hundreds of instructions, putting that off less than a tenth; few calls find a fair task, so the average is near the least", func(n *numbers) bool {
			at := func(v, which string) int64 { return value(n, "main", v, "put_prev_"+which+"_instructions") }
			return at(atOnce, "max") > 500 && at("on", "max")*10 < at(atOnce, "max") && at("settle", "max")*10 < at(atOnce, "max") && at(atOnce, "avg") < at(atOnce, "min")+5 && value(n, "main", atOnce, "put_prev_fair_ppm") < 2000
		}},
		{"by the depth of the group, 0 to 4, the most are those that were counted in 6.1, within a tenth", func(n *numbers) bool {
			for d, counted := range []int64{518, 961, 1402, 1843, 2284} {
				if got := value(n, "depth", atOnce, fmt.Sprintf("put_prev_depth%d_max_instructions", d)); got < counted*9/10 || got > counted*11/10 {
					return false
				}
			}
			return true
		}},
		{"without putting the time aside who is preempted pays for it, and gets less; with it charges and shares are what they were", func(n *numbers) bool {
			same := func(part, name string) bool {
				d := value(n, part, "settle", name) - value(n, part, atOnce, name)
				return d > -1000 && d < 1000
			}
			return value(n, "shares", "on", "charged_asker_ppm") > 1_900_000 && value(n, "shares", "on", "ran_asker_ppm") < 350_000 &&
				same("shares", "ran_asker_ppm") && same("shares", "charged_asker_ppm") && same("timer", "ran_asker_ppm") && same("timer", "charged_hog_ppm")
		}},
		{"a co-kernel lets Linux pay in the same way", func(n *numbers) bool {
			return value(n, "shares", "co-kernel", "ran_asker_ppm") < 350_000
		}},
		{"light testing shows a better average, and no better longest", func(n *numbers) bool {
			return value(n, "light", "on", "latency_avg_ns") < value(n, "light", atOnce, "latency_avg_ns") && value(n, "light", "on", "latency_max_ns")*2 > value(n, "light", atOnce, "latency_max_ns")
		}},
		{"where the scheduler alone keeps interrupts off, the worst arrival is no better with the change: the cycles were moved, and some were added", func(n *numbers) bool {
			return value(n, "worst", "on", "worst_ns") >= value(n, "worst", atOnce, "worst_ns") && value(n, "worst", "settle", "worst_ns") >= value(n, "worst", "on", "worst_ns")
		}},
		{"the scheduler does more in all with the change, by less than a hundredth", func(n *numbers) bool {
			off, on, settle := value(n, "depth", atOnce, "scheduler_ns"), value(n, "depth", "on", "scheduler_ns"), value(n, "depth", "settle", "scheduler_ns")
			return off < on && on < settle && settle < off*101/100
		}},
		{"a co-kernel is better on average, and at the worst arrival by far; where the hardware takes the CPU away the longest that light testing sees is about the same", func(n *numbers) bool {
			near := value(n, "hardware", "co-kernel", "latency_max_ns")*2 > value(n, "hardware", atOnce, "latency_max_ns")
			return value(n, "light", "co-kernel", "latency_avg_ns") < value(n, "light", atOnce, "latency_avg_ns") && value(n, "worst-section", "co-kernel", "worst_ns")*3 < value(n, "worst-section", atOnce, "worst_ns") && near
		}},
	},
	"throttle": {
		{"the ladder: none at 980 ms and above and without throttling, more with each rung below", func(n *numbers) bool {
			at := func(v string) int64 { return longest(n, "ladder", v, "app") }
			return at("off") < ms/10 && at("980") < ms/10 && at("970") > 2*ms && at("960") > at("970") && at("950") > at("960")
		}},
		{"with the larger share the windows are longer", func(n *numbers) bool {
			return value(n, "ladder-fast", "960", "dark_max_ns") > value(n, "ladder", "960", "dark_max_ns")
		}},
		{"the windows are those of P − R/u, within two ticks", func(n *numbers) bool {
			u := value(n, "ladder", "off", "rt_ppm")
			want := int64(second) - 960*ms*1_000_000/u
			return u > 960_000 && u < 990_000 && abs(value(n, "ladder", "960", "dark_max_ns")-want) <= 2*ms
		}},
		{"windows are those of the recordings on 6.1-rt within a tick", func(n *numbers) bool {
			return abs(value(n, "recorded", "950", "dark_max_ns")-52_000_000) <= 4*ms && abs(value(n, "recorded", "960", "dark_max_ns")-44_000_000) <= 4*ms &&
				longest(n, "recorded", "off", "hi25") < ms/10
		}},
		{"95 of 100 ms give shorter windows than 950 of 1000", func(n *numbers) bool {
			return value(n, "ladder", "95of100", "dark_max_ns")*2 < value(n, "ladder", "950", "dark_max_ns")
		}},
		{"on every rung that keeps the application waiting explain names throttling, and irq/14-pata as who used the budget", func(n *numbers) bool {
			for _, part := range []string{"ladder", "ladder-fast"} {
				for _, v := range []string{"970", "960", "950", "95of100"} {
					if variantOf(n.parts[part], v) == nil {
						continue // not in a quick run
					}
					c := variantOf(n.parts[part], v).Worst.Causes[0]
					if c.Kind != "rt_throttled" || !strings.Contains(c.Detail, "budget used by irq/14-pata") {
						return false
					}
				}
			}
			return true
		}},
		{"the interrupt thread as SCHED_OTHER takes the windows away, and costs throughput only where others compute", func(n *numbers) bool {
			const read = "read_bytes_per_s"
			return longest(n, "remedies", "irq-other", "app") < ms/10 && value(n, "remedies", "irq-other", read) > value(n, "remedies", "960", read)*9/10 &&
				value(n, "busy", "other", read) < value(n, "busy", "960", read)*8/10
		}},
		{"without threads there is no throttling, and the application hardly gets anywhere while the card is read", func(n *numbers) bool {
			return longest(n, "remedies", "mainline", "app") < longest(n, "remedies", "960", "app")/2 &&
				value(n, "remedies", "mainline", "response_max_ns") > 2*value(n, "remedies", "960", "response_max_ns")
		}},
		{"forced threading throttles as PREEMPT_RT does", func(n *numbers) bool { return longest(n, "remedies", "threadirqs", "app") > 5*ms }},
		{"RT_RUNTIME_SHARE takes the windows away where another CPU can lend", func(n *numbers) bool {
			return longest(n, "two-cpus", "share", "app") < ms/10 && longest(n, "two-cpus", "no-share", "app") > 5*ms
		}},
		{"fair servers stop real-time tasks only where fair ones want the CPU, for about 50 ms, and are named", func(n *numbers) bool {
			wait := longest(n, "busy", "6.12", "app")
			return longest(n, "remedies", "6.12", "app") < ms/10 && wait > 40*ms && wait < 56*ms && variantOf(n.parts["busy"], "6.12").Worst.Causes[0].Kind == "fair_server"
		}},
		{"the windows are longest at HZ=100", func(n *numbers) bool {
			return value(n, "ticks-full", "100-low", "dark_max_ns") > value(n, "ticks-full", "1000-low", "dark_max_ns")
		}},
	},
}

func abs(n int64) int64 { return max(n, -n) }

func indexed(c *result.Case) *numbers {
	n := &numbers{parts: map[string]*result.Comparison{c.ID: &c.Comparison}}
	for i := range c.Parts {
		n.parts[c.Parts[i].ID] = &c.Parts[i]
	}
	return n
}

// TestCasesComeOut: what was published still comes out, in direction and order. With -update
// it is done with full runs, whose answers become docs/cases.md.
func TestCasesComeOut(t *testing.T) {
	var doc bytes.Buffer
	doc.WriteString(docHead)
	for _, c := range All() {
		t.Run(c.Name, func(t *testing.T) {
			a, err := c.Run(context.Background(), Options{Quick: !*update})
			if err != nil {
				t.Fatal(err)
			}
			n := indexed(a.Case)
			for _, cl := range claims[c.Name] {
				if !cl.holds(n) {
					t.Errorf("does not come out: %s", cl.text)
				}
			}
			checkContract(t, a.Case)
			if err := writeCase(&doc, a.Case); err != nil {
				t.Fatal(err)
			}
		})
	}
	path := filepath.Join("..", "docs", "cases.md")
	if *update {
		if err := os.WriteFile(path, doc.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outline(allHeads()), outline(string(have))); diff != "" {
		t.Errorf("docs/cases.md is out of date; go test ./cases -run Cases -update (-cases +file):\n%s", diff)
	}
}

// checkContract: what programs may rely on in whylate.case/1.
func checkContract(t *testing.T, c *result.Case) {
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Schema, Case string
		Variants     []struct {
			Name     string
			Change   []string
			Tasks    []map[string]any
			Measures map[string]int64
			Worst    map[string]any
		}
		Objections []struct{ Text, Answer string }
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Schema != "whylate.case/1" || r.Case == "" || len(r.Variants) < 3 || len(r.Objections) < 8 {
		t.Errorf("schema %q, case %q, %d variants, %d objections", r.Schema, r.Case, len(r.Variants), len(r.Objections))
	}
	for _, v := range r.Variants {
		if v.Name == "" || v.Change == nil || len(v.Tasks) == 0 || len(v.Measures) == 0 || v.Worst["causes"] == nil {
			t.Errorf("variant %q lacks change, tasks, measures or its longest wait", v.Name)
		}
	}
}

const docHead = "# The cases\n\nWhat `whylate case exit`, `throttle` and `defer` answer, from full runs: generated by\n`go test ./cases -run Cases -update`. A test runs them quickly and checks the direction and the order of what\nis marked as checked, not the digits.\n"

// heads are the lines of docs/cases.md that do not depend on what came out.
func heads(c *Case) []string {
	list := []string{"## " + c.Name + ": " + c.Title}
	for i := range c.parts {
		list = append(list, "### "+strings.TrimSpace(c.parts[i].id+"  "+c.parts[i].question))
	}
	list = append(list, "### What was asked")
	for _, o := range c.objections {
		list = append(list, "**"+o.text+"**")
	}
	list = append(list, "### What is checked")
	for _, cl := range claims[c.Name] {
		list = append(list, "- "+cl.text)
	}
	return append(list, "### Limits")
}

func allHeads() string {
	var lines []string
	for _, c := range All() {
		lines = append(lines, heads(c)...)
	}
	return strings.Join(lines, "\n")
}

// outline keeps the lines of a document that heads has.
func outline(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "### ") || strings.HasPrefix(line, "**") || strings.HasPrefix(line, "- ") {
			list = append(list, line)
		}
	}
	return list
}

// writeCase writes the chapter of a case.
func writeCase(w *bytes.Buffer, c *result.Case) error {
	fmt.Fprintf(w, "\n## %s: %s\n\n%s\n\n%s\n", c.Case, c.Title, c.Question, c.Symptom)
	fmt.Fprintf(w, "\n%s\n", c.Conclusion)
	parts := append([]result.Comparison{c.Comparison}, c.Parts...)
	parts[0].Question = ""
	for i := range parts {
		p := &parts[i]
		fmt.Fprintf(w, "\n### %s\n\n%s\n\n```text\n", strings.TrimSpace(p.ID+"  "+p.Question), p.Answer)
		if err := report.Part(w, p, report.Options{}); err != nil {
			return err
		}
		w.WriteString("```\n")
	}
	w.WriteString("\n### What was asked\n")
	for _, o := range c.Objections {
		fmt.Fprintf(w, "\n**%s**\n%s (%s)\n", o.Text, o.Answer, strings.Join(o.Parts, ", "))
	}
	w.WriteString("\n### What is checked\n\n")
	for _, cl := range claims[c.Case] {
		fmt.Fprintf(w, "- %s\n", cl.text)
	}
	w.WriteString("\n### Limits\n")
	for _, l := range c.Limits {
		fmt.Fprintf(w, "\n%s\n", l)
	}
	return nil
}

// TestFilesAreScenarios: run takes every file that -o hands out, in every variant, and every
// file is used.
func TestFilesAreScenarios(t *testing.T) {
	for _, c := range All() {
		list, err := c.Files()
		if err != nil {
			t.Fatal(err)
		}
		used := make(map[string]bool)
		for i := range c.parts {
			used[c.parts[i].file] = true
		}
		for _, f := range list {
			if !used[f.Name] {
				t.Errorf("%s/%s is in no part", c.Name, f.Name)
			}
			first, err := scenario.Read(f.Name, f.Text, scenario.Options{})
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
				continue
			}
			for _, v := range append([]scenario.Variant{{Name: asIs}}, first.Variants...) {
				p, err := scenario.Read(f.Name, f.Text, scenario.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if v.Name != asIs {
					err = p.Vary(v.Name)
				}
				if err == nil {
					_, err = p.Setup()
				}
				if err != nil {
					t.Errorf("%s/%s, variant %s: %v", c.Name, f.Name, v.Name, err)
				}
				for _, n := range p.Notes {
					t.Errorf("%s/%s: %s", c.Name, f.Name, n.Text)
				}
			}
		}
	}
}

// TestEveryObjectionNamesItsParts, and every measure has a number in some variant.
func TestEveryObjectionNamesItsParts(t *testing.T) {
	for _, c := range All() {
		have := make(map[string]bool)
		for i := range c.parts {
			have[c.parts[i].id] = true
		}
		for _, o := range c.objections {
			for _, id := range o.parts {
				if !have[id] {
					t.Errorf("%s: %q names the part %s, which does not exist", c.Name, o.text, id)
				}
			}
			if len(o.parts) == 0 || o.answer == nil {
				t.Errorf("%s: %q has no answer", c.Name, o.text)
			}
		}
	}
}

func TestUnknownCases(t *testing.T) {
	if _, err := Named("exti"); err == nil || !regexp.MustCompile(`no case is called "exti"; did you mean exit\?; there are exit, throttle`).MatchString(err.Error()) {
		t.Errorf("a slip: %v", err)
	}
	if c, err := Named("throttle"); err != nil || c.Name != "throttle" {
		t.Errorf("throttle: %v", err)
	}
}

// TestWords: three digits and a unit.
func TestWords(t *testing.T) {
	for ns, want := range map[int64]string{0: "0 µs", 40: "0 µs", 150: "0.2 µs", 9_949: "9.9 µs", 19_800: "20 µs", 3_245_400: "3.2 ms", 99_960_000: "100 ms",
		142_341_500: "142 ms", 1_629_151_400: "1.63 s", -2_000_000: "-2 ms"} {
		if got := words(ns); got != want {
			t.Errorf("%d: %q, want %q", ns, got, want)
		}
	}
	if got := times(100, 490); got != "4.9 times" {
		t.Errorf("times: %q", got)
	}
}
