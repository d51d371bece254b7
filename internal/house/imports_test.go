package house

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func itoa(n int) string { return strconv.Itoa(n) }

// room is a package and what it may import of this module. Lists can only name rooms
// further up, so that nothing from event to explain can know the scheduler model
// (engine to cases).
type room struct {
	name string
	may  []string // "*": every room further up; "trace/*": all formats
	std  bool     // no library outside the standard one either

	model bool // of the scheduler model, which the rooms above never see, not even in tests
}

// rooms is the table of the design.
var rooms = []room{
	{name: "event", std: true},
	{name: "kernel", std: true},
	{name: "result", std: true},
	{name: "sysinfo", may: []string{"event", "kernel"}},
	{name: "internal/nearest", std: true},
	{name: "trace/ringbuf", may: []string{"event"}},
	{name: "trace/eventformat", may: []string{"event"}},
	{name: "trace/tracedat", may: []string{"event", "kernel", "sysinfo", "trace/ringbuf", "trace/eventformat"}},
	{name: "trace/ftracetext", may: []string{"event", "kernel", "sysinfo", "trace/ringbuf", "trace/eventformat"}},
	{name: "trace/perfdata", may: []string{"event", "kernel", "sysinfo", "trace/ringbuf", "trace/eventformat"}},
	{name: "trace/perfetto", may: []string{"event", "kernel", "sysinfo", "trace/ringbuf", "trace/eventformat"}},
	{name: "trace", may: []string{"event", "kernel", "sysinfo", "trace/*"}},
	{name: "timeline", may: []string{"event", "kernel"}},
	{name: "latency", may: []string{"event", "timeline"}},
	{name: "cause", may: []string{"event", "kernel", "sysinfo", "timeline", "latency"}},
	// ftracetext writes the event lines that explain shows as evidence.
	{name: "explain", may: []string{"event", "kernel", "sysinfo", "timeline", "latency", "cause", "result", "trace/ftracetext"}},
	// experiment compares runs of the model with it, whatif recordings.
	{name: "stats", may: []string{"result"}},
	{name: "engine", may: []string{"event"}, std: true, model: true},
	{name: "sched", may: []string{"event", "kernel"}, std: true, model: true},
	{name: "machine", may: []string{"event", "kernel", "engine", "sched"}, std: true, model: true},
	{name: "truth", may: []string{"event"}, std: true, model: true},
	{name: "workload", may: []string{"event", "engine", "machine", "sched"}, std: true, model: true},
	{name: "scenario/rtapp", may: []string{"event", "kernel", "sched", "machine", "workload", "internal/nearest"}, model: true},
	// scenario reads the files of scenario/rtapp and is a source of events.
	// It knows the machine that it makes, as a snapshot.
	{name: "scenario", may: []string{"event", "kernel", "sysinfo", "engine", "sched", "machine", "truth", "workload", "scenario/rtapp", "internal/nearest"}, model: true},
	{name: "replay", may: []string{"*"}, model: true},
	// whatif asks explain for the late waits and for their causes.
	{name: "whatif", may: []string{"*"}, model: true},
	// explain tells why the worst run was late; result has the public form of a comparison. The
	// search for the worst arrivals reads in the load what arrives, and draws random numbers.
	{name: "experiment", may: []string{"event", "kernel", "sysinfo", "timeline", "latency", "cause", "result", "explain", "stats", "truth", "engine", "sched", "machine", "workload", "scenario", "internal/nearest"}, model: true},
	{name: "cases", may: []string{"event", "latency", "result", "internal/nearest", "stats", "sched", "machine", "scenario", "experiment", "whatif"}, model: true},
	{name: "live", may: []string{"event", "sysinfo", "trace/ringbuf", "trace/tracedat"}},
	{name: "report", may: []string{"result"}},
	{name: "internal/demo"},
	{name: "internal/cli", may: []string{"*"}},
	{name: "cmd/whylate", may: []string{"internal/cli"}},
	{name: "internal/gen", may: []string{"internal/cli"}},
	// Only tests use these.
	{name: "internal/shared", std: true},
	{name: "internal/house", std: true},
}

func roomIndex(name string) int {
	return slices.IndexFunc(rooms, func(r room) bool { return r.name == name })
}

// allows reports whether code of r may import the room other.
func (r *room) allows(other string) bool {
	above := roomIndex(other)
	if above < 0 || above >= roomIndex(r.name) {
		return false
	}
	return slices.ContainsFunc(r.may, func(m string) bool {
		return m == "*" || m == other || strings.HasSuffix(m, "/*") && strings.HasPrefix(other, strings.TrimSuffix(m, "*"))
	})
}

func TestTheTableOfRoomsIsInOrder(t *testing.T) {
	for i, r := range rooms {
		for _, m := range r.may {
			if strings.Contains(m, "*") {
				continue
			}
			if at := roomIndex(m); at < 0 || at >= i {
				t.Errorf("%s may import %s, which does not stand above it", r.name, m)
			}
		}
	}
}

func TestPackagesImportOnlyTheRoomsTheyMay(t *testing.T) {
	tree := goFiles(t)
	for _, s := range tree.sources {
		i := roomIndex(s.dir)
		if i < 0 {
			t.Errorf("%s: package %s has no row in the table of rooms", s.path, s.dir)
			continue
		}
		for _, spec := range s.file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := forbidden(&rooms[i], s, name); why != "" {
				t.Errorf("%s: %s imports %s: %s", tree.at(s, spec), s.dir, name, why)
			}
		}
	}
}

// forbidden says why file s of room r may not import name; "" if it may. Tests may use
// other rooms to feed and to check their own, as long as these are not the model's.
func forbidden(r *room, s *source, name string) string {
	other, ours := strings.CutPrefix(name, module+"/")
	switch {
	case !ours:
		if r.std && !s.test && strings.Contains(strings.SplitN(name, "/", 2)[0], ".") {
			return "this room uses the standard library only"
		}
	case other == "internal/shared":
		if !s.test {
			return "only tests read the shared traces"
		}
	case s.test:
		if at := roomIndex(other); at < 0 || rooms[at].model && at > roomIndex(r.name) {
			return "what is checked against the model must not know it"
		}
	case !r.allows(other):
		return "the table does not allow it"
	}
	return ""
}

func TestImportRulesRefuseWhatTheyShould(t *testing.T) {
	code, test := &source{}, &source{test: true}
	for _, c := range []struct {
		room, imports string
		s             *source
		refused       bool
	}{
		{"cause", module + "/timeline", code, false},
		{"cause", module + "/sched", code, true},
		{"cause", module + "/truth", test, true},
		{"event", module + "/kernel", code, true},
		{"event", "github.com/spf13/cobra", code, true},
		{"latency", "github.com/HdrHistogram/hdrhistogram-go", code, false},
		{"trace", module + "/trace/perfdata", code, false},
		{"trace/tracedat", module + "/trace/ftracetext", code, true},
		{"report", module + "/explain", code, true},
		{"internal/cli", module + "/explain", code, false},
		{"timeline", module + "/internal/shared", code, true},
		{"timeline", module + "/internal/shared", test, false},
		{"explain", module + "/trace", test, false},
		{"explain", module + "/report", test, false},
		{"sched", module + "/machine", test, true},
		{"replay", module + "/sched", test, false},
	} {
		if got := forbidden(&rooms[roomIndex(c.room)], c.s, c.imports); (got != "") != c.refused {
			t.Errorf("%s importing %s: %q, want refused %v", c.room, path.Base(c.imports), got, c.refused)
		}
	}
}
