package ftracetext_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/trace/ftracetext"
)

// readHostile reads any bytes and checks what holds for all of them: no panic, an end,
// events with sane fields, and the same events again.
func readHostile(t *testing.T, text []byte) {
	names := event.NewNames()
	f, err := ftracetext.Open(bytes.NewReader(text), int64(len(text)), names)
	if err != nil {
		return
	}
	lines := bytes.Count(text, []byte("\n")) + 1
	var first []event.Event
	for pass := range 2 {
		s, err := f.Events(event.Options{OtherText: true})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for {
			ev, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("reading memory fails: %v", err)
			}
			if ev.Kind >= event.NumKinds || ev.CPU < event.NoCPU || ev.PID < event.NoPID || ev.Time < 0 {
				t.Fatalf("event %d: %+v", n, *ev)
			}
			if pass == 0 {
				first = append(first, *ev)
			} else if n >= len(first) || first[n] != *ev {
				t.Fatalf("event %d differs in the second pass", n)
			}
			n++
		}
		if n > 3*lines {
			t.Fatalf("%d events out of %d lines", n, lines)
		}
		if pass == 1 && n != len(first) {
			t.Fatalf("%d events, %d in the second pass", len(first), n)
		}
		for _, d := range s.Diagnostics() {
			if d.Kind == "" || d.Text == "" || d.Count <= 0 {
				t.Fatalf("diagnostic %+v", d)
			}
		}
	}
}

func seeds(t testing.TB) [][]byte {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no seeds: %v", err)
	}
	var list [][]byte
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, text[:min(len(text), 3000)])
	}
	return list
}

func FuzzText(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text)
	}
	for _, line := range []string{
		"cpus=4\nCPU:3 [EVENTS DROPPED]\n a:b-77 [003] 117.9: sched_switch: a:b c:77 [9] X ==> swapper/3:0 [120]\n",
		"cpus=2\n a-1 [000] 1.000000100: funcgraph_entry: 1.540 us | leaf();\n",
		" hog-2600 2d.h4 0us : 2600: 9:R + [002] 2501: 19:R motor/2\n",
		"<html><script>\n# tracer: nop\na-1 [000] ...1 1.5: x: &lt;\n</script>",
		" a-1 [000] 12345678: sys_read -> 0x5\n",
		" sh-145 3-0x9 4.627836: irq_handler_exit: irq=25 ret=1\n",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(readHostile)
}

// TestDamagedText cuts and flips real traces at many places.
func TestDamagedText(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, text := range seeds(t) {
		for range 150 {
			readHostile(t, text[:rng.IntN(len(text))])
			broken := bytes.Clone(text)
			for range 1 + rng.IntN(20) {
				broken[rng.IntN(len(broken))] ^= byte(1 << rng.IntN(8))
			}
			readHostile(t, broken)
		}
	}
}

// TestDamageIsTold checks that a damaged line is counted and costs no other line.
func TestDamageIsTold(t *testing.T) {
	text, err := os.ReadFile("testdata/tracefs-6.18.txt")
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := readAll(t, openText(t, text), event.Options{})
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[50] = append(bytes.Repeat([]byte{0}, 40), '\n')
	copy(lines[60][bytes.Index(lines[60], []byte("[00")):], "[xx")
	events, diags := readAll(t, openText(t, bytes.Join(lines, nil)), event.Options{})
	if len(events) != len(whole)-2 {
		t.Errorf("%d events, want %d", len(events), len(whole)-2)
	}
	want := `lines not understood, the first: line 51: "`
	for _, d := range diags {
		if d.Kind == "unknown_line" && d.Count == 2 && len(d.Text) > len(want) && d.Text[:len(want)] == want {
			return
		}
	}
	t.Errorf("diagnostics %+v", diags)
}
