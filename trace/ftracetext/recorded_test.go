package ftracetext_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/internal/shared"
)

// countByRegexp counts the events of a text in a way that has nothing to do with the
// parser: lines with a stamp, by the word behind it.
func countByRegexp(text []byte) (total int, byName map[string]int) {
	re := regexp.MustCompile(` \d+(?:\.\d+|us[ +!#*@$]?): +(?:\d+ +)?(?:[a-z_]+:([a-z_0-9]+):( |$)|([a-zA-Z_0-9]+):( |$)|(\S))`)
	byName = map[string]int{}
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		m := re.FindStringSubmatch(in.Text())
		if m == nil || strings.HasPrefix(in.Text(), "#") {
			continue
		}
		total++
		if name := m[1] + m[3]; name != "" {
			byName[name]++
		}
	}
	return total, byName
}

func gunzip(t *testing.T, text []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		return text
	}
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	text, err = io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRecordedTexts reads texts of many printers and compares the number of events of
// each name with a count by regular expression.
func TestRecordedTexts(t *testing.T) {
	files := map[string]string{
		"testdata/tracefs-6.18.txt":               "ftrace text",
		"testdata/tracefs-tgid-6.18.txt":          "ftrace text",
		"testdata/latency-format-6.18.txt":        "ftrace latency text",
		"testdata/trace_pipe-lost-6.18.txt":       "ftrace text",
		"testdata/overwritten-6.18.txt":           "ftrace text",
		"testdata/stacktrace-6.18.txt":            "ftrace text",
		"testdata/perf-script-6.18.txt":           "perf script",
		"testdata/perf-script-callchain-6.18.txt": "perf script",
		"atrace_data":                             "ftrace text",
		"decompressed_atrace_data.txt":            "ftrace text",
		"lisa_report_raw.txt":                     "trace-cmd report",
		"perf.data.txt":                           "perf script",
		"raw_trace.txt":                           "trace-cmd report",
		"test.perf.gz":                            "perf script",
		"trace.txt":                               "trace-cmd report",
		"trace_legacy_systrace.html":              "systrace HTML",
		"trace_sched.txt":                         "trace-cmd report",
		"trace_systrace.html":                     "systrace HTML",
	}
	for name, format := range files {
		t.Run(name, func(t *testing.T) {
			path := name
			if !strings.HasPrefix(name, "testdata/") {
				path = shared.Path(t, "samples/text/"+name)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text = gunzip(t, text)
			total, byName := countByRegexp(text)
			f := openText(t, text)
			if got := f.Info().Format; got != format {
				t.Errorf("format %q, want %q", got, format)
			}
			events, diags := readAll(t, f, event.Options{})
			for _, d := range diags {
				if strings.HasPrefix(d.Kind, "unknown_") || d.Kind == "flags" || d.Kind == "wrapped_line" {
					t.Errorf("diagnostic %+v", d)
				}
			}
			got := map[string]int{}
			read := 0
			for i := range events {
				if events[i].Kind != event.Gap {
					read++
					got[f.Names().String(events[i].Name)]++
				}
				if i > 0 && events[i].Time < events[i-1].Time {
					t.Errorf("event %d at %d is older than the one before", i, events[i].Time)
				}
			}
			if read != total || total == 0 {
				t.Errorf("%d events, %d by regular expression", read, total)
			}
			for name, n := range byName {
				if !strings.HasSuffix(name, "ppp") && got[name] != n { // the modifiers of a hardware event
					t.Errorf("%s: %d events, %d by regular expression", name, got[name], n)
				}
			}
		})
	}
}

// TestRecordedHeaders checks what the recorded files say about themselves.
func TestRecordedHeaders(t *testing.T) {
	open := func(name string) ([]event.Event, []event.Diagnostic, *event.Info) {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		f := openText(t, text)
		events, diags := readAll(t, f, event.Options{})
		return events, diags, f.Info()
	}
	_, _, perf := open("perf-script-6.18.txt")
	if perf.Kernel != "6.18.44" || perf.Machine != "x86_64" || perf.CPUs != 2 || perf.Resolution != 1 || len(perf.Events) < 20 {
		t.Errorf("perf script: info %+v", perf)
	}
	_, _, lat := open("latency-format-6.18.txt")
	if lat.Kernel != "6.18.44" || lat.CPUs != 2 {
		t.Errorf("latency format: info %+v", lat)
	}
	events, _, _ := open("tracefs-tgid-6.18.txt")
	for _, ev := range events {
		if ev.PID == 0 && ev.TGID != event.NoPID {
			t.Fatalf("idle has the process %d", ev.TGID)
		}
	}
	if events[0].TGID != 22734 {
		t.Errorf("process of the first event is %d, want 22734", events[0].TGID)
	}
	_, diags, _ := open("overwritten-6.18.txt")
	want := event.Diagnostic{Kind: "lost_events", Count: 136930 - 450,
		Text: "overwritten before the first event of the trace: the buffer was too small"}
	if len(diags) == 0 || diags[0] != want {
		t.Errorf("diagnostics %+v, want %+v first", diags, want)
	}
}

// TestTimesAgree reads the same moments in two layouts: tracefs and latency format.
func TestTimesAgree(t *testing.T) {
	read := func(name string) []event.Event {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		events, _ := readAll(t, openText(t, text), event.Options{})
		return events
	}
	a, b := read("tracefs-6.18.txt"), read("latency-format-6.18.txt")
	for i := range b {
		if a[i].Time != b[i].Time || a[i].CPU != b[i].CPU || a[i].PID != b[i].PID || a[i].Kind != b[i].Kind ||
			a[i].Flags != b[i].Flags || a[i].PreemptDepth != b[i].PreemptDepth {
			t.Fatalf("event %d: %+v and %+v", i, a[i], b[i])
		}
	}
}
