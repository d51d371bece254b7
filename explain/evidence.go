package explain

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/whylate/whylate/cause"
	"github.com/whylate/whylate/event"
	"github.com/whylate/whylate/latency"
	"github.com/whylate/whylate/result"
	"github.com/whylate/whylate/trace/ftracetext"
)

// mostEvidence bounds the event lines of one cause: the first and the last ones count.
const mostEvidence = 12

// addEvidence fills the event lines of every cause, of every idle CPU, and of the wait's own
// beginning and end. It reads the trace once more.
func addEvidence(src Source, names *event.Names, list []lateWait, idle [][]cause.Elsewhere, out []result.Late) error {
	wanted := make(map[cause.Ref][]string)
	for i := range list {
		for _, r := range refs(&list[i]) {
			wanted[r] = nil
		}
		for j := range list[i].Causes {
			for _, r := range list[i].Causes[j].Evidence {
				wanted[r] = nil
			}
		}
		for j := range idle[i] {
			for _, r := range idle[i][j].Evidence {
				wanted[r] = nil
			}
		}
	}
	if err := collect(src, names, wanted); err != nil {
		return err
	}
	for i := range list {
		out[i].Evidence = lines(refs(&list[i]), wanted)
		for j := range list[i].Causes {
			out[i].Causes[j].Evidence = lines(list[i].Causes[j].Evidence, wanted)
		}
		for j := range idle[i] {
			out[i].IdleElsewhere[j].Evidence = lines(idle[i][j].Evidence, wanted)
		}
	}
	return nil
}

// refs points to the events that begin and end a wait.
func refs(l *lateWait) []cause.Ref {
	w := l.Wait
	start := cause.Ref{At: w.Woken, CPU: w.CPU}
	if w.Kind == latency.Wakeup && w.Waker.CPU != event.NoCPU {
		start.CPU = w.Waker.CPU
	}
	list := []cause.Ref{start}
	if w.Queued != event.NoTime {
		list = append(list, cause.Ref{At: w.Queued, CPU: start.CPU}, cause.Ref{At: w.Queued, CPU: w.CPU})
	}
	if !w.Open() {
		list = append(list, cause.Ref{At: w.OnCPU, CPU: w.CPUAt(w.OnCPU)})
	}
	return list
}

func collect(src Source, names *event.Names, wanted map[cause.Ref][]string) error {
	s, err := src.Events(event.Options{OtherText: true})
	if err != nil {
		return fmt.Errorf("reading the evidence: %w", err)
	}
	defer s.Close()
	var line []byte
	for {
		ev, err := s.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return nil // the first pass told of it; what was found is shown
		}
		r := cause.Ref{At: ev.Time, CPU: ev.CPU}
		if had, ok := wanted[r]; ok && ev.Kind != event.Gap {
			line = ftracetext.AppendEvent(line[:0], ev, names)
			wanted[r] = append(had, string(line))
		}
	}
}

// lines returns the event lines of refs, in order of time, each once.
func lines(refs []cause.Ref, found map[cause.Ref][]string) []string {
	sorted := sortedRefs(refs)
	var out []string
	for i, r := range sorted {
		if len(sorted) > mostEvidence && i >= mostEvidence/2 && i < len(sorted)-mostEvidence/2 {
			continue
		}
		out = append(out, found[r]...)
	}
	return out
}

func sortedRefs(refs []cause.Ref) []cause.Ref {
	out := slices.Clone(refs)
	slices.SortFunc(out, func(a, b cause.Ref) int {
		if c := cmp.Compare(a.At, b.At); c != 0 {
			return c
		}
		return cmp.Compare(a.CPU, b.CPU)
	})
	return slices.Compact(out)
}
