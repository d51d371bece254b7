package ftracetext_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
)

// TestStateNumbers checks what a numeric prev_state means: it depends on the kernel, which
// `trace-cmd report -R` does not name, so on what else the file shows. The bits are those
// of include/linux/sched.h of each time.
func TestStateNumbers(t *testing.T) {
	for _, c := range []struct {
		name    string
		numbers string
		want    string
	}{
		{"4.14 and later", "0 1 2 256 4 8 16 32 64 128", "R S D R+ T t X Z P I"},
		{"4.14 and later, nobody preempted", "0 1 16 128", "R S X I"},
		{"4.8 to 4.13", "0 1 2 4096 64 130 1026 2048", "R S D R+ x D|K D|N n"},
		{"4.4", "0 2048 64 1026", "R R+ x D|N"},
		{"3.9 to 4.1", "0 1024 1 64", "R R+ S x"},
		{"before 4.14, nobody preempted", "0 1 64", "R S x"},
		{"no kernel prints this", "0 256 65536", "R R+ ?"},
	} {
		var text strings.Builder
		text.WriteString("cpus=1\n")
		for i, n := range strings.Fields(c.numbers) {
			fmt.Fprintf(&text, "  a-1  [000]  1.%06d: sched_switch:   prev_comm=a prev_pid=1 prev_prio=120 prev_state=%s next_comm=b next_pid=2 next_prio=120\n", i, n)
		}
		if got := states(t, text.String()); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.name, c.numbers, got, c.want)
		}
	}
}

// TestPluginStates checks the letters of trace-cmd's sched_switch plugin. Old ones come
// from a fixed table: on a kernel since 4.14 it calls an idle kernel thread W, a zombie X
// and a dead task Z (seen with trace-cmd 3.1.6 on 6.1 and 6.12).
func TestPluginStates(t *testing.T) {
	for _, c := range []struct{ name, letters, want string }{
		{"old table, new kernel", "R S D W X Z", "R S D I Z X"},
		{"old table, old kernel", "R S D x D|W", "R S D x D|K"},
		{"new libtraceevent", "R S D I X Z P R+", "R S D I X Z P R+"},
		{"nothing tells", "R S X", "R S X"},
	} {
		var text strings.Builder
		text.WriteString("cpus=1\n")
		for i, s := range strings.Fields(c.letters) {
			fmt.Fprintf(&text, "  a-1  [000]  1.%06d: sched_switch:   a:1 [120] %s ==> b:2 [120]\n", i, s)
		}
		if got := states(t, text.String()); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.name, c.letters, got, c.want)
		}
	}
}

func states(t *testing.T, text string) string {
	t.Helper()
	events, _ := readAll(t, openText(t, []byte(text)), event.Options{})
	var list []string
	for _, ev := range events {
		list = append(list, ev.State.String())
	}
	return strings.Join(list, " ")
}

// TestOldKernelSample counts the states of a real report of a kernel with the preempt
// bit 0x1000, against a count of the numbers in its text.
func TestOldKernelSample(t *testing.T) {
	text, err := os.ReadFile(shared.Path(t, "samples/text/lisa_report_raw.txt"))
	if err != nil {
		t.Fatal(err)
	}
	events, _ := readAll(t, openText(t, text), event.Options{})
	got := map[string]int{}
	for _, ev := range events {
		if ev.Kind == event.SchedSwitch {
			got[ev.State.String()]++
		}
	}
	for number, letters := range map[string]string{"4096": "R+", "0": "R", "1": "S", "2": "D", "64": "x"} {
		want := strings.Count(string(text), " prev_state="+number+" ")
		if got[letters] != want || want == 0 {
			t.Errorf("%d switches with state %s, %d with number %s", got[letters], letters, want, number)
		}
	}
}
