package report

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/whylate/whylate/result"
)

// readCyclictest reads what cyclictest -h printed into histograms, one per thread.
func readCyclictest(t *testing.T, text string) []result.Histogram {
	t.Helper()
	var list []result.Histogram
	field := map[string]func(*result.Histogram) *int64{
		"# Min Latencies:":       func(h *result.Histogram) *int64 { return &h.MinNS },
		"# Avg Latencies:":       func(h *result.Histogram) *int64 { return &h.AvgNS },
		"# Max Latencies:":       func(h *result.Histogram) *int64 { return &h.MaxNS },
		"# Histogram Overflows:": func(h *result.Histogram) *int64 { return &h.Overflows },
		"# Total:":               func(h *result.Histogram) *int64 { return &h.Waits },
	}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		head, rest, _ := strings.Cut(lines.Text(), ": ")
		if of := field[head+":"]; of != nil {
			for i, s := range strings.Fields(rest) {
				*of(&list[i]) = number(s)
			}
			continue
		}
		cells := strings.Fields(lines.Text())
		if len(cells) == 0 || cells[0] == "#" {
			continue
		}
		for i, s := range cells[1:] {
			if i == len(list) {
				list = append(list, result.Histogram{BucketNS: 1000, Label: fmt.Sprintf("thread %d", i), CPU: -1})
			}
			list[i].Counts = append(list[i].Counts, number(s))
		}
	}
	for i := range list {
		h := &list[i]
		h.Waits += h.Overflows
		h.MinNS, h.AvgNS, h.MaxNS = h.MinNS*1000, h.AvgNS*1000+999, h.MaxNS*1000
	}
	return list
}

// TestCyclictestLayout prints the numbers of a real run of cyclictest -q -t 2 -h 60 and
// compares with what that run printed. Two things cannot be the same: the first comment,
// and the cycle numbers of overflows, of which only the count is known here.
func TestCyclictestLayout(t *testing.T) {
	raw, err := os.ReadFile("testdata/cyclictest.out")
	if err != nil {
		t.Fatal(err)
	}
	list := readCyclictest(t, string(raw))
	if len(list) != 2 || len(list[0].Counts) != 60 || list[0].Overflows == 0 {
		t.Fatalf("the run of cyclictest was not understood: %+v", list)
	}
	var got strings.Builder
	if err := HistCyclictest(&got, &result.Latency{Histograms: list}); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(string(raw), "# /dev/cpu_dma_latency set to 0us\n", "# Column 1: thread 0\n# Column 2: thread 1\n", 1)
	for i, h := range list {
		line := regexp.MustCompile(fmt.Sprintf(`(?m)^# Thread %d: .*$`, i))
		want = line.ReplaceAllString(want, fmt.Sprintf("# Thread %d: # %05d others", i, h.Overflows))
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-cyclictest +ours):\n%s", diff)
	}
}

func TestCyclictestWithoutOverflows(t *testing.T) {
	var got strings.Builder
	err := HistCyclictest(&got, &result.Latency{Histograms: []result.Histogram{
		{Label: "a/1", BucketNS: 10_000, Counts: []int64{3, 0, 1_234_567}, Waits: 1_234_570, MinNS: 1_999, AvgNS: 20_000, MaxNS: 29_999},
		{Label: "b/2", BucketNS: 10_000}}})
	want := `# Column 1: a/1
# Column 2: b/2
# Histogram
000000 000003	000000
000010 000000	000000
000020 1234567	000000
# Total: 001234570 000000000
# Min Latencies: 00001 00000
# Avg Latencies: 00020 00000
# Max Latencies: 00029 00000
# Histogram Overflows: 00000 00000
# Histogram Overflow at cycle number:
# Thread 0:
# Thread 1:

`
	if diff := cmp.Diff(want, got.String()); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// TestRTLALayout compares with the layout that the manual pages rtla-timerlat-hist(1) and
// rtla-osnoise-hist(1) of rtla 6.1 show: an index of 6 columns, 9 columns and a blank per
// number, heads of 10 columns.
func TestRTLALayout(t *testing.T) {
	r := &result.Latency{Input: machineInput, Histograms: []result.Histogram{
		{CPU: 0, BucketNS: 10_000, Counts: []int64{276_489, 0, 2}, Overflows: 1, Waits: 276_492, MinNS: 1_900, AvgNS: 5_000, MaxNS: 36_999},
		{CPU: 12, BucketNS: 10_000, Counts: []int64{0, 0, 7}, Waits: 7, MinNS: 20_000, AvgNS: 20_000, MaxNS: 20_000},
		{CPU: -1, Label: "ctl-loop/311", BucketNS: 10_000, Counts: []int64{1}, Waits: 1}}}
	want := strings.ReplaceAll(`# RTLA timerlat histogram
# Time unit is microseconds (us)
# Duration:   0 00:00:02
# Thr-002: ctl-loop/311
Index   CPU-000   CPU-012   Thr-002
0        276489         0         1 $
20            2         7         0 $
over:         1         0         0 $
count:   276492         7         1 $
min:          1        20         0 $
avg:          5        20         0 $
max:         36        20         0 $
`, "$", "")
	var got strings.Builder
	err := HistRTLA(&got, r)
	if diff := cmp.Diff(want, got.String()); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestRTLAInNanoseconds(t *testing.T) {
	var got strings.Builder
	err := HistRTLA(&got, &result.Latency{Input: result.Input{EndNS: 93_784_000_000_000}, Histograms: []result.Histogram{
		{BucketNS: 500, Counts: []int64{0, 4}, Waits: 4, MinNS: 501, AvgNS: 700, MaxNS: 999}}})
	for _, want := range []string{"# Time unit is nanoseconds (ns)\n", "# Duration:   1 02:03:04\n", "\n500           4 \n", "\nmax:        999 \n"} {
		if err != nil || !strings.Contains(got.String(), want) {
			t.Errorf("error %v, no %q in\n%s", err, want, got.String())
		}
	}
}

func TestHistogramsThatFitNoLayout(t *testing.T) {
	half := result.Histogram{Label: "half", BucketNS: 500, Counts: []int64{1}}
	whole := result.Histogram{Label: "whole", BucketNS: 1000, Counts: []int64{1}}
	for _, test := range []struct {
		name string
		list []result.Histogram
		rtla bool
		want string
	}{
		{"none", nil, true, "the result has no histograms"},
		{"none for cyclictest", nil, false, "the result has no histograms"},
		{"different buckets", []result.Histogram{whole, half}, true, "histogram of half has buckets of 500 ns, the first one of 1000 ns"},
		{"parts of a µs", []result.Histogram{half}, false, "cyclictest's histogram has buckets of whole µs, not of 500 ns"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			print := HistCyclictest
			if test.rtla {
				print = HistRTLA
			}
			if err := print(&b, &result.Latency{Histograms: test.list}); err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if b.Len() > 0 {
				t.Errorf("printed %q before it failed", b.String())
			}
		})
	}
}
